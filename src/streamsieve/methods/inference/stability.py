"""Stability selection by complementary halves of the folds, Shah and Samworth (2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...statistics.fold_averages import FoldAverages
from ...statistics.linear_model import LinearModel, finish
from ...statistics.standardize import standardize
from .choice import check_count, filled_folds, selector

if TYPE_CHECKING:
    from ..averages.method import AveragesMethod


def stability(
    folds: FoldAverages,
    k: Any = None,
    *,
    pairs: int = 25,
    threshold: float = 0.7,
    method: str | AveragesMethod = "ofsa",
    fit_intercept: bool = True,
    random_state: Any = None,
    **options: Any,
) -> LinearModel:
    """The features that are selected from most random halves of the rows.

    Parameters
    ----------
    folds : FoldAverages
    k : int >= 1, "auto" or None, default=None
        Number of features to select from each half. The bound on false selections is smaller for small k.
    pairs : int >= 1, default=25
        Number of pairs of complementary halves of the folds, B.
    threshold : float in (0.5, 1], default=0.7
        Minimum share of the 2 B halves that select a feature, t.
    method : str, default="ofsa"
        The extractor that selects, as in `path`, or a method on averages with its own parameters.
    fit_intercept : bool, default=True
    random_state : int, Generator or None, default=None
    **options
        Parameters of the extractor.

    Returns
    -------
    LinearModel
        Least squares on the stable features, on all rows; errors are conditional on the selection. `info` has
        the selection `frequency` of each feature and bounds on the expected number of false selections:
        `expected_false`, and `expected_false_unimodal` (None if it does not apply).

    Notes
    -----
    A selected feature is *false* if a half selects it with a probability of at most k / p, the probability by
    chance. If k is the mean number of features that a half selects, the bounds are ::

        expected_false             k^2 / (p (2 t - 1))
        expected_false_unimodal    k^2 / (2 p (2 t - 1 - 1 / (2 B)))             t <= 3/4
                                   4 k^2 (1 - t + 1 / (2 B)) / (p (1 + 1 / B))   t > 3/4

    The second assumes that the number of halves that select a false feature has a unimodal distribution
    (their Theorem 2; it needs k / p <= 1 / sqrt(3)).
    """
    pairs = check_count("pairs", pairs)
    number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    if not number or not 0.5 < threshold <= 1:
        raise ValueError(f"threshold={threshold!r} must be above 0.5 and at most 1.")
    chosen = selector(method, k, options)
    filled = filled_folds(folds, 2, "stability")
    rng = np.random.default_rng(random_state)
    s = standardize(folds.total(), fit_intercept=fit_intercept)
    counts, selected, half = np.zeros(s.p), 0, len(filled) // 2
    for _ in range(pairs):
        order = rng.permutation(filled)
        for part in (order[:half], order[half : 2 * half]):
            support = chosen.select(folds.subset(np.sort(part))).support
            counts[support] += 1
            selected += len(support)
    frequency = counts / (2 * pairs)
    stable = np.flatnonzero(frequency >= threshold - 1e-12)
    worst, unimodal = bounds(selected / (2 * pairs), int(s.usable.sum()), float(threshold), pairs)
    return finish(
        s,
        np.zeros((s.p, s.q)),
        type(chosen).__name__.lower(),
        refit=True,
        support=stable,
        frequency=frequency,
        expected_false=worst,
        expected_false_unimodal=unimodal,
    )


def bounds(k: float, p: int, t: float, B: int) -> tuple[float, float | None]:
    """Expected number of false features, in the worst case and under unimodality."""
    chance = k / max(p, 1)
    worst = k * chance / (2 * t - 1)
    least = min(0.5 + chance**2, 0.5 + 1 / (2 * B) + 0.75 * chance**2)
    if chance > 1 / np.sqrt(3) or t <= least:
        return worst, None
    low, high = 1 / (2 * (2 * t - 1 - 1 / (2 * B))), 4 * (1 - t + 1 / (2 * B)) / (1 + 1 / B)
    return worst, min(worst, (low if t <= 0.75 else high) * k * chance)
