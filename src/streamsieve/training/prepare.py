"""`Prepare`, the stage before a learner by gradient steps: it centres and scales the columns.

What happens to the rows of a stream:

1. The first 100 rows are buffered. `fit` takes a sample of all rows instead (`begin`).
2. `place` determines a centre and a unit of each column from them, and `place_targets` those of the targets.
   If most values are zero, the intercept starts at the best constant.
3. The buffered rows and all later ones are learned about this centre and in these units. `apply` attaches
   both to the rows, and the kernels apply them as they read a value: rows are never copied.
4. Values far outside of their column are not learned, unless the column stays there (`far.py`).
5. `for_raw_rows` converts the learner's weights to weights for original rows.

*The centre*. If the mean of a column exceeds its standard deviation, steps of the intercept and of the weight
cancel, and learning takes far more rows. Such a column is centred at its mean. The centre then stays
constant, because a moving centre would change the meaning of the weights. Such a column is not zero in most
rows, so that centring at most doubles the entries of sparse rows; columns that are mostly zero are not
centred.

*The unit*. A common step size does not suit columns of different units. For learners whose kernels have no
units, each column is divided by the root mean square of its non-zero values about the centre; a rare column
with too few values is divided by the typical root mean square. Zeros are not counted. Counted, one pass of
FOBOS, RDA and L1ARDA finds rare 0/1 columns (5, 8 and 9 of 10 for labels in place of 0), but the ten columns
that they select predict worse on text: 55 to 61 % in place of 81 to 83 on dexter in one pass, and 65 in place
of 79 on basehock by `fit` of FOBOS, because a column seen two or three times then outweighs all others.
Budgeted learners assume rows of norm 1: their rows are divided by the root mean square of the norm that k
values of a row can have.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..core.losses import or_one, shares
from ..core.method import Method
from ..core.rows import Array, ColumnMap, Rows
from ..core.state import Deferred, RowBuffer, State, Undo, array, zeros
from .far import (
    FAR,
    FEW,
    LARGEST_UNIT,
    FarRuns,
    Moments,
    centre_and_square,
    learn_far,
    near_targets,
    robust_reach,
    undo_far,
    warn_of,
    warn_of_targets,
)

ROWS = 100  # rows that determine centre and unit: the error of the mean is a tenth of a standard deviation
SAMPLE = 4096  # the same in `fit`, from all parts of the data: the first rows may be of one class
SAMPLE_VALUES = 1 << 22
CLEARLY = 4.0  # z-score above which the mean of the targets counts as non-zero


class Derived(NamedTuple):
    """What follows from centre, units and limits; it is derived again when one of these changes."""

    map: ColumnMap | None  # None until centre and unit are determined
    near: float  # magnitude up to which no value of any column is far
    near_target: float  # the same for targets; infinite if there is no limit
    far_zeros: NDArray[np.intp]  # columns in which even 0 is far
    plain_targets: bool  # whether targets are learned as they are


class Prepare(State):
    """Centre and unit, and a buffer of the first rows until there are enough to determine both."""

    centers: bool
    budget: int
    placed: bool
    n_rows: int
    n_far: int
    n_far_targets: int
    length: float
    reach: Any  # an array, or None without units
    recent: Array
    runs: FarRuns | None
    target_runs: FarRuns | None
    buffer: RowBuffer
    _settled: tuple[int, Method, Prepare] | None = None  # copies that have learned so many buffered rows
    _derived: tuple[Array, Derived] | None = None  # and the array of centres it belongs to

    def __init__(
        self,
        p: int,
        q: int,
        centers: bool = True,
        scales: bool = False,
        budget: int = 0,
        standardize: bool = True,
    ) -> None:
        super().__init__(
            centers=centers,
            budget=budget,  # values of a row whose squares sum to 1 in the mean; 0: rows are of any length
            center=zeros(feature=p),
            inverse=zeros(feature=p) if scales else None,  # of the units
            typical=1.0,  # that of columns which the first rows do not have
            # the distance from the centre beyond which values are not learned, how many were not, and the
            # last ones of columns that may have gone there
            reach=array(np.full(p, np.inf), "feature") if standardize else None,
            n_far=0,
            runs=None,
            length=1.0,  # of rows in units of their columns, where these are divided by it
            # of the targets of the same rows, where the loss is in their units or steps are made for rms 1
            target_center=zeros(output=q),
            target_unit=array(np.ones(q), "output"),
            target_reach=array(np.full(q, np.inf), "output"),
            n_far_targets=0,
            target_runs=None,
            recent=zeros(row=FEW, output=q),  # targets of the last rows, since some were far outside
            placed=False,
            n_rows=0,  # since then
            buffer=RowBuffer(),
        )

    @staticmethod
    def of(method: Method, p: int) -> Prepare | None:
        """The stage of a method, or None if it has none."""
        standardize = method.prepare is not None and method.standardize is True
        centers = standardize and method.fit_intercept
        scales = standardize and method.prepare != "centre"
        targets = method.prepare is not None and method.loss_function.needs_units
        if not (centers or scales or targets) or not ROWS:
            return None
        budget = method.k if method.prepare == "unit rows" else 0
        return Prepare(p, method.q, centers, scales, budget, standardize)

    @property
    def p(self) -> int:
        return len(self.center)

    def resize(self, p: int) -> None:
        """Grow or shrink to p features; new features have the typical unit."""
        before = self.p
        if p == before:
            return
        derived = self.derived if self.placed and p > before else None
        super().resize(p)
        reach = FAR / (self.typical * self.length) if self.placed else np.inf
        if self.reach is not None:
            self.reach[before:] = reach
        if self.inverse is not None and self.placed:
            self.inverse[before:] = self.typical
        if derived is not None and derived.map is not None:  # in O(1): rows may bring features one by one
            map = ColumnMap(self.center, self.inverse, derived.map.centred)
            near = min(derived.near, reach) if self.reach is not None else derived.near
            self._derived = self.center, derived._replace(map=map, near=near)

    # ---------------------------------------------------------------- rows of a stream

    def update(self, method: Method, rows: Rows, y: Array, w: Array | None) -> None:
        """Let the method learn centred and scaled rows, all of them or none."""
        p = method.p
        try:
            if self.placed:
                self._widen(method, rows.p)
                self._learn(method, rows, y, w)
            else:
                with self.undo(method) as undo:
                    undo.interrupts.begin()  # until rows and centre belong together
                    self._widen(method, rows.p)
                    self._buffer(method, rows, y, w)
        except BaseException:
            self._settled = None
            if rows.p > p:  # a part of the state may have grown
                method.resize(p)
                self.resize(p)
            raise

    def _widen(self, method: Method, p: int) -> None:
        if p > method.p:
            method.resize(p)
        self.resize(method.p)

    def _buffer(self, method: Method, rows: Rows, y: Array, w: Array | None) -> None:
        """Buffer rows; once there are enough, determine the centre and learn them and the rest."""
        n = ROWS - len(self.buffer)
        self.buffer.append(rows[:n], y[:n], None if w is None else w[:n])
        if len(self.buffer) >= ROWS:
            self._learn_first(method)
            if len(rows) > n:
                rest = slice(n, None)
                self._learn(method, rows[rest], y[rest], None if w is None else w[rest])
        elif method.can_overflow:
            self.settled(method)  # check buffered rows now: a later overflow could not be undone

    def _learn_first(self, method: Method) -> None:
        """Determine the centre from the buffered rows, start the intercept, and learn these rows."""
        rows, y, w = self.buffer.joined()
        self.place(rows)
        self.place_targets(method, y)
        rows, y = self.near(rows, y)
        rows, y = self.apply(rows), self.targets(y)
        if self.centers and rows.mostly_zero():
            begin_intercept(method, y, w)
        method.update(rows, y, w)

    def _learn(self, method: Method, rows: Rows, y: Array, w: Array | None) -> None:
        """Learn rows after centre and unit are determined; far values may change both during the call."""
        rows = self.explicit(rows)
        if self.all_near(rows, y):
            with Deferred():  # until rows and units belong together
                method.update(self.apply(rows), self.targets(y), w)
                self.n_rows += len(rows)
            return
        with Undo(undo_far(self, rows)) as undo:
            undo.interrupts.begin()  # likewise
            learn_far(self, method, rows, y, w, undo)

    def settled(self, method: Method) -> tuple[Method, Prepare]:
        """Method and stage, or copies that have learned the buffered rows."""
        n = len(self.buffer)
        if not n:
            return method, self
        if self._settled is None or self._settled[0] != n:
            method, stage = copy.copy(method), self.copy()
            stage._learn_first(method)
            self._settled = n, method, stage
        return self._settled[1:]

    def undo(self, method: Method) -> Undo:
        """How to undo the rows of a call, the centre that they determine and the changes of the method."""
        before, p, q = self.buffer.copy(), method.p, method.q

        def restore() -> None:
            method.begin(p, q)  # which learns no row before the centre is determined
            scales, standardize = self.inverse is not None, self.reach is not None
            fresh = Prepare(p, q, self.centers, scales, self.budget, standardize)
            vars(self).update(vars(fresh), buffer=before)
            self.forget_derived()

        return Undo(restore)

    # ---------------------------------------------------------------- rows in memory

    def begin(self, method: Method, rows: Rows, y: Array, w: Array | None) -> None:
        """Before the first pass over data in memory: determine the centre and start the intercept."""
        at = self.place_by_sample(rows)
        self.place_targets(method, y[at])
        if self.centers and rows.mostly_zero(at):
            begin_intercept(method, self.targets(y[at]), None if w is None else w[at])

    def place_by_sample(self, rows: Rows) -> NDArray[np.int64]:
        """Determine the centre from rows of all parts of data in memory, and return their positions."""
        most = min(SAMPLE, max(ROWS, SAMPLE_VALUES // max(1, rows.n_values // len(rows))))
        at = np.arange(0, len(rows), -(-len(rows) // most))
        self.place(rows, at)
        return at

    # ---------------------------------------------------------------- centre and unit

    def place(self, rows: Rows, at: NDArray[np.int64] | None = None) -> None:
        """Centre the columns whose mean exceeds their standard deviation, and set the units.

        Over all rows, or those `at`.
        """
        if self.reach is not None:
            used = np.arange(len(rows)) if at is None else at
            rows, _ = rows.without_far(np.zeros(rows.p), robust_reach(rows, used))
        moments = column_moments(rows, at)
        far, square, constant = centre_and_square(moments, self.centers)
        self.center[: rows.p] = np.where(far, moments.mean, 0.0)
        if self.reach is not None:
            self._set_units(moments, square, constant)
        self.placed = True
        self.forget_derived()
        if self.inverse is not None and self.budget:
            length = largest_norm(self.apply(rows), self.budget, at)
            if length > 0:
                self.inverse /= length
                self.typical /= length
                self.length = length
            self.forget_derived()
        self.buffer.clear()

    def _set_units(self, of: Moments, square: Array, constant: NDArray[np.bool_]) -> None:
        """Set units and limits from the squares of the units of the columns that the first rows have."""
        p, seen = len(square), square > 0
        rare = (of.filled < FEW) & (2 * of.filled < of.n)
        if seen.any():
            known = seen & ~rare if (seen & ~rare).any() else seen
            self.typical = float(np.exp(-0.5 * np.log(square[known]).mean()))
        inverse = 1.0 / np.sqrt(np.where(seen, square, np.inf))
        # with few values the mean square is unreliable: use it only if it is far above the typical one
        known = (inverse > 0) & ~(rare & (4 * inverse > self.typical))
        units = np.full(self.p, self.typical)
        units[:p][known] = inverse[known]
        self.reach[:] = FAR / units
        self.reach[:p][constant] = FAR * np.abs(of.mean[constant])
        if self.inverse is not None:
            self.inverse[:] = units

    def place_targets(self, method: Method, y: Array) -> None:
        """Set centre and unit of the targets, if loss or steps depend on them.

        Targets of squared loss are centred under the same condition as columns: if they are far from zero,
        the intercept would need all rows to converge, and single precision would lose the deviations.
        """
        self.forget_derived()
        loss = method.loss_function
        if loss.has_units and self.reach is not None and not (np.abs(y) == 1.0).all():
            y = self.without_far_targets(y)
        if loss.name == "squared" and self.centers:
            self.target_center[:] = far_center(y)
            y = y - self.target_center
        if loss.needs_units:
            self.target_center[:], unit = loss.units(y, method.fit_intercept)
        elif self.budget and self.inverse is not None and method.eta == "auto":
            unit = np.full(y.shape[1], np.sqrt(np.square(y).mean()))
        else:
            return
        self.target_unit[:] = np.clip(or_one(unit), 1 / LARGEST_UNIT, LARGEST_UNIT)

    def without_far_targets(self, y: Array) -> Array:
        """The first targets without far values; sets the limit for later targets."""
        center = np.median(y, axis=0)
        y, _ = near_targets(y, center, robust_reach(Rows(y - center), np.arange(len(y))))
        mean = far_center(y) if self.centers else np.zeros(y.shape[1])
        reach = FAR * np.sqrt(np.square(y - mean).mean(axis=0))
        self.target_reach[:] = np.where(reach > 0, reach, np.inf)
        return y

    # ---------------------------------------------------------------- their use

    @property
    def derived(self) -> Derived:
        """What follows from centre, units and limits. Arrays change in place: see `forget_derived`."""
        if self._derived is None or self._derived[0] is not self.center:  # an array of another width
            self._derived = self.center, self._derive()
        return self._derived[1]

    def _derive(self) -> Derived:
        reach = np.inf if self.reach is None else self.reach
        far_from_0, target_from_0 = np.abs(self.center), np.abs(self.target_center)
        return Derived(
            map=ColumnMap(self.center, self.inverse) if self.placed else None,
            near=max(0.0, float(np.min(reach, initial=np.inf) - far_from_0.max(initial=0.0))),
            near_target=max(0.0, float((self.target_reach - target_from_0).min(initial=np.inf))),
            far_zeros=np.flatnonzero(far_from_0 > reach),
            plain_targets=bool((self.target_unit == 1.0).all() and not target_from_0.any()),
        )

    def forget_derived(self) -> None:
        """To be called after a change of centre, units or limits."""
        self._derived = None

    @property
    def map(self) -> ColumnMap | None:
        """Centre and unit as a map of rows; None before they are determined."""
        return self.derived.map

    def apply(self, rows: Rows) -> Rows:
        """The rows about the centre and in units of their columns, once both are determined."""
        return rows.mapped(self.map)

    def targets(self, y: Array) -> Array:
        """The targets, or predictions of them, in the unit of the loss and of derived steps."""
        return y if self.derived.plain_targets else (y - self.target_center) / self.target_unit

    def for_raw_rows(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Weights (q, p) and intercepts (q,) for original rows, from those for transformed rows."""
        if self.map is None:
            return coef, intercept
        coef, intercept = self.map.for_raw_rows(coef, intercept)
        return coef * self.target_unit[:, None], intercept * self.target_unit + self.target_center

    # ---------------------------------------------------------------- values far outside

    def explicit(self, rows: Rows) -> Rows:
        """The rows, with zeros added as entries if these are far outside."""
        if self.reach is None or not rows.sparse or not len(self.derived.far_zeros):
            return rows
        return rows.with_zeros(self.derived.far_zeros)

    def all_near(self, rows: Rows, y: Array) -> bool:
        """Whether no value and no target is, or has recently been, far outside."""
        if self.reach is None:
            return True
        if self.runs or self.target_runs:
            return False
        near, targets = self.derived.near_target, Rows(y)
        may_be_far = near < np.inf and not targets.within(near)
        if may_be_far and targets.count_far(self.target_center, self.target_reach):
            return False
        return rows.within(self.derived.near) or not rows.count_far(self.center, self.reach)

    def near(self, rows: Rows, y: Array) -> tuple[Rows, Array]:
        """Rows and targets with far values replaced by the centre; copies if there are any.

        They are counted, and the first causes a warning.
        """
        if self.reach is None:
            return rows, y
        rows = self.explicit(rows)
        if not rows.within(self.derived.near):
            rows, columns = rows.without_far(self.center, 2 * self.reach)
            if len(columns) and not self.n_far:
                warn_of(columns)
            self.n_far += len(columns)
        y, outputs = near_targets(y, self.target_center, 2 * self.target_reach)
        if len(outputs) and not self.n_far_targets:
            warn_of_targets(len(outputs))
        self.n_far_targets += len(outputs)
        return rows, y

    # ---------------------------------------------------------------- files

    def verify(self, fresh: State, path: str = "") -> None:
        """As a state just made is, but for parts that came later."""
        if "n_rows" not in self.fields():  # a file of the first version
            for name in ("n_rows", "n_far_targets", "runs", "target_runs", "target_reach", "recent"):
                self.add_fields(**{name: getattr(fresh, name)})
            self.reach = fresh.reach if self.reach is None else self.reach
        for name, axis, n in (
            ("runs", "feature", len(fresh.center)),
            ("target_runs", "output", len(fresh.target_center)),
        ):
            if getattr(self, name) is not None:
                setattr(fresh, name, FarRuns(axis, n))
        super().verify(fresh, path)

    def check(self, p: int, q: int, limit: float) -> None:
        """Raise ValueError for invalid buffered rows from a file."""
        if not np.isfinite(self.center).all():
            raise ValueError("the centre is not finite.")
        scaled = self.inverse is None or (np.isfinite(self.inverse).all() and (self.inverse >= 0).all())
        if not scaled or not 0 < self.typical < np.inf:
            raise ValueError("the units are not finite and above 0.")
        if not (np.isfinite(self.target_center).all() and (self.target_unit > 0).all()):
            raise ValueError("the centre of the targets is not finite, or their unit not above 0.")
        if not (self.target_unit < np.inf).all():
            raise ValueError("the unit of the targets is not finite.")
        for runs, columns in ((self.runs, p), (self.target_runs, q)):
            if runs is not None:
                runs.check(columns)
        if not (self.target_reach >= 0).all() or (self.reach is not None and not (self.reach >= 0).all()):
            raise ValueError("the limits of values are negative.")
        if not np.isfinite(self.recent).all() or min(self.n_rows, self.n_far, self.n_far_targets) < 0:
            raise ValueError("the counts of far values are negative, or the last targets not finite.")
        if self.placed and len(self.buffer):
            raise ValueError("rows are buffered although the centre is determined.")
        self.buffer.check(p, q, ROWS, limit)


