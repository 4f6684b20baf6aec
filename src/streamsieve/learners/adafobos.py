"""Ada-FOBOS: Duchi, Hazan and Singer (2011), [Zhai] section 5.3."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import param
from ._ladder import Call, Regularised, check_number, soft
from ._learner import Array, ClassificationLearner, RegressionLearner


class AdaFOBOS(Regularised):
    delta: float = param(
        0.01, "float > 0", "What the root of the squared gradients starts from, delta in H = delta + h."
    )

    _features: ClassVar[tuple[str, ...]] = ("weight_", "root_")
    _columns: ClassVar[tuple[str, ...]] = (*Regularised._columns, "spent_", "bias_root_")
    _others: ClassVar[tuple[str, ...]] = (*Regularised._others, "spent_", "bias_root_", "targets_")

    def _check_params(self) -> None:
        super()._check_params()
        check_number("delta", self.delta, 0, 1e75, above=True)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        columns = len(self.bias_)
        self.weight_ = np.zeros((p, columns))  # a weight is (|weight| - spent) / (delta + root), or zero
        self.root_ = np.zeros((p, columns))  # of the sum of its squared gradients
        self.spent_, self.bias_root_ = np.zeros(columns), np.zeros(columns)
        self.targets_ = np.zeros(1)

    def _walk(self, call: Call) -> int:
        state = self.targets_, self.bias_root_, self.spent_, self.weight_, self.root_
        return _core.adafobos(*call, self._by_column(self.penalty_), float(self.delta), *state)

    def _weights(self) -> Array:
        return soft(self.weight_, self.spent_) / (self.delta + self.root_)

    def _alive(self) -> NDArray[np.bool_]:
        return np.abs(self.weight_) > self.spent_


class AdaFOBOSRegressor(AdaFOBOS, RegressionLearner):
    """Sparse least squares by adaptive forward-backward splitting (Duchi, Hazan and Singer 2011).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty.

    Notes
    -----
    For each row ``w <- soft(w - eta g / H, eta lam / H)``, ``H = delta + sqrt(sum of g^2)``, a step for
    every weight. H |w| falls by eta lam at each row that does not touch w, whatever H is: one sum a penalty
    tells what a weight is whenever it is read. A derived step is rms(y) / sqrt(mean number of non-zeros x
    mean squared norm of the rows).

    Differences from the paper: an intercept, by adaptive gradient steps, never penalised.

    The support as of now holds what the last rows have touched, and a penalty that keeps it down to a small k
    weighs on the true features as well: to find k features prefer `RDARegressor` or `L1ARDARegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import AdaFOBOSRegressor
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> model = AdaFOBOSRegressor(lam=0.001, schedule="constant").fit(X, X[:, 7] - 2 * X[:, 31])
    >>> model.coef_[[7, 31]].round(1)
    array([ 0.9, -1.7])
    """


class AdaFOBOSClassifier(AdaFOBOS, ClassificationLearner):
    """Sparse linear classifier by adaptive forward-backward splitting (Duchi, Hazan and Singer 2011).

    O(nnz) a row and penalty, whatever p is; O(p) memory a penalty. More than two classes are learned
    jointly, one against the rest; the support is the union over them.

    Notes
    -----
    As `AdaFOBOSRegressor`, with the gradient of the loss chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import AdaFOBOSClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> y = X[:, 7] > X[:, 31]
    >>> AdaFOBOSClassifier(lam=0.001, schedule="constant").fit(X, y).score(X, y) > 0.9
    True
    """
