"""FTRL-Proximal: McMahan et al. (2013), Ad click prediction: a view from the trenches, Algorithm 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.method import Method
from ...core.params import Int, Or, Param, ParamError, Real
from ...core.rows import Array, Rows
from ...core.state import State, check_finite, record, zeros
from ...statistics.constraints import GROUP_CATEGORIES, GROUPS, KEEP, Constraints
from . import ladder, steps
from .steps import check_clock, chosen, scatter, variance


class FTRLProximal(Method):
    """Sparse weights, each with a step of its own, by following the regularised leader (McMahan et al. 2013).

    Each row costs O(nnz), and memory is O(p). A weight is exactly zero while |z| <= alpha l1_ratio, and
    becomes zero again when z returns there. With k, the model is the k largest of these weights, in units of
    the features' non-zero values, chosen whenever it is read, O(p). More than two classes are learned
    jointly, one against the rest, and share the k features.

    Notes
    -----
    Algorithm 1, for each coordinate, with g the gradient of the row's loss::

        w = 0 if |z| <= l1, else -(z - sgn(z) l1) / ((beta + sqrt(n)) / eta + l2)
        sigma = (sqrt(n + g^2) - sqrt(n)) / eta,   z <- z + g - sigma w,   n <- n + g^2

    with l1 = alpha l1_ratio and l2 = alpha (1 - l1_ratio). The penalty applies to the whole stream, not to
    each row: for the same sparsity, alpha must grow about as the square root of the number of rows.

    Differences from the paper: any loss; with `standardize` a value is divided by the root mean square of its
    feature's non-zero values so far, and w is the weight of the quotient, so that the scale of a feature does
    not decide whether its weight is zero; an intercept, as one more coordinate without penalty. A derived eta
    may change with each row, and sqrt(n) / eta is then the root of the sum of (g / eta)^2. Each output has
    its own z and n.
    """

    k = Param(
        None,
        Or(Int(1), None, "auto"),
        "Maximum number of features: those with the largest weights, with `standardize` times the "
        "root mean square of the feature's non-zero values. None: all weights that are not zero. "
        f"{steps.AUTO}",
    )
    criterion = steps.CRITERION
    alpha = Param(
        0.1, Real(0), "Strength of the penalty, for the whole stream.", symbol="lambda_1, with l1_ratio = 1"
    )
    l1_ratio = ladder.L1_RATIO
    eta = Param(
        "auto",
        Or("auto", Real(1e-50)),
        "Step: about the distance that a first gradient moves a weight. 'auto' derives it from the rows "
        "seen: rms(y) / (4 R), R^2 the mean squared norm of the rows.",
        symbol="alpha",
    )
    beta = Param(
        1.0,
        Real(0, 1e50),
        "Added to the root of the squared gradients, which shortens the first steps; with eta='auto' in "
        "units of a typical gradient.",
        symbol="beta",
    )
    standardize, fit_intercept, grow = steps.STANDARDIZE, steps.FIT_INTERCEPT, steps.GROW
    keep, groups, group_categories = KEEP, GROUPS, GROUP_CATEGORIES
    refit = steps.REFIT
    max_iter, tol, shuffle, random_state = steps.MAX_ITER, steps.TOL, steps.SHUFFLE, steps.RANDOM_STATE

    prepare = "centre"
    limit = weight_limit = 1e30  # limit within which no square overflows when eta is derived

    def check(self) -> None:
        given = Constraints.of(self).given
        if self.k is None and given:
            name = next(iter(given))
            raise ParamError(
                name, given[name], "expected k to be given as well: without it all weights are kept."
            )

    def start(self, p: int, q: int) -> State:
        return State(
            clock=steps.clock(),
            moments=steps.moments(p, self.standardize),
            # of each output z, and the root of the sum of (g / eta)^2; of the intercepts likewise
            sums=zeros(feature=p, fixed=2 * q),
            bias_sums=zeros(fixed=2 * q),
            least=record(weight=0.0, bias=0.0),  # beta / eta at the last row
            targets=zeros(output=q),  # sums of their squares
        )

    def rule(self) -> dict[str, Any]:
        return {
            "eta": 0.0 if self.eta == "auto" else self.eta,
            "beta": self.beta,
            "l1": self.alpha * self.l1_ratio,
            "l2": self.alpha * (1 - self.l1_ratio),
            "fit_intercept": self.fit_intercept,
        }

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        return _core.ftrl_proximal(rows.kernel, self.loss_function, y, w, self.rule(), self.state)

    def weights(self) -> tuple[Array, Array]:
        s, rule = self.state, self.rule()
        w = _weight(s.sums, rule["l1"], s.least["weight"] + rule["l2"])
        # a weight that has not converged is eta times z over its deviation: in units of the feature's values
        # it compares rare features with frequent ones as a t value does
        size = steps.squares(w)
        if s.moments is not None:
            size *= variance(s) > 0
            n, first, total, squares = s.moments.T
            square = squares + first * (2 * total + n * first)
            w *= np.sqrt(np.divide(n, square, out=np.zeros(self.p), where=square > 0))[:, None]
        intercept = _weight(s.bias_sums, 0.0, s.least["bias"])
        if self.k is None:
            return w.T.copy(), intercept
        kept = chosen(self, size)
        return scatter(kept, w[kept], self.p), intercept

    def candidates(self, n: int) -> NDArray[np.intp]:
        return steps.selected_with(self, n)

    def check_state(self) -> None:
        s = self.state
        check_finite(s)
        check_clock(s.clock)
        roots = s.sums[:, 1::2], s.bias_sums[1::2]
        if any((a < 0).any() for a in (*roots, s.targets, s.least["weight"], s.least["bias"])):
            raise ValueError("a root or a sum of squares is below 0.")


def _weight(sums: Array, l1: float, below: float) -> Array:
    """The weights as Algorithm 1 reads them, from z and sqrt(n) / eta by turns."""
    z, root = sums[..., ::2], sums[..., 1::2]
    size = np.abs(z) - l1
    w: Array = np.divide(size, below + root, out=np.zeros(z.shape), where=size > 0)
    return np.copysign(w, -z) * (w > 0)
