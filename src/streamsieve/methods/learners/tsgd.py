"""Truncated stochastic gradient descent: [Sun] Algorithm 2, truncation only when the model is read."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...core.method import Method
from ...core.rows import Array, Rows
from ...core.state import State, array, zeros
from ...statistics.constraints import GROUP_CATEGORIES, GROUPS, KEEP
from . import steps
from .start import start_from
from .steps import check_shrink, chosen, scatter, squares, step_rule, variance


class TSGD(Method):
    """The k largest weights of stochastic gradient descent on all features ([Sun] Algorithm 2).

    All weights are learned: each row costs O(nnz), and memory is O(p). The model is the k weights with the
    largest sigma_j |beta_j|, chosen when it is read, O(p). More than two classes are learned jointly, one
    against the rest, and share the k features.

    Notes
    -----
    Differences from the paper: with `standardize` the step of feature j is divided by its mean square so far
    (as if the data had been normalised first, which a stream does not allow; with a given `eta`, by that of
    its non-zero values), so that rare features are found as well as frequent ones; the weight is rescaled
    with its unit for the first 64 values, because a tiny first value would leave a huge weight; several
    targets share the k features, ranked by the norm of their weights.
    """

    k, eta, schedule, alpha = steps.K, steps.ETA, steps.SCHEDULE, steps.ALPHA
    standardize, fit_intercept, grow = steps.STANDARDIZE, steps.FIT_INTERCEPT, steps.GROW
    keep, groups, group_categories = KEEP, GROUPS, GROUP_CATEGORIES
    refit = steps.REFIT
    # after many passes over few rows the weights overfit, and their k largest are worse features
    max_iter = steps.max_iter(5)
    tol, shuffle, random_state = steps.TOL, steps.SHUFFLE, steps.RANDOM_STATE

    estimator_methods = (start_from,)

    prepare = "centre"

    def check(self) -> None:
        check_shrink(self)

    def start(self, p: int, q: int) -> State:
        return State(
            clock=steps.clock(),
            moments=steps.moments(p, self.standardize),
            weight=zeros(feature=p, output=q),  # times scale: the penalty shrinks all in one product
            scale=array(np.ones(1), "fixed"),
            bias=zeros(output=q),
        )

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        return _core.sgd(rows.kernel, self.loss_function, y, w, step_rule(self), self.state)

    def weights(self) -> tuple[Array, Array]:
        s = self.state
        # Remark 1 of [Sun]: rank by sigma_j |beta_j|; squared, times the same number for all
        kept = chosen(self, variance(s) * squares(s.weight))
        return scatter(kept, s.weight[kept] * s.scale, self.p), s.bias.copy()

    def measure(self, rows: Rows, w: Array | None) -> None:
        """Update moments and clock by rows that are not learned."""
        _core.measure(rows.kernel, w, step_rule(self), self.state, 0)

    def set_weights(self, coef: Array, intercept: Array) -> None:
        """Continue from weights (q, p) and intercepts (q,)."""
        self.state.weight[:] = coef.T
        self.state.bias[:] = intercept
