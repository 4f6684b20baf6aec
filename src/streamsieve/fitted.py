"""`FittedModel`: a method with its task and the names of its features, without scikit-learn.

The command line, runs, files and reports use it; the scikit-learn estimators do the same work for Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Method
from .losses import LOSSES, Loss
from .methods import SUFFIX
from .rows import Array, Rows, as_weights, check_rows, from_scipy
from .tasks import Classification, Regression, Task


@dataclass(frozen=True)
class Feature:
    """A selected feature: its weight for each output and, where known, what is sure of it.

    Attributes
    ----------
    stderr, tvalue, pvalue : float or None
    interval : pair of float or None
        Of 95 %.
    honest : bool
        Whether these hold although the feature was selected; else they are given the selection.
    """

    index: int
    name: str
    weights: list[float]
    stderr: float | None
    tvalue: float | None
    pvalue: float | None = None
    interval: tuple[float, float] | None = None
    honest: bool = False


class TooManyFeatures(ValueError):
    """Rows have more features than the method's state has room for, or can get room for."""


@dataclass
class FittedModel:
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
    """

    method: Method
    task_name: str
    task: Task | None = None
    feature_names: list[Any] | None = None
    n_columns: int = 0
    first_index: int = 0
    about: dict[str, Any] = field(default_factory=dict)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name in ("feature_names", "first_index"):  # a method's constraints are stated in them
            setattr(self.method, name, value)

    # ---------------------------------------------------------------- what it is

    @property
    def method_name(self) -> str:
        return type(self.method).__name__

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
    def classes(self) -> NDArray[Any] | None:
        return self.task.classes if isinstance(self.task, Classification) else None

    @property
    def loss(self) -> Loss:
        """The loss by which rows are measured: the method's own, or the squared one where that has units."""
        return LOSSES.get(self.method.loss, LOSSES["squared"])

    @property
    def has_probabilities(self) -> bool:
        return self.task_name == "classification" and self.method.loss == "logistic"

    @property
    def n_rows(self) -> int | None:
        """Rows learned, where that is known."""
        rows: int | None = self.about.get("rows", self.method.n_rows if self.started else 0)
        return rows

    # ---------------------------------------------------------------- learning

    def check(self, rows: Rows) -> Rows:
        """Rows that `learn` and `scores` can trust; ValueError for values that the method cannot learn."""
        names = self.feature_names
        named = list(map(str, names)) if names is not None and len(names) >= rows.p else None
        nan_ok = getattr(self.method, "missing", "error") == "mean"
        return check_rows(rows, names=named, nan_ok=nan_ok, limit=self.method.limit)

    def learn(self, rows: Rows, y: Any, w: Any = None, cluster: Any = None) -> None:
        """Learn the next rows, checked; the first ones say what the task is, unless it is known.

        `cluster` are `clusters.hash_ids` of the rows' clusters.
        """
        method = self.method
        if self.task is None:
            self.task = self._first_task(y, len(rows))
        if self.started:
            rows = match_width(rows, method)
        y = self.task.encode(y, len(rows), method.limit)
        w = as_weights(w, len(rows), method.weight_limit)
        if w is not None and not w.all():
            cluster = None if cluster is None else cluster[w > 0]
            rows, y, w = rows.take(w > 0), y[w > 0], w[w > 0]
        if not self.started:
            method.begin(rows.p, self.task.q)
        method.update(rows, y, w, cluster)

    def _first_task(self, y: Any, n: int) -> Task:
        if self.task_name == "classification":
            return Classification.of(y)
        return Regression.of(y, n, self.method.limit)

    # ---------------------------------------------------------------- the model

    def scores(self, rows: Rows) -> Array:
        """Margins of checked rows, shape (n, q); features that the model has not met have no weight."""
        if rows.p != self.p:
            rows = (rows if rows.sparse else from_scipy(rows.to_scipy())).with_width(self.p)
        return self.method.scores(rows)

    def predict(self, scores: Array) -> NDArray[Any]:
        """Targets or labels from scores."""
        assert self.task is not None
        return self.task.decode(self.method.means(scores))

    def probabilities(self, scores: Array) -> Array:
        """Probability of each class from scores."""
        return self.method.probabilities(scores)

    @property
    def support(self) -> NDArray[np.int64]:
        """The selected features, ascending."""
        return np.flatnonzero(self.method.coefficients()[0].any(axis=0))

    def _names(self) -> Callable[[int], str]:
        """What a user calls feature j: the name of its column, or its number as the source counts."""
        names, first = self.feature_names, self.first_index
        pairs = getattr(self.method, "pairs", None)
        if pairs is not None:  # products are called by both
            names = pairs.names(names or [str(j + first) for j in range(self.p)])
        return lambda j: str(j + first) if names is None else str(names[j])

    def features(self) -> list[Feature]:
        """The selected features, the strongest first: by t value, or by weight."""
        coef = self.method.coefficients()[0]
        linear = self.method.linear_model()
        error = tvalue = None
        if linear is not None and linear.stderr is not None and len(coef) == 1:
            error, tvalue = np.atleast_2d(linear.stderr)[0], np.atleast_2d(linear.tvalue)[0]
        pvalue = interval = None
        if error is not None and linear.nu is not None:
            pvalue, interval = np.atleast_2d(linear.pvalue)[0], linear.conf_int()
            interval = interval.reshape(-1, 2)
        support = np.flatnonzero(coef.any(axis=0))
        size = (
            np.abs(coef[:, support]).max(axis=0, initial=0.0) if tvalue is None else np.abs(tvalue[support])
        )
        name = self._names()
        order = support[np.argsort(-np.nan_to_num(size, posinf=np.inf), kind="stable")]
        return [
            Feature(
                int(j),
                name(int(j)),
                coef[:, j].tolist(),
                None if error is None else float(error[j]),
                None if tvalue is None else float(tvalue[j]),
                None if pvalue is None else float(pvalue[j]),
                None if interval is None else (float(interval[j, 0]), float(interval[j, 1])),
                linear is not None and linear.honest,
            )
            for j in order
        ]


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
