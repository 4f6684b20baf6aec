"""Online feature selection by truncated first-order steps: Wang et al. (2014), FOFS in [Sun]."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .. import _core
from .._base import param
from ._budgeted import Budgeted
from ._learner import Array, Core, LabelLearner


class OFSClassifier(Budgeted, LabelLearner):
    """Linear classifier with k features, by steps of the hinge loss, projected and truncated (OFS, FOFS).

    O(nnz + touched log k) a row whatever p is, and O(p) memory. More than two classes are learned jointly,
    one against the rest, and share the k features.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
        At most k non-zero columns.
    intercept_ : array of shape (1,) or (q,)

    Notes
    -----
    Wang, Zhao, Hoi and Jin (2014), Algorithm 2. Where ``y w'x <= 1``: ``w <- (1 - lam eta) w + eta y x``,
    then ``w <- w min(1, 1 / (sqrt(lam) |w|))``, and of w the k largest stay; elsewhere only the shrinkage
    ``w <- (1 - lam eta) w``. Weights are compared as they are: bring the features to one scale.

    Differences from the paper: of q > 2 classes each has its own hinge, the ball is that of all their
    weights, of radius sqrt(q / lam), and features are ranked by the norm of their weights; ``fit_intercept``
    adds an intercept outside shrinkage, ball and budget; a row of weight r makes r times the step.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OFSClassifier
    >>> X = np.random.default_rng(0).normal(size=(5000, 20))
    >>> OFSClassifier(2, eta=0.01).fit(X, X[:, 7] > X[:, 13]).get_support(indices=True)
    array([ 7, 13])
    """

    eta: float = param(0.2, "float > 0", "Step, eta.")
    lam: float = param(0.01, "float >= 0", "Shrinkage, lambda; the weights' norm stays below 1 / sqrt(lam).")

    _features: ClassVar[tuple[str, ...]] = ("place_", "weight_")
    _book: ClassVar[int] = 4

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("eta", zero=False)
        self._check_number("lam", zero=True)
        if self.eta * self.lam >= 1:
            raise ValueError(
                f"eta={self.eta} times lam={self.lam} is {self.eta * self.lam:g}; each step shrinks the "
                "weights by that share, so it must be below 1: lower one of them."
            )

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.weight_ = np.zeros((p, q))  # times scale_: shrinkage and projection are one product for all
        self.scale_ = np.ones(1)

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        return _core.ofs(
            rows,
            y,
            w,
            float(self.eta),
            float(self.lam),
            bool(self.fit_intercept),
            self.clock_,
            self.book_,
            self.kept_,
            self.place_,
            self.weight_,
            self.scale_,
            self.bias_,
        )

    def _read(self) -> tuple[Array, float]:
        return self.weight_, float(self.scale_[0])

    def _linear(self) -> tuple[Array, Array]:
        return self.weight_.T * self.scale_, self.bias_.copy()
