"""The options that verbs share. Only click is imported here: --help must be instant."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import click

from ..methods import METHODS

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not generic before click 8.2

Decorator = Callable[[Any], Any]


class Size(ParamType):
    """Bytes: 500MB, 4GB, 2GiB."""

    name = "size"
    _unit: ClassVar[dict[str, int]] = {
        "": 1,
        "k": 10**3,
        "m": 10**6,
        "g": 10**9,
        "t": 10**12,
        "ki": 2**10,
        "mi": 2**20,
        "gi": 2**30,
        "ti": 2**40,
    }

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", value.lower())
        size = 0.0
        if match is not None and match[2] in self._unit:
            size = float(match[1]) * self._unit[match[2]]
        if size < 1:
            self.fail(f"{value!r} is not an amount of memory; write for example 500MB or 4GB.", param, ctx)
        return int(size)


class Interval(ParamType):
    """How often to write a checkpoint: (seconds, None) or (None, rows)."""

    name = "interval"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float | None, int | None]:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|rows?)\s*", value.lower())
        if match is None or float(match[1]) <= 0:
            self.fail(
                f"{value!r} is not an interval; write for example 60s, 10min or 1000000rows.", param, ctx
            )
        if match[2].startswith("row"):
            return None, max(1, int(float(match[1])))
        return float(match[1]) * {"s": 1, "m": 60, "min": 60, "h": 3600}[match[2]], None


class CountOrAuto(ParamType):
    """-k and --passes: a number, or auto."""

    def __init__(self, noun: str) -> None:
        self.name = self.noun = noun

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if value == "auto" or isinstance(value, int):
            return value
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"{value!r} is neither a number of {self.noun} nor 'auto'.", param, ctx)
        return int(value)


class Shard(ParamType):
    """--shard: 3/64, the third of 64."""

    name = "shard"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", value)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            self.fail(f"{value!r} is not a shard; write for example 3/64, from 1/64 to 64/64.", param, ctx)
        return int(match[1]), int(match[2])


class Output(click.Path):
    """A file that is written at the end; raise before learning, not days later, if it cannot be written."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder = os.path.dirname(os.path.realpath(value))
        if not os.path.isdir(folder):
            self.fail(f"{value}: there is no folder {folder}.", param, ctx)
        if not os.access(folder, os.W_OK):
            self.fail(f"{value}: the folder {folder} cannot be written to.", param, ctx)
        return super().convert(value, param, ctx)


def names(option: str, help: str) -> Decorator:
    """An option for names separated by commas, which may be repeated; None if it is not given."""

    def split(ctx: Any, param: Any, values: tuple[str, ...]) -> list[str] | None:  # noqa: ARG001
        return [name for value in values for name in value.split(",") if name] or None

    return click.option(option, multiple=True, metavar="NAMES", callback=split, help=help)


