"""Stochastic gradient descent: the baseline, and the basis of the truncated learners."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...core.method import Method
from ...core.rows import Array, Rows
from ...core.state import State, array, zeros
from . import steps
from .steps import ALPHA, ETA, FIT_INTERCEPT, GROW, SCHEDULE, UNITS, check_shrink, clock, step_rule


class SGD(Method):
    """Stochastic gradient descent on all features: the baseline, without selection.

    Each row costs O(nnz); memory is O(p). More than two classes are learned jointly, one against the rest.

    Notes
    -----
    For each row, ``w <- w - eta (r loss'(x'w + b, y) x + alpha w)``, r the row's weight;
    labels are -1 and +1.
    """

    eta, schedule, alpha = ETA, SCHEDULE, ALPHA
    standardize, fit_intercept, grow = UNITS, FIT_INTERCEPT, GROW
    max_iter, tol, shuffle, random_state = steps.MAX_ITER, steps.TOL, steps.SHUFFLE, steps.RANDOM_STATE

    examples = {
        "regression": """
        >>> import numpy as np
        >>> from streamsieve import SGDRegressor
        >>> X = np.random.default_rng(0).normal(size=(2000, 3))
        >>> SGDRegressor().fit(X, X[:, 0] - 2 * X[:, 2]).coef_.round(2) + 0.0
        array([ 1.,  0., -2.])
        """,
        "classification": """
        >>> import numpy as np
        >>> from streamsieve import SGDClassifier
        >>> X = np.random.default_rng(0).normal(size=(2000, 3))
        >>> SGDClassifier().fit(X, X[:, 0] > X[:, 2]).score(X, X[:, 0] > X[:, 2]) > 0.97
        True
        """,
    }

    prepare = "units"

    def check(self) -> None:
        check_shrink(self)

    def start(self, p: int, q: int) -> State:
        return State(
            clock=clock(),
            moments=None,
            weight=zeros(feature=p, output=q),  # times scale: the penalty shrinks all in one product
            scale=array(np.ones(1), "fixed"),
            bias=zeros(output=q),
        )

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        return _core.sgd(rows.kernel, self.loss_function, y, w, step_rule(self), self.state)

    def weights(self) -> tuple[Array, Array]:
        return self.state.weight.T * self.state.scale, self.state.bias.copy()
