"""OLST for the first C rows, then truncated gradient steps from there: [Susan] 3.2."""

from __future__ import annotations

from typing import Any

from ...core.params import Int, Param
from ...core.rows import Array, Rows
from ...core.state import State
from .inverse import InverseMoments
from .olst import OLST
from .siht import SIHT


class OLSTThenTSGD(SIHT):
    """OLST for the first C rows, then truncated gradient steps from the support that it found.

    The first C rows cost O(p^2) each, with O(p^2) memory. Later rows cost as in `SIHT`, O(nnz log k)
    with O(p) memory, and start from a support that has most of the true features. More than two classes
    are learned jointly, one against the rest, and share the k features.

    Notes
    -----
    [Susan] 3.2. The model is that of `OLST` up to row C; then, from its weights, ``w <- Truncate(w - eta r
    loss'(x'w + b, y) x, k)`` as in `SIHT`, where the scales of the features and the step sizes also use the
    first C rows. To start from another model, see `start_from`. The first C rows are fitted by least squares
    for every loss; right after them, scores have the size of the labels.

    Differences from the paper: as for `OLST` and `SIHT`; steps are derived from the rows
    (``schedule="doubling"`` with an `eta` is the paper's).
    """

    C = Param(
        500,
        Int(1),
        "Number of rows that OLST learns, at O(p^2) each; later rows start from the support that it finds.",
        live=True,
    )
    ridge: Any = OLST.params["ridge"]
    init: Any = "zero"  # not a parameter: OLST is the start

    uses_blas = True
    weight_notes = {
        "classification": SIHT.weight_notes["classification"],
        "regression": "The refit keeps rows in single precision: a row of weight 2 and that row twice differ "
        "in the seventh digit.",
    }
    attributes = {"olst": "State or None: The p^2 state of OLST; None once C rows were learned."}
    examples = {
        "regression": """
        >>> import numpy as np
        >>> from streamsieve import OLSTThenTSGDRegressor
        >>> X = np.random.default_rng(0).normal(size=(2000, 50))
        >>> model = OLSTThenTSGDRegressor(2, C=100).fit(X, X[:, 7] - 2 * X[:, 31])
        >>> model.get_support(indices=True), model.olst_
        (array([ 7, 31]), None)
        """,
        "classification": """
        >>> import numpy as np
        >>> from streamsieve import OLSTThenTSGDClassifier
        >>> X = np.random.default_rng(0).normal(size=(2000, 20))
        >>> OLSTThenTSGDClassifier(2).fit(X, X[:, 7] > X[:, 13]).get_support(indices=True)
        array([ 7, 13])
        """,
    }

    def start(self, p: int, q: int) -> State:
        state = super().start(p, q)
        state.olst = InverseMoments(p, q, self.ridge, self.fit_intercept)
        return state

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        olst = self.state.olst
        if olst is None:
            return super().learn(rows, y, w)
        first = max(0, min(len(rows), self.C - olst.rows))  # C may have been lowered in the meantime
        head, weights = rows[:first], None if w is None else w[:first]
        self.measure(head, weights)
        olst.update(head, y[:first], weights)
        if olst.rows < self.C:
            return first
        self.set_weights(*olst.extract(self.k, self.standardize))
        if first == len(rows):
            return first
        return first + super().learn(rows[first:], y[first:], None if w is None else w[first:])

    def in_one_step(self, rows: Rows) -> bool:  # noqa: ARG002
        return self.state.olst is None

    def end_pass(self) -> None:
        """OLST never learns a row twice: later passes of `fit` make gradient steps."""
        if self.state.olst is not None:
            self.set_weights(*self.state.olst.extract(self.k, self.standardize))

    def weights(self) -> tuple[Array, Array]:
        olst = self.state.olst
        if olst is None or not olst.rows:
            return super().weights()
        coef, intercept = olst.extract(self.k, self.standardize)
        return coef, intercept

    def set_weights(self, coef: Array, intercept: Array) -> None:
        super().set_weights(coef, intercept)
        self.state.olst = None  # and its p^2 numbers

    def check_state(self) -> None:
        super().check_state()
        if self.state.olst is not None:
            self.state.olst.check()

    @property
    def olst(self) -> InverseMoments | None:
        """The p^2 state of OLST; None once C rows were learned."""
        found: InverseMoments | None = self.state.olst
        return found
