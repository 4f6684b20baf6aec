"""The options that verbs share. Only click is imported here: --help must be instant."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import click

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
        told = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", value.lower())
        if told is None or told[2] not in self._unit:
            self.fail(f"{value!r} is no amount of memory; write for instance 500MB or 4GB.", param, ctx)
        return int(float(told[1]) * self._unit[told[2]])


class Every(ParamType):
    """How often to write a checkpoint: (seconds, None) or (None, rows)."""

    name = "interval"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float | None, int | None]:
        if isinstance(value, tuple):
            return value
        told = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|rows?)\s*", value.lower())
        if told is None or float(told[1]) <= 0:
            self.fail(f"{value!r} is no interval; write for instance 60s, 10min or 1000000rows.", param, ctx)
        if told[2].startswith("row"):
            return None, max(1, int(float(told[1])))
        return float(told[1]) * {"s": 1, "m": 60, "min": 60, "h": 3600}[told[2]], None


class Budget(ParamType):
    """-k: a number of features, or auto."""

    name = "k"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if value == "auto" or isinstance(value, int):
            return value
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"{value!r} is neither a number of features nor 'auto'.", param, ctx)
        return int(value)


class Output(click.Path):
    """A file to write at the end: what stands in the way is said before days of learning, not after."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder = os.path.dirname(os.path.realpath(value))
        if not os.path.isdir(folder):
            self.fail(f"{value}: there is no folder {folder}.", param, ctx)
        if not os.access(folder, os.W_OK):
            self.fail(f"{value}: the folder {folder} cannot be written to.", param, ctx)
        return super().convert(value, param, ctx)


class Names(ParamType):
    """Names with commas between them."""

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:  # noqa: ARG002
        return value if isinstance(value, list) else [name for name in value.split(",") if name]


def _all(*options: Decorator) -> Decorator:
    def decorate(f: Any) -> Any:
        for option in reversed(options):
            f = option(f)
        return f

    return decorate


sources = click.argument("source", nargs=-1, required=True, metavar="SOURCE...")

#: How the rows are read; `streamsieve.read` takes them by these names.
stream = _all(
    click.option("--target", help="Column to predict (CSV, Parquet, Arrow).  [svmlight: the label]"),
    click.option("--weight", help="Column of row weights."),
    click.option(
        "--format",
        default="auto",
        show_default=True,
        help="auto, svmlight, csv, tsv, parquet, arrow, npy, npz.",
    ),
    click.option("--delimiter", help="What separates the cells of CSV.  [default: a comma; TSV: a tab]"),
    click.option(
        "--header/--no-header", default=True, help="CSV has names in its first row, or else 0, 1, ..."
    ),
    click.option("--columns", type=Names(), help="Only these columns as features."),
    click.option("--drop", type=Names(), help="All columns but these."),
    click.option(
        "--categories",
        type=click.Choice(["onehot", "drop", "error"]),
        default="onehot",
        show_default=True,
        help="Columns that are not numbers: a feature for each value met, left out, or refused.",
    ),
    click.option(
        "--categorical", type=Names(), help="Columns of CSV that are categories though they begin as numbers."
    ),
    click.option(
        "--max-categories",
        type=click.IntRange(1),
        default=1000,
        show_default=True,
        help="Values of one column.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "zero", "mean"]),
        default="error",
        show_default=True,
        help="Empty cells and NaN: refuse, read as 0, or impute the mean so far (methods on averages).",
    ),
    click.option(
        "--on-bad-row",
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="Rows that cannot be read: stop, or skip and count.",
    ),
    click.option(
        "--features",
        "n_features",
        type=click.IntRange(1),
        help="Number of features, where it is known (svmlight).",
    ),
    click.option("--zero-based", is_flag=True, help="svmlight indices count from 0."),
    click.option("--skip", type=click.IntRange(0), default=0, help="Leave out the first rows."),
    click.option("--limit", type=click.IntRange(1), help="Stop after so many rows."),
)

passing = _all(
    click.option(
        "--passes", type=click.IntRange(1), default=1, show_default=True, help="Read the source so often."
    ),
    click.option(
        "--shuffle-buffer", type=click.IntRange(0), default=0, help="Mix rows within a buffer of so many."
    ),
    click.option("--seed", "random_state", type=int, default=0, show_default=True, help="Of the shuffling."),
    click.option(
        "--hold-out",
        type=click.IntRange(0),
        default=0,
        help="Keep every j-th row for a test after learning; 0: none.",
    ),
)

model = _all(
    click.option(
        "-k", "k", type=Budget(), help="Features to keep; auto chooses by BIC (methods on averages)."
    ),
    click.option(
        "--method",
        default="auto",
        show_default=True,
        callback=lambda ctx, param, value: value.lower(),  # noqa: ARG005
        help="auto, or one of those below.",
    ),
    click.option(
        "--task",
        type=click.Choice(["auto", "regression", "classification"]),
        default="auto",
        show_default=True,
    ),
    click.option("--classes", type=Names(), help="All labels, where the first rows do not show them all."),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the method; several times.",
    ),
    click.option(
        "--memory", type=Size(), help="What averages may take.  [default: a quarter of the machine's]"
    ),
)

checkpoint = _all(
    click.option("--checkpoint", type=Output(), help="File to keep the state of the run in."),
    click.option("--every", type=Every(), default="60s", show_default=True, help="60s, 10min, 1000000rows."),
    click.option("--resume", is_flag=True, help="Go on from the checkpoint, if there is one."),
)

output = _all(
    click.option("--json", "as_json", is_flag=True, help="Results as JSON."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, no remarks."),
)

METHODS = (
    "Methods on running averages (p^2 memory): ols, olsth, ofsa, olasso, oelasticnet, oadaptivelasso, omcp, "
    "oscad. Row by row: sgd, sfsa, tsgd, siht, olst, olstthentsgd, barda, bamd, ofs, sofs, "
    "truncatedgradient, fobos, rda, l1arda, adafobos, sadmm, stabilizedsgd."
)
