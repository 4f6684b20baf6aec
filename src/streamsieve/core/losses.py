"""Losses of a margin and a target, in NumPy: the same functions as the kernels' ``cpp/core/losses.hpp``.

Labels are -1 and +1, counts whole numbers, other targets any number. A loss is a class here, a struct there,
and a word in `LOSSES` and `AnyLoss`: learners, averages by passes and the sieve offer what these lists hold.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .params import Param, Parameter, Real

Array = NDArray[np.float64]

ENOUGH = 20  # targets of a call below which one far from the others may be chance
OUTWEIGHS = 100.0  # times all other counts together: of such a model no other row decides anything
MAD = 1.4826  # deviations of a normal variable in a median absolute deviation


def expit(margin: Any) -> Array:
    """1 / (1 + exp(-m)), without overflow."""
    return np.exp(-np.logaddexp(0.0, np.negative(margin)))


def softmax(margins: Array) -> Array:
    """Shares of the classes by their margins (n, q), without overflow."""
    share: Array = np.exp(margins - margins.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return share


class Loss:
    """Base of the losses. Their parameters are fields, declared in `params`."""

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    #: Parameters by name: every estimator that offers the loss shows them.
    params: ClassVar[dict[str, Parameter]] = {}
    #: Bound of the second derivative, by which steps are derived; infinite where steps cannot be.
    curvature: ClassVar[float] = 1.0
    #: Whether its slope leaps; `curvature` is then 1: a step of 1 / |x|^2 moves the margin by the slope.
    corners: ClassVar[bool] = False
    #: Whether Newton's method and reweighted least squares may rely on `bend`.
    newton: ClassVar[bool] = True
    #: Whether it is the likelihood of a distribution, so that standard errors follow from `bend`.
    likelihood: ClassVar[bool] = False
    #: Whether targets have a unit, and the loss with them, unlike labels and counts; see `units`.
    has_units: ClassVar[bool] = False
    #: Whether some of its numbers are in that unit, so that targets have to be scaled by it.
    needs_units: ClassVar[bool] = False

    def value(self, margin: Any, y: Any) -> Array:
        raise NotImplementedError  # pragma: no cover

    def derivative(self, margin: Any, y: Any) -> Array:
        """With respect to the margin."""
        raise NotImplementedError  # pragma: no cover

    def bend(self, margin: Any, y: Any) -> Array:
        """The second derivative or, where the loss has corners, that of a parabola which touches it at the
        margin and is nowhere below it."""
        raise NotImplementedError  # pragma: no cover

    def means(self, margin: Array) -> Array:
        """Predicted targets."""
        return margin

    def first_targets(self, y: Array) -> Array:
        """Targets whose least squares fit is where Newton's method begins."""
        return y

    def constant(self, y: Array, w: Array | None = None) -> Array:
        """The margin (q,) of least loss for targets (n, q), without any feature."""
        return shares(len(y), w) @ y

    def units(self, y: Array, centred: bool = True) -> tuple[Array, Array]:  # noqa: ARG002
        """What to subtract from targets (n, q) and what to divide them by, (q,) each."""
        return np.zeros(y.shape[1]), np.ones(y.shape[1])

    def check_targets(self, y: Array) -> None:
        """Raise ValueError for targets that the loss is not for."""

    def raw(self) -> Loss:
        """The loss by which rows are measured where the unit of the targets is not known."""
        return self

    def for_refit(self) -> Loss:
        """The loss by which selected features are fitted once more."""
        return self if self.newton else Logistic()


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y m)); the only one whose margins are probabilities, `1 / (1 + exp(-m))`."""

    name = "logistic"
    tasks = ("classification",)
    curvature = 0.25
    likelihood = True

    def value(self, margin: Any, y: Any) -> Array:
        return np.logaddexp(0.0, -np.multiply(y, margin))

    def derivative(self, margin: Any, y: Any) -> Array:
        return -np.asarray(y) * expit(-np.multiply(y, margin))

    def bend(self, margin: Any, y: Any) -> Array:  # noqa: ARG002
        share = expit(margin)
        return share * (1 - share)

    def first_targets(self, y: Array) -> Array:
        return 2 * y

    def constant(self, y: Array, w: Array | None = None) -> Array:
        """With one more row, half of it in each class: of one class it stays finite."""
        n = len(y)
        return np.asarray(2 * np.arctanh(super().constant(y, w) * n / (n + 1)))


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - y m)."""

    name = "hinge"
    tasks = ("classification",)
    corners, newton = True, False

    def value(self, margin: Any, y: Any) -> Array:
        return np.maximum(0.0, 1.0 - np.multiply(y, margin))

    def derivative(self, margin: Any, y: Any) -> Array:
        return np.where(np.multiply(y, margin) < 1.0, -np.asarray(y, dtype=np.float64), 0.0)

    def bend(self, margin: Any, y: Any) -> Array:
        """1 for rows that are not classified well enough: it has none."""
        return np.where(np.multiply(y, margin) < 1.0, 1.0, 0.0)

    def constant(self, y: Array, w: Array | None = None) -> Array:
        return np.sign(super().constant(y, w))


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, 1 - y m)^2."""

    name = "squared_hinge"
    tasks = ("classification",)
    curvature = 2.0
    newton = False

    def value(self, margin: Any, y: Any) -> Array:
        return np.square(np.maximum(0.0, 1.0 - np.multiply(y, margin)))

    def derivative(self, margin: Any, y: Any) -> Array:
        return -2.0 * np.asarray(y) * np.maximum(0.0, 1.0 - np.multiply(y, margin))

    def bend(self, margin: Any, y: Any) -> Array:
        return np.where(np.multiply(y, margin) < 1.0, 2.0, 0.0)


@dataclass(frozen=True)
class Squared(Loss):
    """Half the squared error, (m - y)^2 / 2."""

    name = "squared"
    tasks = ("regression", "classification")
    likelihood = has_units = True

    def value(self, margin: Any, y: Any) -> Array:
        return 0.5 * np.square(np.subtract(margin, y))

    def derivative(self, margin: Any, y: Any) -> Array:
        return np.subtract(margin, y)

    def bend(self, margin: Any, y: Any) -> Array:
        return np.ones(np.broadcast_shapes(np.shape(margin), np.shape(y)))

    def units(self, y: Array, centred: bool = True) -> tuple[Array, Array]:
        center = y.mean(axis=0) if centred else np.zeros(y.shape[1])
        return center, or_one(np.sqrt(np.square(y - center).mean(axis=0)))

    def check_targets(self, y: Array) -> None:
        for column in y.T if len(y) >= ENOUGH else ():
            off = np.abs(column - column.mean())
            i = int(off.argmax())
            if off[i] ** 2 < 0.9 * float(off @ off):  # of an outlier it is all but 1 / n
                continue
            others = np.delete(column, i)
            others = others - others.mean()
            squares = float(others @ others)
            if squares and float(column[i] - column.mean()) ** 2 > OUTWEIGHS * squares:
                warnings.warn(
                    f"One target, {column[i]:,.15g}, alone decides the model: its squared distance from the "
                    f"mean is more than {OUTWEIGHS:g} times that of all other rows of this call together. "
                    "Check this row; loss='huber' limits its influence.",
                    stacklevel=2,
                )


@dataclass(frozen=True)
class Huber(Loss):
    """(m - y)^2 / 2 up to a threshold, linear beyond: targets far off do not decide."""

    name = "huber"
    tasks = ("regression",)
    has_units = needs_units = True

    threshold: float = 1.345  # in deviations of the targets: 95 % as efficient as least squares

    def value(self, margin: Any, y: Any) -> Array:
        r, t = np.abs(np.subtract(margin, y)), self.threshold
        return np.where(r > t, t * (r - 0.5 * t), 0.5 * np.square(np.minimum(r, t)))

    def derivative(self, margin: Any, y: Any) -> Array:
        return np.clip(np.subtract(margin, y), -self.threshold, self.threshold)

    def bend(self, margin: Any, y: Any) -> Array:
        return self.threshold / np.maximum(np.abs(np.subtract(margin, y)), self.threshold)

    def constant(self, y: Array, w: Array | None = None) -> Array:
        """Reweighted means, from the median."""
        share, best = shares(len(y), w)[:, None], np.median(y, axis=0)
        for _ in range(20):  # each lowers the loss; the distance to the best halves, at least
            weight = share * self.bend(best, y)
            best = (weight * y).sum(axis=0) / weight.sum(axis=0)
        return best

    def units(self, y: Array, centred: bool = True) -> tuple[Array, Array]:
        return robust_units(y, centred)

    def raw(self) -> Loss:
        return Squared()


@dataclass(frozen=True)
class Quantile(Loss):
    """Pinball loss of r = m - y, |r| / 2 + (1 / 2 - quantile) r, a parabola within `width` of its corner.

    It is at most width / 4 below the pinball loss.
    """

    name = "quantile"
    tasks = ("regression",)
    params = {
        "quantile": Param(
            0.5, Real(above=0, below=1), "Share of the targets below the prediction, by loss='quantile'."
        )
    }
    corners = has_units = needs_units = True

    quantile: float = 0.5
    width: float = 0.01  # in deviations of the targets

    def value(self, margin: Any, y: Any) -> Array:
        r = np.subtract(margin, y)
        size = np.abs(r)
        near = 0.5 * np.square(np.minimum(size, self.width)) / self.width
        return 0.5 * (near + np.maximum(size - self.width, 0.0)) + (0.5 - self.quantile) * r

    def derivative(self, margin: Any, y: Any) -> Array:
        r = np.subtract(margin, y)
        return 0.5 * np.clip(r / self.width, -1.0, 1.0) + 0.5 - self.quantile

    def bend(self, margin: Any, y: Any) -> Array:
        return 0.5 / np.maximum(np.abs(np.subtract(margin, y)), self.width)

    def constant(self, y: Array, w: Array | None = None) -> Array:
        order = np.argsort(y, axis=0)
        below = np.cumsum(shares(len(y), w)[order], axis=0)
        at = np.minimum((below < self.quantile).sum(axis=0), len(y) - 1)
        return np.take_along_axis(y, np.take_along_axis(order, at[None], axis=0), axis=0)[0]

    def units(self, y: Array, centred: bool = True) -> tuple[Array, Array]:
        return robust_units(y, centred)

    def raw(self) -> Loss:
        return Quantile(self.quantile, 1e-300)


@dataclass(frozen=True)
class Poisson(Loss):
    """exp(m) - y m: counts y of mean exp(m)."""

    name = "poisson"
    tasks = ("regression",)
    curvature = np.inf
    likelihood = True

    def value(self, margin: Any, y: Any) -> Array:
        return np.exp(np.minimum(margin, 50.0)) - np.multiply(y, margin)

    def derivative(self, margin: Any, y: Any) -> Array:
        return np.exp(np.minimum(margin, 50.0)) - y

    def bend(self, margin: Any, y: Any) -> Array:
        mean = np.exp(np.minimum(margin, 50.0))
        return np.broadcast_to(mean, np.broadcast_shapes(np.shape(margin), np.shape(y)))

    def means(self, margin: Array) -> Array:
        return np.exp(np.minimum(margin, 700.0))

    def first_targets(self, y: Array) -> Array:
        return np.log(y + 0.5)

    def constant(self, y: Array, w: Array | None = None) -> Array:
        """With one more row of half a count: of zeros alone it stays finite."""
        n = len(y)
        return np.log((super().constant(y, w) * n + 0.5) / (n + 1))

    def check_targets(self, y: Array) -> None:
        if len(y) and y.min() < 0:
            raise ValueError(f"loss='poisson' needs counts; a target is {y.min():g}.")
        largest = float(y.max(initial=0.0))
        if largest > OUTWEIGHS * (float(y.sum()) - largest + len(y)):
            warnings.warn(
                f"A count of {largest:g} is more than {OUTWEIGHS:g} times the sum of all others of this "
                "call: it alone decides the model. Check this row; loss='huber' limits its influence.",
                stacklevel=2,
            )


#: All losses at their default parameters; estimators show those of a task in this order.
_ALL = (Logistic(), Hinge(), SquaredHinge(), Squared(), Huber(), Quantile(), Poisson())
LOSSES: dict[str, Loss] = {loss.name: loss for loss in _ALL}


def loss_names(task: str, *, newton: bool = False, first: str = "") -> tuple[str, ...]:
    """The losses for a task: those that steps can be derived for, or those for Newton's method."""
    offered = [loss for loss in LOSSES.values() if task in loss.tasks]
    names = [loss.name for loss in offered if (loss.newton if newton else np.isfinite(loss.curvature))]
    return tuple(sorted(names, key=lambda name: name != first))


def shares(n: int, w: Array | None) -> Array:
    """Weights of n rows that sum to 1."""
    if w is None:
        return np.full(n, 1 / n)
    share: Array = w / w.max()  # a sum of the largest weights would overflow
    return share / share.sum()


def robust_units(y: Array, centred: bool) -> tuple[Array, Array]:
    """The median of each column of y (n, q), 0 unless `centred`, and the deviation by the median distance
    from it; by the mean square where most are equal."""
    center = np.median(y, axis=0) if centred else np.zeros(y.shape[1])
    distance = np.abs(y - center)
    spread, root = MAD * np.median(distance, axis=0), np.sqrt(np.square(distance).mean(axis=0))
    return center, or_one(np.where(spread > 0, spread, root))


def or_one(unit: Array) -> Array:
    """Units, 1 in place of 0."""
    return np.where(unit > 0, unit, 1.0)
