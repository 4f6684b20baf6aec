"""Weights and criteria along a path of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .style import BLUE, FAINT, INK, QUIET, RED, axes_for, title

if TYPE_CHECKING:
    from ..methods.averages.path import Criterion, Path

COLOURS = {"aic": QUIET, "bic": BLUE, "ebic": RED}
SIZES = 80  # sizes at which weights are drawn
LABELS = 8  # maximum number of names at the ends of lines
TICKS = (0, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class PathDisplay:
    """Weights and criteria against the number of features.

    Create it with `from_path` or `from_estimator`, which also draw it; `plot` draws it again.

    Parameters
    ----------
    path : Path
    criterion : {"aic", "bic", "ebic"}, default="bic"
        Criterion whose best size is marked.
    max_lines : int or None, default=None
        Maximum number of features drawn in addition to the chosen ones, largest first; None draws all.
    names : sequence of str or None, default=None
        Names of all features; None uses the names stored in the averages.

    Attributes
    ----------
    axes_ : list of Axes
        Axes of the weights and of the criteria, or only of the criteria.
    figure_ : Figure
    features_ : dict of int to str
        Names of the drawn features by index; the lines have the ids ``feature-INDEX``.

    Examples
    --------
    >>> from streamsieve import PathDisplay, RunningAverages, path, simulate
    >>> averages = RunningAverages()
    >>> for X, y in simulate.correlated(1000, p=30, k=3, signal=1.0):
    ...     averages = averages.update(X, y)
    >>> display = PathDisplay.from_path(path(averages, "olsth"))  # doctest: +SKIP
    """

    axes_: list[Any]
    figure_: Any

    def __init__(
        self,
        path: Path,
        *,
        criterion: Criterion = "bic",
        max_lines: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        path.best_k(criterion)  # raises for an unknown criterion
        self.path, self.criterion, self.max_lines, self.names = path, criterion, max_lines, names
        self.features_: dict[int, str] = {}

    @classmethod
    def from_path(
        cls, path: Path, *, criterion: Criterion = "bic", max_lines: int | None = None, ax: Any = None
    ) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : Path
            Made by `path`.
        criterion : {"aic", "bic", "ebic"}, default="bic"
        max_lines : int or None, default=None
        ax : pair of Axes, Axes or None, default=None
            A pair of axes shows weights and criteria, a single one only the criteria. None creates a figure.
        """
        return cls(path, criterion=criterion, max_lines=max_lines).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        method: str = "olsth",
        criterion: Criterion = "bic",
        max_lines: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the path of the averages of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator on running averages
        method : str, default="olsth"
            The extractor of the path, as in `path`.
        criterion : {"aic", "bic", "ebic"}, default="bic"
        max_lines : int or None, default=None
        ax : pair of Axes, Axes or None, default=None
        """
        path = path_of(getattr(estimator, "method_", estimator), method)
        if path is None:
            raise ValueError(
                f"{type(estimator).__name__} has no running averages; pass one that has, such as "
                "OFSARegressor."
            )
        return cls.from_path(path, criterion=criterion, max_lines=max_lines, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : pair of Axes, Axes or None, default=None
            A pair of axes shows weights and criteria, a single one only the criteria. None creates a figure.
        """
        path = self.path
        self.axes_ = axes_for(ax, 2, (11, 4.2))
        self.figure_ = self.axes_[0].figure
        if len(self.axes_) > 1:
            self._weights(self.axes_[0])
        self._criteria(self.axes_[-1])
        for each in self.axes_[:2]:
            each.set_xlabel("features in the model, k")
            if path.k[-1] > 50:
                each.set_xscale("symlog", linthresh=10, linscale=0.5)
                each.set_xlim(path.k[0], path.k[-1])
                ticks = [t for t in TICKS if t <= path.k[-1]]
                each.set_xticks(ticks, [str(t) for t in ticks])
                each.minorticks_off()
        return self

    def _weights(self, ax: Any) -> None:
        path, best = self.path, self.path.best_k(self.criterion)
        s = path._s
        wanted = np.unique(np.round(np.geomspace(1, len(path), SIZES)).astype(int) - 1)
        sizes = np.unique(np.r_[path.k[wanted], best])
        scale = np.where(s.y_scale > 0, s.y_scale, 1.0)
        # Standardised weights, so that features of any unit fit one axis; only the first of several targets.
        paths = np.array([np.atleast_2d(path.coef(int(k)))[0] * s.x_scale / scale[0] for k in sizes])
        chosen = path.support(best)
        at_best = paths[int(np.searchsorted(sizes, best))]
        drawn = np.where(paths != 0, paths, np.nan)  # a line begins where its feature enters
        others = np.setdiff1d(np.flatnonzero(paths.any(axis=0)), chosen)
        if self.max_lines is not None:
            size = np.abs(paths[:, others]).max(axis=0, initial=0.0)
            others = others[np.argsort(-size, kind="stable")[: self.max_lines]]
        names = s.feature_names if self.names is None else self.names
        self.features_ = {int(j): f"x{j}" if names is None else str(names[j]) for j in (*others, *chosen)}
        for j in others:
            ax.plot(sizes, drawn[:, j], color=FAINT, lw=0.6, alpha=0.5, zorder=1, gid=f"feature-{j}")
        # Weights diverge near saturation; the axis is scaled for models up to the chosen one.
        seen = paths[sizes <= max(best, 1)] if len(chosen) else paths
        low, high = min(seen.min(), 0.0), max(seen.max(), 0.0)
        room = 0.12 * ((high - low) or 1.0)
        ax.set_ylim(low - room, high + room)
        if len(chosen):
            import matplotlib as mpl

            ranked = chosen[np.argsort(-at_best[chosen], kind="stable")]
            colours = mpl.colormaps["viridis"](np.linspace(0.25, 0.85, len(chosen)))
            for j, colour in zip(ranked, colours):
                ax.plot(sizes, drawn[:, j], color=colour, lw=1.5, zorder=2, gid=f"feature-{j}")
                enters = int(np.flatnonzero(paths[:, j])[0])
                ax.plot(sizes[enters], paths[enters, j], "o", color=colour, ms=3, zorder=2)
            if len(chosen) <= LABELS:
                self._label(ax, sizes[-1], paths[-1], ranked, colours)
        ax.axhline(0, color=INK, lw=0.6)
        ax.axvline(best, color=COLOURS[self.criterion], lw=1, ls="--", zorder=3)
        ax.set_ylabel("standardised weight")
        many = "feature" if best == 1 else "features"
        title(ax, f"{path.method}: {best} {many} by {self.criterion.upper()}")

    def _label(self, ax: Any, x: float, y: Any, features: Any, colours: Any) -> None:
        """Names at the ends of the lines, moved apart if they would overlap."""
        low, high = ax.get_ylim()
        gap = 0.05 * (high - low)
        at = high + gap
        for j, colour in sorted(zip(features, colours), key=lambda pair: -y[pair[0]]):
            at = min(at - gap, y[j])
            ax.annotate(self.features_[int(j)], (x, at), xytext=(5, 0), textcoords="offset points",
                        va="center", color=colour, fontsize=8, annotation_clip=False)  # fmt: skip

    def _criteria(self, ax: Any) -> None:
        path = self.path
        meaningful = path.k <= max(path.n / 2, path.k[0])
        curves = {name: getattr(path, name) - getattr(path, name)[meaningful].min() for name in COLOURS}
        for name, curve in curves.items():
            strong = name == self.criterion
            ax.plot(path.k[meaningful], curve[meaningful], color=COLOURS[name], lw=2.2 if strong else 1.2,
                    label=name.upper(), zorder=3 if strong else 2)  # fmt: skip
        best = path.best_k(self.criterion)
        colour = COLOURS[self.criterion]
        ax.plot(best, 0, "o", color=colour, ms=7, mec="white", mew=1.2, zorder=5, clip_on=False)
        ax.annotate(
            f"k = {best}", (best, 0), xytext=(0, 14), textcoords="offset points", ha="center",
            color=colour, fontweight="bold", zorder=6,
            bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.85},
        )  # fmt: skip
        top = max(float(np.median(c[meaningful])) for c in curves.values())
        highest = max(float(c[meaningful].max()) for c in curves.values())
        ax.set_ylim(0, min(highest, 4 * top) * 1.15 or 1.0)
        ax.set_ylabel("above the lowest")
        title(ax, "Criteria")
        ax.legend(frameon=False, loc="upper center", ncols=3)


def path_of(method: Any, name: str = "olsth") -> Path | None:
    """The path of a method's averages; None if it has no averages, or averages of products."""
    if not getattr(method, "on_averages", False) or method.interactions:
        return None
    from ..methods.averages.path import path

    return path(method.total, name, fit_intercept=method.fit_intercept, standardize=method.standardize)
