"""Online feature selection by second-order steps: Wu et al. (2017)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.params import Param
from ...core.rows import Array, Rows
from ...core.state import State, zeros
from . import heap
from .heap import POSITIVE, Budgeted, heap_features, new_heap


class SOFS(Budgeted):
    """The k features whose weights have the smallest variance, by diagonal AROW (SOFS).

    A row with nnz non-zero values costs O(nnz log k) at most, independently of p; memory is O(p). More than
    two classes are learned jointly, one against the rest, and share the k features.

    Notes
    -----
    Wu, Hoi, Mei and Yu (2017). The method stores weights w and their variances S, which are 1 at first. A row
    with ``y w'x < 1`` updates them: ``a = (1 - y w'x) / (x'S x + gamma)``, ``w <- w + a y S x``,
    ``S_j <- 1 / (1 / S_j + x_j^2 / gamma)``. Then the k weights with the smallest S_j are kept. S_j does not
    depend on the size of the weight. It depends on the values of the feature in the rows that updated the
    model: the more such rows and the larger the values, the smaller S_j.

    *Rare features.* The precision 1 / S_j grows with every update by a row in which the feature is non-zero.
    Therefore frequent features are kept even if they do not matter. Of 10 features that are non-zero in 1 %
    of 3,000 rows, none is found. Of 10 features in 30 % of the rows, about 2 are found. `fit` does not find
    more.

    Differences from the paper: If there are q > 2 classes, each has its own variances, and features are
    ranked by the sum of 1 / S_j over classes. ``fit_intercept`` adds a feature that is always 1 and does not
    count towards k. For a row of weight r, gamma is replaced by gamma / r.
    """

    k, criterion = heap.FIXED_K, None
    gamma = Param(
        0.1,
        POSITIVE,
        "Regularisation of AROW: the larger it is, the smaller the steps are.",
        symbol="gamma",
        live=True,
    )

    losses = {"classification": ("hinge",)}
    can_overflow = True  # truncation removes the bound on AROW's weights
    examples = {
        "classification": """
        >>> import numpy as np
        >>> from streamsieve import SOFSClassifier
        >>> X = np.random.default_rng(0).normal(size=(5000, 20)) * np.where(np.arange(20) % 7, 1, 2)
        >>> model = SOFSClassifier(3, standardize=False).fit(X, X[:, 7] > X[:, 14])
        >>> model.get_support(indices=True)
        array([ 0,  7, 14])
        """,
    }

    def start(self, p: int, q: int) -> State:
        return State(
            clock=heap.row_count(),
            kept=new_heap(min(self.k, p)),
            place=zeros(feature=p, dtype=np.int32),
            weight=zeros(
                feature=p, fixed=2 * q
            ),  # of each output the precision gained, 1 / S - 1, and weight
            bias=zeros(output=q),
            bias_precision=zeros(output=q),
        )

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        rule = {"gamma": self.gamma, "fit_intercept": self.fit_intercept}
        return _core.sofs(rows.kernel, self.loss_function, y, w, rule, self.state)

    def weights(self) -> tuple[Array, Array]:
        return self.state.weight[:, 1::2].T.copy(), self.state.bias.copy()

    def changed_by(self, rows: Rows) -> NDArray[np.integer[Any]] | None:
        seen = rows.features
        if seen is None or len(seen) >= self.p:
            return None
        return np.concatenate([seen, heap_features(self.state.kept)])  # a kept feature may be removed

    def overflow_error(self, where: str = "") -> ValueError:
        return ValueError(
            f"The weights overflow{where}: gamma={self.gamma} is too small for these rows: pass a larger "
            "gamma, or rescale the features and targets."
        )

    def check_state(self) -> None:
        super().check_state()
        s = self.state
        if (s.weight[:, ::2] < 0).any() or (s.bias_precision < 0).any():
            raise ValueError("a precision is below 0.")
