"""Values far outside the usual range of a column: detection, and adaptation if the column has changed.

A single extreme value, for example a damaged cell or a wrong unit, would outweigh all rows so far. It is
replaced by the centre of its column and counted, with one warning; targets are treated likewise. Several
consecutive extreme values mean that the column has jumped or drifted: they set its centre and unit again
(`_renew`). A drifting column is learned all the time, because values are excluded only at twice the distance
at which they are monitored.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..core.rows import Array, Rows
from ..core.state import State, Undo, check_array, zeros
from ..core.words import counted

if TYPE_CHECKING:
    from ..core.method import Method
    from .prepare import Prepare

FAR = 100.0  # units from the centre: the square of such a value is that of 10,000 typical ones
FEW = 10  # values that determine the unit of a column within a quarter, and its centre within a third
LARGEST_UNIT = 1e30  # of targets: within it no square of a scaled target overflows
SAME = 10.0  # units that differ by less than this factor are not changed, nor are the weights
ROUNDING = 1e-12  # largest ratio of standard deviation to mean of a constant column
BLOCKS = 40  # of rows, at most, whose mean squares are compared: a damaged value moves that of one
BLOCK_SUMS = 1 << 22  # sums of columns by block that are stored to find columns with damaged values


class Moments(NamedTuple):
    """For some columns: rows, non-zero values, mean and variance over all rows, sum of squares."""

    n: Array | int
    filled: Array
    mean: Array
    var: Array
    squares: Array


class FarRuns(State):
    """The consecutive far values of each column up to now; see `far_runs` in columns.hpp."""

    runs: Array
    all: Array

    def __init__(self, axis: str, n: int) -> None:
        # `all` is how many columns have a run, and the row of the first of these
        super().__init__(runs=zeros(**{axis: n, "number": 5}), all=zeros(number=2))

    def __bool__(self) -> bool:
        return bool(self.all[0])

    def read(self, rows: Rows, center: Array, reach: Array, row: int, wait: Any) -> tuple[int, bool]:
        """Read rows, starting at number `row`, until a run is complete; returns their number and whether it
        is.

        Rows in which a run continues are marked in `wait` (n,).
        """
        done = 0
        for at, part in rows.in_row_order():
            numbers = float(row + done), FEW, self.runs, self.all, wait[at]
            n, whole = _core.far_runs(part.kernel, center, reach, *numbers)
            done += n
            if whole:
                return done, True
        return done, False

    def take_whole(self, row: int) -> tuple[NDArray[np.intp], Moments]:
        """Columns whose run is complete before row number `row`, and their statistics; these runs start
        again."""
        at = np.flatnonzero(self.runs[:, 0] >= FEW)
        count, since, first, total, squares = self.runs[at].T
        self.runs[at] = 0.0
        self.all[0] -= len(at)
        self.all[1] *= self.all[0] > 0
        n, off = row - since, total / count
        mean, var, share = first + off, np.maximum(squares / count - off**2, 0.0), count / n
        all_var = share * var + share * (1 - share) * mean**2
        return at, Moments(n, count, share * mean, all_var, count * (var + mean**2))

    def check(self, n: int) -> None:
        """Raise ValueError for invalid runs from a file."""
        check_array("runs", self.runs, np.float64, (n, 5))
        check_array("all", self.all, np.float64, (2,))
        count = self.runs[:, 0]
        if not ((count >= 0) & (count < FEW) & (count == np.floor(count))).all():
            raise ValueError("the runs of far values are not counts.")
        if self.all[0] != np.count_nonzero(count):
            raise ValueError(f"{self.all[0]:g} columns have far values, but the runs do not agree.")


def centre_and_square(of: Moments, centers: bool) -> tuple[NDArray[np.bool_], Array, NDArray[np.bool_]]:
    """Which columns are centred at their mean; the squares of their units; which of them are constant."""
    far = (of.mean**2 > of.var) & centers
    constant = of.var <= (ROUNDING * of.mean) ** 2
    # with few rows a standard deviation may be tiny by chance
    chance = (of.mean / of.n) ** 2
    about = np.where(constant, chance, of.var + np.minimum(of.var, chance))
    square = np.where(far, about, of.squares / np.maximum(of.filled, 1))
    return far, square, far & constant  # a flag that was always set: its mean is its unit


def robust_reach(rows: Rows, at: NDArray[np.int64]) -> Array:
    """Largest allowed magnitude of the values of each column (p,), by the median over blocks of rows `at`.

    A block with a damaged value does not change the median. Values beyond the limit in more than a tenth of
    the blocks count as regular. With fewer than three blocks there is no limit.
    """
    reach = np.full(rows.p, np.inf)
    n_blocks = min(len(at) // FEW, BLOCKS, BLOCK_SUMS // max(1, rows.p))
    if n_blocks < 3:
        return reach
    sums = np.array([rows.column_sums(at=part) for part in np.array_split(at, n_blocks)])
    count, squares = sums[:, :, 0], sums[:, :, 2]
    mean = np.where(count >= FEW, squares, np.nan) / np.maximum(count, 1)
    known = np.count_nonzero(mean > 0, axis=0) >= 3
    reach[known] = FAR * np.sqrt(np.nanmedian(mean[:, known], axis=0))
    reach[reach == 0] = np.inf
    reach[FEW * np.count_nonzero(squares > reach**2, axis=0) > n_blocks] = np.inf
    return reach


def near_targets(y: Array, center: Array, reach: Array) -> tuple[Array, NDArray[np.int64]]:
    """Targets (n, q) with far values replaced by the centre, and the outputs of the replaced values."""
    rows, outputs = Rows(y).without_far(center, reach)
    assert rows.values is not None
    return rows.values, outputs


def warn_of(columns: NDArray[np.int64]) -> None:
    """Warn that values of these columns are not learned."""
    some = np.unique(columns)
    warnings.warn(
        f"{counted(len(columns), 'value')} of X will not be learned (columns {some[:5]}, counted from 0): "
        f"more than {2 * FAR:g} units from the centre of the column, by the rows that set both. A column "
        "that stays there is learned again. Check the data, or pass standardize=False to learn all values as "
        "given.",
        stacklevel=2,
    )


def warn_of_targets(n: int) -> None:
    """Warn that n targets are not learned."""
    warnings.warn(
        f"{counted(n, 'target')} will not be learned: more than {2 * FAR:g} units from the centre of the "
        "targets, by the rows that set both. Targets that stay there are learned again. Check the data, or "
        "pass standardize=False to learn all as given.",
        stacklevel=2,
    )


# ---------------------------------------------------------------- rows with such values


def learn_far(stage: Prepare, method: Method, rows: Rows, y: Array, w: Array | None, undo: Undo) -> None:
    """Learn rows that may have far values; centre and unit may change during the call."""
    at = 0
    while at < len(rows):
        n, learned, moved = _read(stage, rows[at:], y[at:])
        part = slice(at, at + n)
        if at == 0 and (moved or n < len(rows)):  # the first of several steps that are one
            undo.keep(0, lambda: partial(method.state.restore, method.state.snapshot()))
        some, targets = stage.near(rows[part], y[part])
        weights = None if w is None else w[part]
        if not learned.all():
            some, targets = some.take(learned), targets[learned]
            weights = None if weights is None else weights[learned]
        if len(some):
            method.update(stage.apply(some), stage.targets(targets), weights)
        at += n
        stage.n_rows += n
        if moved:
            _renew(stage, method)


def undo_far(stage: Prepare, rows: Rows) -> Callable[[], None]:
    """How to undo the changes by rows with far values."""
    held = stage.snapshot(rows.features)

    def restore() -> None:
        stage.restore(held)
        stage.forget_derived()

    return restore


def _read(stage: Prepare, rows: Rows, y: Array) -> tuple[int, NDArray[np.bool_], bool]:
    """Read rows until centre and unit of some columns or targets must be set again (`_renew`).

    Returns the number of these rows; which of them can be learned (not those of a column or target that may
    change); and whether a change is due.
    """
    stage.runs = FarRuns("feature", stage.p) if stage.runs is None else stage.runs
    if stage.target_runs is None:
        stage.target_runs = FarRuns("output", len(stage.target_center))
    before = stage.target_runs.copy()
    columns, targets = (stage.center, stage.reach), (stage.target_center, stage.target_reach)
    wait, waits = np.zeros((2, len(y)), dtype=bool)
    n, whole = stage.target_runs.read(Rows(y), *targets, stage.n_rows, waits)
    m, moved = stage.runs.read(rows[:n], *columns, stage.n_rows, wait)
    if m < n:
        stage.target_runs, waits = before, np.zeros(m, dtype=bool)
        n, whole = stage.target_runs.read(Rows(y[:m]), *targets, stage.n_rows, waits)
    stage.recent = np.concatenate([stage.recent, y[:m]])[-FEW:]
    _keep_recent(stage, stage.n_rows + m - int(stage.runs.all[1]))
    return m, ~(wait[:m] | waits[:m]), whole or moved


def _keep_recent(stage: Prepare, n: int) -> None:
    """Store the targets of n rows since the first run began, independently of how the stream is cut."""
    stage.recent[: max(0, FEW - n) if stage.runs else FEW] = 0.0


def _renew(stage: Prepare, method: Method) -> None:
    """Set centre and unit again for columns and targets that have stayed far outside.

    The weights keep their values in the new unit: the effect of one standard deviation. If the targets of the
    last rows differ from the prediction at the new centre, they have moved together with the columns.
    """
    assert stage.runs is not None
    assert stage.target_runs is not None
    at, moments = stage.runs.take_whole(stage.n_rows)
    if len(at):
        far, square, constant = centre_and_square(moments, stage.centers)
        moved = far | (stage.center[at] != 0)
        stage.center[at] = np.where(far, moments.mean, 0.0)
        unit = np.where(constant, np.abs(moments.mean), np.sqrt(square))
        unit = np.where(unit > 0, unit, stage.reach[at] / FAR)  # all are 0 now: that is no unit
        if stage.inverse is not None:
            same = np.abs(np.log(unit * (stage.inverse[at] * stage.length))) < np.log(SAME)
            stage.inverse[at] = np.where(same, stage.inverse[at], 1 / (unit * stage.length))
            unit = np.where(same, stage.reach[at] / FAR, unit)
        stage.reach[at] = FAR * unit
        if moved.any() and stage.centers:
            off = stage.recent.mean(axis=0) - (stage.target_center + stage.target_unit * method.weights()[1])
            stage.target_center += np.where(np.abs(off) > stage.target_reach / FAR, off, 0.0)
    at, moments = stage.target_runs.take_whole(stage.n_rows)
    if len(at):
        loss, intercept = method.loss_function, method.fit_intercept
        centred = stage.centers if loss.name == "squared" else loss.needs_units and intercept
        far, square, constant = centre_and_square(moments, centred)
        stage.target_center[at] = np.where(far, moments.mean, 0.0)
        reach = FAR * np.where(constant, np.abs(moments.mean), np.sqrt(square))
        used = stage.target_unit[at] != 1.0
        unit = np.where(used, stage.target_unit[at] * (reach / stage.target_reach[at]), 1.0)
        stage.target_unit[at] = np.clip(unit, 1 / LARGEST_UNIT, LARGEST_UNIT)
        stage.target_reach[at] = reach
    _keep_recent(stage, FEW)
    stage.forget_derived()
