"""Online feature selection by second-order steps: Wu et al. (2017)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from ._budgeted import Budgeted
from ._learner import Array, Core, LabelLearner


class SOFSClassifier(Budgeted, LabelLearner):
    """Linear classifier of the k features it is surest of, by diagonal AROW (SOFS).

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
    Wu, Hoi, Mei and Yu (2017). Weights w and their variances S, 1 at first. Where ``y w'x < 1``:
    ``a = (1 - y w'x) / (x'S x + gamma)``, ``w <- w + a y S x``, ``S_j <- 1 / (1 / S_j + x_j^2 / gamma)``, and
    the k weights with the smallest S_j stay. That is how often and how large a feature was where the model
    erred, not how large its weight is.

    Differences from the paper: of q > 2 classes each has its own variances, and features are ranked by the
    sum of 1 / S_j over classes; ``fit_intercept`` adds a feature that is always 1 and is not counted; a row
    of weight r has gamma / r in place of gamma.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import SOFSClassifier
    >>> X = np.random.default_rng(0).normal(size=(5000, 20)) * np.where(np.arange(20) % 7, 1, 2)
    >>> SOFSClassifier(3).fit(X, X[:, 7] > X[:, 14]).get_support(indices=True)
    array([ 0,  7, 14])
    """

    gamma: float = param(
        1.0, "float > 0", "Regularisation of AROW, gamma: the larger, the smaller the steps."
    )

    _features: ClassVar[tuple[str, ...]] = ("place_", "weight_")
    _others: ClassVar[tuple[str, ...]] = (*Budgeted._others, "bias_precision_")

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("gamma", zero=False)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.weight_ = np.zeros((p, 2 * q))  # of each output the precision gained, 1 / S - 1, and the weight
        self.bias_precision_ = np.zeros(q)

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        return _core.sofs(
            rows,
            y,
            w,
            float(self.gamma),
            bool(self.fit_intercept),
            self.clock_,
            self.book_,
            self.kept_,
            self.place_,
            self.weight_,
            self.bias_,
            self.bias_precision_,
        )

    def _can_overflow(self) -> bool:
        return True  # truncation takes away what bounds AROW's weights

    def _may_change(self, seen: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        return np.union1d(seen, self._chosen())  # a kept feature may have to go

    def _restored(self) -> None:
        kept = self._chosen()
        self.place_[kept] = np.arange(1, len(kept) + 1)

    def _blame(self) -> tuple[str, str]:
        return f"gamma={self.gamma} is too small", "a larger gamma"

    def _linear(self) -> tuple[Array, Array]:
        return self.weight_[:, 1::2].T.copy(), self.bias_.copy()
