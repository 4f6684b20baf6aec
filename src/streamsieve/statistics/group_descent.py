"""Penalties on the norms of groups: block coordinate descent, and Newton steps on the groups in the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..core.rows import Array
from .newton import LOOSE, ROUNDING, ROUNDS, SWEEPS, TOL
from .penalties import Penalty

STEPS = 20  # maximum number of Newton steps before coordinate descent continues
HALVINGS = 10


class GroupSolver:
    """Solves min_b 1/2 b'Rb - b'r + sum_g P_g(|b_g|; alpha) for a sequence of alphas.

    The features of a group are uncorrelated and have variances of at most 1, so that the prox of a group is
    that of its norm. For a fixed set of groups in the model the objective is smooth; a Newton step costs
    O(m^3) for m features. Block coordinate descent adds and removes groups; it never raises the objective.

    Attributes
    ----------
    b, g : ndarray of shape (p,)
        Weights, and r - Rb.
    violation : float
        Largest distance of a group's weights from their prox given the others.
    steps, sweeps : int
    hard : bool
        Whether the current solution took more than one round of sweeps and Newton steps.
    """

    def __init__(
        self, R: Array, r: Array, usable: NDArray[np.bool_], penalty: Penalty, group: NDArray[np.int64]
    ) -> None:
        self.R, self.r, self.penalty = np.ascontiguousarray(R), np.ascontiguousarray(r), penalty
        at = np.flatnonzero(usable)
        self.member = at[np.argsort(group[at], kind="stable")].astype(np.int64)
        _, first, self.unit = np.unique(group[self.member], return_index=True, return_inverse=True)
        self.first = np.append(first, len(self.member)).astype(np.int64)
        self.head = self.member[first]  # one feature of each group, with the factor of the group
        self.b, self.g = np.zeros(len(r)), self.r.copy()
        self.violation = np.inf
        self.steps = self.sweeps = 0
        self.hard = False

    def _norms(self, x: Array) -> Array:
        return np.sqrt(np.bincount(self.unit, x[self.member] ** 2, minlength=len(self.head)))

    def alpha_max(self) -> float:
        """Smallest alpha whose solution is zero."""
        return self.penalty.alpha_max(self._norms(self.r), np.ones(len(self.head)), self.head)

    def objective(self, alpha: float) -> float:
        values = self.penalty.value(self._norms(self.b), alpha, self.head)
        return float(values.sum() - 0.5 * self.b @ (self.r + self.g))

    def free(self, alpha: float) -> NDArray[np.int64]:
        """The features of groups that the penalty no longer shrinks."""
        norm = self._norms(self.b)
        a, c = self.penalty.pieces(norm, alpha, self.head)
        return self.member[((norm > 0) & (a == 0) & (c == 0))[self.unit]]

    def solve(self, alpha: float) -> float:
        """Move to a solution at alpha that is at least as good as the current weights; returns the
        violation."""
        for round_ in range(ROUNDS):
            self.hard = round_ > 0
            tol = min(TOL * 10**round_, LOOSE)
            if self._descend(alpha, SWEEPS << round_, tol) or self._newton(alpha, tol):
                break
        return self.violation

    def _measure(self, alpha: float) -> None:
        z = self.g + self.b
        norm = self._norms(z)
        share = self.penalty.prox(norm, np.ones(len(norm)), alpha, self.head)
        share = np.divide(share, norm, out=np.zeros_like(norm), where=norm > 0)
        away = share[self.unit] * z[self.member] - self.b[self.member]
        self.violation = float(np.sqrt(np.bincount(self.unit, away**2).max(initial=0.0)))

    def _move(self, b: Array) -> None:
        at = np.flatnonzero(b)
        self.b, self.g = b, np.empty(len(b))
        _core.residual(self.R, self.r, at, b[at], self.g)

    def _descend(self, alpha: float, sweeps: int, tol: float) -> bool:
        b, g = self.b.copy(), self.g.copy()
        _, kernel, arguments = self.penalty.kernel(alpha, len(g))
        done, _ = kernel(self.R, self.first, self.member, *arguments, sweeps, tol / 4, g, b)
        self.sweeps += done
        self._move(b)
        self._measure(alpha)
        return self.violation <= tol

    def _newton(self, alpha: float, tol: float) -> bool:
        """Newton steps on the groups in the model, halved while they raise the objective."""
        for _ in range(STEPS):
            norm = self._norms(self.b)
            inside = norm[self.unit] > 0
            at, unit = self.member[inside], self.unit[inside]
            if len(at) == 0:
                return False
            b, t = self.b[at], norm[unit]
            a, c = self.penalty.pieces(norm, alpha, self.head)
            slope, bend = (a + c * norm)[unit] / t, c[unit]  # P' / |b|, P''
            same = unit[:, None] == unit
            u = b / t
            H = self.R[np.ix_(at, at)] + np.diag(slope) + same * np.outer(u * (bend - slope), u)
            try:
                way = np.linalg.solve(H, self.g[at] - slope * b)
            except np.linalg.LinAlgError:
                return False
            if not self._downhill(alpha, at, way):
                return False
            self.steps += 1
            self._measure(alpha)
            if self.violation <= tol:
                return True
        return False

    def _downhill(self, alpha: float, at: NDArray[np.int64], way: Array) -> bool:
        start, g, before = self.b, self.g, self.objective(alpha)
        slack = ROUNDING * (1 + float(start @ start))
        for halving in range(HALVINGS):
            b = start.copy()
            b[at] += way / 2**halving
            self._move(b)
            if self.objective(alpha) <= before + slack:
                return True
        self.b, self.g = start, g
        return False
