"""OLST for the first C rows, then truncated gradient steps from there: [Susan] 3.2."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from ._learner import Array, ClassificationLearner, Core, RegressionLearner
from ._moments import InverseMoments, cut
from .olst import check_ridge
from .siht import SIHT


class OLSTThenTSGD(SIHT):
    C: int = param(
        500,
        "int >= 1",
        "Rows that OLST learns, at O(p^2) each. The rest builds on the support that it finds.",
    )
    ridge: float | Literal["auto"] = param(
        "auto", "float > 0 or 'auto'", "Ridge of OLST, in rows; see `OLSTRegressor`."
    )

    _free: ClassVar[dict[str, int]] = SIHT._free | {"olst_": 0}

    def _check_params(self) -> None:
        super()._check_params()
        if not isinstance(self.C, int | np.integer) or isinstance(self.C, bool) or self.C < 1:
            raise ValueError(f"C={self.C!r}; pass the number of rows for OLST, an integer of at least 1.")
        check_ridge(self.ridge)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.olst_: InverseMoments | None = InverseMoments(p, q, self.ridge, bool(self.fit_intercept))

    def _check_state(self) -> None:
        super()._check_state()
        if self._started() and self.olst_ is not None:
            self.olst_.check(self.n_features_in_, len(self.bias_))

    def _begin(self, coef: Array, intercept: Array) -> None:
        super()._begin(coef, intercept)
        self.olst_ = None  # and its p^2 numbers

    def _resize(self, p: int) -> None:
        super()._resize(p)
        if self.olst_ is not None and self.olst_.p != p:
            self.olst_ = self.olst_.grown(p)

    def _take(self, blocks: Any, width: int, seen: NDArray[np.integer[Any]] | None) -> None:
        if self.olst_ is None or self.eta == "auto":  # a derived step does not overflow
            super()._take(blocks, width, seen)
            return
        before = self.olst_.copy()
        try:
            super()._take(blocks, width, seen)
        except ValueError:  # in the call that passes row C: the start is undone too
            self.olst_ = before
            raise

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        olst = self.olst_
        if olst is None:
            return super()._kernel(rows, y, w)
        first = max(0, min(len(y), self.C - olst.rows))  # C may have been lowered meanwhile
        head, weights = cut(rows, 0, first), None if w is None else w[:first]
        self._measure(head, weights)
        olst.take(head, y[:first], weights)
        if olst.rows < self.C:
            return first
        self._begin(*olst.extract(self.k, self.standardize))
        if first == len(y):
            return first
        return first + super()._kernel(cut(rows, first), y[first:], None if w is None else w[first:])

    def _linear(self) -> tuple[Array, Array]:
        if self.olst_ is None:
            return super()._linear()
        return self.olst_.extract(self.k, self.standardize)

    def _scores(self, rows: Core, n: int) -> Array:
        if self.olst_ is None:
            return super()._scores(rows, n)
        coef, intercept = self._linear()
        out = np.empty((n, len(intercept)))
        _core.margins(rows, np.ascontiguousarray(coef.T), 1.0, intercept, out)
        return out


class OLSTThenTSGDRegressor(RegressionLearner, OLSTThenTSGD):
    """Least squares with k features: OLST for the first C rows, then truncated gradient steps.

    O(p^2) a row and O(p^2) memory for C rows; from then on those of `SIHTRegressor`, O(nnz + touched log k)
    and O(p), with a start that knows most of the features.

    Attributes
    ----------
    coef_ : array of shape (p,) or (q, p)
        At most k non-zero columns.
    intercept_ : float or array of shape (q,)
    olst_ : object or None
        The p^2 state; None once C rows were learned.

    Notes
    -----
    [Susan] 3.2. The model is that of `OLSTRegressor` up to row C; then, from its weights,
    ``w <- Truncate(w - eta r (x'w + b - y) x, k)`` as in `SIHTRegressor`, whose scale of features and length
    of steps have seen the first C rows too. To begin from another model, see `start`.

    Differences from the paper: as for `OLSTRegressor` and `SIHTRegressor`; steps are derived from the rows
    (``schedule="doubling"`` with an `eta` is the paper's).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OLSTThenTSGDRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> model = OLSTThenTSGDRegressor(2, C=100).fit(X, X[:, 7] - 2 * X[:, 31])
    >>> model.get_support(indices=True), model.olst_
    (array([ 7, 31]), None)
    """


class OLSTThenTSGDClassifier(ClassificationLearner, OLSTThenTSGD):
    """Linear classifier with k features: OLST on labels -1 and +1 for C rows, then truncated gradient steps.

    O(p^2) a row and O(p^2) memory for C rows; from then on those of `SIHTClassifier`. More than two classes
    are learned jointly, one against the rest, and share the k features.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
        At most k non-zero columns.
    intercept_ : array of shape (1,) or (q,)
    olst_ : object or None
        The p^2 state; None once C rows were learned.

    Notes
    -----
    As `OLSTThenTSGDRegressor`, with the gradient of the loss chosen. The first C rows are fitted by least
    squares whatever the loss: until the steps have had their say, scores are of the size of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OLSTThenTSGDClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 20))
    >>> OLSTThenTSGDClassifier(2).fit(X, X[:, 7] > X[:, 13]).get_support(indices=True)
    array([ 7, 13])
    """
