"""A stream predicted before it was learned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from .style import BLUE, GREEN, QUIET, RED, axes_for, title

MEASURES = {
    "recent_rmse": ("RMSE", BLUE), "recent_accuracy": ("accuracy", BLUE), "recent_auc": ("AUC", RED),
    "recent_loss": ("loss", QUIET),
}  # fmt: skip


class PrequentialDisplay:
    """A test-then-train curve: measures on the left, what the selection did on the right.

    Make one by `from_curve` or `from_estimator`, which draw it; `plot` draws it again.

    Parameters
    ----------
    points : list of dict
        As `Prequential.as_dicts` returns.

    Attributes
    ----------
    axes_ : list of Axes
    figure_ : Figure

    Examples
    --------
    >>> from streamsieve import PrequentialDisplay, TSGDRegressor, simulate
    >>> stream = simulate.correlated(2000, p=60, k=5, signal=1.0)
    >>> display = PrequentialDisplay.from_estimator(TSGDRegressor(5), stream)  # doctest: +SKIP
    """

    axes_: list[Any]
    figure_: Any

    def __init__(self, points: list[dict[str, Any]]) -> None:
        if not points:
            raise ValueError("The curve has no points yet; learn at least one row.")
        self.points = points

    @classmethod
    def from_curve(cls, curve: Any, *, ax: Any = None) -> Self:
        """Draw a curve.

        Parameters
        ----------
        curve : Prequential, or list of dict
            What `prequential` returns, or its points.
        ax : pair of Axes, Axes or None, default=None
            A pair gets measures and selection, one the measures alone; None makes a figure of two.
        """
        return cls(curve if isinstance(curve, list) else curve.as_dicts()).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, stream: Iterable[Any], *, ax: Any = None, **options: Any) -> Self:
        """Let an estimator predict and then learn a stream, and draw the curve.

        Parameters
        ----------
        estimator : estimator of this library
        stream : iterable of (X, y) or (X, y, weight)
        ax : pair of Axes, Axes or None, default=None
        **options
            As of `prequential`.
        """
        from ..runs.evaluate import prequential

        return cls.from_curve(prequential(estimator, stream, **options), ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : pair of Axes, Axes or None, default=None
        """
        self.axes_ = axes_for(ax, 2, (11, 3.6))
        self.figure_ = self.axes_[0].figure
        rows = np.array([point["rows"] for point in self.points])
        self._measures(self.axes_[0], rows)
        if len(self.axes_) > 1:
            self._selection(self.axes_[1], rows)
        for each in self.axes_[:2]:
            each.set_xlabel("rows")
            if len(rows) > 2 and rows[-1] > 20 * rows[0]:
                each.set_xscale("log")
        return self

    def _measures(self, ax: Any, rows: Any) -> None:
        for name, (label, colour) in MEASURES.items():
            values = np.array([np.nan if p.get(name) is None else p[name] for p in self.points], dtype=float)
            if np.isfinite(values).any() and not (name == "recent_loss" and "recent_rmse" in self.points[-1]):
                ax.plot(rows, values, color=colour, marker="o", ms=3.5, lw=1.8, label=label)
        title(ax, "predicted before learned, since the point before")
        ax.legend(frameon=False, fontsize=9)

    def _selection(self, ax: Any, rows: Any) -> None:
        ax.plot(rows, [p["support"] for p in self.points], color=GREEN, marker="o", ms=3.5, label="selected")
        changed = [p["entered"] + p["left"] for p in self.points[1:]]
        if changed:
            ax.plot(rows[1:], changed, color=RED, marker="o", ms=3.5, label="entered or left")
        ax.set_ylim(bottom=0)
        title(ax, "features")
        ax.legend(frameon=False, fontsize=9)