class Verb(click.Command):
    """A command whose --help shows its options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _section(title: str, *options: Decorator) -> Decorator:
    """Options that --help shows under a title."""

    def decorate(f: Any) -> Any:
        for option in reversed(options):
            f = option(f)
            f.__click_params__[-1].section = title
        return f

    return decorate


def _all(*groups: Decorator) -> Decorator:
    def decorate(f: Any) -> Any:
        for group in reversed(groups):
            f = group(f)
        return f

    return decorate


sources = click.argument("source", nargs=-1, required=True, metavar="SOURCE...")

#: How rows are read; `streamsieve.read` has parameters of these names, and of those of `files`.
table = _section(
    "Table",
    click.option("--target", metavar="COLUMN", help="Column to predict.  [svmlight: the label]"),
    click.option("--weight", metavar="COLUMN", help="Column of row weights."),
    names("--columns", "Use only these columns as features."),
    names("--drop", "Use all columns but these."),
    names("--categorical", "Columns to read as categories, even if they hold numbers."),
    names("--numeric", "Columns to read as numbers; words in them count as missing values."),
    names("--date", "Columns of dates."),
    names("--text", "Columns of text, whose words become features."),
    click.option(
        "--words",
        type=click.Choice(["counts", "tfidf"]),
        default="counts",
        show_default=True,
        help="Value of a word in a text: the number of times it occurs, or TF-IDF.",
    ),
    click.option(
        "--categories",
        type=click.Choice(["onehot", "drop", "error"]),
        default="onehot",
        show_default=True,
        help="What to do with columns of words: make one feature for each value, leave them out, or raise an "
        "error.",
    ),
    click.option(
        "--max-categories",
        type=click.IntRange(1),
        metavar="N",
        default=1000,
        show_default=True,
        help="Maximum number of features for one column of categories; rarer values share a feature.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["mean", "indicator", "zero", "keep", "error"]),
        help="What to do with missing numbers: use the mean of the column (mean), the mean and a 0/1 feature "
        "for missing (indicator), 0 (zero), leave them to the method (keep; sieve and methods on averages), "
        "or raise an error. Missing words are a category.  [default: mean; keep with --effects]",
    ),
    click.option(
        "--like",
        type=click.Path(dir_okay=False),
        metavar="MODEL",
        help="Encode the columns as this model does, so that `merge` can merge both models.",
    ),
)

schema = _section(
    "Table",
    click.option(
        "--schema", "schema_only", is_flag=True, help="Print what each column of the table becomes, and stop."
    ),
)

files = _section(
    "Files",
    click.option(
        "--format",
        metavar="NAME",
        default="auto",
        show_default=True,
        help="auto, svmlight, csv, tsv, jsonl, parquet, arrow, npy, npz, bed.",
    ),
    click.option(
        "--delimiter", metavar="CHARACTER", help="What separates the cells of CSV.  [default: detected]"
    ),
    click.option(
        "--header/--no-header",
        default=True,
        help="Whether the first row of CSV holds the names of the columns. Without it they are 0, 1, ...",
    ),
    click.option(
        "--on-bad-row",
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="What to do with rows that cannot be read: raise an error, or skip and count them.",
    ),
    click.option(
        "--skip", type=click.IntRange(0), metavar="ROWS", default=0, help="Leave out the first rows."
    ),
    click.option("--limit", type=click.IntRange(1), metavar="ROWS", help="Stop after this many rows."),
    click.option(
        "--features",
        "n_features",
        type=click.IntRange(1),
        metavar="N",
        help="Number of features, if known (svmlight).",
    ),
    click.option("--zero-based", is_flag=True, help="svmlight indices count from 0."),
)

passing = _section(
    "Training",
    click.option(
        "--hold-out",
        type=click.IntRange(0),
        metavar="J",
        help="Hold out every J-th row and measure the model on these; 0: do not measure.  [default: "
        "fit on all rows; a second model, without a fifth of some thousand rows, measures the quality]",
    ),
    click.option(
        "--passes",
        type=CountOrAuto("passes"),
        default="auto",
        show_default=True,
        help="auto: as many passes as the method needs; a number: learn the rows that many times, as one "
        "stream.",
    ),
    click.option(
        "--shuffle-buffer",
        type=click.IntRange(0),
        metavar="ROWS",
        default=0,
        help="Shuffle rows within a buffer of this many rows.",
    ),
    click.option(
        "--seed",
        "random_state",
        type=click.IntRange(0),
        metavar="N",
        default=0,
        show_default=True,
        help="Seed of the shuffling.",
    ),
)

task = _section(
    "Model",
    click.option(
        "--task",
        type=click.Choice(["auto", "regression", "classification"]),
        default="auto",
        show_default=True,
        help="Predict numbers (regression) or labels (classification); auto decides from the target.",
    ),
    names("--classes", "All labels, if the first rows may not contain all of them."),
)

memory = _section(
    "Model",
    click.option(
        "--memory",
        type=Size(),
        help="Memory limit of the model.  [default: 256MB for sieve, else a quarter of the machine's]",
    ),
)


class HalfLife(ParamType):
    """--half-life: rows, or auto."""

    name = "rows"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        if value == "auto" or isinstance(value, float):
            return value
        try:
            rows = float(value)
        except ValueError:
            rows = 0.0
        if not 0 < rows < float("inf"):
            self.fail(f"{value!r} is neither a number of rows nor 'auto'.", param, ctx)
        return rows


#: Constraints on the weights, short for --set; parameters of the methods on averages.
constraints = _section(
    "Model",
    names("--keep", "Features, or columns of categories, to keep in every model."),
    click.option("--positive", is_flag=True, default=None, help="Do not allow negative weights."),
    click.option(
        "--group-categories",
        is_flag=True,
        default=None,
        help="Select the values of a column of categories together; -k then counts columns.",
    ),
)

model = _all(
    _section(
        "Model",
        click.option(
            "-k",
            "k",
            type=CountOrAuto("features"),
            help="Number of features to select; auto: chosen by --criterion.",
        ),
        click.option(
            "--method",
            metavar="NAME",
            default="auto",
            show_default=True,
            callback=lambda ctx, param, value: value.lower(),  # noqa: ARG005
            help="auto (sieve), or one of the methods below.",
        ),
        click.option(
            "--criterion",
            type=click.Choice(["cv", "1se", "ebic", "bic", "aic"]),
            help="How -k auto chooses: least held-out loss, the fewest features within one standard error of "
            "it, or an information criterion.  [default: cv; averages: bic]",
        ),
    ),
    task,
    constraints,
    _section(
        "Model",
        click.option(
            "--effects",
            type=click.Choice(["linear", "shapes", "pairs", "auto"]),
            help="Form of the effects (sieve): lines, curves, or curves and pairs of features; auto compares "
            "them by cross-validation.",
        ),
        click.option(
            "--half-life",
            type=HalfLife(),
            help="Number of rows after which the weight of a row has halved; auto adapts it to the stream "
            "and reports when it changed.",
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Set a parameter of the method; can be repeated.",
        ),
    ),
    memory,
)

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)

#: Uncertainty of the selection: parameters of methods on averages, and the column `cluster` of `read`.
errors = _section(
    "Uncertainty",
    click.option(
        "--fdr", type=_SHARE, metavar="Q", help="Select at this false discovery rate, by least squares (ols)."
    ),
    click.option(
        "--se",
        type=click.Choice(["classical", "folds", "cluster", "hc1"]),
        help="Standard errors: classical (constant variance), jackknife over folds, cluster-robust "
        "sandwich, or heteroscedasticity-robust (fourth moments).",
    ),
    click.option(
        "--cluster",
        metavar="COLUMN",
        help="Column that identifies clusters; rows of one cluster may be dependent. Implies --se folds.",
    ),
    click.option(
        "--honest",
        type=_SHARE,
        metavar="SHARE",
        help="Select on this share of the folds and estimate on the others, so that intervals are valid "
        "after selection.",
    ),
    click.option(
        "--stability",
        type=click.FloatRange(0.5, 1, min_open=True),
        metavar="SHARE",
        help="Keep features that are selected in at least this share of random halves of the rows.",
    ),
)

checkpoint = _section(
    "Checkpoints",
    click.option("--checkpoint", type=Output(), help="File to write the state of the run to."),
    click.option(
        "--every",
        type=Interval(),
        default="60s",
        show_default=True,
        help="How often to write it: 60s, 10min, 1000000rows.",
    ),
    click.option("--resume", is_flag=True, help="Continue from the checkpoint, if it exists."),
)

units = _section(
    "Several processes or machines",
    click.option(
        "--shard",
        type=Shard(),
        metavar="I/N",
        help="Learn the I-th of N shards of the source; `merge` makes the model of all N.",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Learn on the workers of this Dask scheduler."),
    click.option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="Learn in this many processes on this machine (needs dask).",
    ),
    click.option(
        "--unit", type=Size(), help="Bytes of the source that a worker reads at a time.  [default: 256MB]"
    ),
    click.option(
        "--unit-folder",
        type=click.Path(file_okay=False),
        help="Folder for finished parts of the source; the same command run again skips them.",
    ),
)

report = _section(
    "Report",
    click.option(
        "--report",
        type=Output(),
        help="HTML file for a report about the model and the run; the selection is repeated without each "
        "fifth of the rows.",
    ),
    click.option(
        "--history/--no-history",
        default=True,
        show_default=True,
        help="Record loss, selection and drift for the report and for `watch`; takes at most 1.5% of the "
        "time.",
    ),
)

output = _section(
    "Output",
    click.option("--json", "as_json", is_flag=True, help="Print results as JSON."),
    click.option("-q", "--quiet", is_flag=True, help="Print no progress and no notes."),
)


def _methods() -> str:
    families: dict[str, list[str]] = {}
    for entry in METHODS.values():
        family = "default" if entry.family == "flagship" else entry.family
        families.setdefault(family, []).append(entry.name.lower())
    return " ".join(f"{family.capitalize()}: {', '.join(names)}." for family, names in families.items())


#: The end of the help of verbs that learn.
METHOD_LIST = "Methods by family. " + _methods()
