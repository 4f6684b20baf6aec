"""Select on some rows, estimate on the others: intervals and p-values that are valid after selection."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...statistics.fold_averages import FoldAverages
from ...statistics.linear_model import LinearModel, finish
from ...statistics.standardize import standardize
from .choice import check_count, check_share, filled_folds, selector
from .ols import Errors, ols

if TYPE_CHECKING:
    from ..averages.method import AveragesMethod


def split(
    folds: FoldAverages,
    method: str | AveragesMethod = "ofsa",
    k: Any = None,
    *,
    select: float = 0.5,
    splits: int = 1,
    se: Errors = "classical",
    fit_intercept: bool = True,
    random_state: Any = None,
    **options: Any,
) -> LinearModel:
    """Select features on a part of the folds, and fit them by least squares on the others.

    The rows used for estimation were not used for selection. Therefore intervals and p-values are valid for
    any method. With half of the folds for each, intervals are about 1.5 times as wide as with all rows.

    Parameters
    ----------
    folds : FoldAverages
        If rows depend on each other, the rows of a cluster must share a fold.
    method : str, default="ofsa"
        The extractor that selects, as in `path`, or a method on averages with its own parameters.
    k : int >= 0, "auto" or None, default=None
        Number of features. "auto", the default of all methods: chosen on the selecting folds.
    select : float in (0, 1), default=0.5
        Share of the folds that select.
    splits : int >= 1, default=1
        Number of random splits of the folds. With one split, intervals are those of least squares. With
        several, the result depends less on chance: p-values are aggregated (see `LinearModel.pvalue`) and
        intervals are combined by majority vote.
    se : {"classical", "folds", "cluster"}, default="classical"
        Kind of standard errors on the held-out folds, see `ols`.
    fit_intercept : bool, default=True
    random_state : int, Generator or None, default=None
        Seed or generator that draws the folds.
    **options
        Parameters of the extractor.

    Returns
    -------
    LinearModel
        `honest` is true; `info["held_out"]` are the folds used for estimation. With several splits: the
        features that most splits select, each with the median of its weights. `splits` are the models of the
        splits, and `info["frequency"]` is the share of the splits that select each feature.

    Notes
    -----
    The intervals cover the weight of a feature in the model of the selected features (the projection of the
    target on the submodel), not its weight in the model of all features. This weight differs between
    submodels, and therefore between splits. Averaging the estimates of K splits over all rows (cross-fitting)
    does not correct for selection: the coverage is that of naive intervals.
    """
    select, splits = check_share("select", select), check_count("splits", splits)
    chosen = selector(method, k, options)
    filled = filled_folds(folds, 2, "split")
    if se == "hc1":
        raise ValueError('se="hc1" needs fourth moments, which folds do not have; pass se="folds".')
    rng = np.random.default_rng(random_state)
    models = [
        _split_once(folds, chosen, rng.permutation(filled), select, se, fit_intercept) for _ in range(splits)
    ]
    if splits == 1:
        return models[0]
    return _aggregated(folds.subset(filled), models, fit_intercept)


def _split_once(
    folds: FoldAverages,
    method: AveragesMethod,
    order: NDArray[np.int64],
    select: float,
    se: Errors,
    fit_intercept: bool,
) -> LinearModel:
    most = len(order) - (1 if se == "classical" else 2)
    m = min(max(round(select * len(order)), 1), most)
    if m < 1:
        raise ValueError(f"{len(order)} folds are too few for se={se!r} on held-out folds; use at least 3.")
    selecting, held_out = np.sort(order[:m]), np.sort(order[m:])
    support = method.select(folds.subset(selecting)).support
    rest: Any = folds.subset(held_out)
    if se == "classical":
        rest = rest.total()
    fitted = ols(rest, support, se=se, fit_intercept=fit_intercept)
    name = type(method).__name__.lower()
    return replace(fitted, method=name, honest=True, info={"held_out": held_out.tolist()})


def _aggregated(folds: FoldAverages, models: list[LinearModel], fit_intercept: bool) -> LinearModel:
    coef = np.array([np.atleast_2d(m.coef) for m in models])
    chosen = np.zeros((len(models), coef.shape[-1]), dtype=bool)
    for i, model in enumerate(models):
        chosen[i, model.support] = True
    frequency = chosen.mean(axis=0)
    support = np.flatnonzero(frequency > 0.5)
    s = standardize(folds.total(), fit_intercept=fit_intercept)
    beta = np.zeros((s.p, s.q))
    scale = np.where(s.y_scale > 0, s.y_scale, 1.0)
    for j in support:
        beta[j] = np.median(coef[chosen[:, j], :, j], axis=0) * s.x_scale[j] / scale
    model = finish(s, beta, models[0].method, support=support, frequency=frequency)
    return replace(model, honest=True, se=models[0].se, splits=tuple(models))
