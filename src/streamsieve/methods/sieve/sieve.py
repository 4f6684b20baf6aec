"""Elimination under a ridge that cross-validation chooses, in bounded memory: the default method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core import linalg
from ...core.losses import LOSSES, loss_names
from ...core.method import Method
from ...core.outliers import warn_of_outlier
from ...core.params import Bool, Bytes, Int, Kind, OneOf, Or, Param, ParamError, Real, size_of
from ...core.rows import Array, Rows, threads
from ...core.state import State, check_array, optional, zeros
from ...core.words import counted
from ...statistics import constraints, criteria
from ...statistics.folds import FOLDS
from ...statistics.linear_model import LinearModel
from .. import EFFECTS
from ..effects.effect import Component, effect
from . import errors, room
from .read import Reading, read, strengths
from .screen import below_one, best_columns, check_marginals, marginal, measure, most_columns, new_marginals
from .solve import KEPT, POSITIVE
from .store import EXTRA, Ints, SieveUndo, Store

WIDER = 0.5  # share of the range of a feature by which it is extended on each side before values are clipped
BLOCK = 4096  # rows after which squared loss summarises them, if the summary fits into memory


def stored_sparse(rows: Rows) -> bool:
    """Whether a sieve stores these rows as sparse. The first row decides, so that cuts do not matter.

    If half of the values are not zero, dense rows take less memory. Stored zeros and repeated indices are not
    counted.
    """
    if not rows.sparse:
        return False
    row = rows[:1].tight()
    return 2 * len(np.unique(row.indices[row.data != 0])) < rows.p


class Sieve(Method):
    """Selects k features by elimination: fit all, drop the weakest, fit again, ...

    The models are ridge-penalised, with the loss of the task. Several ridges are tried. Each ridge is
    constant during an elimination. Cross-validation chooses the ridge and, with k='auto', the number of
    features. With a strong ridge, features are ranked as by their correlations with the target. With a weak
    ridge, they are ranked as by best subset selection. The selected features may be refitted with one ridge
    for each feature, which is inversely proportional to its squared weight. Such ridges shrink weak features
    more. They are used if they reduce the loss on held-out rows. Constant features and copies of other
    features are never selected.

    Rows are stored in at most `memory` bytes, with only the features that are still candidates. When the
    memory is full, values are rounded to 8 bits. After that, either the weaker half of the features is
    removed, or rows are replaced by a quadratic function. This function is exact for squared loss; for other
    losses it approximates the loss around the current model. A model can be computed at any time, and is
    cached until more rows are learned.

    A call that fails or is interrupted changes nothing. Therefore a call that reduces the memory of the
    stored rows keeps a copy of them until it ends.

    Learning a row costs O(nnz). Computing a model takes 30 to 100 passes over the stored rows for each ridge
    and fold.
    """

    weight_notes = {
        "classification": "If no feature is selected, the shares of the classes are computed from the "
        "numbers of rows, without their weights."
    }

    k = Param("auto", Or("auto", Int(1)), "Number of features to select. 'auto': chosen by `criterion`.")
    criterion = Param("cv", OneOf(*criteria.CRITERIA), criteria.MEANING)
    memory = Param(
        "256MB",
        Bytes(1 << 20),
        "Memory for stored rows, in bytes, in addition to a few numbers for each feature.",
    )
    fit_intercept = Param(
        True, Bool(), "Whether to fit an intercept. It is never penalised, and does not count towards k."
    )
    standardize = Param(
        True,
        Bool(),
        "If True, divide features by their standard deviations. For sparse features, one common scale is "
        "also tried, and the better of the two is used. If False, use only the common scale.",
    )
    clip = Param(
        True,
        Bool(),
        "If True, clip the values of each feature in predictions to its range in the training rows, "
        "extended by half of this range on each side.",
    )
    keep, groups, group_categories, positive = (
        constraints.KEEP,
        constraints.GROUPS,
        constraints.GROUP_CATEGORIES,
        constraints.POSITIVE,
    )
    missing = Param(
        "auto",
        OneOf("auto", "error", "mean"),
        "What to do with NaN. 'error': raise an error. 'mean': replace it by the mean of the rows so far. "
        "'auto': 'error' with effects='linear', otherwise 'mean'. With effects other than 'linear', 'mean' "
        "gives curves a level for missing values.",
    )
    half_life = Param(
        None,
        Or(None, Real(above=0)),
        "Number of rows after which the weight of a row has halved; squared loss only. None: rows keep "
        "their weight.",
    )
    grow = Param(False, Bool(), "If True, a sparse batch may have more columns than earlier batches.")
    n_jobs = Param(-1, Or(Int(1), Int(-1, -1)), "Number of threads; -1: all processors.")
    se = Param(
        None,
        Or(None, OneOf("classical", "folds")),
        "Kind of standard errors, which are conditional on the selection. 'classical': from the observed "
        "information. 'folds': the jackknife over 5 folds of the rows. At most two classes are supported. "
        "With standard errors, the weights are refitted without a ridge. None: no standard errors.",
    )

    effects = Param(
        "linear",
        OneOf("linear", "shapes", "pairs", "auto"),
        "Form of the effects. 'linear': weights. 'shapes': a curve for each feature. 'pairs': curves, and "
        "interactions of two features. 'auto': the simplest of the three that is within one standard error "
        "of the best on held-out rows.",
    )
    edges = Param(
        None,
        Or(None, Kind("array of shape (p, 63)", (np.ndarray,))),
        "Levels of the features for shapes and pairs. Pass `edges_` of another model if models of parts of "
        "a stream will be merged. None: from the first 2,000 rows.",
    )

    limit, weight_limit, tiny = 1e30, 1e30, 1e-30  # values and weights are kept in float32
    extracts = screens = True
    losses = {task: loss_names(task, newton=True) for task in ("regression", "classification")}
    attributes = {
        "ridge": "float: Ridge of the elimination, per row and in standardised units.",
        "n_candidates": "int: Number of features that are still candidates.",
        "sizes": "dict: Number of features by 'cv' and by '1se', with k='auto'.",
        "n_clipped": "int: Number of predicted rows in which a value was clipped.",
        "effects": "str: Kind of the model: 'linear', 'shapes' or 'pairs'.",
        "effect_losses": "dict: Held-out loss of each kind of model.",
        "terms": "list of Component: Features, standard deviation and (pairs) p-value of each curve or pair.",
        "edges": "array of shape (p, 63): Levels of shapes and pairs.",
        "model": "LinearModel: With `se`, the weights with standard errors, p-values and intervals.",
    }

    estimator_methods = (effect,)

    #: Whether a first pass keeps what a second one needs; see `screened`.
    two_passes = False

    #: Called without arguments after each part of a long computation; not part of the state.
    progress: Callable[[], None] | None = None
    _undo: SieveUndo | None = None  # of the call that is at work
    #: Rows predicted of which a value was clipped; not part of the state.
    n_clipped: int = 0

    def __new__(cls, *, effects: str = "linear", **_: Any) -> Self:
        """With effects other than 'linear', an `Effects`, which is a sieve too."""
        if cls is Sieve and isinstance(effects, str) and effects != "linear":
            return super().__new__(EFFECTS.load())
        return super().__new__(cls)

    def __getstate__(self) -> dict[str, Any]:
        held = super().__getstate__()
        return {name: value for name, value in held.items() if name not in ("progress", "_undo", "n_clipped")}

    def check(self) -> None:
        if self.half_life is not None and self.loss != "squared":
            raise ParamError(
                "half_life", self.half_life, f"half_life needs loss='squared', not {self.loss!r}; pass None."
            )
        given = constraints.Constraints.of(self)
        given.check("Sieve", {}, standardize=self.standardize)
        if self.se is not None and not LOSSES[self.loss].likelihood:
            raise ParamError(
                "se",
                self.se,
                f"expected None with loss={self.loss!r}, which is not the likelihood of a distribution.",
            )
        if self.se == "folds" and self.loss == "squared":
            raise ParamError(
                "se",
                self.se,
                "expected 'classical' with loss='squared', because rows are summed up; use OFSA for errors "
                "by folds.",
            )

    # ---------------------------------------------------------------- state

    def start(self, p: int, q: int) -> State:
        given = constraints.Constraints.of(self)
        if given.given and p > 0 and not self.grow:
            given.resolve(p, self.feature_names, self.first_index)  # names are checked before the first row
        if self.positive and self.labels and q > 1:
            raise ParamError(
                "positive", self.positive, f"expected False for {q} classes: weights compare classes."
            )
        if self.se is not None and self.labels and q > 1:
            raise ParamError("se", self.se, f"expected None for {q} classes: errors are for two.")
        if self.half_life is not None and not self.summary_fits(p):
            raise ParamError(
                "half_life",
                self.half_life,
                f"forgetting needs the correlations of all {p} features in {FOLDS} folds, which take more "
                f"than memory={self.memory!r}; pass more, or None.",
            )
        return State(
            rows=0,
            values=0,  # that are not zero
            chosen=optional(),  # columns to keep, where a first pass has chosen them
            first_pass=new_marginals(p, q) if self.two_passes or self._needs_two else optional(),
            store=optional(),
            H=optional(),
            h=optional(),
            yy=optional(),
            target_units=optional(),
            ridge=0.0,  # of the last fit to all rows, times their weight
            strata=zeros(slot=q + 1, dtype=np.int64),
            mean_sum=zeros(feature=p) if self.nan_ok else None,
            mean_count=zeros(feature=p, dtype=np.int64) if self.nan_ok else None,
            mean_weight=0.0,
        )

    @property
    def labels(self) -> bool:
        return self.loss == "logistic"

    @property
    def joint(self) -> bool:  # type: ignore[override]
        return self.labels and self.q > 1

    @property
    def bytes(self) -> int:
        return size_of(self.memory)

    def bytes_at(self, p: int, q: int) -> float:
        """Bytes by feature; those of rows are bounded by `memory`."""
        return super().bytes_at(p, q) + (Store.FEATURE_BYTES + 8.0 * q) * p

    @property
    def fading(self) -> float:
        """The factor of the weights of all earlier rows when a row is learned."""
        return 1.0 if self.half_life is None else float(0.5 ** (1.0 / self.half_life))

    @property
    def row_weight(self) -> float:
        """The weight of one row: 1, or the mean weight if that is less (weights below 1 are shares, not
        counts)."""
        if self.half_life is not None or self.state.store is None:
            return 1.0  # old rows count less
        return min(1.0, self.state.store.total / max(self.state.rows, 1)) or 1.0

    def summary_fits(self, w: int) -> bool:
        """Whether the summary of w features fits into memory: one for each fold with squared loss, otherwise
        one for each output."""
        if self.loss == "squared":
            return 8 * FOLDS * (w + 1) ** 2 <= self.bytes // 4
        return 8 * self.q * (w + 1) ** 2 <= self.bytes // 2

    def constrained(self) -> tuple[Ints, NDArray[np.uint8]]:
        """For each stored column: the first column of its group, and flags (kept, positive)."""
        columns = self.state.store.columns
        unit, flags = np.arange(len(columns), dtype=np.int32), np.zeros(len(columns), dtype=np.uint8)
        given = constraints.Constraints.of(self)
        if given.given:
            found = given.resolve(self.p, self.feature_names, self.first_index)
            flags = (KEPT * (found.factor == 0) + POSITIVE * (found.lower == 0)).astype(np.uint8)[columns]
            if found.group is not None:
                _, first, number = np.unique(found.group[columns], return_index=True, return_inverse=True)
                unit = first[number].astype(np.int32)
        return unit, flags

    @property
    def least_width(self) -> int:
        """Least number of columns that narrowing leaves."""
        return 4 * (100 if self.k == "auto" else self.k)

    def resize(self, p: int) -> None:
        store, more = self.state.store, p - self.p
        if store is not None:
            if more > 0:
                self._make_room_for(more)
            if self.state.H is not None and more > 0:
                self._insert(more, store.width)
            store.widen(p)
        super().resize(p)

    def _make_room_for(self, more: int) -> None:
        """Make room until the memory holds the stored rows and the summary with `more` features."""
        s, store = self.state, self.state.store

        def needed() -> int:
            summary = 0 if s.H is None else 8 * len(s.H) * (store.width + more + 1) ** 2
            return int(summary + store.bytes_with(more))

        while store.n and needed() > self.bytes:
            if store.layout != "tiles" and store.width <= self.least_width:
                break
            room.make_room(self)
        if needed() > self.bytes + EXTRA:
            raise ValueError(
                f"memory={self.memory!r} does not hold what has been learned with {more:,} more features; "
                "pass more, or rows of all features from the start."
            )

    def _insert(self, more: int, w: int) -> None:
        s = self.state
        at = np.full(more, w)
        s.H = np.insert(np.insert(s.H, at, 0.0, axis=1), at, 0.0, axis=2)
        s.h = np.insert(s.h, at, 0.0, axis=-1)

    def check_state(self) -> None:
        s, q = self.state, self.q
        if min(s.rows, s.values) < 0 or len(s.strata) != q + 1 or s.strata.min() < 0:
            raise ValueError("the numbers of rows and values are not counts.")
        if not (np.isfinite(s.mean_weight) and np.isfinite(s.ridge) and s.mean_weight >= 0 <= s.ridge):
            raise ValueError("the ridge or the weight of the means is not finite.")
        if s.chosen is not None:
            check_array("chosen", s.chosen, np.int32, (len(s.chosen),))
            if len(s.chosen) and not (
                s.chosen[0] >= 0 and s.chosen[-1] < self.p and (np.diff(s.chosen) > 0).all()
            ):
                raise ValueError(f"chosen columns are not among {self.p}.")
        if s.first_pass is not None:
            check_marginals(s.first_pass, self.p, q)
        summary = (s.H, s.h, s.yy)
        if any(part is None for part in summary) != all(part is None for part in summary):
            raise ValueError("a part of the summary is missing.")
        if s.store is None:
            if s.H is not None or s.target_units is not None:
                raise ValueError("there is a summary of no rows.")
            return
        if not isinstance(s.store, Store) or s.store.p != self.p:
            raise ValueError(f"the stored rows are not of {self.p} features.")
        s.store.check(1 if self.labels else q, self.bytes)
        side, folds = s.store.width + 1, (FOLDS,) if self.loss == "squared" else ()
        if s.H is not None:
            check_array("H", s.H, np.float64, (*(folds or (q,)), side, side))
            check_array("h", s.h, np.float64, (*folds, q, side))
            check_array("yy", s.yy, np.float64, (*folds, q))
        if s.target_units is not None:
            check_array("target_units", s.target_units, np.float64, (2, q))

    # ---------------------------------------------------------------- learning

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:
        p, self._undo = self.p, SieveUndo(self.state, rows)
        undo = self._undo
        with undo:
            try:
                if rows.p > p:
                    self.resize(rows.p)
                self.learn_parts(rows, y, w)
            except BaseException:
                self.p = self.p if undo.lost else p
                raise
            finally:
                self._undo = None

    @property
    def n_rows(self) -> int:
        return int(self.state.rows)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s = self.state
        s._answer = None
        self.loss_function.check_targets(y)
        if s.store is None:
            targets = 1 if self.labels else y.shape[1]
            s.store = Store.of(self.p, targets, self.q, self.bytes, stored_sparse(rows), s.chosen)
        # a part at a time: what is copied of it (imputed, densified) stays small
        cells = rows.n_values // len(rows) if s.store.layout == "csr" and rows.sparse else rows.p
        step = min(max(1, (4 << 20) // max(cells, 1)), 1 << 16)
        for at in range(0, len(rows), step):
            some = slice(at, at + step)
            part, weight = rows[some], None if w is None else w[some]
            key = np.empty(len(part), dtype=np.uint32)
            s.values += _core.sieve_row_keys(part.kernel, key)
            if s.first_pass is not None:
                measure(s.first_pass, part, y[some], weight)
            part = self._impute(part, weight) if self.nan_ok else part
            self._append(part, y[some], weight, key)
        return len(rows)

    def _append(self, rows: Rows, y: Array, w: Array | None, key: NDArray[np.uint32]) -> None:
        """Append rows, and make room whenever the next one does not fit."""
        s, code, at = self.state, np.zeros(len(y), dtype=np.int64), 0
        if self.labels:
            code = (y[:, 0] > 0).astype(np.int64) if self.q == 1 else y.argmax(axis=1)
            y = code.astype(np.float64)[:, None]
        while True:
            few = self.loss == "squared" and self.summary_fits(s.store.width)
            rest = None if w is None else w[at:]
            most, jobs = BLOCK if few else 1 << 62, threads(self.n_jobs)
            done = s.store.append(rows[at:], y[at:], rest, key[at:], most, jobs)
            s.strata += np.bincount(code[at : at + done], minlength=len(s.strata))
            at += done
            s.rows += done
            if at == len(rows):
                return
            if self._undo is not None:
                self._undo.keep_store()
            room.make_room(self)

    def _impute(self, rows: Rows, w: Array | None) -> Rows:
        s, weight = self.state, np.ones(len(rows)) if w is None else np.ascontiguousarray(w)
        rows = rows.tight().copy()
        if rows.sparse:
            s.mean_weight = _core.impute_csr(
                rows.indptr, rows.indices, rows.data, weight, s.mean_sum, s.mean_weight, s.mean_count
            )
        else:
            X = rows.to_array()
            s.mean_weight = _core.impute_dense(X, weight, s.mean_sum, s.mean_weight, s.mean_count)
        return rows

    # ---------------------------------------------------------------- a second pass

    def screened(self) -> Self:
        """This sieve, not begun yet, as the first of two passes."""
        self.two_passes = True
        return self

    @property
    def _needs_two(self) -> bool:
        """Whether the memory does not hold the rows to come, if their number is known."""
        extent = self.extent
        if extent is None or (self.loss == "squared" and self.summary_fits(extent.p)):
            return False
        dense = 4 * extent.rows * extent.p
        kept = min(8 * extent.values, dense) if extent.sparse else dense
        return bool(extent.rows * 32 + kept > self.bytes)

    def next_pass(self) -> Sieve | None:
        """A sieve that learns the same rows again and keeps all of them, restricted to the best features.

        None if this one has kept all rows, or if too few features would be left.
        """
        s = self.state
        if s.first_pass is None or s.store is None or s.chosen is not None:
            return None
        lost_rows = s.H is not None and self.loss != "squared"
        if s.store.width == self.p and not lost_rows:
            return None
        most = most_columns(s.first_pass, self.q, self.bytes, s.store.layout == "csr")
        if most < self.least_width:
            return None
        again = self.with_values().begin(self.p, self.q)
        score = marginal(s.first_pass)
        joint, (candidates, strength) = below_one(score), strengths(self)
        joint[candidates] = 1 + strength  # above all others
        again.state.chosen = best_columns(score, joint, most)
        return again

    @property
    def pass_note(self) -> str:
        return (
            f"Memory is short: a second pass keeps all rows of the {len(self.state.chosen):,} best of "
            f"{self.p:,} features. --memory holds more, --passes 1 leaves it out."
        )

    # ---------------------------------------------------------------- reading

    def weights(self) -> tuple[Array, Array]:
        found = self._read()
        out = np.zeros((self.q, self.p))
        out[:, found.features] = found.coef
        return out, found.intercept.copy()

    @property
    def n_candidates(self) -> int:
        return 0 if self.state.store is None else self.state.store.width

    @property
    def ridge(self) -> float:
        return self._read().ridge

    @property
    def sizes(self) -> dict[str, int]:
        return dict(self._read().sizes)

    @property
    def effects_(self) -> str:
        return "linear"

    @property
    def effect_losses(self) -> dict[str, float]:
        return {}

    @property
    def terms(self) -> list[Component]:
        return []

    @property
    def edges_(self) -> Array:
        raise AttributeError("Lines have no levels; effects=... has.")

    @property
    def note(self) -> str:  # type: ignore[override]
        """What another criterion would have chosen, in a sentence."""
        sizes = self._read().sizes
        if self.k != "auto" or len(set(sizes.values())) < 2:
            return ""
        other = "1se" if self.criterion != "1se" else "cv"
        return (
            f"{counted(sizes['cv'], 'feature')} predict best; {sizes['1se']:,} are within one standard error "
            f"of these (criterion {other} selects {sizes[other]:,})."
        )

    def _read(self) -> Reading:
        s = self.state
        answer: Reading | None = getattr(s, "_answer", None)
        if answer is None:
            none = np.empty(0, dtype=np.int32), np.zeros((self.q, 0))
            if s.store is None or s.store.total == 0:
                answer = Reading(*none, np.zeros(self.q), 0.0, {})
            elif self.labels and (s.strata > 0).sum() < 2:
                answer = Reading(*none, self._prior(), 0.0, {})
            else:
                self.check_columns()
                with linalg.limit_threads(1):  # matrices are small: threads would wait for each other
                    answer = read(self)
            s._errors = None
            if self.se is not None and len(answer.features):
                answer, s._errors = errors.refit(self, answer)
            s._answer = answer
        return answer

    def check_columns(self) -> None:
        """Warn once if a stored value outweighs all others of its column."""
        s = self.state
        if not getattr(s, "_warned", False):
            found = s.store.outlier(s.rows, self.p)
            if found is not None:
                s._warned = True
                warn_of_outlier(self, found)

    def _prior(self) -> Array:
        """Log-odds of the classes so far, half a row of each added."""
        count = self.state.strata[: max(self.q, 2)] + 0.5
        return np.log([count[1] / count[0]]) if self.q == 1 else np.log(count / count.sum())

    def scores(self, rows: Rows, coef: Array, intercept: Array) -> Array:
        """Margins (n, q). A missing value is the mean so far; values beyond the range learned, widened by
        half of it on each side, are clipped."""
        fills = self.fills()
        rows = rows if fills is None else rows.imputed(fills)
        out, features = super().scores(rows, coef, intercept), np.flatnonzero(coef.any(axis=0))
        if not (self.clip and len(features) and len(rows)):
            return out
        low, high = self.limits(features)
        wide = rows if rows.p >= self.p else rows.with_width(self.p)
        step = max(1, (4 << 20) // (8 * len(features)))
        for first in range(0, len(rows), step):
            X = wide[first : first + step].columns(features).to_array().astype(np.float64)
            beyond = np.flatnonzero(((low > X) | (high < X)).any(axis=1))
            out[first + beyond] = np.clip(X[beyond], low, high) @ coef[:, features].T + intercept
            self.n_clipped += len(beyond)
        return out

    def fills(self) -> Array | None:
        s = self.state
        if not self.nan_ok:
            return None
        return s.mean_sum / s.mean_weight if s.mean_weight else s.mean_sum

    def limits(self, features: NDArray[np.integer[Any]]) -> tuple[Array, Array]:
        if not self.clip or not len(features):
            return super().limits(features)
        low, high = self.state.store.limits(self.n_rows)
        at = np.searchsorted(self.state.store.columns, features)
        margin = WIDER * (high[at] - low[at])
        return low[at] - margin, high[at] + margin

    @property
    def model(self) -> LinearModel:
        """The weights with their errors; AttributeError without `se`."""
        found = self.linear_model()
        if found is None:
            raise AttributeError("Sieve has no standard errors; pass se='classical' or 'folds'.")
        return found

    def linear_model(self) -> LinearModel | None:
        if self.se is None:
            return None
        features, weights, constants, *_ = self._read()
        stderr, tvalue = np.zeros((self.q, self.p)), np.zeros((self.q, self.p))
        coef, nu = np.zeros((self.q, self.p)), float("nan")
        coef[:, features] = weights
        if self.state._errors is not None:
            stderr[:, features], nu = self.state._errors
            with np.errstate(divide="ignore"):
                np.divide(coef, stderr, out=tvalue, where=coef != 0)
        one = self.q == 1
        unknown: Any = float("nan") if one else np.full(self.q, np.nan)
        return LinearModel(
            coef=coef[0] if one else coef,
            intercept=float(constants[0]) if one else constants,
            support=np.asarray(features, dtype=np.int64),
            n=float(self.state.store.total) / self.row_weight if self.state.store is not None else 0.0,
            r2=unknown,
            sigma2=unknown,
            df=len(features) + self.fit_intercept,
            method="sieve",
            stderr=stderr[0] if one else stderr,
            tvalue=tvalue[0] if one else tvalue,
            se=self.se,
            nu=nu,
        )

    def extracted(self) -> Any:
        """The model, if it has been read since the last rows."""
        answer: Reading | None = getattr(self.state, "_answer", None)
        if answer is None:
            return None
        held = getattr(self.state, "_errors", None)
        sizes = [answer.sizes[name] for name in ("cv", "1se") if name in answer.sizes]
        return [*answer[:3], float(answer.ridge), sizes, *(() if held is None else (held[0], float(held[1])))]

    def set_extracted(self, model: Any) -> None:
        features, coef, intercept, ridge, sizes, *held = model
        check_array("columns", features, np.int32, (len(features),))
        check_array("coef", coef, np.float64, (self.q, len(features)))
        check_array("intercept", intercept, np.float64, (self.q,))
        if type(ridge) is not float or (len(features) and not 0 <= features.min() <= features.max() < self.p):
            raise ValueError("the extracted model does not fit the state.")
        if type(sizes) is not list or len(sizes) not in (0, 2) or not all(type(k) is int for k in sizes):
            raise ValueError("the sizes of the extracted model are not two numbers.")
        if held:
            check_array("stderr", held[0], np.float64, (self.q, len(features)))
            if len(held) != 2 or type(held[1]) is not float:
                raise ValueError("the errors of the extracted model do not fit it.")
        self.state._answer = Reading(features, coef, intercept, ridge, dict(zip(("cv", "1se"), sizes)))
        self.state._errors = tuple(held) or None
