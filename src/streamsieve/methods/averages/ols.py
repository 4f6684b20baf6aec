"""Online least squares, [Sun] 3.2.2, with a ridge if least squares is not unique."""

from __future__ import annotations

from typing import ClassVar

from ...core.params import Or, Param, Real
from ...statistics.fold_averages import N_FOLDS, FoldAverages
from ...statistics.least_squares import REFUSED, determined, ols
from ...statistics.linear_model import LinearModel
from ...statistics.standardize import Standardized
from ...statistics.standardize import standardize as standardized
from .method import RIDGE, AveragesMethod


class OLS(AveragesMethod):
    """Online least squares ([Sun] 3.2.2): all features, or those selected at a false discovery rate.

    Rows are added to running averages, which need O(p^2) memory. The model is computed from them when it is
    needed, at a cost of O(p^3 / 3), see `extract.ols`. Labels are fitted as -1 and +1; more than two
    classes are learned one against the rest.
    """

    ridge = Param(
        "auto",
        RIDGE,
        "Ridge added to the covariance matrix S_xx of the standardised features. 'auto': a ridge is added "
        "only if S_xx is singular.",
        live=True,
    )
    fdr = Param(
        None,
        Or(Real(above=0, below=1), None),
        "Keep the features selected at this false discovery rate, see `inference.fdr`. With at most as many "
        "rows as features, half of the folds screen and the other half test, which needs se='folds'. None: "
        "keep all.",
        live=True,
    )
    n_folds = N_FOLDS

    refused: ClassVar[dict[str, str]] = REFUSED
    examples = {
        "regression": """
        >>> import numpy as np
        >>> from streamsieve import OLSRegressor
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> OLSRegressor().fit(X, X[:, 0] - 2 * X[:, 2]).coef_.round(3) + 0.0
        array([ 1.,  0., -2.])
        """,
        "classification": """
        >>> import numpy as np
        >>> from streamsieve import OLSClassifier
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> OLSClassifier().fit(X, X[:, 0] > X[:, 2]).get_support(indices=True)
        array([0, 1, 2])
        """,
    }

    def extract(self, s: Standardized) -> LinearModel:
        return ols(s, ridge=self.ridge)

    def _model(self) -> LinearModel:
        if self.fdr is None:
            return super()._model()
        from ..inference.fdr import fdr

        folds = isinstance(self.averages, FoldAverages)
        total = self.averages.total() if folds else self.averages
        options = {"se": self.se, "fit_intercept": self.fit_intercept}
        if determined(standardized(total, fit_intercept=self.fit_intercept)):
            return fdr(self._error_source, self.fdr, **options)
        if not folds:
            raise ValueError(
                f"fdr={self.fdr}: {total.n_samples_} rows are not more than the {total.n_features_} "
                "features. "
                "Pass se='folds' before the first rows: half of the folds then screens the features."
            )
        return fdr(self.averages, self.fdr, "screen", random_state=0, **options)
