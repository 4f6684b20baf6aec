"""The features of a model and their weights."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..core.rows import Array
from ..training.features import selected_features
from .style import BLUE, INK, QUIET, RED, axes_for, title


class SelectionDisplay:
    """The selected features with their weights, the strongest first, or as an image.

    Create it with `from_estimator` or `from_model`, which also draw it; `plot` draws it again.

    Parameters
    ----------
    names : sequence of str
        Names of the selected features, the strongest first.
    weights : array of shape (q, k)
        Their weights, a row for each target or class.
    errors : array of shape (k,) or None, default=None
        Standard errors of the weights, if q is 1.
    features : array of int of shape (k,) or None, default=None
        Indices of the features; required for an image.
    labels : sequence of str or None, default=None
        Names of the rows of `weights`.
    unit : str, default="weight"
        Label of the axis. `from_estimator` draws effects (weights times standard deviations of the features)
        if these are known.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OFSARegressor, SelectionDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 20))
    >>> model = OFSARegressor(2).fit(X, X[:, 3] - 2 * X[:, 8])
    >>> display = SelectionDisplay.from_estimator(model)  # doctest: +SKIP
    """

    ax_: Any
    figure_: Any

    def __init__(
        self,
        names: Any,
        weights: Any,
        *,
        errors: Any = None,
        features: Any = None,
        labels: Any = None,
        unit: str = "weight",
    ) -> None:
        self.unit = unit
        self.names = [str(name) for name in names]
        self.weights: Array = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        self.errors = None if errors is None else np.asarray(errors, dtype=np.float64)
        self.features = None if features is None else np.asarray(features)
        self.labels = None if labels is None else [str(label) for label in labels]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_features: int = 30,
        image_shape: tuple[int, int] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the features that a fitted estimator has selected.

        Parameters
        ----------
        estimator : fitted estimator
        max_features : int >= 1, default=30
            Maximum number of features to show.
        image_shape : (int, int) or None, default=None
            Rows and columns of an image, if the features are its pixels; the pixels are then drawn.
        ax : Axes or None, default=None
        """
        fitted = estimator._to_model()
        features = selected_features(fitted)
        labels = None if fitted.classes is None or fitted.method.q == 1 else fitted.classes
        in_effects = image_shape is None and all(feature.effects is not None for feature in features)
        sizes = [(in_effects and feature.effects) or feature.weights for feature in features]
        errors = None
        if features and features[0].stderr is not None:
            # standard errors have the unit of the weights
            scale = [size[0] / feature.weights[0] for size, feature in zip(sizes, features)]
            errors = [abs(by) * (feature.stderr or 0.0) for by, feature in zip(scale, features)]
        display = cls(
            [feature.name for feature in features],
            np.array(sizes, dtype=np.float64).T.reshape(fitted.method.q, -1),
            errors=errors,
            features=[feature.index for feature in features],
            labels=labels,
            unit="effect (weight × standard deviation)" if in_effects and features else "weight",
        )
        return display.plot(ax, max_features=max_features, image_shape=image_shape)

    @classmethod
    def from_model(cls, model: Any, *, names: Any = None, max_features: int = 30, ax: Any = None) -> Self:
        """Draw a `LinearModel`.

        Parameters
        ----------
        model : LinearModel
            Result of a function of `extract`.
        names : sequence of str or None, default=None
            Names of all features.
        max_features : int >= 1, default=30
        ax : Axes or None, default=None
        """
        coef = np.atleast_2d(model.coef)
        error = None if model.stderr is None or len(coef) > 1 else np.atleast_2d(model.stderr)[0]
        size = np.abs(coef).max(axis=0) if error is None else np.abs(np.atleast_2d(model.tvalue)[0])
        support = model.support[np.argsort(-size[model.support], kind="stable")]
        display = cls(
            [f"x{j}" if names is None else names[j] for j in support],
            coef[:, support],
            errors=None if error is None else error[support],
            features=support,
        )
        return display.plot(ax, max_features=max_features)

    def plot(
        self, ax: Any = None, *, max_features: int = 30, image_shape: tuple[int, int] | None = None
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes or None, default=None
            None creates a new figure.
        max_features : int >= 1, default=30
        image_shape : (int, int) or None, default=None
        """
        if image_shape is not None:
            return self._image(ax, image_shape)
        shown = min(len(self.names), max_features)
        self.ax_ = axes_for(ax, 1, (6.4, 1.2 + 0.24 * max(shown, 1)))[0]
        self.figure_ = self.ax_.figure
        at = np.arange(shown)
        if len(self.weights) == 1:
            self._bars(at)
        else:
            self._dots(at)
        self.ax_.set_yticks(at, self.names[:shown])
        self.ax_.set_ylim(shown - 0.4, -0.6)
        self.ax_.axvline(0, color=INK, lw=0.6)
        self.ax_.set_xlabel(
            self.unit if self.errors is None else f"{self.unit}\n95% interval, given the selection"
        )
        rest = f", the strongest {shown}" if shown < len(self.names) else ""
        many = "feature" if len(self.names) == 1 else "features"
        title(self.ax_, f"{len(self.names):,} {many}{rest}")
        return self

    def _bars(self, at: Any) -> None:
        weights = self.weights[0, : len(at)]
        error = None if self.errors is None else 1.96 * self.errors[: len(at)]
        self.ax_.barh(at, weights, color=np.where(weights > 0, BLUE, RED), height=0.7,
                      xerr=error, error_kw={"ecolor": QUIET, "lw": 1.2})  # fmt: skip

    def _dots(self, at: Any) -> None:
        import matplotlib as mpl

        colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(self.weights)))
        for i, (row, colour) in enumerate(zip(self.weights, colours)):
            label = str(i) if self.labels is None else self.labels[i]
            self.ax_.plot(row[: len(at)], at, "o", ms=5, color=colour, label=label)
        self.ax_.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))

    def _image(self, ax: Any, shape: tuple[int, int]) -> Self:
        if self.features is None or (len(self.features) and self.features.max() >= shape[0] * shape[1]):
            raise ValueError(
                f"image_shape={shape} is too small for all features; pass the shape of the image."
            )
        self.ax_ = axes_for(ax, 1, (3.6, 3.6))[0]
        self.figure_ = self.ax_.figure
        image = np.zeros(shape[0] * shape[1])
        strength = np.abs(self.weights).max(axis=0) if len(self.weights) > 1 else self.weights[0]
        image[self.features] = strength
        top = float(np.abs(image).max()) or 1.0
        self.ax_.imshow(image.reshape(shape), cmap="RdBu_r", vmin=-top, vmax=top)
        self.ax_.set_xticks([])
        self.ax_.set_yticks([])
        title(self.ax_, f"{len(self.names)} of {len(image)} pixels")
        return self