def column_moments(rows: Rows, at: NDArray[np.int64] | None) -> Moments:
    """Statistics of the columns, over all rows or those `at`."""
    n = len(rows) if at is None else len(at)
    count, total, squares = rows.column_sums(at=at).T
    mean = total / n
    if rows.sparse:
        var = squares / n - mean**2
        far = mean**2 > var
        if far.any():  # again, without cancellation
            sums = rows.mapped(ColumnMap(np.where(far, mean, 0.0))).column_sums(at=at)
            var[far] = sums[far, 2] / n
    else:
        var = rows.mapped(ColumnMap(mean)).column_sums(at=at)[:, 2] / n
        squares = n * (var + mean**2)
    return Moments(n, count, mean, var, squares)


def far_center(y: Array) -> Array:
    """The means (q,) of targets if they exceed their standard deviation, else 0; 0 for labels -1 and 1."""
    if (np.abs(y) == 1.0).all():
        return np.zeros(y.shape[1])
    mean = y.mean(axis=0)
    return np.where(mean**2 > y.var(axis=0), mean, 0.0)


def begin_intercept(method: Method, y: Array, w: Array | None) -> None:
    """Start the intercepts at the best constant for these targets, if it clearly differs from 0.

    For rows that are mostly zero: their columns are not centred, so that all weights would learn the
    frequency of the classes, while intercepts change slowly from zero.
    """
    share = shares(len(y), w)
    mean = share @ y
    error = share @ np.abs(y - mean) * np.linalg.norm(share)
    method.set_intercept(np.where(np.abs(mean) > CLEARLY * error, method.loss_function.constant(y, w), 0.0))


def largest_norm(rows: Rows, k: int, at: NDArray[np.int64] | None = None) -> float:
    """Root mean square of the norm of the k largest values of a row, over all rows or those `at`."""
    total = sum(_core.largest_squares(part.kernel, k) for _, part in rows.parts(at))
    return float(np.sqrt(total / (len(rows) if at is None else len(at))))
