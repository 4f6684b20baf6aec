"""Prequential evaluation: every row is predicted by the model of the rows before it, then learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import metrics
from ._base import Classifier
from ._input import as_scipy, is_sparse
from .losses import LOSSES

_MOST = 200_000  # scores kept for an AUC; past that every second one is dropped


@dataclass(frozen=True)
class Point:
    """What was seen up to a row. `recent_...` is of the rows since the point before, the rest of all."""

    rows: int
    loss: float
    recent_loss: float
    accuracy: float | None  # classifiers
    recent_accuracy: float | None
    recent_auc: float | None  # of two classes
    rmse: float | None  # regressors
    recent_rmse: float | None
    support: int  # features in the model
    entered: int  # of them, those that the model of the point before did not have
    left: int


@dataclass
class Prequential:
    """A test-then-train curve, made by `prequential`.

    Attributes
    ----------
    points : list of Point
    estimator : the estimator, having learned all rows
    """

    points: list[Point]
    estimator: Any

    def column(self, name: str) -> NDArray[Any]:
        """One measure along the curve, for instance ``"recent_loss"``."""
        return np.array([getattr(point, name) for point in self.points])

    def as_dicts(self) -> list[dict[str, Any]]:
        """The points without the measures that do not apply."""
        return [{k: v for k, v in asdict(point).items() if v is not None} for point in self.points]

    def __str__(self) -> str:
        rows = self.as_dicts()
        if not rows:
            return "no rows yet"
        lines = [" ".join(f"{name:>15}" for name in rows[0])]
        lines += [
            " ".join(f"{v:15,d}" if isinstance(v, int) else f"{v:15.5g}" for v in row.values())
            for row in rows
        ]
        return "\n".join(lines)


@dataclass
class _Sums:
    weight: float = 0.0
    loss: float = 0.0
    right: float = 0.0
    squares: float = 0.0
    labels: list[NDArray[Any]] = field(default_factory=list)
    scores: list[NDArray[Any]] = field(default_factory=list)
    kept: int = 0

    def keep(self, labels: NDArray[Any], scores: NDArray[Any]) -> None:
        self.labels.append(labels)
        self.scores.append(scores)
        self.kept += len(labels)
        if self.kept > _MOST:
            self.labels = [np.concatenate(self.labels)[::2]]
            self.scores = [np.concatenate(self.scores)[::2]]
            self.kept = len(self.labels[0])

    def auc(self) -> float | None:
        if not self.labels or len(np.unique(labels := np.concatenate(self.labels))) < 2:
            return None
        return float(metrics.auc(labels, np.concatenate(self.scores)))


def prequential(
    estimator: Any,
    stream: Iterable[Any],
    *,
    classes: Any = None,
    at: Literal["doubling"] | int = "doubling",
    every: Literal["auto"] | int = "auto",
    progress: Callable[[Point | None, int], None] | None = None,
) -> Prequential:
    """Test, then train: how well a stream was predicted as it went by, and how the selection settled.

    Parameters
    ----------
    estimator : estimator of this library
        Started or not; it learns the stream.
    stream : iterable of (X, y) or (X, y, weight)
        `read`, a simulated stream, or any iterable of blocks.
    classes : sequence or None, default=None
        All labels; None takes those of the first block.
    at : "doubling" or int, default="doubling"
        Where the curve has points: after 100, 200, 400, ... rows, or after every so many.
    every : "auto" or int, default="auto"
        Rows that are predicted by one model before they are learned. "auto" takes a sixteenth of the rows so
        far; of the row-wise learners, whose models are read at once, no more than 1,000.
    progress : callable or None
        Called with the point just passed, or None, and the number of rows so far.

    Returns
    -------
    Prequential

    Notes
    -----
    The loss is the estimator's own, of estimators on averages the squared one (of labels -1 and +1). The
    first rows, before there is a model, are learned only. An AUC is taken over at most 200,000 rows, evenly
    spread over those since the point before.

    Examples
    --------
    >>> from streamsieve import OFSARegressor, prequential, simulate
    >>> curve = prequential(OFSARegressor(k=5), simulate.correlated(2000, p=60, k=5, signal=1.0))
    >>> curve.points[-1].rows, curve.points[-1].support
    (2000, 5)
    >>> bool(curve.points[-1].recent_rmse < curve.points[0].recent_rmse)
    True
    """
    if at != "doubling" and at < 1:
        raise ValueError(f"at={at!r}; pass 'doubling', or a number of rows of at least 1.")
    if every != "auto" and every < 1:
        raise ValueError(f"every={every!r}; pass 'auto', or a number of rows of at least 1.")
    labelled = isinstance(estimator, Classifier)
    all_, recent = _Sums(), _Sums()
    points: list[Point] = []
    rows, due = 0, 100 if at == "doubling" else int(at)
    support: NDArray[np.int64] | None = None
    for X, y, w in _blocks(stream):
        if labelled and classes is None:
            classes = np.unique(y)
        start, n = 0, len(y)
        while start < n:
            size = _piece(estimator, rows) if every == "auto" else every
            stop = min(n, start + size, start + due - rows)
            part = slice(start, stop)
            weight = None if w is None else w[part]
            if estimator.__sklearn_is_fitted__():
                _test(estimator, X[part], y[part], weight, (all_, recent))
            options = {"classes": classes} if labelled and not estimator.__sklearn_is_fitted__() else {}
            estimator.partial_fit(fitting(X[part], estimator), y[part], sample_weight=weight, **options)
            rows += stop - start
            start = stop
            if rows == due:
                point, support = _point(estimator, rows, all_, recent, support, labelled)
                points.append(point)
                recent = _Sums()
                due = 2 * rows if at == "doubling" else rows + int(at)
                if progress is not None:
                    progress(point, rows)
        if progress is not None:
            progress(None, rows)
    if rows and (not points or points[-1].rows != rows):
        points.append(_point(estimator, rows, all_, recent, support, labelled)[0])
    return Prequential(points, estimator)


def fitting(X: Any, estimator: Any) -> Any:
    """Rows that an estimator with ``grow=True`` takes though they are wider or narrower than those before."""
    known = getattr(estimator, "n_features_in_", None)
    return X if known in (None, X.shape[1]) or is_sparse(X) else as_scipy(X)


def measure(estimator: Any, stream: Iterable[Any]) -> dict[str, float]:
    """Mean loss and accuracy and AUC, or RMSE, of a fitted estimator on rows that it does not learn."""
    sums = _Sums()
    rows = 0
    for X, y, w in _blocks(stream):
        _test(estimator, X, y, w, (sums,))
        rows += len(y)
    weight = sums.weight or float("nan")
    out = {"rows": rows, "loss": sums.loss / weight}
    if not isinstance(estimator, Classifier):
        return {**out, "rmse": (sums.squares / weight) ** 0.5}
    auc = sums.auc()
    return {**out, "accuracy": sums.right / weight, **({} if auc is None else {"auc": auc})}


def _blocks(stream: Iterable[Any]) -> Iterator[tuple[Any, NDArray[Any], NDArray[Any] | None]]:
    for block in stream:
        X, y, w = block if len(block) == 3 else (*block, None)
        yield X, np.asarray(y), w


def _piece(estimator: Any, rows: int) -> int:
    piece = max(16, rows // 16)
    return piece if estimator._averaged else min(piece, 1000)


def _test(estimator: Any, X: Any, y: NDArray[Any], w: NDArray[Any] | None, sums: tuple[_Sums, ...]) -> None:
    scores = estimator._decision(fitting(X, estimator))
    weight = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    loss = LOSSES[estimator._loss() if hasattr(estimator, "_loss") else "squared"]
    target = estimator._targets(y, len(y), None, False)
    losses = loss.value(scores, target).sum(axis=1)
    right = squares = np.zeros(len(y))
    if isinstance(estimator, Classifier):
        best = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        right = (estimator.classes_[best] == y).astype(np.float64)
    else:
        squares = np.square(scores - target).mean(axis=1)
    for s in sums:
        s.weight += float(weight.sum())
        s.loss += float(weight @ losses)
        s.right += float(weight @ right)
        s.squares += float(weight @ squares)
    if isinstance(estimator, Classifier) and scores.shape[1] == 1:
        sums[-1].keep(target[:, 0] > 0, scores[:, 0])


def _point(
    estimator: Any, rows: int, all_: _Sums, recent: _Sums, before: NDArray[np.int64] | None, labelled: bool
) -> tuple[Point, NDArray[np.int64]]:
    support = estimator.get_support(indices=True)
    old = np.empty(0, dtype=np.int64) if before is None else before

    def mean(s: _Sums, name: str) -> float:
        return getattr(s, name) / s.weight if s.weight else float("nan")

    return Point(
        rows=rows,
        loss=mean(all_, "loss"),
        recent_loss=mean(recent, "loss"),
        accuracy=mean(all_, "right") if labelled else None,
        recent_accuracy=mean(recent, "right") if labelled else None,
        recent_auc=recent.auc(),
        rmse=None if labelled else mean(all_, "squares") ** 0.5,
        recent_rmse=None if labelled else mean(recent, "squares") ** 0.5,
        support=len(support),
        entered=len(np.setdiff1d(support, old)),
        left=len(np.setdiff1d(old, support)),
    ), support
