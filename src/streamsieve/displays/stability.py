"""Selection frequencies of features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from ..core.rows import Array
from .style import BLUE, INK, QUIET, RED, axes_for, title

_PANELS = (
    ("stable", "stable features", BLUE),
    ("gravity", "gravity $g_0$", RED),
    ("rejection", "rejection rate $\\beta$", QUIET),
)


class StabilityDisplay:
    """Shares of runs in which each feature was selected, the most frequent first.

    Create it with `from_supports` or `from_estimator`, which also draw it; `plot` draws it again.

    Parameters
    ----------
    frequency : array of shape (p,)
        Share of the runs that select each feature, in [0, 1].
    stability : metrics.Stability or None, default=None
        Stability measures, shown in the title.
    threshold : float or None, default=None
        Height of a horizontal line, not drawn if None.
    history : dict of arrays or None, default=None
        Stages of a stabilized fit: `history_` of the estimator, for `plot_stages`.

    Attributes
    ----------
    ax_ : Axes
    axes_ : list of Axes
        Axes of `plot_stages`.
    figure_ : Figure

    Examples
    --------
    >>> from streamsieve import StabilityDisplay
    >>> display = StabilityDisplay.from_supports([[0, 1], [0, 1], [0, 2]], p=10)  # doctest: +SKIP
    """

    ax_: Any
    axes_: list[Any]
    figure_: Any

    def __init__(
        self, frequency: Any, *, stability: Any = None, threshold: float | None = None, history: Any = None
    ) -> None:
        self.frequency: Array = np.asarray(frequency, dtype=np.float64)
        self.stability, self.threshold, self.history = stability, threshold, history

    @classmethod
    def from_supports(cls, supports: Iterable[Any], p: int, *, ax: Any = None) -> Self:
        """Draw the selections of several runs.

        Parameters
        ----------
        supports : iterable of arrays of int or of bool
            The features that each run selected, as in `metrics.stability`.
        p : int >= 1
            Number of features to choose from.
        ax : Axes or None, default=None
        """
        from ..metrics import stability

        runs = [np.asarray(support) for support in supports]
        masks = np.array([run if run.dtype == bool else np.isin(np.arange(p), run) for run in runs])
        return cls(masks.mean(axis=0), stability=stability(masks, p)).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        n_permutations: int = 20,
        random_state: int = 0,
        ax: Any = None,
    ) -> Self:
        """Draw how often an estimator selects each feature over random orders of the rows.

        Parameters
        ----------
        estimator : estimator
            If X is None, a fitted `StabilizedSGDRegressor` or `StabilizedSGDClassifier`; its selection
            probabilities are drawn.
        X, y : array, sparse matrix or data frame of shape (n, p), array of shape (n,), or None
        n_permutations : int >= 2, default=20
            Number of random orders of the rows.
        random_state : int >= 0, default=0
        ax : Axes or None, default=None
        """
        if X is not None:
            from ..metrics import permuted_supports

            supports = permuted_supports(estimator, X, y, n_permutations, random_state=random_state)
            return cls.from_supports(supports, len(supports[0]), ax=ax)
        if not hasattr(type(estimator), "selection_probabilities_"):
            raise ValueError(
                f"{type(estimator).__name__} has no selection probabilities; pass X and y, or a fitted "
                "StabilizedSGDClassifier."
            )
        probability = np.where(estimator.get_support(), estimator.selection_probabilities_, 0.0)
        return cls(probability, threshold=estimator.threshold, history=estimator.history_).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes or None, default=None
            None creates a new figure.
        """
        self.ax_ = axes_for(ax, 1, (6.4, 3.8))[0]
        self.figure_ = self.ax_.figure
        ranked = np.sort(self.frequency[self.frequency > 0])[::-1]
        self.ax_.plot(np.arange(1, len(ranked) + 1), ranked, ".", color=INK, ms=5)
        if self.threshold is not None:
            self.ax_.axhline(self.threshold, color=RED, lw=1, ls="--")
        self.ax_.set_ylim(0, 1.03)
        self.ax_.set_xlabel("features ever selected, by rank")
        self.ax_.set_ylabel("share of the runs that select it")
        text = f"{len(ranked):,} of {len(self.frequency):,} features"
        if self.stability is not None:
            text += f", kappa {self.stability.kappa:.2f}"
        title(self.ax_, text)
        return self

    def plot_stages(self, ax: Any = None) -> Self:
        """Draw the stable set, gravity and rejection rate of a stabilized fit against its stages.

        Parameters
        ----------
        ax : array of three Axes or None, default=None
            Stored in `axes_`.
        """
        if self.history is None:
            raise ValueError("There are no stages; make the display from a fitted StabilizedSGD estimator.")
        axes = self.axes_ = axes_for(ax, 3, (12, 3.6))
        if len(axes) != 3:
            raise ValueError(f"ax has {len(axes)} axes; the figure needs 3.")
        for each, (name, label, colour) in zip(axes, _PANELS):
            each.plot(self.history["stage"], self.history[name], color=colour, lw=1.6)
            each.set_xlabel("stage")
            each.set_ylabel(label)
            each.set_ylim(bottom=0)
        if len(self.history["stable"]) and self.history["stable"].max() > 50:
            axes[0].set_yscale("symlog", linthresh=10)
        return self
