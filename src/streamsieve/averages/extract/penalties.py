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
from ..standardize import Array


class Penalty(ABC):
    """The sum over j of P_j(b_j; lam).

    Arguments `at` pick the coordinates that the arrays stand for (an index array, or all of them).
    """

    convex: bool

    @abstractmethod
    def value(self, b: Array, lam: float, at: Any = slice(None)) -> Array:
        """P_j(b_j) for each weight."""

    @abstractmethod
    def prox(self, z: Array, d: Array, lam: float) -> Array:
        """argmin_x d x^2 / 2 - z x + P_j(x) for each coordinate; of equal minima, zero."""

    @abstractmethod
    def pieces(self, b: Array, lam: float, at: Any = slice(None)) -> tuple[Array, Array]:
        """(a, c) such that P_j'(x) = a + c x on the piece where each of the non-zero weights lies."""

    @abstractmethod
    def kinks(self, lam: float) -> tuple[float, ...]:
        """Sizes of a weight at which the pieces meet."""

    @abstractmethod
    def lam_max(self, r: Array, d: Array, at: Any = slice(None)) -> float:
        """Smallest lam whose solution is zero, for S_xy = r and a diagonal d of S_xx."""

    @abstractmethod
    def descend(
        self, R: Array, at: Any, lam: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        """Coordinate descent in place; see ``cpp/averages/coordinate.hpp``."""


class L1L2(Penalty):
    """P_j(b) = lam (l1_ratio w_j |b| + (1 - l1_ratio) b^2 / 2): lasso, elastic net, adaptive lasso.

    Parameters
    ----------
    l1_ratio : float in (0, 1], default=1.0
    weights : ndarray of shape (p,) or None, default=None
        w_j >= 0; infinite for a feature that may not enter. None means ones.
    """

    convex = True

    def __init__(self, l1_ratio: float = 1.0, weights: Array | None = None) -> None:
        self.l1_ratio = l1_ratio
        self.weights = weights

    def _l1(self, lam: float, at: Any = slice(None)) -> Any:
        if self.weights is None:
            return lam * self.l1_ratio
        w = self.weights[at]
        # at lam = 0 an infinite weight still bars its feature, where 0 * inf is nan
        return np.where(np.isinf(w), np.inf, lam * self.l1_ratio * np.where(np.isinf(w), 0.0, w))

    def value(self, b: Array, lam: float, at: Any = slice(None)) -> Array:
        size = np.abs(b)
        l1 = np.where(size > 0, self._l1(lam, at), 0.0)
        return l1 * size + lam * (1 - self.l1_ratio) / 2 * b**2

    def prox(self, z: Array, d: Array, lam: float) -> Array:
        over = np.maximum(np.abs(z) - self._l1(lam), 0.0)
        return np.copysign(over / (d + lam * (1 - self.l1_ratio)), z)

    def pieces(self, b: Array, lam: float, at: Any = slice(None)) -> tuple[Array, Array]:
        return np.copysign(self._l1(lam, at), b), np.full(b.shape, lam * (1 - self.l1_ratio))

    def kinks(self, lam: float) -> tuple[float, ...]:  # noqa: ARG002
        return (0.0,)

    def lam_max(self, r: Array, d: Array, at: Any = slice(None)) -> float:  # noqa: ARG002
        size = np.abs(r) / self.l1_ratio
        if self.weights is not None:
            w = self.weights[at]
            size = np.divide(size, w, out=np.zeros_like(size), where=w > 0)
        return float(size.max(initial=0.0))

    def descend(
        self, R: Array, at: Any, lam: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        l1 = np.broadcast_to(self._l1(lam), g.shape).astype(np.float64)
        return _core.descend_l1l2(R, at, l1, lam * (1 - self.l1_ratio), max_sweeps, tol, g, b)


class MCP(Penalty):
    """P'(b) = (lam - b / gamma)_+ for b > 0, Zhang (2010); its prox at d = 1 is [Sun] eq. (3.10).

    Parameters
    ----------
    gamma : float > 1
        The constant b of eq. (3.10). Weights beyond gamma lam are not penalised further.
    """

    convex = False

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def value(self, b: Array, lam: float, at: Any = slice(None)) -> Array:  # noqa: ARG002
        size = np.minimum(np.abs(b), self.gamma * lam)
        return size * (lam - size / (2 * self.gamma))

    def prox(self, z: Array, d: Array, lam: float) -> Array:
        t, gamma = np.abs(z), self.gamma
        convex = gamma * d > 1
        slope = np.where(convex, d - 1 / gamma, 1.0)
        out = np.where(convex & (t <= gamma * lam * d), np.maximum(t - lam, 0.0) / slope, t / d)
        # concave up to the flat part: either 0 or the least squares value
        out = np.where(~convex & (t <= lam * np.sqrt(gamma * d)), 0.0, out)
        return np.copysign(out, z)

    def pieces(self, b: Array, lam: float, at: Any = slice(None)) -> tuple[Array, Array]:  # noqa: ARG002
        bent = np.abs(b) < self.gamma * lam
        return np.where(bent, np.copysign(lam, b), 0.0), np.where(bent, -1 / self.gamma, 0.0)

    def kinks(self, lam: float) -> tuple[float, ...]:
        return 0.0, self.gamma * lam

    def lam_max(self, r: Array, d: Array, at: Any = slice(None)) -> float:  # noqa: ARG002
        return float((np.abs(r) / np.minimum(1.0, np.sqrt(self.gamma * d))).max(initial=0.0))

    def descend(
        self, R: Array, at: Any, lam: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        return _core.descend_mcp(R, at, lam, self.gamma, max_sweeps, tol, g, b)


class SCAD(Penalty):
    """P'(b) = lam for 0 < b <= lam, (gamma lam - b)_+ / (gamma - 1) beyond, Fan and Li (2001).

    Parameters
    ----------
    gamma : float > 2
        Their a, 3.7. Weights beyond gamma lam are not penalised further.
    """

    convex = False

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def value(self, b: Array, lam: float, at: Any = slice(None)) -> Array:  # noqa: ARG002
        size, gamma = np.minimum(np.abs(b), self.gamma * lam), self.gamma
        bent = (2 * gamma * lam * size - size**2 - lam**2) / (2 * (gamma - 1))
        return np.where(size <= lam, lam * size, bent)

    def prox(self, z: Array, d: Array, lam: float) -> Array:
        t, gamma = np.abs(z), self.gamma
        soft, far = np.maximum(t - lam, 0.0) / d, t / d
        convex = (gamma - 1) * d > 1
        slope = np.where(convex, d - 1 / (gamma - 1), 1.0)
        bent = np.where(t > gamma * lam * d, far, (t - gamma * lam / (gamma - 1)) / slope)
        # concave between lam and gamma lam: a minimum lies at either side, the lower one wins
        near = np.minimum(soft, lam)
        drop = (
            far * (d * far / 2 - t) + self.value(far, lam) - near * (d * near / 2 - t) - self.value(near, lam)
        )
        either = np.where((far >= gamma * lam) & (drop < 0), far, near)
        return np.copysign(np.where(convex, np.where(soft <= lam, soft, bent), either), z)

    def pieces(self, b: Array, lam: float, at: Any = slice(None)) -> tuple[Array, Array]:  # noqa: ARG002
        size, gamma = np.abs(b), self.gamma
        a = np.where(size <= lam, lam, np.where(size < gamma * lam, gamma * lam / (gamma - 1), 0.0))
        bent = (size > lam) & (size < gamma * lam)
        return np.copysign(a, b), np.where(bent, -1 / (gamma - 1), 0.0)

    def kinks(self, lam: float) -> tuple[float, ...]:
        return 0.0, lam, self.gamma * lam

    def lam_max(self, r: Array, d: Array, at: Any = slice(None)) -> float:  # noqa: ARG002
        return float((np.abs(r) / np.minimum(1.0, np.sqrt((self.gamma + 1) * d))).max(initial=0.0))

    def descend(
        self, R: Array, at: Any, lam: float, max_sweeps: int, tol: float, g: Array, b: Array
    ) -> tuple[int, float]:
        return _core.descend_scad(R, at, lam, self.gamma, max_sweeps, tol, g, b)
