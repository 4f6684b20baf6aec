"""Semismooth Newton method on the averages, with coordinate descent if it does not converge."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..core import linalg
from ..core.rows import Array
from .penalties import L1L2, Penalty

ACCEPTED = 1e-8

TOL = 1e-11
LOOSE = 1e-9  # accepted tolerance if rounding (huge weights, nearly singular R) prevents TOL
ROUNDING = 1e-15  # of an objective between -1/2 and 0
STEPS = 12  # Newton steps before coordinate descent is used; two or three are usual
ROUNDS = 12  # rounds of Newton and coordinate descent, with twice as many sweeps each time
SWEEPS = 5
MOVES = 4  # of one feature, per feature
BLAS = 256  # new features from which LAPACK is faster: on small matrices its threads cost more than they save
BURST = 32  # features that may enter in one Newton step in addition to a doubling
NOISE = 1e-9  # coefficient in such a combination that counts as rounding error
DEPENDENT = 1e-12  # unexplained share of the variance of a feature that counts as linearly dependent


class Factor:
    """U'U = R_AA + diag(c), following a set of features A that changes little from step to step."""

    def __init__(self, R: Array) -> None:
        self.R = R
        self.size = 0
        self.U = np.empty((0, 0))
        self.refused = -1  # the feature with which the matrix is indefinite
        self._at = np.empty(len(R), np.int64)
        self._c = np.empty(len(R))

    @property
    def at(self) -> NDArray[np.int64]:
        """The features, in the order in which they were added."""
        return self._at[: self.size]

    @property
    def c(self) -> Array:
        return self._c[: self.size]

    def follow(self, want: NDArray[np.int64], c: Array) -> bool:
        """Become the factor of the features `want` with diagonal terms c.

        Linearly dependent features are left out. False if the matrix is indefinite; the features added until
        then are kept as a start for the next set.
        """
        full = np.full(len(self.R), np.nan)
        full[want] = c
        for k in np.flatnonzero(full[self.at] != self.c)[::-1]:
            _core.chol_remove(self._at, self.size, int(k), self.U)
            self._c[k : self.size - 1] = self._c[k + 1 : self.size]
            self.size -= 1
        full[self.at] = np.nan
        new = want[~np.isnan(full[want])]
        self._reserve(self.size + len(new))
        if len(new) > max(self.size, BLAS) and self._rebuild(want, c):
            return True
        while len(new):
            m = self.size
            self._at[m : m + len(new)] = new
            self._c[m : m + len(new)] = full[new]
            self.size = _core.chol_append(self.R, self._at, m, full[new], DEPENDENT, self.U)
            done = self.size - m
            if done < len(new) and full[new[done]] < 0:
                self.refused = int(new[done])
                return False
            new = new[done + 1 :]
        return True

    def _rebuild(self, want: NDArray[np.int64], c: Array) -> bool:
        """Factor from scratch, if LAPACK is faster than updates (an elastic net changes every c with
        alpha)."""
        A = self.R[np.ix_(want, want)]
        m = len(A)
        A[np.diag_indices(m)] += c
        size = A.diagonal().copy()
        A, failed = linalg.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)  # lower in columns is upper in rows
        if failed or (A.diagonal() ** 2 <= DEPENDENT * size).any():
            return False
        self.U[:m, :m] = A.T
        self.size = m
        self._at[:m], self._c[:m] = want, c
        return True

    def _reserve(self, size: int) -> None:
        if size > len(self.U):
            room = np.empty((min(len(self.R), 2 * size + BURST),) * 2)
            room[: self.size, : self.size] = self.U[: self.size, : self.size]
            self.U = room

    def solve(self, x: Array) -> Array:
        """(U'U)^-1 x, in place."""
        _core.chol_solve(self.U, x)
        return x


def _scatter(b: Array, at: NDArray[np.int64], size: int) -> Array:
    out = np.zeros(size)
    out[at] = b
    return out


