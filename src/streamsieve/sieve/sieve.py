"""Annealed elimination under a ridge estimated from the data, in bounded memory: the default method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .. import _core
from ..averages.model import LinearModel
from ..base import Method
from ..losses import softmax
from ..params import Bool, Int, OneOf, Or, Param, ParamError, Real
from ..rows import Array, Rows, threads
from ..sizes import EXTRA, Bytes, size_of
from ..state import State, check_array, optional, zeros
from . import errors, gram, room
from .folds import assign
from .model import from_correlations, from_rows, prior, refit, ridge_by_held_out_rows, strengths
from .problem import row_weight
from .screen import best_columns, check_marginals, marginal, measure, new_marginals
from .store import Ints, Store
from .undo import Undo

BLOCK = 4096  # rows after which squared loss goes into the summary, where correlations are formed anyway


def count_values(row: Rows) -> int:
    """Columns of a sparse row that are not zero; stored zeros and repeats do not count."""
    return len(np.unique(row.indices[row.data != 0]))


class Sieve(Method):
    """Selects k features by elimination: fit all, drop the weakest, fit again, ...

    The models are ridge-penalised, with the loss of the task. The strength of the ridge is estimated from the
    data (on held-out rows; squared loss with some rows for each feature: by marginal likelihood) and constant
    along the elimination. It ranks like the elastic net where the signal is weak and like best subset where
    it is strong.

    With fewer than 1,000 rows, or five a feature, which may not bear k features, models of k / 2, k / 4, ...
    are compared too. Where held-out rows clearly prefer these, the weights are theirs, and small for the
    other features.

    Rows are kept, restricted to the features that are still candidates, in at most `memory` bytes. When these
    are full, values are rounded to 8 bits, then features leave (half of them, the weakest), or rows are
    summarised by a quadratic: exact for squared loss, an approximation around the present model otherwise. A
    model is read from what is kept, at any time, and cached until more rows come.

    A call that fails or is interrupted leaves nothing behind: while a call makes room, what was kept before
    is held too.

    O(nnz) a row to learn. To read: O(100) walks over the kept rows for each of O(5) ridges and up to 5 folds.
    """

    k = Param("auto", Or("auto", Int(1)), "Features to select. 'auto': as many as are worth their noise.")
    memory = Param("256MB", Bytes(1 << 20), "Bytes for the rows kept, beyond a few numbers a feature.")
    fit_intercept = Param(True, Bool(), "Fit an intercept; it is never penalised nor counted.")
    standardize = Param(
        True,
        Bool(),
        "Compare features in their own units, or in those that predict better; else as they come.",
    )
    missing = Param("error", OneOf("error", "mean"), "Values that are NaN: an error, or the mean so far.")
    half_life = Param(
        None, Or(None, Real(above=0)), "Rows after which a row weighs half; squared loss only. None: never."
    )
    grow = Param(False, Bool(), "Let a sparse batch be wider than those before.")
    n_jobs = Param(None, Or(None, Int(1)), "Threads. None: as many as processors.")
    se = Param(
        None,
        Or(None, OneOf("classical", "folds")),
        "Standard errors, of at most two classes, given the selection: by the observed information, or by "
        "the jackknife over the 5 folds of the rows. Weights are then refitted without ridge. None: none.",
    )

    limit, weight_limit, tiny = 1e30, 1e30, 1e-30  # values and weights are kept in float32
    extracts = True
    losses = {"regression": ("squared", "huber", "poisson"), "classification": ("logistic", "squared")}
    attributes = {
        "ridge": "float: penalty of the elimination, per row and in standardised units",
        "n_candidates": "int: features whose rows are still kept",
        "model": "LinearModel: with `se`, the weights with standard errors, p values and intervals.",
    }

    #: Whether a first pass keeps what a second one needs; see `screened`.
    two_passes = False

    #: Called without arguments after each part of a long computation; not part of the state.
    progress: Callable[[], None] | None = None
    _undo: Undo | None = None  # of the call that is at work

    def __getstate__(self) -> dict[str, Any]:
        held = super().__getstate__()
        return {name: value for name, value in held.items() if name not in ("progress", "_undo")}

    def check(self) -> None:
        if self.half_life is not None and self.loss != "squared":
            raise ParamError(
                "half_life", self.half_life, f"forgetting needs loss='squared', not {self.loss!r}; pass None."
            )
        wrong = errors.check_errors(self.se, self.loss)
        if wrong is not None:
            raise ParamError("se", self.se, wrong)

    # ---------------------------------------------------------------- state

    def start(self, p: int, q: int) -> State:
        if self.se is not None and self.labels and q > 1:
            raise ParamError("se", self.se, f"expected None for {q} classes: errors are for two.")
        if self.half_life is not None and not self.correlations_fit(p, q):
            raise ParamError(
                "half_life",
                self.half_life,
                f"forgetting needs the correlations of all {p} features, which take more than "
                f"memory={self.memory!r}; pass more, or None.",
            )
        return State(
            rows=0,
            chosen=optional(),  # columns to keep, where a first pass has chosen them
            first_pass=new_marginals(p, q) if self.two_passes else optional(),
            store=optional(),
            H=optional(),
            h=optional(),
            yy=optional(),
            target_units=optional(),
            ridge=0.0,  # of the last fit to all rows, times their weight
            strata=zeros(slot=q + 1, dtype=np.int64),
            mean_sum=zeros(feature=p) if self.missing == "mean" else None,
            mean_count=zeros(feature=p, dtype=np.int64) if self.missing == "mean" else None,
            mean_weight=0.0,
        )

    @property
    def labels(self) -> bool:
        return self.loss == "logistic"

    @property
    def kind(self) -> str:
        return "softmax" if self.labels and self.q > 1 else self.loss

    @property
    def bytes(self) -> int:
        return size_of(self.memory)

    def bytes_at(self, p: int, q: int) -> float:
        """Bytes by feature; those of rows are bounded by `memory`."""
        return super().bytes_at(p, q) + (Store.FEATURE_BYTES + 8.0 * q) * p

    def correlations_fit(self, w: int, q: int) -> bool:
        """Whether a model may be read from correlations: four matrices at a time."""
        return self.loss == "squared" and 4 * 8 * (w + q + 1) ** 2 <= self.bytes + EXTRA

    def summary_fits(self) -> bool:
        outputs = 1 if self.loss == "squared" else self.q
        return 8 * outputs * (self.state.store.width + 1) ** 2 <= self.bytes // 2

    @property
    def least_width(self) -> int:
        """Columns that narrowing leaves."""
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
        """So that the memory holds what is kept with so many more features."""
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
        s.h = np.insert(s.h, at, 0.0, axis=1)

    def check_state(self) -> None:
        s, q = self.state, self.q
        if s.rows < 0 or len(s.strata) != q + 1 or s.strata.min() < 0:
            raise ValueError("the rows of the classes are no counts.")
        if not (np.isfinite(s.mean_weight) and np.isfinite(s.ridge) and s.mean_weight >= 0 <= s.ridge):
            raise ValueError("the ridge or the weight of the means is not finite.")
        if s.chosen is not None:
            check_array("chosen", s.chosen, np.int32, (len(s.chosen),))
            if len(s.chosen) and not (
                s.chosen[0] >= 0 and s.chosen[-1] < self.p and (np.diff(s.chosen) > 0).all()
            ):
                raise ValueError(f"columns are chosen that are none of {self.p}.")
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
        side, outputs = s.store.width + 1, 1 if self.loss == "squared" else q
        if s.H is not None:
            check_array("H", s.H, np.float64, (outputs, side, side))
            check_array("h", s.h, np.float64, (q, side))
            check_array("yy", s.yy, np.float64, (q,))
        if s.target_units is not None:
            check_array("target_units", s.target_units, np.float64, (2, q))

    # ---------------------------------------------------------------- learning

    def update(self, rows: Rows, y: Array, w: Array | None = None, cluster: Any = None) -> None:
        """Learn checked rows, all of them or, where that fails, none; other callers wait."""
        if cluster is not None:
            self.check_clusters()
        if not len(rows):
            return
        with self.lock:
            self.check_magnitude(rows)
            p, before, undo = self.p, self.state.rows, Undo(self.state, rows)
            try:
                if rows.p > p:
                    self.resize(rows.p)
                self._undo = undo
                for at, part in rows.in_row_order():
                    self.learn(part, y[at], None if w is None else w[at])
            except BaseException as error:
                undo.restore()
                if undo.lost:
                    error.add_note(
                        f"The first {self.state.rows - before} rows of this call have been learned."
                    )
                else:
                    self.p = p
                raise
            finally:
                self._undo = None
                undo.interrupts.end()

    @property
    def n_rows(self) -> int:
        return int(self.state.rows)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s = self.state
        s._answer = None
        if self.loss == "poisson" and len(y) and y.min() < 0:
            raise ValueError(f"loss='poisson' needs counts; a target is {y.min():g}.")
        if s.store is None:
            # by the first row, so that cuts do not matter; from half of the values on dense takes less memory
            sparse = rows.sparse and 2 * count_values(rows[:1].tight()) < rows.p
            targets = 1 if self.labels else y.shape[1]
            s.store = Store.of(self.p, targets, self.q, self.bytes, sparse, s.chosen)
        # a part at a time: what is copied of it (imputed, densified) stays small
        cells = rows.n_values // len(rows) if s.store.layout == "csr" and rows.sparse else rows.p
        step = min(max(1, (4 << 20) // max(cells, 1)), 1 << 16)
        for at in range(0, len(rows), step):
            some = slice(at, at + step)
            part, weight = rows[some], None if w is None else w[some]
            if s.first_pass is not None:
                measure(s.first_pass, part, y[some], weight)
            part = self._impute(part, weight) if self.missing == "mean" else part
            self._append(part, y[some], weight)
        return len(rows)

    def _append(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Append rows, and make room where there is none for the next."""
        s, code, at = self.state, np.zeros(len(y), dtype=np.int64), 0
        if self.labels:
            code = (y[:, 0] > 0).astype(np.int64) if self.q == 1 else y.argmax(axis=1)
            y = code.astype(np.float64)[:, None]
        fold = assign(code, s.strata.copy())
        while True:
            few = self.correlations_fit(s.store.width, self.q) and self.summary_fits()
            rest = None if w is None else w[at:]
            most, jobs = BLOCK if few else 1 << 62, self.n_jobs or threads()
            done = s.store.append(rows[at:], y[at:], rest, fold[at:], most, jobs)
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

    def expect(self, rows: float, values: float, p: int, sparse: bool) -> None:
        if not self.correlations_fit(p, 1):
            self.two_passes = (
                rows * 32 + (min(8 * values, 4 * rows * p) if sparse else 4 * rows * p) > self.bytes
            )

    def next_pass(self) -> Sieve | None:
        """A sieve for the same rows again that keeps all of them, of the best features; None where this one
        has kept all, or where too few features would be left."""
        s = self.state
        if s.first_pass is None or s.store is None or s.chosen is not None:
            return None
        lost_rows = s.H is not None and self.loss != "squared"
        if s.store.width == self.p and not lost_rows:
            return None
        most = self._most_columns()
        if most < self.least_width:
            return None
        again = Sieve(**self.values).begin(self.p, self.q)
        again.state.chosen = best_columns(marginal(s.first_pass), *strengths(self), most)
        return again

    @property
    def pass_note(self) -> str:
        return (
            f"Memory is short: a second pass keeps all rows of the {len(self.state.chosen):,} best of "
            f"{self.p:,} features. --memory holds more, --passes 1 leaves it out."
        )

    def _most_columns(self) -> int:
        """Columns of which the memory holds all rows, in float32."""
        s, first = self.state, self.state.first_pass
        cost = 8 * len(first.sum_y) + 4 * self.q + 24
        if s.store.layout == "csr":
            share = max(first.values, 1) / max(self.p, 1)  # values of a mean column
            return int(max(self.bytes - first.rows * cost, 0) // (8 * share))
        return int(max(self.bytes // max(first.rows, 1) - cost, 0) // 4)

    # ---------------------------------------------------------------- reading

    def weights(self) -> tuple[Array, Array]:
        columns, coef, intercept = self._read()
        out = np.zeros((self.q, self.p))
        out[:, columns] = coef
        return out, intercept.copy()

    @property
    def n_candidates(self) -> int:
        return 0 if self.state.store is None else self.state.store.width

    @property
    def ridge(self) -> float:
        self._read()
        return float(self.state._ridge)

    def _read(self) -> tuple[Ints, Array, Array]:
        s = self.state
        answer: tuple[Ints, Array, Array] | None = getattr(s, "_answer", None)
        if answer is None:
            s._ridge = 0.0
            if s.store is None or s.store.total == 0:
                answer = np.empty(0, dtype=np.int32), np.zeros((self.q, 0)), np.zeros(self.q)
            elif self.labels and (s.strata > 0).sum() < 2:
                answer = np.empty(0, dtype=np.int32), np.zeros((self.q, 0)), prior(self)
            elif self.correlations_fit(s.store.width, self.q) and not ridge_by_held_out_rows(self):
                with gram.one_thread():
                    answer = from_correlations(self)
            else:
                answer = from_rows(self)
            s._errors = None
            if self.se is not None and len(answer[0]):
                answer, s._errors = refit(self, *answer)
            s._answer = answer
        return answer

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
        features, weights, constants = self._read()
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
            n=float(self.state.store.total) / row_weight(self) if self.state.store is not None else 0.0,
            r2=unknown,
            sigma2=unknown,
            df=len(features) + self.fit_intercept,
            method="sieve",
            stderr=stderr[0] if one else stderr,
            tvalue=tvalue[0] if one else tvalue,
            se=self.se,
            nu=nu,
        )

    def means(self, scores: Array) -> Array:
        return np.exp(np.minimum(scores, 700.0)) if self.loss == "poisson" else scores

    def probabilities(self, scores: Array) -> Array:
        if not self.labels or scores.shape[1] == 1:
            return super().probabilities(scores)
        return softmax(scores)

    def extracted(self) -> Any:
        """The model, if it has been read since the last rows."""
        answer = getattr(self.state, "_answer", None)
        if answer is None:
            return None
        held = getattr(self.state, "_errors", None)
        return [*answer, float(self.state._ridge), *(() if held is None else (held[0], float(held[1])))]

    def set_extracted(self, model: Any) -> None:
        columns, coef, intercept, ridge, *held = model
        check_array("columns", columns, np.int32, (len(columns),))
        check_array("coef", coef, np.float64, (self.q, len(columns)))
        check_array("intercept", intercept, np.float64, (self.q,))
        if type(ridge) is not float or (len(columns) and not 0 <= columns.min() <= columns.max() < self.p):
            raise ValueError("the extracted model does not fit the state.")
        if held:
            check_array("stderr", held[0], np.float64, (self.q, len(columns)))
            if len(held) != 2 or type(held[1]) is not float:
                raise ValueError("the errors of the extracted model do not fit it.")
        self.state._answer, self.state._ridge = (columns, coef, intercept), ridge
        self.state._errors = tuple(held) or None
