"""`PenalizedMethod`: what the methods of the penalised extractors declare in common."""

from __future__ import annotations

from ...core.params import Bool, Or, Param, Real
from ...statistics.fold_averages import N_FOLDS
from ...statistics.linear_model import LinearModel
from ...statistics.standardize import Standardized
from .method import CRITERION, HONEST, STABILITY, AveragesMethod, K
from .penalized import extract

ALPHA = Param(
    None,
    Or(Real(0), None),
    "Strength of the penalty, lambda of [Sun] eq. (3.9), on standardised features; instead of k. Given k, "
    "the path is followed to the largest support of at most k features; of MCP and SCAD further, to k of "
    "more that fit clearly better.",
    live=True,
)
REFIT = Param(
    True,
    Bool(),
    "Refit the selected features by least squares; below two rows a feature with a ridge.",
    live=True,
)


class PenalizedMethod(AveragesMethod):
    """Base of the methods with a `penalty`, whose own parameters are named in `options`."""

    k, alpha, criterion, n_folds, refit = K, ALPHA, CRITERION, N_FOLDS, REFIT
    honest, stability = HONEST, STABILITY

    def extract(self, s: Standardized) -> LinearModel:
        assert self.penalty is not None
        k = min(self.k, s.p) if self.alpha is None else None
        own = {name: getattr(self, name) for name in self.options}
        return extract(
            s, self.penalty, k, self.alpha, self.refit, self.fit_intercept, self.standardize, {}, **own
        )
