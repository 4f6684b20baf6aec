"""What learners by gradient steps share: parameters, the clock, units of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.params import Bool, Int, OneOf, Or, Param, ParamError, Real
from ...core.rows import Array
from ...core.state import Field, State, record, zeros
from ...statistics.constraints import Constraints, Resolved
from ...statistics.criteria import CRITERIA, MEANING

MOST_CHOSEN = 200  # features that 'auto' selects, at most: each size is fitted and compared
#: What 'auto' means for a number of features, where `fit` can choose it (training/size.py).
AUTO = f"'auto': `fit` chooses k by `criterion`, at most {MOST_CHOSEN}; the data must be in memory."
CRITERION = Param("cv", OneOf(*CRITERIA), MEANING)
FIXED_K = Param(10, Int(1), "Maximum number of features.")
K = Param(10, Or(Int(1), "auto"), f"{FIXED_K.text} {AUTO}")
ETA = Param(
    "auto",
    Or("auto", Real(above=0)),
    "Step size. 'auto' computes it from the rows seen: 1 / (4 L R^2), where R^2 is the mean squared norm of "
    "the rows and L is the curvature of the loss. It is never so large that a step moves the prediction of "
    "a row beyond its target.",
)
SCHEDULE = Param(
    "constant",
    OneOf("constant", "sqrt", "doubling"),
    "How the step decreases with the row number t. 'constant': not at all. 'sqrt': as 1 / sqrt(t). "
    "'doubling': as log(a) / a, where a is doubled whenever t exceeds it ([Susan] section 4).",
)
ALPHA = Param(0.0, Real(0), "Strength of the penalty alpha / 2 |w|^2.")
FIT_INTERCEPT = Param(
    True,
    Bool(),
    "Whether to fit an intercept. It is never penalised or truncated, and does not count towards k.",
)
_FAR = (
    "A value more than 200 units from the centre of its column is not learned, unless the next values of "
    "the column are there too; `n_far_` counts such values. If a column moves by 10 to 100 units and the "
    "targets do not, gradient steps hardly learn this column afterwards. Pass the differences of such a "
    "column instead."
)
STANDARDIZE = Param(
    True,
    Bool(),
    "If True, each feature has a unit, computed from running moments. Steps and weights are in these units, "
    "so that the scale of a feature does not matter. With an intercept, columns whose mean exceeds their "
    "standard deviation are centred. If the rows are mostly zero, the intercept starts from the targets of "
    f"a sample of the rows (for a stream, the first 100). {_FAR} If False, rows are used exactly as given: "
    "all values are learned, nothing is scaled or centred, and the intercept starts at 0.",
)
UNITS = Param(
    True,
    Bool(),
    "If True, divide each column by its unit, so that the scale of a feature does not matter. The unit is "
    "the root mean square of the non-zero values in a sample of the rows (for a stream, the first 100). "
    "With an intercept, columns whose mean exceeds their standard deviation are centred. If the rows are "
    f"mostly zero, the intercept starts from the targets of the same sample. {_FAR} If False, rows are used "
    "exactly as given: all values are learned, nothing is scaled or centred, and the intercept starts at 0.",
)
PATIENCE = 5  # passes without progress after which `fit` stops, as in scikit-learn
TOL = Param(
    1e-3,
    Real(0),
    f"`fit` stops after {PATIENCE} consecutive passes in which the mean loss has not decreased by more than "
    "this share of the first loss. The loss of each row is measured before the row is learned.",
    live=True,
)
SHUFFLE = Param(
    True,
    Bool(),
    "Whether to shuffle rows in memory before each pass of `fit`.",
    live=True,
)
RANDOM_STATE = Param(0, Int(0, 2**64 - 1), "Seed for shuffling.")
REFIT = Param(
    True,
    Bool(),
    "If True, `fit` ends with a fit of the k selected features alone. It uses the loss of the task "
    "(logistic for labels, unless loss='squared') and a ridge derived from the rows. The reason is that "
    "gradient steps select features well long before their weights have converged, and that penalties "
    "shrink the weights. Copies of other columns are left out. They are replaced by the next features of "
    "the method, or a warning says that there are none. If False, the weights are those of the method, as "
    "after `partial_fit`.",
)


def max_iter(default: int) -> Any:
    """The parameter `max_iter`."""
    return Param(default, Int(1), "Maximum number of passes that `fit` makes over the data.", live=True)


MAX_ITER = max_iter(100)
GROW = Param(
    False,
    Bool(),
    "If True, a sparse batch may have more columns than earlier batches. The state and `n_features_in_` "
    "then grow. Columns that a batch does not have are read as zero.",
)


def clock() -> Field:
    """Rows, their weight, squared norms and non-zeros so far, the horizon of the doubling trick, the largest
    weight."""
    # log(a) / a is largest at 3
    return record(rows=0.0, weight=0.0, norms=0.0, entries=0.0, horizon=3.0, heaviest=0.0)


def check_clock(clock: NDArray[Any]) -> None:
    """Raise ValueError for a clock from a file that no stream could produce: kernels and loops rely on it."""
    values = {name: float(clock[name]) for name in clock.dtype.names or ()}
    if not all(0 <= value < np.inf for value in values.values()):
        raise ValueError(f"clock={values}; expected finite numbers, none below 0.")
    if values["rows"] != int(values["rows"]) or values["rows"] >= 2**53:
        raise ValueError(f"clock: {values['rows']} rows were learned; expected a whole number below 2^53.")
    if values.get("horizon", 3.0) < 3:
        raise ValueError(f"clock: the horizon is {values['horizon']}; it is never below 3.")


def moments(p: int, standardize: bool) -> Field | None:
    """Of each feature's non-zero values: weight, the first, sum and sum of squares of differences from it."""
    return zeros(feature=p, moment=4) if standardize else None


