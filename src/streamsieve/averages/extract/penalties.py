"""Penalties: a value, a prox, and a derivative that is linear on each of a few pieces.

Every penalty is even and zero at zero, and acts on each weight alone. The solver asks for nothing but the
methods of `Penalty`; a new penalty needs them, and a struct of the same prox in
``cpp/averages/coordinate.hpp``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ... import _core
from ...rows import Array


class Penalty(ABC):
    """The sum over j of P_j(b_j; alpha).

    Arguments `at` pick the coordinates that the arrays stand for (an index array, or all of them).
    """

    convex: bool

    @abstractmethod
    def value(self, b: Array, alpha: float, at: Any = slice(None)) -> Array:
        """P_j(b_j) for each weight."""

    @abstractmethod
    def prox(self, z: Array, d: Array, alpha: float) -> Array:
        """argmin_x d x^2 / 2 - z x + P_j(x) for each coordinate; of equal minima, zero."""

    @abstractmethod
    def pieces(self, b: Array, alpha: float, at: Any = slice(None)) -> tuple[Array, Array]:
        """(a, c) such that P_j'(x) = a + c x on the piece where each of the non-zero weights lies."""

    @abstractmethod
    def kinks(self, alpha: float) -> tuple[float, ...]:
        """Sizes of a weight at which the pieces meet."""

    @abstractmethod
    def alpha_max(self, r: Array, d: Array, at: Any = slice(None)) -> float:
        """Smallest alpha whose solution is zero, for S_xy = r and a diagonal d of S_xx."""

    @abstractmethod
    def descend(
        self, R: Array, at: Any, alpha: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        """Coordinate descent in place; see ``cpp/averages/coordinate.hpp``."""


class L1L2(Penalty):
    """P_j(b) = alpha (l1_ratio w_j |b| + (1 - l1_ratio) unit b^2 / 2): lasso, elastic net, adaptive lasso.

    Parameters
    ----------
    l1_ratio : float in (0, 1], default=1.0
    weights : ndarray of shape (p,) or None, default=None
        w_j >= 0; infinite for a feature that may not enter. None means ones.
    unit : float, default=1.0
        What the target was divided by, and alpha with it, before the fit: the squares are divided twice.
    """

    convex = True

    def __init__(self, l1_ratio: float = 1.0, weights: Array | None = None, unit: float = 1.0) -> None:
        self.l1_ratio = l1_ratio
        self.weights = weights
        self.unit = unit

    def _l2(self, alpha: float) -> float:
        return alpha * (1 - self.l1_ratio) * self.unit

    def _l1(self, alpha: float, at: Any = slice(None)) -> Any:
        if self.weights is None:
            return alpha * self.l1_ratio
        w = self.weights[at]
        # at alpha = 0 an infinite weight still bars its feature, where 0 * inf is nan
        return np.where(np.isinf(w), np.inf, alpha * self.l1_ratio * np.where(np.isinf(w), 0.0, w))

    def value(self, b: Array, alpha: float, at: Any = slice(None)) -> Array:
        size = np.abs(b)
        l1 = np.where(size > 0, self._l1(alpha, at), 0.0)
        return l1 * size + self._l2(alpha) / 2 * b**2

    def prox(self, z: Array, d: Array, alpha: float) -> Array:
        over = np.maximum(np.abs(z) - self._l1(alpha), 0.0)
        return np.copysign(over / (d + self._l2(alpha)), z)

    def pieces(self, b: Array, alpha: float, at: Any = slice(None)) -> tuple[Array, Array]:
        return np.copysign(self._l1(alpha, at), b), np.full(b.shape, self._l2(alpha))

    def kinks(self, alpha: float) -> tuple[float, ...]:  # noqa: ARG002
        return (0.0,)

    def alpha_max(self, r: Array, d: Array, at: Any = slice(None)) -> float:  # noqa: ARG002
        size = np.abs(r) / self.l1_ratio
        if self.weights is not None:
            w = self.weights[at]
            size = np.divide(size, w, out=np.zeros_like(size), where=w > 0)
        return float(size.max(initial=0.0))

    def descend(
        self, R: Array, at: Any, alpha: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        l1 = np.broadcast_to(self._l1(alpha), g.shape).astype(np.float64)
        return _core.descend_l1l2(R, at, l1, self._l2(alpha), max_sweeps, tol, g, b)


class MCP(Penalty):
    """P'(b) = (alpha - b / gamma)_+ for b > 0, Zhang (2010); its prox at d = 1 is [Sun] eq. (3.10).

    Parameters
    ----------
    gamma : float > 1
        The constant b of eq. (3.10). Weights beyond gamma alpha are not penalised further.
    """

    convex = False

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def value(self, b: Array, alpha: float, at: Any = slice(None)) -> Array:  # noqa: ARG002
        size = np.minimum(np.abs(b), self.gamma * alpha)
        return size * (alpha - size / (2 * self.gamma))

    def prox(self, z: Array, d: Array, alpha: float) -> Array:
        t, gamma = np.abs(z), self.gamma
        convex = gamma * d > 1
        slope = np.where(convex, d - 1 / gamma, 1.0)
        out = np.where(convex & (t <= gamma * alpha * d), np.maximum(t - alpha, 0.0) / slope, t / d)
        # concave up to the flat part: either 0 or the least squares value
        out = np.where(~convex & (t <= alpha * np.sqrt(gamma * d)), 0.0, out)
        return np.copysign(out, z)

    def pieces(self, b: Array, alpha: float, at: Any = slice(None)) -> tuple[Array, Array]:  # noqa: ARG002
        bent = np.abs(b) < self.gamma * alpha
        return np.where(bent, np.copysign(alpha, b), 0.0), np.where(bent, -1 / self.gamma, 0.0)

    def kinks(self, alpha: float) -> tuple[float, ...]:
        return 0.0, self.gamma * alpha

    def alpha_max(self, r: Array, d: Array, at: Any = slice(None)) -> float:  # noqa: ARG002
        return float((np.abs(r) / np.minimum(1.0, np.sqrt(self.gamma * d))).max(initial=0.0))

    def descend(
        self, R: Array, at: Any, alpha: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        return _core.descend_mcp(R, at, alpha, self.gamma, max_sweeps, tol, g, b)


class SCAD(Penalty):
    """P'(b) = alpha for 0 < b <= alpha, (gamma alpha - b)_+ / (gamma - 1) beyond, Fan and Li (2001).

    Parameters
    ----------
    gamma : float > 2
        Their a, 3.7. Weights beyond gamma alpha are not penalised further.
    """

    convex = False

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def value(self, b: Array, alpha: float, at: Any = slice(None)) -> Array:  # noqa: ARG002
        size, gamma = np.minimum(np.abs(b), self.gamma * alpha), self.gamma
        bent = (2 * gamma * alpha * size - size**2 - alpha**2) / (2 * (gamma - 1))
        return np.where(size <= alpha, alpha * size, bent)

    def prox(self, z: Array, d: Array, alpha: float) -> Array:
        t, gamma = np.abs(z), self.gamma
        soft, far = np.maximum(t - alpha, 0.0) / d, t / d
        convex = (gamma - 1) * d > 1
        slope = np.where(convex, d - 1 / (gamma - 1), 1.0)
        bent = np.where(t > gamma * alpha * d, far, (t - gamma * alpha / (gamma - 1)) / slope)
        # concave between alpha and gamma alpha: a minimum lies at either side, the lower one wins
        near = np.minimum(soft, alpha)
        drop = (
            far * (d * far / 2 - t)
            + self.value(far, alpha)
            - near * (d * near / 2 - t)
            - self.value(near, alpha)
        )
        either = np.where((far >= gamma * alpha) & (drop < 0), far, near)
        return np.copysign(np.where(convex, np.where(soft <= alpha, soft, bent), either), z)

    def pieces(self, b: Array, alpha: float, at: Any = slice(None)) -> tuple[Array, Array]:  # noqa: ARG002
        size, gamma = np.abs(b), self.gamma
        a = np.where(size <= alpha, alpha, np.where(size < gamma * alpha, gamma * alpha / (gamma - 1), 0.0))
        bent = (size > alpha) & (size < gamma * alpha)
        return np.copysign(a, b), np.where(bent, -1 / (gamma - 1), 0.0)

    def kinks(self, alpha: float) -> tuple[float, ...]:
        return 0.0, alpha, self.gamma * alpha

    def alpha_max(self, r: Array, d: Array, at: Any = slice(None)) -> float:  # noqa: ARG002
        return float((np.abs(r) / np.minimum(1.0, np.sqrt((self.gamma + 1) * d))).max(initial=0.0))

    def descend(
        self, R: Array, at: Any, alpha: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        return _core.descend_scad(R, at, alpha, self.gamma, max_sweeps, tol, g, b)
