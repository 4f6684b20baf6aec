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
            self.fail(f"{value!r} is no amount of memory; write for instance 500MB or 4GB.", param, ctx)
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
            self.fail(f"{value!r} is no interval; write for instance 60s, 10min or 1000000rows.", param, ctx)
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
            self.fail(f"{value!r} is no shard; write for instance 3/64, from 1/64 to 64/64.", param, ctx)
        return int(match[1]), int(match[2])


class Output(click.Path):
    """A file to write at the end; what prevents that is an error before days of learning, not after."""

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
    """An option of names with commas between them, which may be given several times; None if it is not."""

    def split(ctx: Any, param: Any, values: tuple[str, ...]) -> list[str] | None:  # noqa: ARG001
        return [name for value in values for name in value.split(",") if name] or None

    return click.option(option, multiple=True, metavar="NAMES", callback=split, help=help)


def _all(*options: Decorator) -> Decorator:
    def decorate(f: Any) -> Any:
        for option in reversed(options):
            f = option(f)
        return f

    return decorate


sources = click.argument("source", nargs=-1, required=True, metavar="SOURCE...")

#: How rows are read; `streamsieve.read` has parameters of these names.
stream = _all(
    click.option("--target", help="Column to predict (CSV, Parquet, Arrow).  [svmlight: the label]"),
    click.option("--weight", help="Column of row weights."),
    click.option(
        "--format",
        default="auto",
        show_default=True,
        help="auto, svmlight, csv, tsv, jsonl, parquet, arrow, npy, npz, bed.",
    ),
    click.option("--delimiter", help="Character between the cells of CSV.  [default: found]"),
    click.option(
        "--header/--no-header",
        default=True,
        help="The first row of CSV holds the names; without, they are 0, 1, ...",
    ),
    click.option(
        "--like",
        type=click.Path(dir_okay=False),
        metavar="MODEL",
        help="Read the columns of a table as this model does, so that `merge` can add up both.",
    ),
    names("--columns", "Use only these columns as features."),
    names("--drop", "Use all columns but these."),
    click.option(
        "--categories",
        type=click.Choice(["onehot", "drop", "error"]),
        default="onehot",
        show_default=True,
        help="Columns that are not numbers: one feature for each value, leave out, or fail.",
    ),
    names("--categorical", "Columns that are categories, whatever they hold."),
    names("--numeric", "Columns that are numbers; words in them are missing values."),
    names("--text", "Columns of text, whose words become features."),
    names("--date", "Columns of dates."),
    click.option(
        "--words",
        type=click.Choice(["counts", "tfidf"]),
        default="counts",
        show_default=True,
        help="What the words of texts count: how often they occur, or TF-IDF.",
    ),
    click.option(
        "--max-categories",
        type=click.IntRange(1),
        default=1000,
        show_default=True,
        help="Values of a column of categories that become features; rarer ones are pooled.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["mean", "indicator", "zero", "keep", "error"]),
        default="mean",
        show_default=True,
        help="Numbers that are missing: their mean, also with a feature that says so, 0, left to the method "
        "(sieve and those on averages), or an error. Words that are missing are a category.",
    ),
    click.option(
        "--on-bad-row",
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="Rows that cannot be read: fail, or skip and count them.",
    ),
    click.option(
        "--features",
        "n_features",
        type=click.IntRange(1),
        help="Number of features, where it is known (svmlight).",
    ),
    click.option("--zero-based", is_flag=True, help="svmlight indices count from 0."),
    click.option("--skip", type=click.IntRange(0), default=0, help="Leave out the first rows."),
    click.option("--limit", type=click.IntRange(1), help="Stop after this many rows."),
)

schema = click.option(
    "--schema", "schema_only", is_flag=True, help="Print what each column of a table becomes, and stop."
)

passing = _all(
    click.option(
        "--passes",
        type=CountOrAuto("passes"),
        default="auto",
        show_default=True,
        help="auto: as often as the method wants, as `fit` does; a number: so often, as one stream.",
    ),
    click.option(
        "--shuffle-buffer",
        type=click.IntRange(0),
        default=0,
        help="Shuffle rows within a buffer of this many.",
    ),
    click.option(
        "--seed",
        "random_state",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="Seed of the shuffling.",
    ),
    click.option(
        "--hold-out",
        type=click.IntRange(0),
        metavar="J",
        help="Do not learn every J-th row, and measure the model on them; 0: do not measure.  [default: "
        "learn all, and measure a model of four fifths of the first rows on the others]",
    ),
)

