"""Losses of a margin and a target, in NumPy: the same functions as the kernels' ``cpp/core/losses.hpp``.

Labels are -1 and +1, counts are integers, other targets are real numbers. A loss is a class in this file, a
struct in C++, and an entry of `LOSSES` and `AnyLoss`. Learners, averages by passes and the sieve offer the
losses of these lists.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .outliers import OUTWEIGHS, outweighing
from .params import Param, Parameter, Real

Array = NDArray[np.float64]

UNLIKELY = 10.0  # deviations of a count above its mean: if the model is right, less than one row in 1e12
MAD = 1.4826  # standard deviation of a normal variable divided by its median absolute deviation


def expit(margin: Any) -> Array:
    """1 / (1 + exp(-m)), without overflow."""
    return np.exp(-np.logaddexp(0.0, np.negative(margin)))


def softmax(margins: Array) -> Array:
    """Probabilities of the classes from their margins (n, q), without overflow."""
    share: Array = np.exp(margins - margins.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return share


class Loss:
    """Base class of the losses. Parameters are fields, declared in `params`."""

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    #: Parameters by name: every estimator that offers the loss has them.
    params: ClassVar[dict[str, Parameter]] = {}
    #: Upper bound of the second derivative, from which steps are derived; infinite if there is no bound.
    curvature: ClassVar[float] = 1.0
    #: Whether its derivative jumps; `curvature` is then 1: a step of 1 / |x|^2 moves the margin by the slope.
    corners: ClassVar[bool] = False
    #: Whether Newton's method and reweighted least squares can use `bend`.
    newton: ClassVar[bool] = True
    #: Whether it is a negative log-likelihood, so that standard errors follow from `bend`.
    likelihood: ClassVar[bool] = False
    #: Whether targets, and so the loss, have a unit, unlike labels and counts; see `units`.
    has_units: ClassVar[bool] = False
    #: Whether some of its parameters are in that unit, so that targets have to be scaled by it.
    needs_units: ClassVar[bool] = False

    def value(self, margin: Any, y: Any) -> Array:
        raise NotImplementedError  # pragma: no cover

    def derivative(self, margin: Any, y: Any) -> Array:
        """With respect to the margin."""
        raise NotImplementedError  # pragma: no cover

    def bend(self, margin: Any, y: Any) -> Array:
        """The second derivative. If the loss has corners, that of a parabola that touches the loss at the
        margin and is nowhere below it."""
        raise NotImplementedError  # pragma: no cover

    def parabola(self, margin: Any, y: Any) -> Array:
        """The second derivative of the parabola that a step of Newton's method without a line search uses."""
        return self.bend(margin, y)

    def means(self, margin: Array) -> Array:
        """Predicted targets."""
        return margin

    def first_targets(self, y: Array) -> Array:
        """Targets whose least-squares fit is the start of Newton's method."""
        return y

    def constant(self, y: Array, w: Array | None = None) -> Array:
        """The constant margin (q,) of least loss for targets (n, q)."""
        return shares(len(y), w) @ y

    def units(self, y: Array, centred: bool = True) -> tuple[Array, Array]:  # noqa: ARG002
        """Centre and scale of targets (n, q), each of shape (q,)."""
        return np.zeros(y.shape[1]), np.ones(y.shape[1])

    def check_targets(self, y: Array) -> None:
        """Raise ValueError for targets that are invalid for the loss."""

    def raw(self) -> Loss:
        """The loss that measures rows if the unit of the targets is not known."""
        return self

    def for_refit(self) -> Loss:
        """The loss of the refit on the selected features."""
        return self if self.newton else Logistic()


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y m)); the only loss whose margins give probabilities, `1 / (1 + exp(-m))`."""

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
        """With one more row, half of it in each class, so that it is finite if only one class occurs."""
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
        """1 for rows with a margin below 1, in place of the second derivative, which is zero."""
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
        if (np.abs(y) == 1.0).all():  # labels
            return
        for column in y.T:
            i = outweighing(column)
            if i is not None:
                warnings.warn(
                    f"One target, {column[i]:,.15g}, alone decides the model: its squared distance from the "
                    f"mean is more than {OUTWEIGHS:g} times that of all other rows of this call together. "
                    "Check this row; methods with loss='huber' limit its influence.",
                    stacklevel=2,
                )


@dataclass(frozen=True)
class Huber(Loss):
    """(m - y)^2 / 2 up to a threshold, linear beyond it: distant targets have limited influence."""

    name = "huber"
    tasks = ("regression",)
    has_units = needs_units = True

    threshold: float = 1.345  # in standard deviations of the targets: 95 % as efficient as least squares

    def value(self, margin: Any, y: Any) -> Array:
        r, t = np.abs(np.subtract(margin, y)), self.threshold
        return np.where(r > t, t * (r - 0.5 * t), 0.5 * np.square(np.minimum(r, t)))

    def derivative(self, margin: Any, y: Any) -> Array:
        return np.clip(np.subtract(margin, y), -self.threshold, self.threshold)

    def bend(self, margin: Any, y: Any) -> Array:
        return self.threshold / np.maximum(np.abs(np.subtract(margin, y)), self.threshold)

    def constant(self, y: Array, w: Array | None = None) -> Array:
        """Iteratively reweighted means, starting at the median."""
        share, best = shares(len(y), w)[:, None], np.median(y, axis=0)
        for _ in range(20):  # each step lowers the loss and at least halves the distance to the minimum
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
            0.5,
            Real(above=0, below=1),
            "Quantile that loss='quantile' predicts: the share of the targets below the prediction.",
        )
    }
    corners = has_units = needs_units = True

    quantile: float = 0.5
    width: float = 0.01  # in standard deviations of the targets

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
    """exp(m) - y m: counts y with mean exp(m)."""

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

    def parabola(self, margin: Any, y: Any) -> Array:
        """Where a count is far above its mean exp(m), the parabola whose minimum is at log(y).

        That of the second derivative has its minimum at y / exp(m) - 1 above m, where the exponential
        function may overflow. Counts are far above if by `UNLIKELY` deviations; for others it is not used,
        because it makes steps shorter, and with counts of the model hardly any is so far.
        """
        mean = np.exp(np.minimum(margin, 50.0))
        above = np.subtract(y, mean)
        far = above > UNLIKELY * np.sqrt(mean + 1)
        ahead = np.log(np.where(far, y, 1.0)) - np.where(far, margin, -1.0)
        return np.where(far, above / ahead, mean)

    def means(self, margin: Array) -> Array:
        return np.exp(np.minimum(margin, 700.0))

    def first_targets(self, y: Array) -> Array:
        return np.log(y + 0.5)

    def constant(self, y: Array, w: Array | None = None) -> Array:
        """With one more row of half a count, so that it is finite if all counts are zero."""
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
    """The losses for a task: those with derived steps, or those for Newton's method."""
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
    """Centre and scale of each column of y (n, q). The centre is the median, or 0 unless `centred`. The scale
    is the median absolute deviation, or the root mean square if most values are equal."""
    center = np.median(y, axis=0) if centred else np.zeros(y.shape[1])
    distance = np.abs(y - center)
    spread, root = MAD * np.median(distance, axis=0), np.sqrt(np.square(distance).mean(axis=0))
    return center, or_one(np.where(spread > 0, spread, root))


def or_one(unit: Array) -> Array:
    """Scales, with 1 in place of 0."""
    return np.where(unit > 0, unit, 1.0)
