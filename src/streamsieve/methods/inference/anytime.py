"""Tests that are valid after every row: e-values of the t statistic, mixed over a normal prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.rows import Array
from ...statistics.intervals import check_level
from ...statistics.linear_model import least_squares
from ...statistics.standardize import Standardized
from .choice import refuse_forgetting
from .ols import Averages, Errors, ols, standardized_of
from .sums import independent


@dataclass(frozen=True, eq=False)
class Anytime:
    """Tests of features that stay valid if they are inspected after every row.

    Attributes
    ----------
    features : ndarray of int of shape (m,)
    coef, stderr, tvalue : ndarray of shape (m,) or (q, m)
        Weights in a model of these features and `given`, their standard errors and t values.
    log_e : ndarray of the same shape
        Logarithms of the e-values, the evidence against a zero weight.
    pvalue : ndarray of the same shape
        min(1, 1 / e). Under the null hypothesis, the probability that it ever falls below a is at most a.
    n : float
    feature_names : list of str or None
    """

    features: NDArray[np.int64]
    coef: Array
    stderr: Array
    tvalue: Array
    log_e: Array
    n: float
    nu: float
    ratio: Array
    feature_names: list[str] | None = None

    @property
    def pvalue(self) -> Array:
        return np.exp(-np.maximum(self.log_e, 0.0))

    def conf_int(self, level: float = 0.95) -> Array:
        """Confidence sequences (m, 2) or (q, m, 2): the probability that they ever miss is at most 1 - level.

        Infinite if there are too few rows.
        """
        miss = 1 - check_level(level)
        c = np.exp((-2 * np.log(miss) - np.log(self.ratio)) / (self.nu + 1))
        room = 1 - c * self.ratio
        squared = np.divide(self.nu * (c - 1), room, out=np.full(room.shape, np.inf), where=room > 0)
        half = self.stderr * np.sqrt(squared)
        return np.stack([self.coef - half, self.coef + half], axis=-1)

    def __str__(self) -> str:
        names = self.feature_names or [str(j) for j in self.features]
        lines = [
            f"any-time tests, n = {self.n:.6g}",
            f"{'feature':<20} {'coef':>12} {'95% low':>12} {'95% high':>12} {'p':>10}",
        ]
        coef, p, inside = np.atleast_2d(self.coef), np.atleast_2d(self.pvalue), self.conf_int()
        inside = inside.reshape(len(coef), len(names), 2)
        for t in range(len(coef)):
            for i, name in enumerate(names):
                low, high = inside[t, i]
                lines.append(f"{name:<20} {coef[t, i]:12.5g} {low:12.5g} {high:12.5g} {p[t, i]:10.3g}")
        return "\n".join(lines)


def anytime(
    averages: Averages,
    features: Any,
    *,
    given: Any = (),
    g: float = 100.0,
    se: Errors = "classical",
    fit_intercept: bool = True,
) -> Anytime:
    """Test features that were chosen before these rows were seen; results may be inspected after each row.

    Parameters
    ----------
    averages : RunningAverages, FoldAverages or FourthMoments
        As `se` requires. If earlier rows selected the features, pass the averages of the later rows only:
        ``now - snapshot``. Averages with forgetting raise ValueError.
    features : list of int or of names
        Tested in one model.
    given : list of int or of names, default=()
        Features to adjust for, which are not tested.
    g : float > 0, default=100.0
        Weight of the prior, as a number of rows. Weights of 1 / sqrt(g) standard deviations of the noise (for
        a feature of standard deviation 1) are detected soonest. Any value is valid if it was chosen before
        looking at the data.
    se : {"classical", "folds", "cluster", "hc1"}, default="classical"
        Kind of standard errors, see `ols`. All but "classical" need many rows.
    fit_intercept : bool, default=True

    Returns
    -------
    Anytime

    Notes
    -----
    With z^2 = 1 / (G^-1)_jj for the Gram matrix G of the centred, scaled features, r = g / (g + z^2) and nu
    degrees of freedom, the likelihood ratio of a weight ~ N(0, sigma^2 / g) to 0 is ::

        log e = (log r + (nu + 1) (log(1 + t^2 / nu) - log(1 + r t^2 / nu))) / 2

    a test martingale under the null hypothesis, so that P(ever e >= 1 / a) <= a (Ville). The half-width of
    its interval is se sqrt(nu (c - 1) / (1 - c r)), c = exp((-2 log a - log r) / (nu + 1)). As nu grows, log
    e tends to (log r + (1 - r) t^2) / 2, which is used for robust errors.

    The scale of a feature is its standard deviation over the rows so far. It changes in the first rows, but
    this effect is small compared with the slack of the e-value.
    """
    if not isinstance(g, int | float | np.number) or not 0 < g < np.inf:
        raise ValueError(f"g={g!r} must be a finite number > 0.")
    refuse_forgetting(averages, "anytime")
    s = standardized_of(averages, fit_intercept)
    tested = places(s, features, "features")
    if len(tested) == 0:
        raise ValueError("features is empty; pass at least one.")
    whole = np.union1d(tested, places(s, given, "given"))
    usable = independent(s, whole[s.usable[whole]])
    lost = np.setdiff1d(tested, usable)
    if len(lost):
        name = lost[0] if s.feature_names is None else repr(s.feature_names[lost[0]])
        raise ValueError(
            f"Feature {name} is constant in these rows, or a linear combination of the others; leave it "
            "out, or use more rows."
        )
    model = ols(averages, usable, se=se, fit_intercept=fit_intercept)
    stderr, tvalue, nu = np.asarray(model.stderr), np.asarray(model.tvalue), float(model.nu or 0.0)
    at = np.searchsorted(usable, tested)
    z2 = s.n / least_squares(s, usable)[1][at]
    ratio, t = g / (g + z2), tvalue[..., tested]
    ratio = np.broadcast_to(ratio, t.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        gain = np.where(np.isinf(t), -np.log(ratio), np.log1p(t**2 / nu) - np.log1p(ratio * t**2 / nu))
    log_e = (np.log(ratio) + (nu + 1) * gain) / 2
    names = None if s.feature_names is None else [str(s.feature_names[j]) for j in tested]
    return Anytime(tested, model.coef[..., tested], stderr[..., tested], t, log_e, s.n, nu, ratio, names)


def places(s: Standardized, features: Any, what: str) -> NDArray[np.int64]:
    """Features by index or by name, in the order given."""
    if isinstance(features, str):
        features = [features]
    found = []
    names = None if s.feature_names is None else {str(name): j for j, name in enumerate(s.feature_names)}
    for feature in np.asarray(features, dtype=object).ravel().tolist():
        if isinstance(feature, str):
            if names is None:
                raise ValueError(f"{what} names {feature!r}, but these averages have no feature names.")
            if feature not in names:
                raise ValueError(f"{what} names {feature!r}, which is not a feature of these averages.")
            feature = names[feature]
        if isinstance(feature, bool) or not isinstance(feature, int | np.integer):
            raise ValueError(f"{what} has {feature!r}; pass indices or names of features.")
        if not 0 <= feature < s.p:
            raise ValueError(f"{what} has {feature}; there are {s.p} features, from 0.")
        if feature in found:
            raise ValueError(f"{what} names feature {feature} twice.")
        found.append(int(feature))
    return np.array(found, dtype=np.int64)
