"""Evaluation on rows that are predicted before they are learned (prequential), or on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.rows import as_rows, as_vector
from ..core.tasks import Classification
from .history import History, Measures, Point
from .model import Model
from .trainer import Block, Trainer


@dataclass
class Prequential:
    """A test-then-train curve, returned by `prequential`.

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
        return [point.as_dict() for point in self.points]

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


class _Callback:
    """Progress of a run by a function that is called after every block and point."""

    def __init__(self, function: Callable[[Point | None, int], None]) -> None:
        self.function = function

    def due(self, rows: int) -> bool:  # noqa: ARG002
        return True

    def doubled(self, rows: int) -> bool:  # noqa: ARG002
        return False

    def update(self, rows: int, measured: Any, point: Point | None = None) -> None:  # noqa: ARG002
        self.function(point, rows)


def prequential(
    estimator: Any,
    stream: Iterable[Any],
    *,
    classes: Any = None,
    at: Literal["doubling"] | int = "doubling",
    every: Literal["auto"] | int = "auto",
    progress: Callable[[Point | None, int], None] | None = None,
) -> Prequential:
    """Test, then train: predict each row before learning it, and record the error and the selection.

    Parameters
    ----------
    estimator : estimator of this library
        Fitted or not; it learns the stream.
    stream : iterable of (X, y) or (X, y, weight)
        `read`, a simulated stream, or any iterable of blocks.
    classes : sequence or None, default=None
        All labels; None: the labels of the first block.
    at : "doubling" or int, default="doubling"
        Points of the curve: after 100, 200, 400, ... rows, or every n rows.
    every : "auto" or int, default="auto"
        Number of rows that are predicted with the same model before they are learned. "auto": 1 for row-wise
        learners, and p for averages of p features, so that computing models takes no longer than learning.
        The model of a sieve is computed again when the number of rows has doubled. Larger values are faster.
        They are equally accurate if the stream does not change.
    progress : callable or None
        Called with two arguments: the new point of the curve, or None, and the number of rows so far.

    Returns
    -------
    Prequential

    Notes
    -----
    The recorded loss is that of the estimator. For estimators on averages, it is the squared loss (with
    labels -1 and +1). The first rows are learned without prediction, because there is no model yet. An AUC is
    computed from at most 200,000 rows, evenly spaced among the rows since the previous point.

    Examples
    --------
    >>> from streamsieve import TSGDRegressor, prequential, simulate
    >>> curve = prequential(TSGDRegressor(k=5), simulate.correlated(2000, p=60, k=5, signal=1.0))
    >>> curve.points[-1].rows, curve.points[-1].support
    (2000, 5)
    >>> bool(curve.points[-1].recent_rmse < curve.points[0].recent_rmse)
    True
    """
    history = History(at, every)
    model: Model = estimator._to_model()
    if model.task is None and classes is not None:
        model.task = Classification.of(None, classes)
    trainer = Trainer(model, history=history, progress=None if progress is None else _Callback(progress))
    try:
        trainer.learn(_blocks(stream, model))
    finally:
        if model.started:
            estimator._adopt(model)
    return Prequential(history.points, estimator)


def measure(model: Model, blocks: Iterable[Block]) -> dict[str, float]:
    """Mean loss, and accuracy and AUC, or RMSE, of a model on rows that it does not learn."""
    measures = Measures()
    for block in blocks:
        measures.add(model, model.scores(block.rows), block.y, block.weight)
    return measures.as_dict(model.task_name)


def _blocks(stream: Iterable[Any], model: Model) -> Iterator[Block]:
    """The blocks of a stream; the first block determines features and classes."""
    items = stream.blocks() if hasattr(stream, "blocks") else stream
    first = not model.started
    for item in items:
        X, y, w = (*item, None)[:3]
        names = model.feature_names[: model.n_columns] if model.n_columns and model.feature_names else None
        rows, found = as_rows(X, names=names, nan_ok=model.nan_ok, limit=model.method.limit)
        y = as_vector(y)
        if first:
            if found is not None:
                model.feature_names, model.n_columns = list(found), len(found)
            if model.task is None and model.task_name == "classification":
                model.task = Classification.of(y)
            first = False
        yield Block(rows, y, None if w is None else as_vector(w))
