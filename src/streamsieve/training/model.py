"""`Model`: a method with its stages, its task and the names of its features, without scikit-learn.

Estimators, command line, files, reports and engines all hold one. Around the method stand two stages, absent
where they are off: `Prepare` (centre and unit of the columns, the start of the intercept) before it, and the
weights of a `Refit` after it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.losses import Loss, softmax
from ..core.method import Method
from ..core.params import ParamError
from ..core.rows import Array, Rows, as_weights, check_rows, from_scipy
from ..core.state import differences
from ..core.tasks import Classification, Regression, Task
from ..core.transaction import Undo, transaction
from ..methods import SUFFIX
from .prepare import Prepare, learn_first
from .refit import Refitted


class TooManyFeatures(ValueError):
    """Rows have more features than the method's state has room for, or can get room for."""


@dataclass(eq=False)
class Model:
    """A method, what it learns and what its features are called.

    Attributes
    ----------
    method : Method
    task_name : {"regression", "classification"}
    task : Task or None
        None before the first rows.
    feature_names : list or None
        Names by index; None where features are only numbered.
    n_columns : int
        How many of the names are columns of the data frame that the model was fitted on.
    first_index : int
        What feature 0 is called where features are numbered: 1 for svmlight.
    about : dict
        Plain data about the run: rows, source, ...
    prepare : Prepare or None
        Centre and unit of the columns, where the method wants them.
    refitted : Refitted or None
        Weights that take the place of the method's own, until it learns again.
    lock : RLock
        One call at a time: whoever learns or reads the model holds it.
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
    _flushed: tuple[int, Method, Prepare] | None = field(default=None, init=False, repr=False)
    _seen_value: bool = field(default=False, init=False, repr=False)  # above the method's `tiny`
    #: Whether a user was told of rows that lie outside of those learned: once is enough.
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
        """The loss by which rows are measured, in the units of the targets."""
        return self.method.loss_function.raw()

    @property
    def has_probabilities(self) -> bool:
        return self.task_name == "classification" and self.method.loss == "logistic"

    @property
    def n_rows(self) -> int | None:
        """Rows learned, where that is known."""
        if "rows" in self.about:
            rows: int = self.about["rows"]
            return rows
        if not self.started:
            return 0
        learned = self.method.n_rows
        return learned if learned is None or self.prepare is None else learned + len(self.prepare.buffer)

    def with_values(self, **changed: Any) -> Model:
        """A model of the same task and names whose method has these parameters, and has learned nothing."""
        return replace(self, method=self.method.with_values(**changed), prepare=None, refitted=None)

    # ---------------------------------------------------------------- learning

    def check(self, rows: Rows) -> Rows:
        """Rows that `learn` and `scores` can trust; ValueError for values that the method cannot learn."""
        names = self.feature_names
        named = list(map(str, names)) if names is not None and len(names) >= rows.p else None
        return check_rows(rows, names=named, nan_ok=self.nan_ok, limit=self.method.limit)

    @property
    def nan_ok(self) -> bool:
        return getattr(self.method, "missing", "error") == "mean"

    def encode(
        self, rows: Rows, y: Any, w: Any = None, cluster: Any = None
    ) -> tuple[Rows, Array, Array | None, Any]:
        """Checked rows with their targets as outputs (n, q) and weights, without rows of weight 0.

        The first rows say what the task is, unless it is known.
        """
        method, n = self.method, len(rows)
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
        """Forget everything; p features and q outputs will come."""
        check_size(self.method)
        with self.lock:
            self.method.begin(p, q)
            self.prepare = Prepare.of(self.method, p)
            self.refitted = self._flushed = self.reach = None
            self._seen_value = False

    def resize(self, p: int) -> None:
        """Make room for p features, or give it back."""
        if p != self.method.p:
            self.method.resize(p)
        if self.prepare is not None:
            self.prepare.resize(p)

    def update(self, rows: Rows, y: Array, w: Array | None = None, cluster: Any = None) -> None:
        """Learn encoded rows, all of them or, where that fails, none; other callers wait."""
        if cluster is not None:
            self.method.check_clusters()
            if len(cluster) != len(rows):
                raise ValueError(f"cluster has {len(cluster)} ids for {len(rows)} rows; pass one a row.")
        if not len(rows):
            return
        with self.lock:
            self.check_magnitude(rows)
            refitted, self.refitted, self.reach = self.refitted, None, None
            try:
                if cluster is not None:
                    self.method.update(rows, y, w, cluster)  # type: ignore[call-arg]
                elif self.prepare is None:
                    self.method.update(rows, y, w)
                else:
                    self._update_prepared(self.prepare, rows, y, w)
            except BaseException:
                self.refitted, self._flushed = refitted, None
                raise

    def _update_prepared(self, stage: Prepare, rows: Rows, y: Array, w: Array | None) -> None:
        p = self.p
        try:
            if stage.placed:
                self.resize(max(p, rows.p))
                self._learn_placed(stage, rows, y, w)
                return
            with transaction(stage.undo(self.method)) as undo:
                undo.interrupts.begin()  # until rows and centre belong together
                self.resize(max(p, rows.p))
                rows, y, w = stage.collect(rows, y, w)
                if stage.full:
                    learn_first(self.method, stage)
                    if len(rows):
                        self._learn_placed(stage, rows, y, w)
                elif self.method.can_overflow:
                    self._settled()  # check buffered rows now: a later overflow could not be undone
        except BaseException:
            if rows.p > p:  # a part of the state may have grown
                self.method.resize(p)
                stage.resize(p)
            raise

    def _learn_placed(self, stage: Prepare, rows: Rows, y: Array, w: Array | None) -> None:
        """Learn rows once centre and unit are placed, which those far outside may change on the way."""
        rows = stage.explicit(rows)
        near = stage.all_near(rows, y)
        undo, at = Undo(None if near else stage.undo_far(rows)), 0
        with transaction(undo):
            undo.interrupts.begin()  # until rows and units belong together
            if near:
                self.method.update(stage.apply(rows), stage.targets(y), w)
                stage.n_rows += len(rows)
                return
            while at < len(rows):
                n, learned, moved = stage.read(rows[at:], y[at:])
                part = slice(at, at + n)
                if at == 0 and (moved or n < len(rows)):  # the first of several steps that are one
                    undo.keep(0, self._copy_state)
                some, targets = stage.near(rows[part], y[part])
                weights = None if w is None else w[part]
                if not learned.all():
                    some, targets = some.take(learned), targets[learned]
                    weights = None if weights is None else weights[learned]
                if len(some):
                    self.method.update(stage.apply(some), stage.targets(targets), weights)
                at += n
                stage.n_rows += n
                if moved:
                    stage.renew(self.method)

    def _copy_state(self) -> Callable[[], None]:
        state, held = self.method.state, self.method.state.snapshot()
        return lambda: state.restore(held)

    def check_magnitude(self, rows: Rows) -> None:
        """Raise ValueError where all values so far are so small that their squares vanish."""
        if self._seen_value or self.n_rows:
            return
        tiny = self.method.tiny
        # a look at one row mostly settles it; all of them take as long as learning does
        self._seen_value = rows[:1].largest() >= tiny
        if self._seen_value:
            return
        largest = rows.largest()
        if 0 < largest < tiny:
            raise ValueError(
                f"The largest magnitude of X is {largest:.3g}; products of values below {tiny:g} "
                "vanish, and no feature could be selected: rescale the columns."
            )
        self._seen_value = largest > 0

    def _settled(self) -> tuple[Method, Prepare | None]:
        """Method and stage, or copies that have learned the rows which are buffered to place the centre."""
        stage = self.prepare
        if stage is None or not len(stage.buffer):
            return self.method, stage
        n = len(stage.buffer)
        if self._flushed is None or self._flushed[0] != n:
            method, stage = copy.copy(self.method), stage.copy()
            learn_first(method, stage)
            self._flushed = n, method, stage
        return self._flushed[1:]

    def differences(self, other: Model) -> Iterator[str]:
        """The names of parts of the state that differ, bit for bit."""
        for name in ("prepare", "refitted"):
            yield from differences(getattr(self, name), getattr(other, name), name)
        yield from self.method.state.differences(other.method.state)

    def verify_state(self) -> None:
        """Raise ValueError for state from a file that does not fit together."""
        self.method.check_state()
        if self.prepare is not None:
            self.prepare.check(self.p, self.q, self.method.limit)
        if self.refitted is not None:
            if not isinstance(self.refitted, Refitted):
                raise ValueError(f"refitted is {type(self.refitted).__name__}, not Refitted of a refit.")
            self.refitted.check(self.p, self.q)

    # ---------------------------------------------------------------- the model

    def scores(self, rows: Rows, weights: tuple[Array, Array] | None = None) -> Array:
        """Margins of checked rows, shape (n, q); features that the model has not met have no weight.

        `weights` are those of an earlier model, in place of this one's.
        """
        with self.lock:
            coef, intercept = self.coefficients() if weights is None else weights
            p = coef.shape[1] if weights is not None else self.p
            if rows.p != p:
                rows = (rows if rows.sparse else from_scipy(rows.to_scipy())).with_width(p)
            return self._settled()[0].scores(rows, coef, intercept)

    def coefficients(self) -> tuple[Array, Array]:
        """Coefficients (q, p) and intercepts (q,), for rows as they come."""
        with self.lock:
            if self.refitted is not None:
                return self.refitted.scattered(self.p)
            method, stage = self._settled()
            coef, intercept = method.weights()
            return (coef, intercept) if stage is None else stage.for_raw_rows(coef, intercept)

    def attribute(self, name: str) -> Any:
        """What the method shows besides its weights."""
        with self.lock:
            return getattr(self._settled()[0], name)

    def predict(self, scores: Array) -> NDArray[Any]:
        """Targets or labels from scores."""
        assert self.task is not None
        return self.task.decode(self.method.means(scores))

    def probabilities(self, scores: Array) -> Array:
        """Probability of each class from scores, for losses whose margins are log-odds."""
        several = scores.shape[1] > 1
        return softmax(scores) if several and self.softmax else Classification.probabilities(scores)

    @property
    def softmax(self) -> bool:
        """Whether the classes were fitted together, so that probabilities are the softmax of the scores."""
        return self.method.joint or self.refitted is not None

    @property
    def support(self) -> NDArray[np.int64]:
        """The selected features, ascending."""
        return np.flatnonzero(self.coefficients()[0].any(axis=0))

    # ---------------------------------------------------------------- copies

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            caches = ("lock", "_flushed", "reach")
            state = {name: value for name, value in vars(self).items() if name not in caches}
            stage = None if self.prepare is None else self.prepare.copy()
            return state | {"method": copy.copy(self.method), "prepare": stage, "about": dict(self.about)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock, self._flushed, self.reach = RLock(), None, None

    def __copy__(self) -> Model:
        other = object.__new__(Model)
        other.__setstate__(self.__getstate__())
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        other = copy.copy(self)
        memo[id(self)] = other
        return other


def check_size(method: Method) -> None:
    """Raise ParamError where the number of features is still to be chosen."""
    if chooses_size(method):
        raise ParamError("k", "auto", "it is chosen by fit, from data in memory; pass a number.")


def has_passes(method: Any) -> bool:
    """Whether `fit` of this method, or class of methods, makes several passes."""
    return "max_iter" in method.params


def chooses_size(method: Method) -> bool:
    """Whether k is to be chosen before the method begins; methods that extract choose when they are read."""
    k = getattr(method, "k", None)
    return isinstance(k, str) and k == "auto" and not method.extracts


def match_width(rows: Rows, method: Method) -> Rows:
    """Rows of at least the method's width; TooManyFeatures where it cannot grow."""
    if rows.p == method.p:
        return rows
    if rows.p > method.p:
        if not getattr(method, "grow", False):
            raise TooManyFeatures(
                f"there are {rows.p:,} features, and {type(method).__name__} began with {method.p:,}: it "
                "cannot learn new ones."
            )
        return rows
    return (rows if rows.sparse else from_scipy(rows.to_scipy())).with_width(method.p)
