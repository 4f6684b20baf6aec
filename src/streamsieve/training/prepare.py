"""Centre and unit of the columns, for learners by gradient steps.

Where the mean of a column exceeds its deviation, a step for the intercept and one for the weight undo each
other, and learning takes far more rows. Such a column is centred on its mean over the first rows, which then
stays: a centre that moves would change what the weights mean. It is not zero in most rows, so that centring
sparse rows at most doubles their entries; columns that are mostly zero stay as they are.

One step for all columns suits none where their units differ. Learners whose kernels have no units of their
own see each column divided by the root mean square of its non-zero values about the centre, from the
same rows; of a column that is mostly zero and hardly seen in them, by the typical one. The steps of
budgeted learners are made for rows of norm 1: theirs are divided by the root mean square of the norm that k
values of a row can have.

One value far outside of those rows, a damaged cell or a sensor that was just switched on, would outweigh all
rows so far and undo what they taught. It is read as the centre of its column, counted in `n_far`, and a
warning says so once.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..core.losses import or_one, shares
from ..core.method import Method
from ..core.rows import Array, ColumnMap, Rows
from ..core.state import RowBuffer, State, array, zeros
from ..core.transaction import Undo
from ..core.words import counted

ROWS = 100  # that decide on centre and unit: a tenth of a deviation off, in the mean
SAMPLE = 4096  # rows that do in `fit`, from all parts of the data: the first may be of one class
SAMPLE_VALUES = 1 << 22
FEW = 10  # values of a column that is mostly zero tell little of its unit
LARGEST_UNIT = 1e30  # of targets: within it no square of a scaled target overflows
FAR = 100.0  # units from the centre: the square of such a value is that of 10,000 typical ones
CLEARLY = 4.0  # z-score above which the mean of the targets counts as non-zero
BLOCK_SUMS = 1 << 22  # sums of columns, block by block, that are held to find columns with damaged values


class Prepare(State):
    """Centre and unit, and the first rows until there are enough of them to place both."""

    centers: bool
    budget: int
    placed: bool
    n_far: int
    length: float
    buffer: RowBuffer
    _map: tuple[Array, ColumnMap] | None = None  # the centre that it was made of, and the map
    _least: tuple[Array, float] | None = None  # the reach that it was made of, and the least of it

    def __init__(
        self,
        p: int,
        q: int,
        centers: bool = True,
        scales: bool = False,
        budget: int = 0,
    ) -> None:
        super().__init__(
            centers=centers,
            budget=budget,  # values of a row whose squares sum to 1 in the mean; 0: rows are of any length
            center=zeros(feature=p),
            inverse=zeros(feature=p) if scales else None,  # of the units
            typical=1.0,  # that of columns which the first rows do not have
            # the distance from the centre beyond which values are not learned, and how many were not
            reach=array(np.full(p, np.inf), "feature") if scales else None,
            n_far=0,
            length=1.0,  # of rows in units of their columns, where these are divided by it
            # of the targets of the same rows, where the loss is in their units or steps are made for rms 1
            target_center=zeros(output=q),
            target_unit=array(np.ones(q), "output"),
            placed=False,
            buffer=RowBuffer(),
        )

    @staticmethod
    def of(method: Method, p: int) -> Prepare | None:
        """The stage that a method wants before it, if any."""
        standardize = method.prepare is not None and getattr(method, "standardize", True) is True
        centers = standardize and getattr(method, "fit_intercept", False)
        scales = standardize and method.prepare != "centre"
        targets = method.prepare is not None and method.loss_function.needs_units
        if not (centers or scales or targets) or not ROWS:
            return None
        budget = method.k if method.prepare == "unit rows" else 0  # type: ignore[attr-defined]
        return Prepare(p, method.q, centers, scales, budget)

    @property
    def p(self) -> int:
        return len(self.center)

    def resize(self, p: int) -> None:
        """Make room for p features, or give it back; new ones have the typical unit."""
        before = self.p
        if p == before:
            return
        super().resize(p)
        if self.inverse is not None:
            self.reach[before:] = FAR / (self.typical * self.length) if self.placed else np.inf
            if self.placed:
                self.inverse[before:] = self.typical

    @property
    def full(self) -> bool:
        """Whether enough rows are buffered to place the centre."""
        return len(self.buffer) >= ROWS

    def collect(self, rows: Rows, y: Array, w: Array | None) -> tuple[Rows, Array, Array | None]:
        """Buffer rows until there are enough to place the centre; those that are left over."""
        n = ROWS - len(self.buffer)
        self.buffer.append(rows[:n], y[:n], None if w is None else w[:n])
        return rows[n:], y[n:], None if w is None else w[n:]

    @property
    def map(self) -> ColumnMap | None:
        """Centre and unit as rows carry them; None before they are placed."""
        if not self.placed:
            return None
        if self._map is None:
            self._map = self.center, ColumnMap(self.center, self.inverse)
        elif self._map[0] is not self.center:  # features have joined, which are not centred
            self._map = self.center, ColumnMap(self.center, self.inverse, self._map[1].centred)
        return self._map[1]

    def apply(self, rows: Rows) -> Rows:
        """The rows about the centre and in units of their columns, once both are placed."""
        return rows.mapped(self.map)

    def without_far(self, rows: Rows) -> tuple[Rows, int]:
        """The rows, or a copy in which the centre stands for values far outside of those that placed it; and
        how many these are. Of the first of them a warning is given."""
        if self.reach is None or not self.placed or rows.within(self.least_reach):
            return rows, 0
        rows, columns = rows.without_far(self.center, self.reach)
        if len(columns) and not self.n_far:
            some = np.unique(columns)
            warnings.warn(
                f"{counted(len(columns), 'value')} of X will not be learned (columns {some[:5]}, counted "
                f"from 0): more than {FAR:g} units from the centre of the column, by the rows that set both. "
                "Check the data, or pass standardize=False to learn all values as given.",
                stacklevel=2,
            )
        return rows, len(columns)

    @property
    def least_reach(self) -> float:
        """Magnitude up to which no value is too far out, whatever its column."""
        if self._least is None or self._least[0] is not self.reach:
            least = self.reach.min(initial=np.inf) - np.abs(self.center).max(initial=0.0)
            self._least = self.reach, max(0.0, float(least))
        return self._least[1]

    def targets(self, y: Array) -> Array:
        """The targets, or predictions of them, in the unit that loss and derived steps are made for."""
        same = (self.target_unit == 1.0).all() and not self.target_center.any()
        return y if same else (y - self.target_center) / self.target_unit

    def undo(self, method: Method) -> Undo:
        """How to take back the rows of a call, the centre that they place and what the method learns."""
        before, p, q = self.buffer.copy(), method.p, method.q

        def restore() -> None:
            method.begin(p, q)  # which learns no row before the centre is placed
            self.buffer, self.placed, self._map, self._least = before, False, None, None
            self.center[:] = 0.0
            self.n_far, self.length = 0, 1.0
            if self.inverse is not None:
                self.inverse[:], self.reach[:] = 0.0, np.inf
            self.typical = self.target_unit[:] = 1.0
            self.target_center[:] = 0.0

        return Undo(restore)

    def begin(self, method: Method, rows: Rows, y: Array, w: Array | None) -> None:
        """Before the first pass over data in memory: place the centre and start the intercept."""
        at = self.place_by_sample(rows)
        self.place_targets(method, y[at])
        if self.centers and rows.mostly_zero(at):
            begin_intercept(method, self.targets(y[at]), None if w is None else w[at])

    def place_by_sample(self, rows: Rows) -> NDArray[np.int64]:
        """Place the centre by rows from all parts of data in memory, and return their places."""
        most = min(SAMPLE, max(ROWS, SAMPLE_VALUES // max(1, rows.n_values // len(rows))))
        at = np.arange(0, len(rows), -(-len(rows) // most))
        self.place(rows, at)
        return at

    def place_targets(self, method: Method, y: Array) -> None:
        """Set centre and unit of the targets by these, where loss or steps are made for them.

        Targets of squared loss are centred where columns would be: far from zero, the intercept would take
        all rows to arrive, and in single precision nothing would be left of the deviations.
        """
        loss = method.loss_function
        if loss.name == "squared" and self.centers:
            self.target_center[:] = far_center(y)
            y = y - self.target_center
        if loss.needs_units:
            self.target_center[:], unit = loss.units(y, getattr(method, "fit_intercept", False))
        elif self.budget and self.inverse is not None and getattr(method, "eta", None) == "auto":
            unit = np.full(y.shape[1], np.sqrt(np.square(y).mean()))
        else:
            return
        self.target_unit[:] = np.clip(or_one(unit), 1 / LARGEST_UNIT, LARGEST_UNIT)

    def place(self, rows: Rows, at: NDArray[np.int64] | None = None) -> None:
        """Centre the columns whose mean over rows exceeds their deviation, and set the units.

        Over all rows, or those `at`.
        """
        n, p = len(rows) if at is None else len(at), rows.p
        if self.reach is not None:
            rows, _ = rows.without_far(np.zeros(p), robust_reach(rows, np.arange(n) if at is None else at))
        count, total, squares = rows.column_sums(at=at).T
        mean = total / n
        if rows.sparse:
            var = squares / n - mean**2
        else:
            var = rows.mapped(ColumnMap(mean)).column_sums(at=at)[:, 2] / n
            squares = n * (var + mean**2)
        far = (mean**2 > var) & self.centers
        self.center[:p] = np.where(far, mean, 0.0)
        if self.inverse is not None:
            # of few rows a deviation may be tiny by chance, of a constant column it is rounding
            about = var + (mean / n) ** 2
            square = np.where(far, about, squares / np.maximum(count, 1))
            seen = square > 0
            rare = (count < FEW) & (2 * count < n)
            if seen.any():
                known = seen & ~rare if (seen & ~rare).any() else seen
                self.typical = float(np.exp(-0.5 * np.log(square[known]).mean()))
            inverse = 1.0 / np.sqrt(np.where(seen, square, np.inf))
            # of few values the mean square is nearly chance: it counts where it is far above what is typical
            known = (inverse > 0) & ~(rare & (4 * inverse > self.typical))
            self.inverse[:] = self.typical
            self.inverse[:p][known] = inverse[known]
            self.reach[:] = FAR / self.inverse
            constant = far & (var <= (mean / n) ** 2)  # a flag that was always set: its mean is its unit
            self.reach[:p][constant] = FAR * np.abs(mean[constant])
        self.placed, self._map, self._least = True, None, None
        if self.inverse is not None and self.budget:
            length = largest_norm(self.apply(rows), self.budget, at)
            if length > 0:
                self.inverse /= length
                self.typical /= length
                self.length = length
            self._map = None
        self.buffer.clear()

    def for_raw_rows(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Weights (q, p) and intercepts (q,) for rows as they come, from those for transformed rows."""
        if self.map is None:
            return coef, intercept
        coef, intercept = self.map.for_raw_rows(coef, intercept)
        return coef * self.target_unit[:, None], intercept * self.target_unit + self.target_center

    def check(self, p: int, q: int, limit: float) -> None:
        """Raise ValueError for waiting rows from a file that are none."""
        if not np.isfinite(self.center).all():
            raise ValueError("the centre is not finite.")
        scaled = self.inverse is None or (np.isfinite(self.inverse).all() and (self.inverse >= 0).all())
        if not scaled or not 0 < self.typical < np.inf:
            raise ValueError("the units are not finite and above 0.")
        if not (np.isfinite(self.target_center).all() and (self.target_unit > 0).all()):
            raise ValueError("the centre of the targets is not finite, or their unit not above 0.")
        if not (self.target_unit < np.inf).all():
            raise ValueError("the unit of the targets is not finite.")
        if self.placed and len(self.buffer):
            raise ValueError("rows wait for a centre that is placed.")
        self.buffer.check(p, q, ROWS, limit)


