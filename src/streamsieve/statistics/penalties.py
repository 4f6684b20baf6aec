"""Penalties: a value, a prox, and a derivative that is linear on each of a few pieces.

Every penalty is even and zero at zero, and acts on each weight separately (or on the norm of each group).
Feature j has the strength alpha times its factor, and weights may have bounds. This file defines the scalar
problem. The solvers use only the methods of `Penalty`; a new penalty needs these methods and a struct with
the same prox in ``cpp/averages/coordinate.hpp``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .. import _core
from ..core.rows import Array

NONE = np.empty(0)
ALL: Any = slice(None)


class Penalty(ABC):
    """The sum over j of P_j(b_j; alpha).

    Arguments `at` are the coordinates of the arrays (an index array, or all).

    Parameters
    ----------
    factor : ndarray of shape (p,) or None, default=None
        Finite factors >= 0 of alpha; None: all 1.
    box : pair of ndarrays of shape (p,) or None, default=None
        Lower bounds <= 0 and upper bounds >= 0.
    """

    convex: bool
    factor: Array | None = None
    box: tuple[Array, Array] | None = None

    def __init__(self, factor: Array | None = None, box: tuple[Array, Array] | None = None) -> None:
        self.factor = factor
        self.box = None if box is None else (np.ascontiguousarray(box[0]), np.ascontiguousarray(box[1]))

    @property
    def bounds(self) -> tuple[Array, Array]:
        """As the kernels take them: empty for none."""
        return (NONE, NONE) if self.box is None else self.box

    def strength(self, alpha: float, at: Any = ALL) -> Any:
        """alpha times the factors."""
        return alpha if self.factor is None else alpha * self.factor[at]

    def prox(self, z: Array, d: Array, alpha: float, at: Any = ALL) -> Array:
        """argmin_x d x^2 / 2 - z x + P_j(x) within the bounds, for each coordinate; of equal minima, zero."""
        free = self.free_prox(z, d, alpha, at)
        if self.box is None:
            return free
        lower, upper = self.box[0][at], self.box[1][at]
        x = np.clip(free, lower, upper)
        if self.convex:
            return x
        # at a bound the other local minimum may be lower
        other = np.clip(self.other(z, d, alpha, at), lower, upper)

        def objective(b: Array) -> Array:
            return b * (d * b / 2 - z) + self.value(b, alpha, at)

        return np.where((x == free) | (objective(x) < objective(other)), x, other)

    def other(self, z: Array, d: Array, alpha: float, at: Any = ALL) -> Array:  # noqa: ARG002
        """The second local minimum without bounds, if the scalar problem is not convex."""
        return np.zeros_like(z)

    @abstractmethod
    def value(self, b: Array, alpha: float, at: Any = ALL) -> Array:
        """P_j(b_j) for each weight."""

    @abstractmethod
    def free_prox(self, z: Array, d: Array, alpha: float, at: Any = ALL) -> Array:
        """`prox` without bounds."""

    @abstractmethod
    def pieces(self, b: Array, alpha: float, at: Any = ALL) -> tuple[Array, Array]:
        """(a, c) such that P_j'(x) = a + c x on the piece of each non-zero weight."""

    @abstractmethod
    def kinks(self, alpha: float, at: Any = ALL) -> list[Any]:
        """Sizes of each weight at which the pieces meet."""

    @abstractmethod
    def threshold(self, d: Array, at: Any = ALL) -> Array:
        """Lower bound of the gradient beyond which a weight leaves 0 at alpha = 1."""

    def alpha_max(self, r: Array, d: Array, at: Any = ALL) -> float:
        """Smallest alpha whose solution is zero, for S_xy = r and a diagonal d of S_xx; 0 if there is none.

        Unpenalised features are ignored: they are never zero.
        """
        limit = self.threshold(d, at)
        size = np.abs(r)
        if self.box is not None:  # a bound of 0 in the direction of the gradient
            size = np.where(np.where(r > 0, self.box[1][at] > 0, self.box[0][at] < 0), size, 0.0)
        ratio = np.divide(size, limit, out=np.zeros_like(size), where=limit > 0)
        return float(ratio.max(initial=0.0))

    @abstractmethod
    def kernel(self, alpha: float, p: int) -> tuple[Any, Any, tuple[Any, ...]]:
        """The kernels that descend over coordinates and over groups, and their arguments."""

    def descend(
        self, R: Array, at: Any, alpha: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        """Coordinate descent in place; see ``cpp/averages/coordinate.hpp``."""
        kernel, _, arguments = self.kernel(alpha, len(g))
        found: tuple[int, float] = kernel(R, at, *arguments, *self.bounds, max_sweeps, tol, g, b)
        return found


def _full(value: Any, p: int) -> Array:
    return np.broadcast_to(value, p).astype(np.float64)


class L1L2(Penalty):
    """P_j(b) = alpha_j (l1_ratio w_j |b| + (1 - l1_ratio) unit b^2 / 2): lasso, elastic net, adaptive lasso.

    Parameters
    ----------
    l1_ratio : float in (0, 1], default=1.0
    weights : ndarray of shape (p,) or None, default=None
        w_j >= 0; infinite for an excluded feature. None: all 1.
    unit : float, default=1.0
        Factor by which the target and alpha were divided before the fit: squares are divided twice.
    factor, box
        As in `Penalty`.
    """

    convex = True

    def __init__(
        self,
        l1_ratio: float = 1.0,
        weights: Array | None = None,
        unit: float = 1.0,
        *,
        factor: Array | None = None,
        box: tuple[Array, Array] | None = None,
    ) -> None:
        super().__init__(factor, box)
        self.l1_ratio = l1_ratio
        self.weights = weights
        self.unit = unit

    def _l2(self, alpha: float, at: Any = ALL) -> Any:
        return self.strength(alpha * (1 - self.l1_ratio) * self.unit, at)

    def _l1(self, alpha: float, at: Any = ALL) -> Any:
        if self.weights is None:
            return self.strength(alpha * self.l1_ratio, at)
        w, alphas = self.weights[at], self.strength(alpha * self.l1_ratio, at)
        # at alpha = 0 an infinite weight still bars its feature, where 0 * inf is nan
        l1 = np.where(np.isinf(w), np.inf, alphas * np.where(np.isinf(w), 0.0, w))
        return l1 if self.factor is None else np.where(self.factor[at] == 0, 0.0, l1)

    def value(self, b: Array, alpha: float, at: Any = ALL) -> Array:
        size = np.abs(b)
        l1 = np.where(size > 0, self._l1(alpha, at), 0.0)
        return l1 * size + self._l2(alpha, at) / 2 * b**2

    def free_prox(self, z: Array, d: Array, alpha: float, at: Any = ALL) -> Array:
        over = np.maximum(np.abs(z) - self._l1(alpha, at), 0.0)
        return np.copysign(over / (d + self._l2(alpha, at)), z)

    def pieces(self, b: Array, alpha: float, at: Any = ALL) -> tuple[Array, Array]:
        return np.copysign(self._l1(alpha, at), b), np.zeros(b.shape) + self._l2(alpha, at)

    def kinks(self, alpha: float, at: Any = ALL) -> list[Any]:  # noqa: ARG002
        return [0.0]

    def threshold(self, d: Array, at: Any = ALL) -> Array:
        return np.broadcast_to(self._l1(1.0, at), d.shape)

    def kernel(self, alpha: float, p: int) -> tuple[Any, Any, tuple[Any, ...]]:
        arguments = _full(self._l1(alpha), p), _full(self._l2(alpha), p)
        return _core.descend_l1l2, _core.descend_groups_l1l2, arguments


class Folded(Penalty):
    """A folded concave penalty: weights beyond gamma alpha are not penalised further."""

    convex = False

    def __init__(
        self, gamma: float, *, factor: Array | None = None, box: tuple[Array, Array] | None = None
    ) -> None:
        super().__init__(factor, box)
        self.gamma = gamma


class MCP(Folded):
    """P'(b) = (alpha - b / gamma)_+ for b > 0, Zhang (2010); its prox at d = 1 is [Sun] eq. (3.10).

    Parameters
    ----------
    gamma : float > 0
        The constant b of eq. (3.10).
    factor, box
        As in `Penalty`.
    """

    def value(self, b: Array, alpha: float, at: Any = ALL) -> Array:
        lam = self.strength(alpha, at)
        size = np.minimum(np.abs(b), self.gamma * lam)
        return size * (lam - size / (2 * self.gamma))

    def free_prox(self, z: Array, d: Array, alpha: float, at: Any = ALL) -> Array:
        t, gamma, lam = np.abs(z), self.gamma, self.strength(alpha, at)
        convex = gamma * d > 1
        slope = np.where(convex, d - 1 / gamma, 1.0)
        out = np.where(convex & (t <= gamma * lam * d), np.maximum(t - lam, 0.0) / slope, t / d)
        # concave up to the flat part: either 0 or the least squares value
        out = np.where(~convex & (t <= lam * np.sqrt(gamma * d)), 0.0, out)
        return np.copysign(out, z)

    def pieces(self, b: Array, alpha: float, at: Any = ALL) -> tuple[Array, Array]:
        lam = self.strength(alpha, at)
        bent = np.abs(b) < self.gamma * lam
        return np.where(bent, np.copysign(lam, b), 0.0), np.where(bent, -1 / self.gamma, 0.0)

    def kinks(self, alpha: float, at: Any = ALL) -> list[Any]:
        return [0.0, self.gamma * self.strength(alpha, at)]

    def threshold(self, d: Array, at: Any = ALL) -> Array:
        limit: Array = self.strength(1.0, at) * np.minimum(1.0, np.sqrt(self.gamma * d))
        return limit

    def kernel(self, alpha: float, p: int) -> tuple[Any, Any, tuple[Any, ...]]:
        return _core.descend_mcp, _core.descend_groups_mcp, (_full(self.strength(alpha), p), self.gamma)


class SCAD(Folded):
    """P'(b) = alpha for 0 < b <= alpha, (gamma alpha - b)_+ / (gamma - 1) beyond, Fan and Li (2001).

    Parameters
    ----------
    gamma : float > 2
        The constant a of the paper, 3.7.
    factor, box
        As in `Penalty`.
    """

    def value(self, b: Array, alpha: float, at: Any = ALL) -> Array:
        lam, gamma = self.strength(alpha, at), self.gamma
        size = np.minimum(np.abs(b), gamma * lam)
        near = np.minimum(size, lam)  # lam where it matters; its square may overflow
        bent = (2 * gamma * near * size - size**2 - near**2) / (2 * (gamma - 1))
        return np.where(size <= lam, lam * size, bent)

    def free_prox(self, z: Array, d: Array, alpha: float, at: Any = ALL) -> Array:
        t, gamma, lam = np.abs(z), self.gamma, self.strength(alpha, at)
        soft, far = np.maximum(t - lam, 0.0) / d, t / d
        convex = (gamma - 1) * d > 1
        slope = np.where(convex, d - 1 / (gamma - 1), 1.0)
        bent = np.where(t > gamma * lam * d, far, (t - gamma * lam / (gamma - 1)) / slope)
        # concave between alpha and gamma alpha: a minimum on either side, the lower one is used
        near = np.minimum(soft, lam)
        drop = (
            far * (d * far / 2 - t)
            + self.value(far, alpha, at)
            - near * (d * near / 2 - t)
            - self.value(near, alpha, at)
        )
        either = np.where((far >= gamma * lam) & (drop < 0), far, near)
        return np.copysign(np.where(convex, np.where(soft <= lam, soft, bent), either), z)

    def other(self, z: Array, d: Array, alpha: float, at: Any = ALL) -> Array:
        lam = self.strength(alpha, at)
        return np.copysign(np.minimum(np.maximum(np.abs(z) - lam, 0.0) / d, lam), z)

    def pieces(self, b: Array, alpha: float, at: Any = ALL) -> tuple[Array, Array]:
        size, gamma, lam = np.abs(b), self.gamma, self.strength(alpha, at)
        a = np.where(size <= lam, lam, np.where(size < gamma * lam, gamma * lam / (gamma - 1), 0.0))
        bent = (size > lam) & (size < gamma * lam)
        return np.copysign(a, b), np.where(bent, -1 / (gamma - 1), 0.0)

    def kinks(self, alpha: float, at: Any = ALL) -> list[Any]:
        lam = self.strength(alpha, at)
        return [0.0, lam, self.gamma * lam]

    def threshold(self, d: Array, at: Any = ALL) -> Array:
        limit: Array = self.strength(1.0, at) * np.minimum(1.0, np.sqrt((self.gamma + 1) * d))
        return limit

    def kernel(self, alpha: float, p: int) -> tuple[Any, Any, tuple[Any, ...]]:
        return _core.descend_scad, _core.descend_groups_scad, (_full(self.strength(alpha), p), self.gamma)