class Solver:
    """Solves min_b 1/2 b'Rb - b'r + P(b; alpha) for a sequence of alphas, each from the previous solution.

    A Newton step finds for every weight the piece of the penalty on which its prox lies, and solves the
    linear equations of these pieces. The Cholesky factor of the last step is updated: O(m^2) for each feature
    that was added, removed or changed its piece, and O(pm) for the new gradient, where m is the size of the
    support. If the pieces do not converge, or a step with a folded concave penalty raises the objective,
    coordinate descent is used. It never raises the objective and ends where no single weight can lower it.
    For a folded concave penalty it only adds and removes features, between moves to a local minimum over the
    support.

    Attributes
    ----------
    b, g : ndarray of shape (p,)
        Weights, and r - Rb.
    violation : float
        Largest distance of a weight from its optimum given the other weights, times sqrt(R_jj). It is the
        violation of the optimality conditions if R_jj = 1.
    steps, sweeps : int
        Number of Newton steps, including downhill moves, and of sweeps of coordinate descent so far.
    hard : bool
        Whether the current solution took more than Newton steps.
    """

    def __init__(self, R: Array, r: Array, usable: NDArray[np.bool_], penalty: Penalty) -> None:
        self.R, self.r, self.penalty = np.ascontiguousarray(R), np.ascontiguousarray(r), penalty
        self.usable = np.flatnonzero(usable)
        self.barred = np.flatnonzero(~usable)
        self.d = self.R.diagonal().copy()
        self.root = np.sqrt(self.d)
        self.factor = Factor(self.R)
        self.b, self.g = np.zeros(len(r)), self.r.copy()
        self.violation = np.inf
        self.steps = self.sweeps = 0
        self.hard = False
        self.trail: list[tuple[float, Array, Array]] = []  # alpha, weights and gradient of the last two
        factor = penalty.factor
        if factor is not None and (factor[self.usable] == 0).any():  # unpenalised: start with these
            everything, self.barred = self.usable, np.flatnonzero(~usable | (factor > 0))
            self.usable = everything[factor[everything] == 0]
            self.solve(0.0)
            self.usable, self.barred = everything, np.flatnonzero(~usable)

    def alpha_max(self) -> float:
        """Smallest alpha at which all penalised weights are zero."""
        return self.penalty.alpha_max(self.g[self.usable], self.d[self.usable], self.usable)

    def objective(self, alpha: float) -> float:
        """1/2 b'Rb - b'r + P(b; alpha)."""
        at = np.flatnonzero(self.b)
        b = self.b[at]
        return float(self.penalty.value(b, alpha, at).sum() - 0.5 * b @ (self.r[at] + self.g[at]))

    def free(self, alpha: float) -> NDArray[np.int64]:
        """The features whose weights the penalty no longer shrinks."""
        at = np.flatnonzero(self.b)
        a, c = self.penalty.pieces(self.b[at], alpha, at)
        return at[(a == 0) & (c == 0)]

    def solve(self, alpha: float) -> float:
        """Move to a solution at alpha that is at least as good as the current weights; returns the
        violation."""
        self.hard = False
        for round_ in range(ROUNDS):
            tol = min(TOL * 10**round_, LOOSE)
            b, g = self.b, self.g
            before = 0.0 if self.penalty.convex else self.objective(alpha)
            if self._newton(alpha, tol, predict=round_ == 0):
                if self.penalty.convex:  # what is optimal is lowest
                    break
                # the rounding error grows with the square of large weights of nearly equal columns
                slack = ROUNDING * (1 + float(self.b @ self.b))
                if self.objective(alpha) <= before + slack:
                    break
            self.b, self.g, self.hard = b, g, True
            if self._descend(alpha, SWEEPS << round_, tol):
                break
            if self.penalty.box is not None or (self.penalty.convex and round_ == 0):
                continue
            if (self._one_by_one if self.penalty.convex else self._downhill)(alpha, tol):
                break
        if self.penalty.box is not None:  # a Newton step ends within the tolerance of them
            self.b = np.clip(self.b, *self.penalty.box)
        self.trail = [*self.trail[-1:], (alpha, self.b, self.g)]
        return self.violation

    def _newton(self, alpha: float, tol: float, *, predict: bool) -> bool:
        target = self._predict(alpha) if predict else self._target(alpha)
        for _ in range(STEPS):
            want = self._admit(target)
            a, b = np.zeros(len(self.b)), np.zeros(len(self.b))
            r = self.r
            if self.penalty.box is not None:
                stop = self._at_bound(target, want)
                bound, want = want[stop], want[~stop]
                b[bound] = target[bound]
                r = r.copy()
                _core.residual(self.R, self.r, bound, b[bound], r)
            a[want], c = self.penalty.pieces(target[want], alpha, want)
            if not self.factor.follow(want, c):
                return False
            at = self.factor.at
            b[at] = self.factor.solve(r[at] - a[at])
            inside = at if self.penalty.box is None else None
            self._move(b, inside)
            left = self.g[at] - a[at] - self.factor.c * b[at]
            if np.abs(left).max(initial=0.0) > tol / 4:  # rounding in the updated factor
                b[at] += self.factor.solve(left)
                self._move(b, inside)
            self.steps += 1
            target = self._target(alpha)
            if self.violation <= tol:
                return True
        return False

    def _predict(self, alpha: float) -> Array:
        """The pieces for the first step, by the sign and size of each weight.

        Convex paths are nearly straight, so the last two solutions are extrapolated by at most their
        distance. Otherwise the first step only moves the current weights; the gradient there shows which
        others must enter, while the gradient at the last alpha would add far too many.
        """
        if self.penalty.convex and len(self.trail) == 2 and self.trail[1][1] is self.b:
            (first, b, g), (last, _, _) = self.trail
            if first > last > alpha >= last - (first - last):
                share = (last - alpha) / (first - last)
                z = self.g + self.d * self.b
                return self._prox(z + share * (z - g - self.d * b), alpha)
        target = self._target(alpha)
        target[self.b == 0] = 0.0
        return target

    def _at_bound(self, target: Array, at: NDArray[np.int64]) -> NDArray[np.bool_]:
        lower, upper = self.penalty.bounds
        bound: NDArray[np.bool_] = (target[at] == lower[at]) | (target[at] == upper[at])
        return bound

    def _one_by_one(self, alpha: float, tol: float) -> bool:
        """Add or remove one feature at a time and always lower the objective: ends even for dependent
        columns.

        The weights move towards the Newton step until the first one reaches zero and is removed. Along a
        direction in which the averages are flat, they move until this happens.
        """
        for _ in range(MOVES * len(self.b)):
            target = self._target(alpha)
            if self.violation <= tol:
                return True
            inside = self.b != 0
            off = np.abs(target - self.b) * self.root
            want = np.flatnonzero(inside)
            signs = np.sign(self.b)
            if off[inside].max(initial=0.0) <= tol:
                enters = int(np.argmax(np.where(inside, 0.0, off)))
                signs[enters] = np.sign(target[enters])
                want = np.append(want, enters)
            a = np.zeros(len(self.b))
            a[want], c = self.penalty.pieces(signs[want], alpha, want)
            self.factor.follow(want, c)
            at, limit = self.factor.at, 1.0
            way = np.zeros(len(self.b))
            left_out = np.setdiff1d(want, at)
            if len(left_out):
                way[left_out[0]] = 1.0
                way[at] = -self.factor.solve(self.R[left_out[0], at])
                way *= -np.sign(way @ (a - self.g)) or 1.0
                limit = np.inf
            else:
                way[at] = self.factor.solve(self.r[at] - a[at]) - self.b[at]
            shrinking = np.flatnonzero(way * signs < 0)
            steps = -self.b[shrinking] / way[shrinking]
            step = min(limit, steps.min(initial=np.inf))
            if not 0 < step < np.inf:
                return False
            b = self.b + step * way
            if step < limit:
                b[shrinking[np.argmin(steps)]] = 0.0
            self._move(b)
        return False

    def _downhill(self, alpha: float, tol: float) -> bool:
        """Move to a local minimum over the support, with a sweep over all features after each move.

        For folded concave penalties and nearly dependent columns, where sweeps alone would be slow.
        """
        for _ in range(MOVES * len(self.b)):
            if self._settle(alpha, tol / 4) and self._descend(alpha, 1, tol):
                return True
        return False

    def _settle(self, alpha: float, tol: float) -> bool:
        """Move to a local minimum over the support; False if a dependent feature was dropped instead.

        A move follows the Newton step or, if the matrix of the pieces is indefinite, a direction of negative
        curvature, to the lowest objective; some weight then leaves its piece. O(m^2) for each move and for
        each weight that changes its piece.
        """
        inside = np.flatnonzero(self.b)
        b, g = self.b[inside], self.g[inside]
        place = np.empty(len(self.b), dtype=np.int64)
        place[inside] = np.arange(len(inside))
        for _ in range(MOVES * len(self.b)):
            a, c = self.penalty.pieces(b, alpha, inside)
            order = np.argsort(c < 0, kind="stable")  # an indefinite part is among the last
            order = order[b[order] != 0]
            definite = self.factor.follow(inside[order], c[order])
            at = place[self.factor.at]
            down = g - a - c * b
            way, bend = np.zeros(len(b)), np.zeros(len(b))  # (R + C) way, then R way
            if definite and len(at) < len(order):
                self._move(_scatter(b, inside, len(self.b)))
                self._drop(alpha, int(np.setdiff1d(inside[order], self.factor.at)[0]))
                return False
            if definite:
                bend[at] = down[at]
                way[at] = self.factor.solve(down[at])
                if (np.abs(way) * self.root[inside]).max(initial=0.0) <= tol:
                    break
            else:
                j = place[self.factor.refused]
                row = self.R[inside[j], inside]
                way[j] = 1.0
                way[at] = -self.factor.solve(row[at])
                rest = np.setdiff1d(order, at)  # the equations of the features in the factor are solved
                moving = np.append(at, j)
                bend[rest] = self.R[np.ix_(inside[rest], inside[moving])] @ way[moving]
                bend[j] += c[j]
                if way @ down < 0:
                    way, bend = -way, -bend
            moving = np.flatnonzero(way)
            bend -= c * way
            step, lands = self._lowest(alpha, inside[moving], b[moving], g[moving], way[moving], bend[moving])
            b, g = b + step * way, g - step * bend
            b[moving[lands]] = 0.0
            self.steps += 1
        self._move(_scatter(b, inside, len(self.b)))
        return True

    def _drop(self, alpha: float, j: int) -> None:
        """Move along the direction in which feature j and the features of the factor cancel, until one is
        zero.

        The averages are flat along it, and a penalty is concave while no weight changes its sign. Therefore
        the objective at one of the two ends is not higher than in between.
        """
        way = np.zeros(len(self.b))
        way[j] = 1.0
        way[self.factor.at] = -self.factor.solve(self.R[j, self.factor.at])
        way[np.abs(way) < NOISE] = 0.0
        at = np.flatnonzero(way)
        steps = -self.b[at] / way[at]
        start, ends = self.b, []
        for side in (steps[steps > 0], steps[steps < 0]):
            if len(side):
                step = side[np.argmin(np.abs(side))]
                b = start + step * way
                b[at[steps == step]] = 0.0
                self._move(b)
                ends.append((self.objective(alpha), b))
        self._move(min(ends, key=lambda end: end[0])[1])

    def _lowest(
        self, alpha: float, at: NDArray[np.int64], b: Array, g: Array, way: Array, bend: Array
    ) -> tuple[float, NDArray[np.bool_]]:
        """The step >= 0 along `way` with the lowest objective, and which weights it makes zero.

        `bend` is R way, for the features `at`; all of them move.
        """
        kinks = np.array([np.broadcast_to(kink, b.shape) for kink in self.penalty.kinks(alpha, at)])
        times = np.sort((np.concatenate([kinks, -kinks]) - b) / way, axis=0)
        edge = np.zeros((1, len(b)))
        end = 2.0 * max(1.0, float(times[-1].max()))
        times = np.concatenate([edge, times.clip(0.0), edge + end])
        a, c = self.penalty.pieces(b + (times[1:] + times[:-1]) / 2 * way, alpha, at)
        # the derivative is slope + t curve; both change when a weight enters another piece
        slope, curve = (a + c * b) * way, c * way**2
        order = np.argsort(times[1:-1], axis=None)
        slopes = np.append(slope[0].sum() - way @ g, np.diff(slope, axis=0).ravel()[order]).cumsum()
        curves = np.append(curve[0].sum() + way @ bend, np.diff(curve, axis=0).ravel()[order]).cumsum()
        begin = np.append(0.0, times[1:-1].ravel()[order])
        ends = np.append(begin[1:], end)
        before = np.append(0.0, ((ends - begin) * (slopes + (ends + begin) / 2 * curves)).cumsum())[:-1]
        inner = np.divide(-slopes, curves, out=ends.copy(), where=curves > 0).clip(begin, ends)
        value = before + (inner - begin) * (slopes + (inner + begin) / 2 * curves)
        step = float(np.append(begin, inner)[np.argmin(np.append(before, value))])
        return step, -b / way == step

    def _admit(self, target: Array) -> NDArray[np.int64]:
        """The features of the next step; among new features only those that violate the conditions most."""
        want = np.flatnonzero(target)
        new = want[self.b[want] == 0]
        limit = max(BURST, len(want) - len(new))
        if len(new) <= limit:
            return want
        urgent = new[np.argsort(-np.abs(target[new]) * self.root[new], kind="stable")[limit:]]
        return np.setdiff1d(want, urgent, assume_unique=True)

    def _target(self, alpha: float) -> Array:
        """The optimum of each weight given the others; sets the violation."""
        target = self._prox(self.g + self.d * self.b, alpha)
        self.violation = float((np.abs(target - self.b) * self.root).max(initial=0.0))
        return target

    def _prox(self, z: Array, alpha: float) -> Array:
        target = self.penalty.prox(z, self.d, alpha)
        target[self.barred] = 0.0
        return target

    def _move(self, b: Array, at: NDArray[np.int64] | None = None) -> None:
        """Change the weights; `at` has all features that are not zero, if that is known."""
        at = np.flatnonzero(b) if at is None else at
        self.b, self.g = b, np.empty(len(b))
        _core.residual(self.R, self.r, at, b[at], self.g)

    def _descend(self, alpha: float, sweeps: int, tol: float) -> bool:
        b, g = self.b.copy(), self.g.copy()
        done, _ = self.penalty.descend(self.R, self.usable, alpha, sweeps, tol / 4, g, b)
        self.sweeps += done
        self._move(b)
        self._target(alpha)
        return self.violation <= tol


def solve(solver: Any, alpha: float) -> None:
    """Solve at alpha, and warn if it did not succeed."""
    violation = solver.solve(alpha)
    if not violation <= ACCEPTED:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"The optimality conditions at alpha={alpha:.6g} (standardised units) are violated by "
            f"{violation:.2g}, more than {ACCEPTED:g}, after {solver.sweeps} sweeps of coordinate descent; "
            "the averages are nearly singular there. A larger alpha or a smaller k helps.",
            ConvergenceWarning,
            stacklevel=2,
        )


def within(A: Array, r: Array, lower: Array, upper: Array) -> Array:
    """argmin 1/2 b'Ab - b'r for each column of r, lower <= b <= upper: a problem without penalty."""
    out = np.empty(r.shape)
    for t in range(r.shape[1]):
        solver = Solver(A, r[:, t], np.ones(len(A), dtype=bool), L1L2(box=(lower[:, t], upper[:, t])))
        solve(solver, 0.0)
        out[:, t] = solver.b
    return out