def robust_reach(rows: Rows, at: NDArray[np.int64]) -> Array:
    """How far from 0 values of the columns (p,) may be, by the median over blocks of rows `at`.

    A block with a damaged value does not move the median. With fewer than three blocks nothing is too far.
    """
    n_blocks = min(len(at) // ROWS, BLOCK_SUMS // max(1, rows.p))
    if n_blocks < 3:
        return np.full(rows.p, np.inf)
    blocks = [rows.column_sums(at=part) for part in np.array_split(at, n_blocks)]
    squares = np.array(
        [np.where(sums[:, 0] >= FEW, sums[:, 2], np.nan) / np.maximum(sums[:, 0], 1) for sums in blocks]
    )
    known = np.count_nonzero(squares > 0, axis=0) >= 3
    reach = np.full(rows.p, np.inf)
    reach[known] = FAR * np.sqrt(np.nanmedian(squares[:, known], axis=0))
    reach[reach == 0] = np.inf
    return reach


def far_center(y: Array) -> Array:
    """The means (q,) of targets that exceed their deviation; 0 for the others, and for labels, -1 or 1."""
    if (np.abs(y) == 1.0).all():
        return np.zeros(y.shape[1])
    mean = y.mean(axis=0)
    return np.where(mean**2 > y.var(axis=0), mean, 0.0)


def learn_first(method: Method, stage: Prepare) -> None:
    """Place the centre by the rows that are buffered, start the intercept, and learn these rows."""
    rows, y, w = stage.buffer.joined()
    stage.place(rows)
    stage.place_targets(method, y)
    rows, y = stage.apply(rows), stage.targets(y)
    if stage.centers and rows.mostly_zero():
        begin_intercept(method, y, w)
    method.update(rows, y, w)


def begin_intercept(method: Method, y: Array, w: Array | None) -> None:
    """Let the intercepts begin with the constant that suits these targets best, if clearly not with 0.

    Of rows that are mostly zero: their columns are not centred, so that all of them would learn how
    frequent the classes are, the dense ones most, while intercepts follow slowly from zero.
    """
    share = shares(len(y), w)
    mean = share @ y
    error = share @ np.abs(y - mean) * np.linalg.norm(share)
    method.set_intercept(np.where(np.abs(mean) > CLEARLY * error, method.loss_function.constant(y, w), 0.0))


def largest_norm(rows: Rows, k: int, at: NDArray[np.int64] | None = None) -> float:
    """Root of the mean over rows of the sum of their k largest squares; of all rows, or those `at`."""
    total = sum(_core.largest_squares(part.kernel, k) for _, part in rows.parts(at))
    return float(np.sqrt(total / (len(rows) if at is None else len(at))))
