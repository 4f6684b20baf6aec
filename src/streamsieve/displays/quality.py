"""Quality of a classifier: calibration and confusion matrix."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .style import BLUE, FAINT, INK, axes_for, title


class CalibrationDisplay:
    """Observed share of a class against its predicted probability, in bins.

    Create it with `from_estimator` or `from_predictions`, which also draw it; `plot` draws it again. Points
    on the diagonal mean that predicted probabilities agree with observed shares. Larger points have more
    rows.

    Parameters
    ----------
    bins : sequence of (float, float, float)
        Mean predicted probability, observed share and number of rows of each bin.
    label : str, default=""
        The class of the probabilities.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from streamsieve import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions([0, 1, 1], [0.1, 0.8, 0.9])  # doctest: +SKIP
    """

    ax_: Any
    figure_: Any

    def __init__(self, bins: Any, *, label: str = "") -> None:
        self.bins = np.asarray(bins, dtype=np.float64).reshape(-1, 3)
        self.label = str(label)

    @classmethod
    def from_predictions(
        cls, y_true: Any, probability: Any, *, n_bins: int = 10, label: str = "", ax: Any = None
    ) -> Self:
        """Draw predicted probabilities against observed shares.

        Parameters
        ----------
        y_true : array of bool or 0 and 1 of shape (n,)
            Whether each row belongs to the class.
        probability : array of shape (n,)
            Predicted probability of the class.
        n_bins : int >= 1, default=10
            Number of bins of equal width; empty bins are not drawn.
        label : str, default=""
        ax : Axes or None, default=None
        """
        y, p = np.asarray(y_true, dtype=np.float64).ravel(), np.asarray(probability, dtype=np.float64).ravel()
        if len(y) != len(p) or not len(y):
            raise ValueError(
                f"y_true has {len(y)} rows and probability {len(p)}; pass the same number, at least one."
            )
        if not np.isin(y, (0, 1)).all():
            raise ValueError("y_true has values other than 0 and 1; pass 1 for rows of the class.")
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError("probability has values outside [0, 1]; pass probabilities, not scores.")
        at = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
        rows = np.bincount(at, minlength=n_bins)
        used = rows > 0
        means = [np.bincount(at, each, n_bins)[used] / rows[used] for each in (p, y)]
        return cls(np.column_stack([*means, rows[used]]), label=label).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, n_bins: int = 10, ax: Any = None) -> Self:
        """Draw the probabilities of a fitted classifier of two classes, on rows that it has not learned.

        Parameters
        ----------
        estimator : fitted classifier with `predict_proba`
        X, y : array, sparse matrix or data frame of shape (n, p), array of shape (n,)
        n_bins : int >= 1, default=10
        ax : Axes or None, default=None
        """
        if len(estimator.classes_) != 2:
            raise ValueError(
                f"The estimator has {len(estimator.classes_)} classes; expected 2. Pass the probability of "
                "one class to from_predictions."
            )
        second = estimator.classes_[1]
        p = estimator.predict_proba(X)[:, 1]
        return cls.from_predictions(np.asarray(y) == second, p, n_bins=n_bins, label=second, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes or None, default=None
            None creates a new figure.
        """
        self.ax_ = axes_for(ax, 1, (4.4, 4.2))[0]
        self.figure_ = self.ax_.figure
        p, share, rows = self.bins.T
        self.ax_.plot([0, 1], [0, 1], color=FAINT, lw=1)
        self.ax_.plot(p, share, color=BLUE, lw=1)
        self.ax_.scatter(p, share, s=15 + 85 * rows / max(rows.max(initial=1), 1), color=BLUE)
        self.ax_.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="predicted probability")
        self.ax_.set_ylabel("observed share")
        title(self.ax_, f"calibration of {self.label}" if self.label else "calibration")
        return self


class ConfusionDisplay:
    """Number of rows of each class with each predicted label (confusion matrix).

    Create it with `from_estimator` or `from_predictions`, which also draw it; `plot` draws it again. Colours
    show shares of the rows of a class, so that a rare class is as visible as a frequent one.

    Parameters
    ----------
    counts : array of int of shape (q, q)
        Row i, column j: rows of class i with the label j.
    labels : sequence of str
        Names of the classes.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from streamsieve import ConfusionDisplay
    >>> display = ConfusionDisplay.from_predictions(["a", "b", "b"], ["a", "b", "a"])  # doctest: +SKIP
    """

    ax_: Any
    figure_: Any

    def __init__(self, counts: Any, labels: Any) -> None:
        self.counts = np.asarray(counts, dtype=np.int64)
        self.labels = [str(label) for label in labels]
        if self.counts.shape != (len(self.labels),) * 2:
            raise ValueError(
                f"counts has the shape {self.counts.shape}; expected {(len(self.labels),) * 2}, a row and a "
                "column for each label."
            )

    @classmethod
    def from_predictions(cls, y_true: Any, y_predicted: Any, *, labels: Any = None, ax: Any = None) -> Self:
        """Draw true labels against predicted ones.

        Parameters
        ----------
        y_true, y_predicted : array of shape (n,)
        labels : sequence or None, default=None
            Classes in the order of drawing; None: all classes that occur, sorted.
        ax : Axes or None, default=None
        """
        true, predicted = np.asarray(y_true).ravel(), np.asarray(y_predicted).ravel()
        if len(true) != len(predicted):
            raise ValueError(f"y_true has {len(true)} rows, but y_predicted has {len(predicted)}.")
        classes = np.unique(np.concatenate([true, predicted])) if labels is None else np.asarray(labels)
        where = {label: i for i, label in enumerate(classes.tolist())}
        counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
        for a, b in zip(true.tolist(), predicted.tolist()):
            if a not in where or b not in where:
                unknown = a if a not in where else b
                raise ValueError(f"{unknown!r} is not among the labels; pass all classes.")
            counts[where[a], where[b]] += 1
        return cls(counts, classes).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw the predictions of a fitted classifier for rows that it has not learned.

        Parameters
        ----------
        estimator : fitted classifier
        X, y : array, sparse matrix or data frame of shape (n, p), array of shape (n,)
        ax : Axes or None, default=None
        """
        return cls.from_predictions(y, estimator.predict(X), labels=estimator.classes_, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes or None, default=None
            None creates a new figure.
        """
        q = len(self.labels)
        size = 2.2 + 0.55 * q
        self.ax_ = axes_for(ax, 1, (size, size))[0]
        self.figure_ = self.ax_.figure
        share = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        self.ax_.imshow(share, cmap="Blues", vmin=0, vmax=1)
        if q <= 20:
            for i, j in np.ndindex(q, q):
                colour = "white" if share[i, j] > 0.5 else INK
                self.ax_.text(j, i, f"{self.counts[i, j]:,}", ha="center", va="center", color=colour)
        self.ax_.set_xticks(range(q), self.labels, rotation=45 if q > 4 else 0)
        self.ax_.set_yticks(range(q), self.labels)
        self.ax_.set(xlabel="predicted", ylabel="true")
        right = self.counts.trace() / max(self.counts.sum(), 1)
        title(self.ax_, f"{right:.1%} of {self.counts.sum():,} rows correct")
        return self
