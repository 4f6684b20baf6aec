"""Test-then-train curves of a stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from .style import BLUE, GREEN, INK, QUIET, RED, axes_for, title

MEASURES = {
    "recent_rmse": ("RMSE", BLUE), "recent_accuracy": ("accuracy", BLUE), "recent_auc": ("AUC", RED),
    "recent_loss": ("loss", QUIET),
}  # fmt: skip


class PrequentialDisplay:
    """A test-then-train curve: measures, changes of the selection and, if recorded, drift.

    Create it with `from_curve` or `from_estimator`, which also draw it; `plot` draws it again.

    Parameters
    ----------
    points : list of dict
        Result of `Prequential.as_dicts`, or points recorded by a run, in which a measure may be None.

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
            Result of `prequential`, or its points.
        ax : list of Axes, Axes or None, default=None
            Axes for measures, selection and drift, if recorded. None creates a figure.
        """
        return cls(curve if isinstance(curve, list) else curve.as_dicts()).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, stream: Iterable[Any], *, ax: Any = None, **options: Any) -> Self:
        """Let an estimator predict and then learn a stream, and draw the curve.

        Parameters
        ----------
        estimator : estimator of this library
        stream : iterable of (X, y) or (X, y, weight)
        ax : list of Axes, Axes or None, default=None
        **options
            Options of `prequential`.
        """
        from ..training.evaluate import prequential

        return cls.from_curve(prequential(estimator, stream, **options), ax=ax)

    @property
    def panels(self) -> list[str]:
        """The panels to draw: measures, selection, drift."""
        least = min(2, len(self.points))  # a point alone is drawn only if the curve has no other
        found = {
            "measures": any(self._column(name)[1].size >= least for name in MEASURES),
            "selection": self._column("support")[1].size >= least,
            "drift": self._column("drift")[1].size >= least,
        }
        return [name for name, there in found.items() if there]

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : list of Axes, Axes or None, default=None
        """
        panels = self.panels
        self.axes_ = axes_for(ax, max(len(panels), 1), (5.5 * max(len(panels), 1), 3.6))
        self.figure_ = self.axes_[0].figure
        rows = [point["rows"] for point in self.points]
        for each, panel in zip(self.axes_, panels):
            getattr(self, f"_{panel}")(each)
            each.set_xlabel("rows")
            _label_rows(each, rows)
        return self

    def _column(self, name: str) -> tuple[Any, Any]:
        """Rows and values of the points that have this measure."""
        known = [(p["rows"], p[name]) for p in self.points if p.get(name) is not None]
        return np.array([rows for rows, _ in known]), np.array([value for _, value in known], dtype=float)

    def _measures(self, ax: Any) -> None:
        for name, (label, colour) in MEASURES.items():
            rows, values = self._column(name)
            if values.size and not (name == "recent_loss" and self._column("recent_rmse")[1].size):
                ax.plot(rows, values, color=colour, marker="o", ms=3.5, lw=1.8, label=label)
        title(ax, "test-then-train, recent rows")
        ax.legend(frameon=False, fontsize=9)

    def _selection(self, ax: Any) -> None:
        ax.plot(*self._column("support"), color=GREEN, marker="o", ms=3.5, label="selected")
        rows, entered = self._column("entered")
        left = self._column("left")[1]
        if len(entered) > 1:
            ax.plot(rows[1:], (entered + left)[1:], color=RED, marker="o", ms=3.5, label="entered or left")
        ax.set_ylim(bottom=0)
        title(ax, "features")
        ax.legend(frameon=False, fontsize=9)

    def _drift(self, ax: Any) -> None:
        rows, values = self._column("drift")
        ax.axhspan(-3, 3, color=QUIET, alpha=0.15, lw=0)
        ax.axhline(0, color=INK, lw=0.6)
        ax.plot(rows, values, color=RED, marker="o", ms=3.5, lw=1.2)
        reach = max(4.0, float(np.abs(values).max()) * 1.1)
        ax.set_ylim(-reach, reach)
        title(ax, "drift of the targets, in standard errors")


def _label_rows(ax: Any, rows: list[int]) -> None:
    """An axis of rows with few short labels (30k); logarithmic if the rows grow by a factor above 20."""
    from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

    if len(rows) > 2 and rows[-1] > 20 * rows[0]:
        ax.set_xscale("log")
        ax.set_xlim(rows[0] / 1.2, rows[-1] * 1.2)
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if rows[-1] > 1000 * rows[0] else (1.0, 3.0)))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