task = _all(
    click.option(
        "--task",
        type=click.Choice(["auto", "regression", "classification"]),
        default="auto",
        show_default=True,
    ),
    names("--classes", "All labels, where the first rows do not show them all."),
)

memory = click.option(
    "--memory",
    type=Size(),
    help="Memory that the model may take.  [default: 256MB for sieve, else a quarter of the machine's]",
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
constraints = _all(
    names("--keep", "Features, or columns of categories, that are in every model."),
    click.option("--positive", is_flag=True, default=None, help="Weights are at least 0."),
    click.option(
        "--group-categories",
        is_flag=True,
        default=None,
        help="The values of a column enter together or not at all; -k counts columns.",
    ),
)

shorthands = _all(
    constraints,
    click.option(
        "--effects",
        type=click.Choice(["linear", "shapes", "pairs", "auto"]),
        help="What a feature may contribute (sieve): a line, a curve, curves and pairs; auto compares them.",
    ),
    click.option(
        "--half-life",
        type=HalfLife(),
        help="Rows after which a row's weight has halved; auto adapts it, and dates drift.",
    ),
)

model = _all(
    click.option(
        "-k",
        "k",
        type=CountOrAuto("features"),
        help="Features to keep; auto chooses by BIC (methods on averages).",
    ),
    click.option(
        "--method",
        default="auto",
        show_default=True,
        callback=lambda ctx, param, value: value.lower(),  # noqa: ARG005
        help="auto, or a method below.",
    ),
    task,
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set a parameter of the method; can be repeated.",
    ),
    shorthands,
    memory,
)

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)

#: How sure the selection is; parameters of methods on averages, and the column `cluster` of `read`.
errors = _all(
    click.option(
        "--fdr", type=_SHARE, metavar="Q", help="Select at this false discovery rate, by least squares (ols)."
    ),
    click.option(
        "--se",
        type=click.Choice(["classical", "folds", "cluster", "hc1"]),
        help="How errors are made: noise of one variance, jackknife or sandwich over folds, fourth moments.",
    ),
    click.option(
        "--cluster", metavar="COLUMN", help="Column of ids; rows of an id depend on each other.  [--se folds]"
    ),
    click.option(
        "--honest",
        type=_SHARE,
        metavar="SHARE",
        help="Select on this share of the folds, estimate on the others: intervals hold after selection.",
    ),
    click.option(
        "--stability",
        type=click.FloatRange(0.5, 1, min_open=True),
        metavar="SHARE",
        help="Keep what this share of random halves of the rows selects.",
    ),
)

checkpoint = _all(
    click.option("--checkpoint", type=Output(), help="File to write the state of the run to."),
    click.option(
        "--every",
        type=Interval(),
        default="60s",
        show_default=True,
        help="How often to write it: 60s, 10min, 1000000rows.",
    ),
    click.option("--resume", is_flag=True, help="Continue from the checkpoint, if there is one."),
)

units = _all(
    click.option(
        "--shard",
        type=Shard(),
        metavar="I/N",
        help="Learn the I-th of N shards of the source; `merge` makes the model of all N.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="Let the workers of a Dask scheduler read the source."
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        help="Let so many processes of this machine read it (needs dask).",
    ),
    click.option(
        "--unit", type=Size(), help="Bytes of the source that are read at a time.  [default: 256MB]"
    ),
    click.option(
        "--unit-folder",
        type=click.Path(file_okay=False),
        help="Keep finished units there; the same command skips them.",
    ),
)

report = _all(
    click.option("--report", type=Output(), help="HTML file to write a report of model and run to."),
    click.option(
        "--history/--no-history",
        default=True,
        show_default=True,
        help="Record loss, selection and drift for the report and for `watch`, in 1.5% of the time at most.",
    ),
)

output = _all(
    click.option("--json", "as_json", is_flag=True, help="Print results as JSON."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, no notes."),
)


def _methods() -> str:
    families: dict[str, list[str]] = {}
    for entry in METHODS.values():
        families.setdefault(entry.family, []).append(entry.name.lower())
    return " ".join(f"{family.capitalize()}: {', '.join(names)}." for family, names in families.items())


#: The end of the help of verbs that learn.
METHOD_LIST = "Methods. " + _methods()
