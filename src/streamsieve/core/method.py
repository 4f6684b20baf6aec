"""`Method`: the base class of all learning methods. It depends neither on scikit-learn nor on files.

A method declares its parameters as class attributes (`Param`) and provides

- `start(p, q) -> State`: the state for p features and q outputs;
- `learn(rows, y, w) -> int`: learn validated rows; the number learned, smaller if a step would overflow;
- `weights() -> (coef (q, p), intercept (q,))`: the model after the rows learned so far.

Everything else is in `training/`: preparation of the columns, passes, choice of k, refit, task and feature
names. See `methods/__init__.py` for the list of methods.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .losses import LOSSES, Loss, loss_names
from .params import OneOf, Param, ParamError, Parameter
from .rows import MODERATE, Array, Rows
from .state import State, Undo

LOSS = {
    "regression": "Loss function of the predictions.",
    "classification": "Loss function of the margins; `predict_proba` needs 'logistic'.",
}


class Extent(NamedTuple):
    """Approximate size of a source: rows, values (for sparse rows, the stored ones) and columns."""

    rows: float
    values: float
    p: int
    sparse: bool

    @classmethod
    def of(cls, rows: Rows) -> Extent:
        return cls(len(rows), rows.n_values, rows.p, rows.sparse)


class Method:
    """Base class of all methods: parameters, state, and calls that learn all of their rows or none."""

    #: Its name in the list of methods, by default that of the class.
    name: str
    params: ClassVar[dict[str, Parameter]] = {}
    #: Losses by task, the default first; a task with one loss has no parameter `loss`.
    losses: ClassVar[dict[str, tuple[str, ...]]] = {
        "regression": loss_names("regression"),
        "classification": loss_names("classification"),
    }
    #: Attributes of a fitted estimator besides its weights: name (without underscore) and description.
    attributes: ClassVar[dict[str, str]] = {}
    #: Examples for the docstrings of the estimators, by task, if the common example does not apply.
    examples: ClassVar[dict[str, str]] = {}

    # Traits, read by the stages, the trainer and the facades.

    #: Whether reading the model from the state is expensive, O(p^3) for instance; see `extracted`.
    extracts: ClassVar[bool] = False
    #: Whether states of the same parameters merge exactly; see `merge` of methods on averages.
    merges: ClassVar[bool] = False
    #: Whether units of a source can vote for candidate columns; see distributed/votes.py.
    screens: ClassVar[bool] = False
    #: Whether learning multiplies matrices with BLAS.
    uses_blas: ClassVar[bool] = False
    #: How columns are prepared. "centre": columns far from zero are centred if an intercept is fitted.
    #: "units": columns are also scaled if `standardize`. "unit rows": rows are also scaled so that k values
    #: have norm 1. None: columns are not prepared.
    prepare: ClassVar[str | None] = None
    #: Whether the k features are selected when the model is read, from more that it learns: `unselected` has
    #: the weights (q, p) of these. `fit` then stops when they no longer change, else when the loss no longer
    #: falls.
    selects_last: ClassVar[bool] = False
    #: By task, why a row of weight 2 differs from the same row twice; {} if they are equal up to rounding.
    weight_notes: ClassVar[dict[str, str]] = dict.fromkeys(
        ("regression", "classification"),
        "A row of weight 2 makes one longer step, but the same row twice makes two steps.",
    )
    #: Whether all classes are fitted jointly, so that probabilities are the softmax of the scores.
    joint: bool = False
    #: The largest magnitude that values and targets may have, and the largest sample weight.
    limit: float = 1e75
    weight_limit: float = 1e75
    #: Whether predictions are linear in the weights; if not, `coef_` has effect sizes and `scores` predicts.
    linear: bool = True
    #: Whether its state is running averages (`averages`), from which models are extracted; only these learn
    #: rows with the ids of their clusters.
    on_averages: ClassVar[bool] = False
    #: What to do with missing numbers of tables by default; see `missing` of `read`.
    missing_numbers: str = "mean"
    #: Whether the method needs several passes, so that it cannot learn a stream.
    needs_passes: bool = False
    #: Additional methods of its estimators, and whether the estimators predict poorly by design.
    estimator_methods: ClassVar[tuple[Any, ...]] = ()
    poor_score: ClassVar[bool] = False

    # Parameters and results that are read from every method: the values for methods that do not define them.

    k: Any = None
    criterion: Any = None
    eta: Any = None
    fit_intercept: Any = False
    standardize: Any = True
    missing: Any = "error"
    grow: Any = False
    clip: Any = False
    refit: Any = False
    interactions: Any = False
    block_size: Any = 1
    pairs: Any = None
    drift: Any = None
    note: str = ""
    #: Where `fit` of rows in memory starts; with "gradient" the method has `begin_fit`, called with all rows.
    init: Any = "zero"

    #: The approximate size of the data, if it is known before the first row.
    extent: Extent | None = None
    #: Names of the features, and the number of the first feature if features are only numbered.
    feature_names: Any = None
    first_index: int = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = vars(cls).get("name", cls.__name__)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        # an attribute that a subclass sets to a plain value is not a parameter of the subclass
        inherited = {name: value for name, value in cls.params.items() if name not in vars(cls)}
        cls.params = own | inherited

    def __init__(self, *, loss: str = "squared", **values: Any) -> None:
        self.loss = loss
        known = self.params | self._loss_params(*self.losses)
        unknown = values.keys() - known.keys()
        if unknown:
            name = min(unknown)
            raise ParamError(name, values[name], f"expected one of {', '.join(known)}.")
        for name, param in known.items():
            value = param.check(name, values.get(name, param.default))
            if name not in self.params and name not in LOSSES[loss].params and value != param.default:
                raise ParamError(name, value, f"expected {param.default!r} with loss={loss!r}.")
            setattr(self, name, value)
        self.check()
        self.p = self.q = 0
        self.state: Any = None

    # ---------------------------------------------------------------- every method defines these

    def check(self) -> None:
        """Raise ParamError for incompatible parameters."""

    def start(self, p: int, q: int) -> State:
        raise NotImplementedError(f"{type(self).__name__} must define start")  # pragma: no cover

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define learn")  # pragma: no cover

    def weights(self) -> tuple[Array, Array]:
        raise NotImplementedError(f"{type(self).__name__} must define weights")  # pragma: no cover

    def check_state(self) -> None:
        """Raise ValueError if the state read from a file has indices that are invalid in a kernel."""

    def resize(self, p: int) -> None:
        """Grow or shrink the state to p features."""
        self.state.resize(p)
        self.p = p

    # ---------------------------------------------------------------- some methods override these

    def end_pass(self) -> None:
        """Learn the buffered rows at the end of a pass."""

    def next_pass(self) -> Method | None:
        """The method for a further pass over the same rows, or None if no pass is needed.

        Its `pass_note` describes that pass in one sentence.
        """
        return None

    def set_intercept(self, constant: Array) -> None:
        """Set the intercepts (q,) before the first step if the state stores them directly."""
        bias = self.state.fields().get("bias")
        if bias is not None:
            bias[:] = np.tile(constant, len(bias) // self.q)  # one intercept for each penalty

    def scores(self, rows: Rows, coef: Array, intercept: Array) -> Array:
        """The margins (n, q) of rows with at most p features; the weights are for unscaled rows."""
        return rows.scores(np.ascontiguousarray(coef.T), intercept)

    def fills(self) -> Array | None:
        """Replacement of a missing value of each feature in predictions; None if missing values are an
        error."""
        return None

    def limits(self, features: NDArray[np.integer[Any]]) -> tuple[Array, Array]:
        """Lower and upper limits to which predictions clip these features."""
        return np.full(len(features), -np.inf), np.full(len(features), np.inf)

    def linear_model(self) -> Any:
        """The `LinearModel` with standard errors and R^2, or None."""
        return None

    def candidates(self, n: int) -> NDArray[np.intp]:  # noqa: ARG002
        """The features that the method selects if n are asked for; only those of the model if it knows no
        others."""
        return np.flatnonzero(self.weights()[0].any(axis=0))

    @property
    def nan_ok(self) -> bool:
        """Whether rows may have NaN."""
        return bool(self.missing == "mean")

    # ---------------------------------------------------------------- learning, all rows or none

    def begin(self, p: int, q: int) -> Self:
        """Start again with p features and q outputs."""
        self.p, self.q = p, q
        self.state = self.start(p, q)
        return self

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:
        """Learn validated rows of positive weight; if one fails, learn none."""
        p = self.p
        try:
            if rows.p > p:
                self.resize(rows.p)
            with self.undo(rows, y, w):
                self.learn_parts(rows, y, w)
        except BaseException:
            if rows.p > p:
                self.resize(p)
            raise

    def learn_parts(self, rows: Rows, y: Array, w: Array | None) -> None:
        """Pass rows to the kernel: all at once or, if stored in column order, copied block by block."""
        done = 0
        for at, part in [(slice(None), rows)] if rows.in_one_part else rows.in_row_order():
            learned = self.learn(part, y[at], None if w is None else w[at])
            done += learned
            if learned < len(part):
                error = self.overflow_error(f" at row {done} of this call")
                raise ValueError(f"{error} The model is as it was before the call.")

    def undo(self, rows: Rows, y: Array, w: Array | None) -> Undo:
        """How to undo the call: a snapshot of the arrays that it may change, if a step may overflow.

        A kernel with derived steps that reads all rows at once cannot fail.
        """
        state = self.state
        if self.can_overflow or not rows.in_one_part or _extreme(rows, y, w):
            features = self.changed_by(rows) if self.can_overflow else None
            held = state.snapshot(None if features is None or len(features) >= self.p else features)
            return Undo(lambda: state.restore(held))
        undo = Undo()
        if not self.in_one_step(rows):
            undo.cannot()
        return undo

    @property
    def can_overflow(self) -> bool:
        """Whether a step may be too long, so that an undo needs a copy of the arrays that it changes."""
        return self.eta not in (None, "auto")

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        """Features whose state may change with these rows; None for all."""
        return rows.features

    def in_one_step(self, rows: Rows) -> bool:  # noqa: ARG002
        """Whether `learn` changes the state in one kernel call, which Ctrl-C does not interrupt."""
        return True

    def overflow_error(self, where: str = "") -> ValueError:
        cause = f"eta={self.eta}" if self.can_overflow else "the derived step (eta='auto')"
        return ValueError(
            f"The weights overflow{where}: {cause} is too long for these rows: pass a smaller eta or "
            "eta='auto', or rescale the features and targets."
        )

    # ---------------------------------------------------------------- parameters and names

    @classmethod
    def parameters(cls, task: str) -> dict[str, Parameter]:
        """All parameters for a task: those of the method, the loss if there are several, and those of the
        losses."""
        offered = cls.losses[task]
        choice = {"loss": Param(offered[0], OneOf(*offered), LOSS[task])} if len(offered) > 1 else {}
        return cls.params | choice | cls._loss_params(task)

    @classmethod
    def _loss_params(cls, *tasks: str) -> dict[str, Parameter]:
        """The parameters of the losses for these tasks."""
        offered = [LOSSES[name] for task in tasks for name in cls.losses[task]]
        return {name: param for loss in offered for name, param in loss.params.items()}

    @property
    def loss_function(self) -> Loss:
        """The loss with its parameters."""
        loss = LOSSES[self.loss]
        if not loss.params:
            return loss
        return type(loss)(**{name: getattr(self, name) for name in loss.params})

    @property
    def values(self) -> dict[str, Any]:
        """The parameters as given, including the loss and its parameters."""
        names = [*self.params, *LOSSES[self.loss].params]
        return {"loss": self.loss} | {name: getattr(self, name) for name in names}

    def with_values(self, **changed: Any) -> Self:
        """An unfitted copy of the method with these parameters changed."""
        other = type(self)(**self.values | changed)
        other.feature_names, other.first_index = self.feature_names, self.first_index
        return other

    @property
    def n_rows(self) -> int | None:
        """Rows learned, or None if the method does not count them."""
        clock = getattr(self.state, "clock", None)
        return None if clock is None or "rows" not in (clock.dtype.names or ()) else int(clock["rows"])

    def bytes_at(self, p: int, q: int) -> float:
        """Approximate size in bytes of the state with p features and q outputs."""
        few = min(p, 64)
        return self.start(few, q).bytes_at(p, few)

    # ---------------------------------------------------------------- copies

    def extracted(self) -> Any:
        """The model extracted since the last rows, as plain data for files and pickles; else None."""
        return None

    def set_extracted(self, model: Any) -> None:
        """Restore what `extracted` returned; ValueError if it does not fit."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "state": None if self.state is None else self.state.copy()}

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__getstate__())
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = copy.copy(self)
        memo[id(self)] = other
        return other


def _extreme(rows: Rows, y: Array, w: Array | None) -> bool:
    """Whether products of these values may overflow even with a derived step."""
    if _core.first_bad(y, False, MODERATE)[0] >= 0 or (w is not None and w.max() > MODERATE):
        return True
    return not rows.within(MODERATE)
