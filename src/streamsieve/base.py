"""`Method`: what a learning method is inside the library. It knows neither scikit-learn nor files.

A method declares its parameters as class attributes (`Param`) and provides

- `start(p, q) -> State`: the state for p features and q outputs;
- `learn(rows, y, w) -> int`: learn checked rows, and how many were before a step would have overflowed;
- `weights() -> (coef (q, p), intercept (q,))`: the model as of now.

Facades call `begin`, `update`, `weights` and `scores`; see `methods.py` for the list of methods.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from . import _core, centering, passes
from .interrupts import Deferred
from .losses import best_constant, shares, softmax
from .params import ParamError, Parameter
from .rows import MODERATE, Array, Rows
from .state import State, optional
from .tasks import Classification

CLASSIFICATION = ("logistic", "hinge", "squared_hinge", "squared")

CLEARLY = 4.0  # errors of a mean, from absolute deviations: more are no chance


class Method:
    """Base of all methods: parameters, one call at a time, all rows of a call or none."""

    params: ClassVar[dict[str, Parameter]] = {}
    #: Losses by task, the default first; a task with one loss has no parameter `loss`.
    losses: ClassVar[dict[str, tuple[str, ...]]] = {
        "regression": ("squared",),
        "classification": CLASSIFICATION,
    }
    #: What a fitted estimator shows besides its weights: name (without underscore) and description.
    attributes: ClassVar[dict[str, str]] = {}
    #: Examples for the docstrings of the estimators, by task, where the common one does not do.
    examples: ClassVar[dict[str, str]] = {}
    #: Whether it takes work, O(p^3) for instance, to read the model from the state.
    extracts: ClassVar[bool] = False
    #: Whether learning multiplies matrices by BLAS.
    uses_blas: ClassVar[bool] = False
    #: Whether columns far from zero are centred, where an intercept is fitted.
    centers: ClassVar[bool] = False
    #: Whether rows come in units of their columns, with `standardize`: for kernels that have no units.
    scales: ClassVar[bool] = False
    #: Whether they are also brought to norm 1, counting k values of a row.
    unit_rows: ClassVar[bool] = False
    #: Whether the largest weights of a model of many features are those that one of few would have, about.
    ranks: ClassVar[bool] = True
    #: The largest magnitude that values and targets may have, and the largest sample weight.
    limit: float = 1e75
    weight_limit: float = 1e75
    #: First rows whose values are all below this are an error: their squares vanish.
    tiny: float = 1e-100
    #: Names of the features, set by facades that know them.
    feature_names: Any = None
    #: What feature 0 is called where features are only numbered.
    first_index: int = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        # what a subclass sets to a plain value is no parameter of its own
        inherited = {name: value for name, value in cls.params.items() if name not in vars(cls)}
        cls.params = own | inherited

    def __init__(self, *, loss: str = "squared", **values: Any) -> None:
        self.loss = loss
        unknown = values.keys() - self.params.keys()
        if unknown:
            name = min(unknown)
            raise ParamError(name, values[name], f"expected one of {', '.join(self.params)}.")
        for name, param in self.params.items():
            setattr(self, name, param.check(name, values.get(name, param.default)))
        self.check()
        self.p = self.q = 0
        self.state: Any = None
        self.lock = RLock()
        self._flushed: tuple[int, Any] | None = None
        self._ordinary: bool | None = None  # whether a value above `tiny` has come, None for not known

    # ---------------------------------------------------------------- what a method provides

    def check(self) -> None:
        """Raise ParamError for parameters that do not go together."""

    def start(self, p: int, q: int) -> State:
        raise NotImplementedError(f"{type(self).__name__} must define start")  # pragma: no cover

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define learn")  # pragma: no cover

    def weights(self) -> tuple[Array, Array]:
        raise NotImplementedError(f"{type(self).__name__} must define weights")  # pragma: no cover

    def check_state(self) -> None:
        """Raise ValueError for state from a file whose indices a kernel could not follow."""

    def verify_state(self) -> None:
        """Raise ValueError for state from a file that does not fit together."""
        self.check_state()
        first = getattr(self.state, "centering", None)
        if first is not None:
            first.check(self.p, self.q, self.limit)
        refitted = getattr(self.state, "refitted", None)
        if refitted is not None:
            from .learners.refit import Refitted  # which imports this module

            if not isinstance(refitted, Refitted):
                raise ValueError(f"refitted is {type(refitted).__name__}, not Refitted of learners/refit.py.")
            refitted.check(self.p, self.q)

    def resize(self, p: int) -> None:
        """Make room for p features, or give it back."""
        self.state.resize(p)
        self.p = p

    @property
    def can_overflow(self) -> bool:
        """Whether a step may be too long, so that a copy of what it changes is needed to undo it."""
        return getattr(self, "eta", None) not in (None, "auto")

    def expect(self, rows: float, values: float, p: int, sparse: bool) -> None:
        """Called before the first row of a source that can be read twice, with about what it holds."""

    @property
    def needs_passes(self) -> bool:
        """Whether one pass is not enough, so that rows which come once cannot be learned."""
        return False

    def next_pass(self) -> Method | None:
        """A method to learn the same rows again, from what this one has learned; None where it is enough."""
        return None

    @property
    def pass_note(self) -> str:
        """What a pass that is not the first does, in a sentence."""
        return ""

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        """Features whose state may change with these rows; None for all."""
        return rows.features

    def in_one_step(self, rows: Rows) -> bool:  # noqa: ARG002
        """Whether `learn` changes the state by one call of a kernel, which Ctrl-C does not interrupt."""
        return True

    def overflow_hint(self) -> str:
        """What to do where the weights overflow."""
        eta = getattr(self, "eta", "auto")
        cause = "the derived step (eta='auto')" if eta == "auto" else f"eta={eta}"
        return f"{cause} is too long for these rows: pass a smaller eta or eta='auto'"

    # ---------------------------------------------------------------- for `fit` in several passes (passes.py)

    #: What ends the passes before `max_iter`.
    stop_rule: ClassVar[Any] = passes.LossFalls

    def plan(self, n: int) -> None:
        """Note that `fit` is about to pass over n rows."""

    @property
    def plans(self) -> bool:
        """Whether `plan` must be called before the first row, so that a source is counted first."""
        return False

    def learn_order(self, rows: Rows, order: NDArray[np.int64], y: Array, w: Array | None) -> int:
        """Learn the rows in this order; how many, before a step would have overflowed.

        What is copied and transformed of them is some blocks at a time, never the whole.
        """
        at = 0
        for part, some in self.parts(rows, order):
            learned = self.learn(some, y[part], None if w is None else w[part])
            if learned < len(part):
                return at + learned
            at += len(part)
        return len(order)

    def parts(
        self, rows: Rows, order: NDArray[np.int64] | None = None
    ) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        """Places of some rows, in this order, and the rows about the centre and in units of their columns."""
        order = np.arange(len(rows)) if order is None else order
        step = max(1, (1 << 17) * len(rows) // max(1, rows.n_values))
        for at in range(0, len(order), step):
            part = order[at : at + step]
            yield part, self.prepared(rows, part)

    def prepared(self, rows: Rows, part: NDArray[np.int64]) -> Rows:
        """Some rows, about the centre and in units of their columns."""
        first = getattr(self.state, "centering", None)
        some = rows.take(part)
        some = some if some.sparse else Rows(np.ascontiguousarray(some.values))
        return some if first is None else first.transform(some)

    def begin_intercept(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Let the intercepts begin with the constant that suits these targets best, if clearly not with 0.

        Of rows that are mostly zero: their columns are not centred, so that all of them would learn how
        frequent the classes are, the dense ones most, while intercepts follow slowly from zero.
        """
        if not (getattr(self, "fit_intercept", False) and rows.mostly_zero):
            return
        share = shares(len(y), w)
        mean = share @ y
        error = share @ np.abs(y - mean) * np.linalg.norm(share)
        self.set_intercept(np.where(np.abs(mean) > CLEARLY * error, best_constant(self.loss, y, w), 0.0))

    def set_intercept(self, constant: Array) -> None:
        """Set the intercepts (q,) before the first step, where they are in the state as they are."""
        bias = self.state.fields().get("bias")
        if bias is not None:
            bias[:] = np.tile(constant, len(bias) // self.q)  # of each penalty

    def begin_fit(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Look at all rows, before the first pass of `fit` over data in memory."""

    def end_pass(self) -> None:
        """Learn what is held back, at the end of a pass."""

    def iterate(self) -> Array:
        """The weights in units that compare, of which a pass must move little for `fit` to stop."""
        return self.weights()[0]

    # ---------------------------------------------------------------- what facades call

    def begin(self, p: int, q: int) -> Self:
        """Forget everything; p features and q outputs will come."""
        with self.lock:
            self.p, self.q = p, q
            self.state = self.new_state(p, q)
            self._ordinary = False
        return self

    def new_state(self, p: int, q: int) -> State:
        """The state before the first row, with what the base adds to the method's own."""
        state = self.start(p, q)
        centers = self.centers and getattr(self, "fit_intercept", False)
        scales = self.scales and getattr(self, "standardize", False)
        if (centers or scales) and centering.ROWS:
            budget = self.k if self.unit_rows else 0  # type: ignore[attr-defined]
            state.centering = centering.Centering(p, centers, scales, budget)
        if "refit" in self.params:
            state.add_fields(refitted=optional())
        return state

    def bytes_at(self, p: int, q: int) -> float:
        """Bytes of the state with p features and q outputs, about."""
        few = min(p, 64)
        return self.start(few, q).bytes_at(p, few)

    def update(self, rows: Rows, y: Array, w: Array | None = None, cluster: Any = None) -> None:
        """Learn checked rows, all of them or, where that fails, none; other callers wait.

        `cluster`, ids of rows that depend on each other, is for methods with folds.
        """
        if cluster is not None:
            self.check_clusters()
        if not len(rows):
            return
        with self.lock:
            p, held, interrupts = self.p, None, Deferred()
            self.check_magnitude(rows)
            try:
                if rows.p > p:
                    self.resize(rows.p)
                held = self._snapshot(rows, y, w)
                if held is None and not (self._all_placed(rows) and self.in_one_step(rows)):
                    interrupts.begin()
                first = getattr(self.state, "centering", None)
                waited = first is not None and not first.placed
                batches = [(rows, y, w)] if first is None else first.apply(rows, y, w)
                for batch in batches:
                    if waited:
                        self.begin_intercept(*centering.first_rows(*batch))
                    self._learn_all(*batch)
                if not batches and self.can_overflow:
                    self.settled()  # rows that wait must not turn out too large when it is too late
                if getattr(self.state, "refitted", None) is not None:
                    self.state.refitted = None
            except BaseException:
                if held is not None:
                    self.state.restore(held)
                if rows.p > p:
                    self.resize(p)
                self._flushed = None
                raise
            finally:
                interrupts.end()

    def _all_placed(self, rows: Rows) -> bool:
        """Whether no rows that wait for their centre will be learned with these."""
        first = getattr(self.state, "centering", None)
        return first is None or first.placed or len(first.buffer) + len(rows) < centering.ROWS

    def check_magnitude(self, rows: Rows) -> None:
        """Raise ValueError where all values so far are so small that their squares vanish."""
        if self._ordinary is None:  # a copy, or from a file
            self._ordinary = bool(self.n_rows)
        if not self._ordinary:
            largest = rows.largest()
            if 0 < largest < self.tiny:
                raise ValueError(
                    f"The largest magnitude of X is {largest:.3g}; products of values below {self.tiny:g} "
                    "vanish, and no feature could be selected: rescale the columns."
                )
            self._ordinary = largest > 0

    def check_clusters(self) -> None:
        """Raise ValueError unless the method's errors can take account of clusters."""
        raise ValueError(
            f"{type(self).__name__} has no errors that clusters could change; a method on averages has them, "
            "with se='folds'."
        )

    def _learn_all(self, rows: Rows, y: Array, w: Array | None) -> None:
        done = 0
        for at, part in rows.in_row_order():
            learned = self.learn(part, y[at], None if w is None else w[at])
            done += learned
            if learned < len(part):
                error = self.overflow_error(f" at row {done} of this call")
                raise ValueError(f"{error} The model is as it was before the call.")

    def settled(self) -> Self:
        """This method, or a copy that has learned the rows which wait for their centre."""
        first = getattr(self.state, "centering", None)
        if first is None or not len(first.buffer):
            return self
        with self.lock:
            n = len(first.buffer)
            if self._flushed is None or self._flushed[0] != n:
                other = copy.copy(self)
                for batch in other.state.centering.flush():
                    other.begin_intercept(*centering.first_rows(*batch))
                    other._learn_all(*batch)
                self._flushed = (n, other)
            found: Self = self._flushed[1]
            return found

    def coefficients(self) -> tuple[Array, Array]:
        """Coefficients (q, p) and intercepts (q,) as of now, for rows as they come."""
        with self.lock:
            now = self.settled()
            refitted = getattr(now.state, "refitted", None)
            if refitted is not None:
                coef = np.zeros((self.q, self.p))
                coef[:, refitted.features] = refitted.weight.T
                return coef, refitted.intercept.copy()
            coef, intercept = now.weights()
            first = getattr(now.state, "centering", None)
            return (coef, intercept) if first is None else first.for_raw_rows(coef, intercept)

    def candidates(self) -> NDArray[np.intp]:
        """Features that a refit chooses from: those of the model."""
        return np.flatnonzero(self.coefficients()[0].any(axis=0))

    def overflow_error(self, where: str = "") -> ValueError:
        return ValueError(
            f"The weights overflow{where}: {self.overflow_hint()}, or rescale the features and targets."
        )

    def _snapshot(self, rows: Rows, y: Array, w: Array | None) -> dict[str, Any] | None:
        """What undoes a failed call; None where kernels read all rows at once and do not fail."""
        if not (self.can_overflow or not rows.in_one_part or _extreme(rows, y, w)):
            return None
        features = self.changed_by(rows) if self.can_overflow else None
        first = getattr(self.state, "centering", None)
        if first is not None and features is not None:
            # rows that waited, or entries about the centre, change more
            features = np.union1d(features, np.flatnonzero(first.center)) if first.placed else None
        if features is None or len(features) >= self.p:
            return self.state.snapshot()
        return self.state.snapshot(features)

    def scores(self, rows: Rows) -> Array:
        """The margins of rows of at most p features, shape (n, q)."""
        coef, intercept = self.coefficients()
        return rows.scores(np.ascontiguousarray(coef.T), intercept)

    def means(self, scores: Array) -> Array:
        """Predicted targets from scores: these themselves, but for a loss whose margins are logarithms."""
        return scores

    def probabilities(self, scores: Array) -> Array:
        """Probability of each class from scores, for losses whose margins are log-odds."""
        if getattr(self.state, "refitted", None) is not None and scores.shape[1] > 1:
            return softmax(scores)  # the classes are fitted together
        return Classification.probabilities(scores)

    def linear_model(self) -> Any:
        """The `LinearModel` with standard errors and R^2 as of now; None where the method has none."""
        return None

    def extracted(self) -> Any:
        """Plain data that gives the model at once, where it takes work to extract it from the state.

        A model file holds it beside the state; `set_extracted` gets it back.
        """
        return None

    def set_extracted(self, model: Any) -> None:
        """Take over what `extracted` gave for this state; ValueError if it does not fit."""
        raise ValueError(
            f"{type(self).__name__} extracts no model, but the file holds {type(model).__name__}."
        )

    @property
    def values(self) -> dict[str, Any]:
        """The parameters as given, the loss among them."""
        return {"loss": self.loss} | {name: getattr(self, name) for name in self.params}

    @property
    def n_rows(self) -> int | None:
        """Rows learned, where the method counts them."""
        clock, first = getattr(self.state, "clock", None), getattr(self.state, "centering", None)
        if clock is None or "rows" not in (clock.dtype.names or ()):
            return None
        return int(clock["rows"]) + (0 if first is None else len(first.buffer))

    # ---------------------------------------------------------------- copies

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            state = {name: value for name, value in vars(self).items() if name not in ("lock", "_flushed")}
            return state | {"state": None if self.state is None else self.state.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock, self._flushed = RLock(), None

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = copy.copy(self)
        memo[id(self)] = other
        return other


def _extreme(rows: Rows, y: Array, w: Array | None) -> bool:
    """Whether products of these numbers may overflow even with a derived step."""
    if _core.first_bad(y, False, MODERATE) >= 0 or (w is not None and w.max() > MODERATE):
        return True
    return not (rows.moderate or rows.within(MODERATE))
