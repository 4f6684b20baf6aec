"""`Model`: a method with its stages, its task and the names of its features, without scikit-learn.

Estimators, command line, files, reports and engines all use it. The method has two optional stages: `Prepare`
(centre and unit of the columns, start of the intercept) before it, and the weights of a `Refit` after it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.losses import Loss, softmax
from ..core.method import Method
from ..core.params import ParamError
from ..core.rows import Array, Rows, as_weights, check_rows
from ..core.state import differences
from ..core.tasks import Classification, Regression, Task
from ..methods import SUFFIX
from .prepare import Prepare
from .refit import Refitted

TINY = 1e-100  # first rows whose values are all below this are an error: their squares vanish


class TooManyFeatures(ValueError):
    """Rows have more features than the state of the method has, and it cannot grow."""


@dataclass(eq=False)
class Model:
    """A method with its task and the names of its features.

    Attributes
    ----------
    method : Method
    task_name : {"regression", "classification"}
    task : Task or None
        None before the first rows.
    feature_names : list or None
        Names by index; None if features are only numbered.
    n_columns : int
        Number of names that are columns of the data frame that the model was fitted on.
    first_index : int
        Number of the first feature if features are numbered: 1 for svmlight.
    about : dict
        Plain data about the run: rows, source, ...
    prepare : Prepare or None
        Centre and unit of the columns, if the method uses them.
    refitted : Refitted or None
        Weights that replace those of the method until it learns again.
    lock : RLock
        Held while a call learns or reads the model.
    """

    method: Method
    task_name: str
    task: Task | None = None
    feature_names: Any = None
    n_columns: int = 0
    first_index: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    prepare: Prepare | None = None
    refitted: Refitted | None = None
    lock: Any = field(default_factory=RLock, init=False, repr=False)
    _seen_value: bool = field(default=False, init=False, repr=False)  # of TINY or above
    #: Whether the warning about rows outside the range of the training rows was given.
    warned_of_outside: bool = field(default=False, init=False, repr=False)
    reach: Any = field(default=None, init=False, repr=False)  # a cache of `outside.reach_of`

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name in ("feature_names", "first_index"):  # a method's constraints are stated in them
            setattr(self.method, name, value)
        elif name == "method" and "first_index" in vars(self):
            value.feature_names, value.first_index = self.feature_names, self.first_index

    # ---------------------------------------------------------------- what it is

    @property
    def method_name(self) -> str:
        return self.method.name

    @property
    def name(self) -> str:
        """The name of the scikit-learn estimator that learns the same."""
        return self.method_name + SUFFIX[self.task_name]

    @property
    def started(self) -> bool:
        return self.method.state is not None

    @property
    def p(self) -> int:
        return self.method.p

    @property
    def q(self) -> int:
        return self.method.q

    @property
    def classes(self) -> NDArray[Any] | None:
        return self.task.classes if isinstance(self.task, Classification) else None

    @property
    def loss(self) -> Loss:
        """The loss that measures rows, in the units of the targets."""
        return self.method.loss_function.raw()

    @property
    def has_probabilities(self) -> bool:
        return self.task_name == "classification" and self.method.loss == "logistic"

    @property
    def n_rows(self) -> int | None:
        """Rows learned, if known."""
        if "rows" in self.about:
            rows: int = self.about["rows"]
            return rows
        if not self.started:
            return 0
        learned = self.method.n_rows
        return learned if learned is None or self.prepare is None else learned + len(self.prepare.buffer)

    def with_values(self, **changed: Any) -> Model:
        """An unfitted model without notes, of the same task and names, whose method has these parameters."""
        method = self.method.with_values(**changed)
        return replace(self, method=method, prepare=None, refitted=None, about={})

    # ---------------------------------------------------------------- learning

    def check(self, rows: Rows) -> Rows:
        """Validated rows for `learn` and `scores`; ValueError for values that the method cannot learn."""
        names = self.feature_names
        named = list(map(str, names)) if names is not None and len(names) >= rows.p else None
        return check_rows(rows, names=named, nan_ok=self.nan_ok, limit=self.method.limit)

    @property
    def nan_ok(self) -> bool:
        return self.method.nan_ok

    def encode(
        self, rows: Rows, y: Any, w: Any = None, cluster: Any = None
    ) -> tuple[Rows, Array, Array | None, Any]:
        """Validated rows with their targets as outputs (n, q) and weights, without rows of weight 0.

        The first rows determine the task, unless it is known.
        """
        method, n = self.method, len(rows)
        if cluster is not None:
            if not method.on_averages:
                raise ValueError(
                    f"{self.method_name} has no standard errors for clusters; a method on averages has "
                    "them, with se='folds'."
                )
            if len(cluster) != n:
                raise ValueError(f"cluster has {len(cluster)} ids for {n} rows; pass one per row.")
        if self.task is None:
            labels = self.task_name == "classification"
            self.task = Classification.of(y) if labels else Regression.of(y, n, method.limit)
        if self.started:
            rows = match_width(rows, method)
        Y = self.task.encode(y, n, method.limit)
        w = as_weights(w, n, method.weight_limit)
        if w is not None and not w.all():
            cluster = None if cluster is None else cluster[w > 0]
            rows, Y, w = rows.take(w > 0), Y[w > 0], w[w > 0]
        return rows, Y, w, cluster

    def learn(self, rows: Rows, y: Any, w: Any = None, cluster: Any = None) -> None:
        """Learn the next rows of a stream; `cluster` are `folds.hash_ids` of the rows' clusters."""
        rows, Y, w, cluster = self.encode(rows, y, w, cluster)
        if not self.started:
            self.begin(rows.p, Y.shape[1])
        self.update(rows, Y, w, cluster)

    def begin(self, p: int, q: int) -> None:
        """Start again with p features and q outputs."""
        check_size(self.method)
        with self.lock:
            self.method.begin(p, q)
            self.prepare = None if self.method.prepare is None else Prepare.of(self.method, p)
            self.refitted = self.reach = None
            self._seen_value = False

    def begin_next_pass(self) -> bool:
        """Replace the method by that of a further pass over the same rows; False if it needs none."""
        again = self.method.next_pass()
        if again is None:
            return False
        self.method = again
        return True

    def resize(self, p: int) -> None:
        """Grow or shrink the state to p features."""
        if p != self.method.p:
            self.method.resize(p)
        if self.prepare is not None:
            self.prepare.resize(p)

    def update(self, rows: Rows, y: Array, w: Array | None = None, cluster: Any = None) -> None:
        """Learn encoded rows; if one fails, learn none. Other callers wait."""
        if not len(rows):
            return
        with self.lock:
            self.check_magnitude(rows)
            refitted = self.refitted
            if refitted is not None or self.reach is not None:
                self.refitted = self.reach = None
            try:
                if cluster is not None:
                    self.method.update(rows, y, w, cluster)  # type: ignore[call-arg]
                elif self.prepare is None:
                    self.method.update(rows, y, w)
                else:
                    self.prepare.update(self.method, rows, y, w)
            except BaseException:
                self.refitted = refitted
                raise

    def check_magnitude(self, rows: Rows) -> None:
        """Raise ValueError if all values so far are so small that their squares underflow."""
        if self._seen_value or self.n_rows:
            return
        # a look at one row mostly settles it; all of them take as long as learning does
        self._seen_value = rows[:1].largest() >= TINY
        if self._seen_value:
            return
        largest = rows.largest()
        if 0 < largest < TINY:
            raise ValueError(
                f"The largest magnitude of X is {largest:.3g}; products of values below {TINY:g} "
                "vanish, and no feature could be selected: rescale the columns."
            )
        self._seen_value = largest > 0

    def _settled(self) -> tuple[Method, Prepare | None]:
        """Method and stage as if the rows were learned that are buffered to place the centre."""
        return (self.method, None) if self.prepare is None else self.prepare.settled(self.method)

    def differences(self, other: Model) -> Iterator[str]:
        """The names of parts of the state that differ, bit for bit."""
        for name in ("prepare", "refitted"):
            yield from differences(getattr(self, name), getattr(other, name), name)
        yield from self.method.state.differences(other.method.state)

    def verify_state(self) -> None:
        """Raise ValueError for an inconsistent state from a file."""
        if self.started:  # a part of a source without rows has learned nothing
            self.method.check_state()
        if self.prepare is not None:
            self.prepare.check(self.p, self.q, self.method.limit)
        if self.refitted is not None:
            if not isinstance(self.refitted, Refitted):
                raise ValueError(f"refitted is {type(self.refitted).__name__}, not Refitted of a refit.")
            self.refitted.check(self.p, self.q)

    # ---------------------------------------------------------------- the model

    def scores(self, rows: Rows, weights: tuple[Array, Array] | None = None) -> Array:
        """Margins of validated rows, shape (n, q); features that the model does not know have no weight.

        `weights` are those of an earlier model, used instead of the current ones.
        """
        with self.lock:
            coef, intercept = self.coefficients() if weights is None else weights
            p = coef.shape[1] if weights is not None else self.p
            if rows.p != p:
                rows = rows.to_sparse().with_width(p)
            return self._settled()[0].scores(rows, coef, intercept)

    def coefficients(self) -> tuple[Array, Array]:
        """Coefficients (q, p) and intercepts (q,), for rows without centring and scaling."""
        with self.lock:
            if self.refitted is not None:
                return self.refitted.scattered(self.p)
            method, stage = self._settled()
            coef, intercept = method.weights()
            return (coef, intercept) if stage is None else stage.for_raw_rows(coef, intercept)

    def attribute(self, name: str) -> Any:
        """An additional attribute of the method."""
        with self.lock:
            return getattr(self._settled()[0], name)

    @property
    def n_far(self) -> int:
        """Values that were not learned, since they lie far outside of their columns."""
        with self.lock:
            stage = self._settled()[1]
            return 0 if stage is None else stage.n_far

    def predict(self, scores: Array) -> NDArray[Any]:
        """Targets or labels from scores."""
        assert self.task is not None
        return self.task.decode(self.method.loss_function.means(scores))

    def probabilities(self, scores: Array) -> Array:
        """Probability of each class from scores, for losses whose margins are log-odds."""
        several = scores.shape[1] > 1
        return softmax(scores) if several and self.softmax else Classification.probabilities(scores)

    @property
    def softmax(self) -> bool:
        """Whether the classes were fitted jointly, so that probabilities are the softmax of the scores."""
        return self.method.joint or self.refitted is not None

    @property
    def support(self) -> NDArray[np.int64]:
        """The selected features, ascending."""
        return np.flatnonzero(self.coefficients()[0].any(axis=0))

    # ---------------------------------------------------------------- copies

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            caches = ("lock", "reach")
            state = {name: value for name, value in vars(self).items() if name not in caches}
            stage = None if self.prepare is None else self.prepare.copy()
            method, extracted = copy.copy(self.method), self.method.extracted()
            copied = {"method": method, "extracted": extracted, "prepare": stage, "about": dict(self.about)}
            return state | copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        extracted = state.get("extracted")  # not in pickles of earlier versions
        self.__dict__.update((name, value) for name, value in state.items() if name != "extracted")
        self.lock, self.reach = RLock(), None
        if extracted is not None:
            self.method.set_extracted(extracted)

    def __copy__(self) -> Model:
        other = object.__new__(Model)
        other.__setstate__(self.__getstate__())
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        other = copy.copy(self)
        memo[id(self)] = other
        return other


def check_size(method: Method) -> None:
    """Raise ParamError if the number of features has not been chosen yet."""
    if chooses_size(method):
        raise ParamError("k", "auto", "it is chosen by fit, from data in memory; pass a number.")


def has_passes(method: Any) -> bool:
    """Whether `fit` of this method, or class of methods, makes several passes."""
    return "max_iter" in method.params


def chooses_size(method: Method) -> bool:
    """Whether k is chosen before the method starts; methods on averages choose it when the model is read."""
    return isinstance(method.k, str) and method.k == "auto" and not method.extracts


def match_width(rows: Rows, method: Method) -> Rows:
    """Rows of at least the width of the method; TooManyFeatures if it cannot grow."""
    if rows.p == method.p:
        return rows
    if rows.p > method.p:
        if not method.grow:
            raise TooManyFeatures(
                f"there are {rows.p:,} features, but {type(method).__name__} started with {method.p:,}: it "
                "cannot learn new ones."
            )
        return rows
    return rows.to_sparse().with_width(method.p)
