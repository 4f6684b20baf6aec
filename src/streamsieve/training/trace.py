"""Records of a run: loss, selection and drift, within a limited share of its time."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import thread_time
from typing import Any

import numpy as np

from ..core.tasks import Classification
from .history import SAMPLE, measure_next
from .model import Model

SHARE = 0.015  # of the processor time of the thread that learns, at most
GROWTH = 1.25  # of the rows, from one point to the next
FIRST = 100  # rows before the first point
MOST = 200  # points; beyond that every second one is dropped
COPIED = 32 << 20  # bytes of a state that is copied to extract a model: beyond that none is
PLAIN = 2e-3  # expected seconds for the first reading of stored weights: 1 to 2 ms up to 2,000 features,
FIXED = 1e-2  # and of a model that is computed from averages or rows,
GUESS = 2e-9  # plus this for each operation; later the last reading is the estimate


@dataclass
class Trace:
    """Points of a run, as plain data, and sums over its rows.

    A point has ``rows``, ``recent_loss`` (mean over the next 256 rows, which the model has not learned),
    ``support``, ``entered``, ``left``, and ``drift``: the distance of the mean target from the mean of the
    previous points, in standard errors. Values that are expensive to compute may be None: a model is read
    only while this takes less than 1.5 percent of the run.

    Attributes
    ----------
    points : list of dict
    weight : float
        Sum of the weights of the rows.
    missing : int
        Number of NaN values.
    spent : float
        CPU seconds spent on recording.
    """

    points: list[dict[str, Any]] = field(default_factory=list)
    weight: float = 0.0
    missing: int = 0
    spent: float = 0.0
    _cost: float | None = None  # seconds of the last reading of a model
    _start: float = field(default_factory=thread_time)
    _support: Any = None

    def look(self, model: Model, block: Any, rows: int) -> None:
        """Record a point before a block is learned, if one is due after this number of rows."""
        start = thread_time()
        self._count(model, block)
        due = GROWTH * self.points[-1]["rows"] if self.points else FIRST
        if model.started and rows >= due and self._allowed(start) >= FIXED / 10:
            self._record(model, block, rows, start)
        self.spent += thread_time() - start

    def _allowed(self, now: float) -> float:
        """Seconds that may be spent now."""
        return SHARE * (now - self._start) - self.spent

    def _count(self, model: Model, block: Any) -> None:
        self.weight += len(block.rows) if block.weight is None else float(np.sum(block.weight))
        if model.nan_ok:
            values = block.rows.data if block.rows.sparse else block.rows.values
            self.missing += int(np.isnan(values).sum())

    def _record(self, model: Model, block: Any, rows: int, start: float) -> None:
        point: dict[str, Any] = {"rows": rows, **dict.fromkeys(("recent_loss", "support", "entered", "left"))}
        point["target"], point["target_error"] = self._target(model, block.y[:SAMPLE])
        if self._expected(model) <= self._allowed(start):
            before = thread_time()
            self._read(model, block, point)
            self._cost = thread_time() - before
        point["drift"] = drift(self.points, point)
        self.points.append(point)
        if len(self.points) > MOST:
            self.points = [*self.points[:-1:2], self.points[-1]]

    def _expected(self, model: Model) -> float:
        """Estimated seconds to read the model; infinite if it would need a large copy."""
        size = state_bytes(model)
        if model.method.extracts and size > COPIED:
            return float("inf")
        if self._cost is not None:
            return GROWTH * self._cost
        if model.method.on_averages:
            return FIXED + GUESS * (model.p**3 + 200 * model.p**2)
        return FIXED + 1000 * GUESS * size if model.method.extracts else PLAIN + GUESS * size

    def _read(self, model: Model, block: Any, point: dict[str, Any]) -> None:
        found = measure_next(model, block)
        if found is None:
            return
        loss, support = found
        point["recent_loss"] = loss if np.isfinite(loss) else None
        self._compare(support, point)
        self._support = support

    def _compare(self, support: Any, point: dict[str, Any]) -> None:
        """Record the number of features, and how many were added and removed since the last model."""
        point["support"] = len(support)
        if self._support is not None:
            point["entered"] = len(np.setdiff1d(support, self._support))
            point["left"] = len(np.setdiff1d(self._support, support))

    @staticmethod
    def _target(model: Model, y: Any) -> tuple[float | None, float | None]:
        """Mean of the targets of a sample (for labels, the share of the last class), and its standard
        error."""
        if isinstance(model.task, Classification):
            values = np.asarray(y == model.task.classes[-1], dtype=np.float64)
        else:
            values = np.asarray(y, dtype=np.float64).reshape(len(y), -1)[:, 0]
        if len(values) < 2:
            return None, None
        return float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)

    def finish(self, model: Model, rows: int) -> None:
        """Record a last point: the selection of the final model."""
        if not model.started or (self.points and self.points[-1]["rows"] == rows):
            return
        last = dict.fromkeys(("recent_loss", "entered", "left", "target", "target_error", "drift"))
        self._compare(model.support, last)
        self.points.append({"rows": rows, **last})

    def to_plain(self) -> dict[str, Any]:
        """The trace as plain data for a checkpoint."""
        return {"points": self.points, "weight": self.weight, "missing": self.missing}

    @classmethod
    def from_plain(cls, plain: Any) -> Trace:
        """The trace of a checkpoint, or a new one."""
        return (
            cls() if not plain else cls(list(plain["points"]), float(plain["weight"]), int(plain["missing"]))
        )


def drift(points: list[dict[str, Any]], now: dict[str, Any]) -> float | None:
    """Distance of the mean target of a point from the previous points, in standard errors."""
    before = [p for p in points if p["target"] is not None and p["target_error"]]
    if len(before) < 2 or now["target"] is None or not now["target_error"]:
        return None
    values = np.array([p["target"] for p in before])
    errors = np.array([p["target_error"] for p in before])
    weights = 1 / errors**2
    mean, error = float(weights @ values / weights.sum()), float(weights.sum() ** -0.5)
    return float((now["target"] - mean) / np.hypot(error, now["target_error"]))


def state_bytes(model: Model) -> int:
    """Bytes of a model's state."""
    return 0 if model.method.state is None else int(model.method.state.bytes_at(model.p, model.p))
