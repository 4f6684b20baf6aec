"""Truncated stochastic gradient descent: [Sun] Algorithm 2, truncation only when the model is read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.method import Method
from ...core.params import Bool, Param
from ...core.rows import Array, Rows
from ...core.state import State, array, zeros
from ...statistics.constraints import GROUP_CATEGORIES, GROUPS, KEEP
from . import steps
from .averages_refit import StreamRefit
from .start import start_from
from .steps import (
    check_shrink,
    chosen,
    feature_groups,
    features_to_keep,
    scatter,
    squares,
    step_rule,
    variance,
)

_FIRST = 100  # rows before the first candidates are chosen, as many as before SFSA's first model matures
#: Features in the averages, for each that is selected: most that are selected later are then among them
#: (p = 5,000, k = 100, 6,400 rows: RMSE 1.02, and 1.66 with averages of k).
_CANDIDATES = 2
_MOST = 1000  # features in the averages: these take 8 MB, and a row about 0.1 ms


class TSGD(Method):
    """The k largest weights of stochastic gradient descent on all features ([Sun] Algorithm 2).

    All weights are learned. Each row costs O(nnz), and memory is O(p). The model has the k weights with the
    largest ``sigma_j |beta_j|``, where sigma_j is the scale of feature j. They are chosen when the model is
    needed, at O(p). More than two classes are learned jointly, one against the rest, and share the k
    features.

    Notes
    -----
    *The refit* of a stream changes the weights of the k features, but not their choice. After 100, 200, 400,
    ... rows, the 2 k features with the largest ``sigma_j |beta_j|`` become candidates, and new running
    averages of the candidates start. Until these have enough rows, the previous averages are used. Features
    of the model that are candidates get their least-squares weights on the rows since then. The other
    features keep the weights of gradient steps. The refit costs O(k^2) for each row, and O(k^3) when the
    model is computed.

    Differences from the paper: With `standardize`, the step of feature j is divided by its mean square so
    far, so that rare features are found as well as frequent ones. With a given `eta`, it is divided by the
    mean square of the non-zero values. This corresponds to normalising the data first, which is not possible
    for a stream. For the first 64 values of a feature, its weight is rescaled when its unit changes, because
    a tiny first value would give a huge weight. Several targets share the k features, which are ranked by the
    norm of their weights.
    """

    k, criterion = steps.K, steps.CRITERION
    eta, schedule, alpha = steps.ETA, steps.SCHEDULE, steps.ALPHA
    standardize, fit_intercept, grow = steps.STANDARDIZE, steps.FIT_INTERCEPT, steps.GROW
    keep, groups, group_categories = KEEP, GROUPS, GROUP_CATEGORIES
    refit = Param(
        True,
        Bool(),
        f"{steps.REFIT.text} For a stream with the squared loss and k of at most {_MOST}, the weights are "
        "refitted, too. Averages of 2 k candidates give the ridge solution on the latest rows (see Notes).",
    )
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
            averages=StreamRefit() if self.refit and self.loss == "squared" and self.k <= _MOST else None,
        )

    def check_state(self) -> None:
        if self.state.averages is not None:
            self.state.averages.check(self.p, self.q)

    def in_one_step(self, rows: Rows) -> bool:  # noqa: ARG002
        return self.state.averages is None

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        averages, n, at = self.state.averages, len(rows), 0
        while at < n:
            choice = self._rows_to_choice()
            stop = n if averages is None else min(n, at + choice)
            part = slice(at, stop)
            some, targets, weights = rows[part], y[part], None if w is None else w[part]
            done = _core.sgd(some.kernel, self.loss_function, targets, weights, step_rule(self), self.state)
            if done < stop - at:
                return at + int(done)
            if averages is not None:
                averages.update(some, targets, weights)
                if stop - at == choice:
                    candidates = chosen(self, self._score(), min(_CANDIDATES * self.k, _MOST))
                    averages.begin(candidates[: 0 if len(candidates) > _MOST else None], self.q)
            at = stop
        return n

    def weights(self) -> tuple[Array, Array]:
        s, keep = self.state, features_to_keep(self)
        copies = self._copies(keep)
        kept, solution = self._selected(self.k, copies), None
        weight, intercept = s.weight[kept] * s.scale, s.bias.copy()
        if s.averages is not None:
            solution = s.averages.solve(self.fit_intercept, kept, keep)
        if solution is not None:
            weight[np.searchsorted(kept, solution[0])] = solution[1]
            if len(copies):
                weight[np.isin(kept, copies)] = 0.0  # the weight of the other column has their whole effect
            intercept = solution[2].copy()
        return scatter(kept, weight, self.p), intercept

    def _rows_to_choice(self) -> int:
        """Rows until candidates are chosen, after _FIRST rows and whenever their number has doubled."""
        rows = int(self.state.clock["rows"])
        return (_FIRST << (rows // _FIRST).bit_length()) - rows

    def candidates(self, n: int) -> NDArray[np.int64]:
        return self._selected(n, self._copies(features_to_keep(self)))

    def _selected(self, n: int, copies: NDArray[np.int64]) -> NDArray[np.int64]:
        """The n best features; these copies of others come last."""
        score = self._score()
        if len(copies):
            group = feature_groups(self)
            if group is not None:  # groups are selected as a whole
                copies = copies[np.bincount(group)[group[copies]] == 1]
            score[copies] = np.minimum(score[copies], np.finfo(float).tiny)
        return chosen(self, score, n)

    def _copies(self, keep: NDArray[np.int64]) -> NDArray[np.int64]:
        """Features that are copies of others, or of these, among the candidates of the refit."""
        averages = self.state.averages
        none = np.empty(0, np.int64)
        return none if averages is None else averages.copies(self.fit_intercept, keep)

    def _score(self) -> Array:
        """sigma_j |beta_j| of each feature (Remark 1 of [Sun]), squared, times the same number for all."""
        score: Array = variance(self.state) * squares(self.state.weight)
        return score

    def measure(self, rows: Rows, w: Array | None) -> None:
        """Update moments and clock by rows that are not learned."""
        _core.measure(rows.kernel, w, step_rule(self), self.state, 0)

    def set_weights(self, coef: Array, intercept: Array) -> None:
        """Continue from weights (q, p) and intercepts (q,)."""
        self.state.weight[:] = coef.T
        self.state.bias[:] = intercept
