"""Shapes and pairs of a model: a curve, a heat map, or bars with the variance of each component."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .style import BLUE, FAINT, INK, QUIET, axes_for, title


class EffectDisplay:
    """Contribution of a feature or a pair to the margin, or the variance that each component explains.

    Create it with `from_estimator`, which also draws it; `plot` draws it again.

    Parameters
    ----------
    effect : Curve, Surface or list of Component
        Result of `effect(...)` or of `terms_` of an estimator.
    names : sequence of str
        Names of the feature, of both features of a pair, or of the components.
    output : int, default=0
        The class or target to draw, if there are several.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import EffectDisplay, SieveRegressor
    >>> X = np.random.default_rng(0).normal(size=(1000, 10))
    >>> model = SieveRegressor(2, effects="auto").fit(X, X[:, 3] ** 2 + X[:, 5])
    >>> display = EffectDisplay.from_estimator(model, 3)  # doctest: +SKIP
    """

    ax_: Any
    figure_: Any

    def __init__(self, effect: Any, names: Any, *, output: int = 0) -> None:
        self.effect, self.names, self.output = effect, [str(name) for name in names], output

    @classmethod
    def from_estimator(
        cls, estimator: Any, feature: Any = None, other: Any = None, *, output: int = 0, ax: Any = None
    ) -> Self:
        """Draw the curve of a feature, the heat map of a pair, or bars of all components.

        Parameters
        ----------
        estimator : fitted estimator
        feature, other : int, str or None
            A feature, or a pair of features. If both are None, the variance of each component is drawn.
        output : int, default=0
            The class or target to draw, if there are several.
        ax : Axes or None, default=None
        """
        known = estimator._feature_names()

        def name(j: Any) -> str:
            return str(j) if known is None or isinstance(j, str) else str(list(known)[j])

        if feature is None:
            terms = estimator.terms_
            if not terms:
                raise ValueError("The model is linear and has no components; SelectionDisplay draws weights.")
            names = [" × ".join(map(name, term.features)) for term in terms]
            return cls(terms, names, output=output).plot(ax)
        names = [name(feature)] + ([] if other is None else [name(other)])
        return cls(estimator.effect(feature, other), names, output=output).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        (axes,) = axes_for(ax, 1, (6, 4))
        if isinstance(self.effect, list):
            self._bars(axes)
        elif hasattr(self.effect, "other"):
            self._map(axes)
        else:
            self._curve(axes)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _of_output(self, values: Any, ndim: int) -> Any:
        return values if values.ndim == ndim else values[..., self.output]

    def _curve(self, ax: Any) -> None:
        """The component with a band of two standard errors, above the number of rows of each level."""
        curve = self.effect
        on = ~np.isnan(curve.values)
        x, y, error = curve.values[on], *(self._of_output(v, 1)[on] for v in (curve.effect, curve.error))
        ax.fill_between(x, y - 2 * error, y + 2 * error, color=BLUE, alpha=0.2, linewidth=0)
        ax.plot(x, y, color=BLUE, marker="o" if len(x) < 10 else None)
        if not on.all():
            ax.axhline(self._of_output(curve.effect, 1)[~on][0], color=QUIET, linestyle=":", label="missing")
            ax.legend(frameon=False)
        counts = ax.twinx()
        counts.vlines(x, 0, curve.rows[on], color=FAINT, linewidth=2)
        counts.set(ylim=(0, 6 * curve.rows.max()), yticks=[])
        counts.spines[["top", "right"]].set_visible(False)
        ax.set(xlabel=self.names[0], ylabel="effect on the margin")
        title(ax, f"Effect of {self.names[0]}")

    def _map(self, ax: Any) -> None:
        surface = self.effect
        z = self._of_output(surface.effect, 2)
        on, on_other = ~np.isnan(surface.values), ~np.isnan(surface.other)
        z, most = z[on][:, on_other], np.abs(z).max() or 1.0
        mesh = ax.pcolormesh(
            surface.values[on], surface.other[on_other], z.T, cmap="RdBu_r", vmin=-most, vmax=most,
            shading="nearest",
        )  # fmt: skip
        ax.figure.colorbar(mesh, ax=ax, label="effect on the margin")
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        title(ax, f"{self.names[0]} and {self.names[1]} together (p = {surface.pvalue:.2g})")

    def _bars(self, ax: Any) -> None:
        terms = self.effect[:30]
        at = np.arange(len(terms))
        ax.barh(
            at,
            [term.deviation**2 for term in terms],
            color=[BLUE if len(t.features) == 1 else INK for t in terms],
        )
        ax.set(yticks=at, yticklabels=self.names[: len(at)], xlabel="variance of the component")
        ax.invert_yaxis()
        title(ax, "Shapes and pairs")