def step_rule(method: Any) -> dict[str, Any]:
    """The step parameters that every kernel reads; eta=0 means that it is derived."""
    return {
        "eta": 0.0 if method.eta == "auto" else method.eta,
        "schedule": method.schedule,
        "alpha": method.alpha,
        "fit_intercept": method.fit_intercept,
    }


def check_shrink(method: Any) -> None:
    """Raise ParamError if eta alpha >= 1: a step would shrink the weights to zero or beyond."""
    if method.eta != "auto" and method.eta * method.alpha >= 1:
        raise ParamError(
            "eta",
            method.eta,
            f"expected less than 1 / alpha = {1 / method.alpha:g}: each step shrinks the weights by eta "
            f"times alpha={method.alpha:g}.",
        )


def variance(state: State) -> Array | float:
    """Total weight times variance of each feature, its zeros counted; 1 for all without `standardize`."""
    if state.moments is None:
        return 1.0
    n, first, total, squares = state.moments.T
    off = np.divide(total, n, out=np.zeros(len(n)), where=n > 0)
    share = np.maximum(0.0, 1.0 - n / max(float(state.clock["weight"]), 1e-300))
    spread: Array = np.maximum(0.0, squares - off * total) + np.square(first + off) * n * share
    return spread


def mean_square(state: State) -> Array | float:
    """Mean square of each feature's non-zero values, 0 for constant features; 1 for all without
    `standardize`."""
    if state.moments is None:
        return 1.0
    n, first, total, squares = state.moments.T
    out: Array = np.divide(
        squares + first * (2 * total + n * first), n, out=np.zeros(len(n)), where=variance(state) > 0
    )
    return out


def squares(weight: Array) -> Array:
    """Sum of the squared weights (p, q) of each feature, scaled so that squares do not overflow."""
    most = np.abs(weight).max(initial=0.0)
    if most > 1e100:
        weight = weight / most
    out: Array = np.einsum("jo,jo->j", weight, weight)
    return out


def largest(score: Array, k: int) -> NDArray[np.int64]:
    """The k features with the largest scores above 0, ascending; ties to the lower index."""
    kept = np.empty(min(k, len(score)), dtype=np.int64)
    return kept[: _core.top_k(score, kept)]


def resolved_constraints(method: Any, p: int) -> Resolved | None:
    """The constraints of a method by feature; None without constraints."""
    constraints = Constraints.of(method)
    if not constraints.given:
        return None
    names = method.feature_names
    names = None if names is None else [*map(str, names)][:p]
    return constraints.resolve(p, names, method.first_index)


def features_to_keep(method: Any) -> NDArray[np.int64]:
    """The features that a method has to keep."""
    resolved = resolved_constraints(method, method.p)
    return np.empty(0, np.int64) if resolved is None else resolved.kept


def feature_groups(method: Any) -> NDArray[np.int64] | None:
    """The number of the group of each feature; None without groups."""
    resolved = resolved_constraints(method, method.p)
    return None if resolved is None else resolved.group


def chosen(method: Any, score: Array, k: int | None = None) -> NDArray[np.int64]:
    """The features that a method selects when read: the k with the largest scores above 0; its k by default.

    Scores are squares of weights. Features to keep come first; groups are ranked by the mean of their scores
    and selected as a whole.
    """
    k = method.k if k is None else k
    resolved = resolved_constraints(method, len(score))
    if resolved is None:
        return largest(score, k)
    label = np.arange(len(score)) if resolved.group is None else resolved.group
    by_unit = np.bincount(label, score) / np.maximum(np.bincount(label), 1)
    kept = np.unique(label[resolved.kept])
    if len(kept) > method.k:
        raise ParamError("k", method.k, f"expected at least {len(kept)}, the number of features to keep.")
    by_unit[kept] = np.inf
    return np.flatnonzero(np.isin(label, largest(by_unit, k)))


def selected_with(method: Any, k: int) -> NDArray[np.intp]:
    """The features that a method selects with another k, if k matters only when the model is read."""
    other = object.__new__(type(method))
    other.__dict__.update(vars(method), k=k)
    return np.flatnonzero(other.weights()[0].any(axis=0))


def scatter(features: NDArray[np.integer[Any]], weight: Array, p: int) -> Array:
    """Weights (k, q) of some features as coef (q, p)."""
    coef = np.zeros((weight.shape[1], p))
    coef[:, features] = weight.T
    return coef
