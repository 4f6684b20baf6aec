"""Measurements of a run: losses of rows before they were learned, and changes of the selection."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..core.params import ParamError
from ..core.rows import Array, Rows
from ..core.tasks import Classification
from .model import Model

_AUC_ROWS = 200_000  # scores stored for an AUC; beyond that every second one is dropped
SAMPLE = 256  # next rows whose loss is measured
_FIRST = 100  # rows of the first point of a doubling curve


@dataclass(frozen=True)
class Point:
    """Measures up to a row. `recent_...` are over the rows since the previous point, the others over all
    rows."""

    rows: int
    loss: float
    recent_loss: float
    accuracy: float | None  # classification
    recent_accuracy: float | None
    recent_auc: float | None  # of two classes
    rmse: float | None  # regression
    recent_rmse: float | None
    support: int  # features in the model
    entered: int  # features that the model of the previous point did not have
    left: int

    def as_dict(self) -> dict[str, Any]:
        """The measures that apply."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass
class Measures:
    """Sums over scored rows: loss, correct labels, squared errors, and scores for the AUC."""

    rows: int = 0
    weight: float = 0.0
    loss: float = 0.0
    correct: float = 0.0
    squares: float = 0.0
    labels: list[NDArray[np.bool_]] = field(default_factory=list)
    scores: list[Array] = field(default_factory=list)
    n_scores: int = 0

    def add(self, model: Model, scores: Array, y: Any, w: Any, *, auc: bool = True) -> None:
        """Count rows with these scores and true targets."""
        assert model.task is not None
        n = len(scores)
        target = model.task.encode(y, n, model.method.limit)
        weight = np.ones(n) if w is None else np.asarray(w, dtype=np.float64)
        self.rows += n
        self.weight += float(weight.sum())
        self.loss += float(weight @ model.loss.value(scores, target).sum(axis=1))
        if not isinstance(model.task, Classification):
            self.squares += float(weight @ np.square(scores - target).mean(axis=1))
            return
        self.correct += float(weight @ (model.predict(scores) == np.asarray(y)))
        if auc and scores.shape[1] == 1:
            self._store(target[:, 0] > 0, scores[:, 0])

    def _store(self, labels: NDArray[np.bool_], scores: Array) -> None:
        self.labels.append(labels)
        self.scores.append(scores)
        self.n_scores += len(labels)
        if self.n_scores > _AUC_ROWS:
            self.labels = [np.concatenate(self.labels)[::2]]
            self.scores = [np.concatenate(self.scores)[::2]]
            self.n_scores = len(self.labels[0])

    def mean(self, name: str) -> float:
        return float(getattr(self, name)) / self.weight if self.weight else float("nan")

    def auc(self) -> float | None:
        labels = np.concatenate(self.labels) if self.labels else np.empty(0, dtype=bool)
        if labels.all() or not labels.any():
            return None
        return float(metrics.auc(labels, np.concatenate(self.scores)))

    def as_dict(self, task_name: str) -> dict[str, float]:
        """Rows, mean loss, and RMSE, or accuracy and, for two classes, AUC."""
        out = {"rows": self.rows, "loss": self.mean("loss")}
        if task_name == "regression":
            return {**out, "rmse": self.mean("squares") ** 0.5}
        auc = self.auc()
        return {**out, "accuracy": self.mean("correct"), **({} if auc is None else {"auc": auc})}


def measure_next(model: Model, block: Any) -> tuple[float, NDArray[np.int64]] | None:
    """Loss of the model on the first rows of a block that it has not learned, and its features.

    None if they have a label that the model does not know.
    """
    if model.method.extracts:
        model = copy.deepcopy(model)  # reading merges buffered rows in another order than learning would
    y, w = block.y[:SAMPLE], None if block.weight is None else block.weight[:SAMPLE]
    if model.classes is not None and not np.isin(y, model.classes).all():
        return None
    measures = Measures()
    measures.add(model, model.scores(block.rows[:SAMPLE]), y, w, auc=False)
    return measures.mean("loss"), model.support


class History:
    """A test-then-train curve: rows are scored in pieces before they are learned, and points are recorded.

    Parameters
    ----------
    at : "doubling" or int
        Points after 100, 200, 400, ... rows, or every n rows.
    every : "auto" or int
        Number of rows that are scored with the same model before they are learned. "auto" uses the newest
        model whose computation costs no more than learning: row-wise learners score each row with the model
        of all previous rows; averages of p features are read every p rows. The model of a sieve is computed
        when the number of rows has doubled.
    """

    def __init__(
        self, at: Literal["doubling"] | int = "doubling", every: Literal["auto"] | int = "auto"
    ) -> None:
        if at != "doubling" and at < 1:
            raise ParamError("at", at, "expected 'doubling', or a number of rows of at least 1.")
        if every != "auto" and every < 1:
            raise ParamError("every", every, "expected 'auto', or a number of rows of at least 1.")
        self.at, self.every = at, every
        self.points: list[Point] = []
        self._all, self._recent = Measures(), Measures()
        self._due = _FIRST if at == "doubling" else int(at)
        self._support = np.empty(0, dtype=np.int64)
        self._last: tuple[int, Array, Array] | None = None  # rows, coef and intercept of a model read before

    def _weights(self, model: Model, rows: int) -> tuple[Array, Array]:
        """The weights of the model of the first `rows`, or of an earlier model if reading is expensive."""
        if not model.method.extracts or model.method.on_averages:
            return model.coefficients()
        if self._last is None or rows >= 2 * self._last[0] or len(self._last[2]) != model.q:
            self._last = rows, *model.coefficients()
        return self._last[1:]

    def piece(self, model: Model, rows: int) -> int:
        """Number of next rows to score with the model of the first `rows` before they are learned."""
        if self.every != "auto":
            size = int(self.every)
        elif not model.method.extracts:
            size = 1
        elif model.method.on_averages:
            size = max(16, model.method.p)  # solving for p weights costs as much as learning p rows
        else:
            size = max(16, rows // 16)
        return min(size, self._due - rows)

    def test(self, model: Model, rows: Rows, y: Any, w: Any) -> None:
        """Score rows that the model has not learned."""
        scores = model.scores(rows, self._weights(model, model.method.n_rows or 0))
        self._all.add(model, scores, y, w, auc=False)
        self._recent.add(model, scores, y, w)

    def record(self, model: Model, rows: int, *, last: bool = False) -> Point | None:
        """A point, if one is due after this number of rows."""
        if rows != self._due and not (last and rows and (not self.points or self.points[-1].rows != rows)):
            return None
        labelled = model.task_name == "classification"
        coef = self._weights(model, rows)[0]
        before, self._support = self._support, np.flatnonzero(coef.any(axis=0))
        point = Point(
            rows=rows,
            loss=self._all.mean("loss"),
            recent_loss=self._recent.mean("loss"),
            accuracy=self._all.mean("correct") if labelled else None,
            recent_accuracy=self._recent.mean("correct") if labelled else None,
            recent_auc=self._recent.auc(),
            rmse=None if labelled else self._all.mean("squares") ** 0.5,
            recent_rmse=None if labelled else self._recent.mean("squares") ** 0.5,
            support=len(self._support),
            entered=len(np.setdiff1d(self._support, before)),
            left=len(np.setdiff1d(before, self._support)),
        )
        self.points.append(point)
        self._recent = Measures()
        self._due = 2 * rows if self.at == "doubling" else rows + int(self.at)
        return point
