"""Quality of a model, measured on rows that it has not learned, and compared with the best constant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..core.rows import Array
from ..core.tasks import Classification
from .model import Model
from .trainer import Block, Trainer, join

HELD = 5  # every fifth of the first rows is held out, if the user holds out none
VALUES = 1 << 23  # of the first rows that are learned for it: some seconds
LABELS = 30  # classes up to which confusions are counted
BINS = 10  # of probabilities, for the calibration
BARS = 12  # of the histogram of a feature, which is some 70 pixels wide
DRAWN = 500  # features with a histogram: each adds some 200 bytes to the page


@dataclass(frozen=True)
class Quality:
    """Quality measured on held-out rows.

    Attributes
    ----------
    rows : int
        Number of held-out rows.
    learned : int or None
        Number of rows learned by a second model that was fitted for the measurement; None if the model itself
        was measured.
    figures : dict
        Loss; accuracy, AUC (two classes) and log-loss (probabilities), or R2 and RMSE. Names with baseline_
        are those of the most frequent class or of the mean.
    labels, confusion : list
        Classes, and for each class the number of rows predicted as each label.
    calibration : list
        For two classes: mean probability of the second class, its share, and the number of rows, in ten bins.
    of_first : bool
        Whether the rows are only the first of the source, which may be sorted.
    """

    rows: int
    learned: int | None
    figures: dict[str, float]
    labels: list[str]
    confusion: list[list[int]]
    calibration: list[list[float]]
    of_first: bool = False

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    def named(self) -> dict[str, float]:
        """The figures for results."""
        return {"test_rows": self.rows} | {f"test_{name}": value for name, value in self.figures.items()}

    def line(self) -> str:
        """All figures in one line, each with that of the best constant."""
        found = self.figures
        shown = []
        for name, title in (("accuracy", "accuracy"), ("auc", "AUC"), ("log_loss", "log-loss"), ("r2", "R2"),
                            ("rmse", "RMSE")):  # fmt: skip
            if name in found:
                base = found.get(f"baseline_{name}")
                beside = "" if base is None else f" (baseline {_shown(base)})"
                shown.append(f"{title} {_shown(found[name])}{beside}")
        what = "the mean" if "rmse" in found else "the most frequent class"
        if self.learned is None:
            head = f"On {self.rows:,} held-out rows"
        elif self.of_first:
            first = self.rows + self.learned
            head = f"On {self.rows:,} of the first {first:,} rows, by a model of the others"
        else:
            head = f"On {self.rows:,} held-out rows, by a model of the other {self.learned:,} rows"
        return f"{head}: {', '.join(shown)}. The baseline always predicts {what}."


def _shown(x: float) -> str:
    return f"{x:,.0f}" if abs(x) >= 1e4 else f"{x + 0.0:.4g}"  # not -0


def quality_of(model: Model, blocks: Iterable[Block], learned: int | None = None) -> Quality | None:
    """The quality of a model on rows that it has not learned; None if there are none."""
    parts = [(model.scores(block.rows), block.y, block.weight) for block in blocks]
    if not parts:
        return None
    scores = np.concatenate([part[0] for part in parts])
    y = np.concatenate([part[1] for part in parts])
    w = np.ones(len(y)) if parts[0][2] is None else np.concatenate([part[2] for part in parts])
    if not len(y) or not w.sum() > 0:
        return None
    assert model.task is not None
    target = model.task.encode(y, len(y), model.method.limit)
    loss = float(np.average(model.loss.value(scores, target).sum(axis=1), weights=w))
    if not isinstance(model.task, Classification):
        figures = {"loss": loss, **_of_numbers(model, scores, target, w)}
        return Quality(len(y), learned, figures, [], [], [])
    return _of_labels(model, scores, y, w, loss, learned)


def _of_numbers(model: Model, scores: Array, y: Array, w: Array) -> dict[str, float]:
    predicted = np.asarray(model.method.loss_function.means(scores)).reshape(y.shape)
    left = np.average(np.square(y - predicted), axis=0, weights=w)
    whole = np.average(np.square(y - np.average(y, axis=0, weights=w)), axis=0, weights=w)
    figures = {"rmse": float(left.mean() ** 0.5), "baseline_rmse": float(whole.mean() ** 0.5)}
    return figures | ({"r2": float(1 - (left / whole).mean())} if (whole > 0).all() else {})


def _of_labels(
    model: Model, scores: Array, y: NDArray[Any], w: Array, loss: float, learned: int | None
) -> Quality:
    classes = model.classes
    assert classes is not None
    true, predicted = np.searchsorted(classes, y), np.searchsorted(classes, model.predict(scores))
    share = np.bincount(true, w, len(classes)) / w.sum()
    figures = {
        "loss": loss,
        "accuracy": float(np.average(true == predicted, weights=w)),
        "baseline_accuracy": float(share.max()),
    }
    calibration: list[list[float]] = []
    if scores.shape[1] == 1 and 0 < true.sum() < len(true):
        figures["auc"] = float(metrics.auc(true > 0, scores[:, 0]))
    if model.has_probabilities:
        p = np.clip(model.probabilities(scores), 1e-15, 1.0)
        figures["log_loss"] = float(np.average(-np.log(p[np.arange(len(true)), true]), weights=w))
        figures["baseline_log_loss"] = float(-(share[share > 0] * np.log(share[share > 0])).sum())
        if p.shape[1] == 2:
            calibration = _calibration(p[:, 1], true > 0, w)
    confusion: list[list[int]] = []
    if len(classes) <= LABELS:
        both = np.bincount(true * len(classes) + predicted, minlength=len(classes) ** 2)
        confusion = both.reshape(len(classes), -1).tolist()
    return Quality(len(y), learned, figures, [str(c) for c in classes], confusion, calibration)


def _calibration(p: Array, is_second: NDArray[np.bool_], w: Array) -> list[list[float]]:
    """Mean probability, share and number of rows of non-empty bins."""
    at = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    weight, rows = np.bincount(at, w, BINS), np.bincount(at, minlength=BINS)
    mean, share = np.bincount(at, w * p, BINS), np.bincount(at, w * is_second, BINS)
    return [
        [float(mean[b] / weight[b]), float(share[b] / weight[b]), float(rows[b])]
        for b in range(BINS)
        if weight[b] > 0
    ]


def of_first_rows(model: Model, blocks: list[Block], *, passes: int | None) -> Quality | None:
    """The quality of a model fitted on four fifths of the first rows, measured on the others.

    `model` has a task and is not fitted; it learns the rows `passes` times as a stream, or as `fit` if None.
    """
    whole, fold = _first_rows(blocks)
    held = _where(whole, fold == HELD - 1)
    learned = _learn_without(model, whole, fold, HELD - 1, passes=passes)
    return None if learned is None else quality_of(model, [held], learned)


def supports_of_folds(model: Model, blocks: list[Block], *, passes: int | None) -> list[list[int]]:
    """The features that models fitted without each fifth of the first rows select; empty if rows are few.

    The last one is the model that `of_first_rows` measures.
    """
    whole, fold = _first_rows(blocks)
    supports = []
    for j in range(HELD):
        part = model.with_values()
        if _learn_without(part, whole, fold, j, passes=passes) is None:
            return []
        supports.append(part.support.tolist())
    return supports


def histograms(blocks: list[Block], features: NDArray[np.integer[Any]]) -> dict[str, list[float]]:
    """For each feature, the number of values in bins, or the share of ones if it has the values 0 and 1 only.

    The bins are of equal width from the percentile 1 to 99; values outside are counted in the outer bins.
    """
    rows = _first_rows(blocks)[0].rows
    found = {}
    for j in features[features < rows.p][:DRAWN].tolist():
        column = rows.columns(np.array([j])).materialized()
        x = column.to_scipy().toarray().ravel() if column.values is None else column.values.ravel()
        x = x[np.isfinite(x)]
        if not len(x):
            continue
        if np.isin(x, (0, 1)).all():
            found[str(j)] = [float(x.mean())]
            continue
        low, high = np.percentile(x, (1, 99))
        if low == high:
            low, high = x.min(), x.max()
        found[str(j)] = np.histogram(np.clip(x, low, high), BARS, (low, high))[0].tolist()
    return found


def _first_rows(blocks: list[Block]) -> tuple[Block, NDArray[np.int64]]:
    """As many of the rows as are learned in some seconds, and the fold of each."""
    rows, y, w, cluster = join(blocks)
    n = len(rows)
    if rows.n_values > VALUES:
        n = max(2 * HELD, int(n * VALUES / rows.n_values))
    at = np.arange(min(n, len(rows)))
    return _where(Block(rows, y, w, cluster), at), at % HELD


def _where(block: Block, at: NDArray[Any]) -> Block:
    vectors = (None if each is None else each[at] for each in (block.weight, block.cluster))
    return Block(block.rows.take(at), block.y[at], *vectors)


def _learn_without(
    model: Model, whole: Block, fold: NDArray[Any], j: int, *, passes: int | None
) -> int | None:
    """Fit a model to the rows outside of fold j: their number; None if there are too few rows or classes."""
    part = _where(whole, fold != j)
    if np.sum(fold == j) < 2 or (isinstance(model.task, Classification) and len(np.unique(part.y)) < 2):
        return None
    trainer = Trainer(model)
    if passes is None:
        trainer.fit(*model.encode(*part[:4]))
    else:
        trainer.learn([part] * passes)
    return len(part.rows)
