"""`k="auto"` of learners: how many features, by EBIC with more rows than features, else by left-out rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..averages.constraints import Constraints
from ..base import Method
from ..losses import LOSSES, softmax
from ..params import Or, ParamError, Parameter
from ..passes import fit_rows, has_passes
from ..rows import Array, Rows
from ..sieve.folds import ERRORS, FOLDS, assign, clearly_worse, log_choose, sizes_to
from .refit import Refit

if TYPE_CHECKING:
    from ..sieve.sieve import Sieve

MOST = 200  # features, at most
FALLBACK = 10  # features where there are too few rows for folds
TINY = 1e-12  # share of the variance that is left of a perfect fit

Make = Callable[[int], Method]  # the method with k features


def has_auto(method: type[Method]) -> bool:
    """Whether `fit` can choose the number of features of this class of methods."""
    return has_passes(method) and "refit" in method.params and method.ranks


def is_auto(k: object) -> bool:
    """Whether the number is to be chosen; k may be anything yet, an array too."""
    return isinstance(k, str) and k == "auto"


def with_auto(k: Parameter) -> Parameter:
    """The parameter k, 'auto' added."""
    return Parameter(
        k.default,
        Or(k.domain, "auto"),
        f"{k.meaning} 'auto': `fit`, of data in memory, chooses: with more rows than features the model of "
        "least EBIC, else the fewest features whose models predict left-out rows about as well as the best; "
        f"at most {MOST}.",
        k.symbol,
        k.live,
    )


def check_auto(method: Method) -> None:
    """Raise ParamError where units other than single features are selected, or some are to be kept."""
    if Constraints.of(method).given:
        raise ParamError("k", "auto", "with keep or groups pass a number.")


def choose_size(make: Make, rows: Rows, y: Array, w: Array | None) -> int:
    """The size of least EBIC; with no more rows than features, by left-out rows.

    That is the fewest features whose loss is within some standard errors of the least. Without each of five
    folds in turn, the method selects the most features that may be, and their refits are compared along its
    ranking: what is left out has not selected either.
    """
    if len(rows) > rows.p:
        return least_ebic(make(min(MOST, rows.p)), rows, y, w)
    fold = folds_of(y)
    held = [fold == j for j in range(FOLDS)]
    held = [some for some in held if some.any() and not some.all()]
    top = min(MOST, rows.p, len(rows) - max((int(some.sum()) for some in held), default=len(rows)))
    if not held or top < 1:
        return min(FALLBACK, rows.p)
    return fewest(curve(make, top, rows, y, w, held))


def least_ebic(method: Method, rows: Rows, y: Array, w: Array | None) -> int:
    """The size of least EBIC along the ranking of a method: of a ladder, then beside its best."""
    fit_passes(method, rows, y, w)
    n, q = len(rows), y.shape[1]
    ranking = ranked(method, rows, y)[: max(1, n // 3)]  # more would fit any targets
    if not len(ranking):
        return 1

    @cache
    def ebic(size: int) -> float:
        model = refitted(method, ranking[:size], rows, y, w)
        scores = method.scores(rows)
        if model.loss == "squared":
            left = np.average((y - scores) ** 2, axis=0, weights=w) / unit_of(y) ** 2
            fit = np.log(np.maximum(left, TINY)).sum()
        else:
            fit = 2 * np.average(losses(model.loss, scores, y, unit_of(y)), weights=w)
        return float(n * fit + size * q * math.log(n) + 2 * log_choose(rows.p, size))

    best = min(sizes_to(len(ranking)), key=ebic)
    step = (best + 3) // 4
    while step:
        beside = [size for size in (best - step, best + step) if 1 <= size <= len(ranking)]
        better = min((best, *beside), key=ebic)
        best, step = better, step if better != best else step // 2
    return best


def curve(
    make: Make, top: int, rows: Rows, y: Array, w: Array | None, held: list[NDArray[np.bool_]]
) -> dict[int, Array]:
    """The losses of all rows, each when left out, by the number of features."""
    found = {size: np.zeros(len(rows)) for size in reversed(sizes_to(top))}
    unit = unit_of(y)
    for some in held:
        part, target, weight = rows.take(~some), y[~some], None if w is None else w[~some]
        test, method = rows.take(some), make(top)
        fit_passes(method, part, target, weight)
        ranking = ranked(method, part, target)
        for size, loss in found.items():
            if size <= max(len(ranking), 1):
                model = refitted(method, ranking[:size], part, target, weight)
            loss[some] = losses(model.loss, method.scores(test), y[some], unit)
            if w is not None:
                loss[some] *= w[some]
    return found


def refitted(method: Method, features: NDArray[np.intp], rows: Rows, y: Array, w: Array | None) -> Sieve:
    """The model on some features alone, which the method then has."""
    refit = Refit(method, np.sort(features))
    refit.update(rows, y, w)
    refit.finish()
    return refit.model


def unit_of(y: Array) -> Array:
    """Deviations of the targets."""
    spread = y.var(axis=0)
    return np.sqrt(np.where(spread > 0, spread, 1.0))


def fit_passes(method: Method, rows: Rows, y: Array, w: Array | None) -> int:
    """Begin, and learn rows in memory in passes; how many there were."""
    method.expect(len(rows), rows.n_values, rows.p, rows.sparse)
    method.begin(rows.p, y.shape[1])
    return fit_rows(method, rows, y, w)


def folds_of(y: Array) -> NDArray[np.uint8]:
    """A fold for each row, classes balanced."""
    labels = np.isin(y, (-1.0, 1.0)).all()
    code = (y @ (2.0 ** np.arange(y.shape[1]))) if labels and y.shape[1] < 50 else np.zeros(len(y))
    strata = np.unique(code, return_inverse=True)[1]
    return assign(strata, np.zeros(strata.max(initial=0) + 1, dtype=np.int64))


def ranked(method: Method, rows: Rows, y: Array) -> NDArray[np.intp]:
    """The features of a model, the largest weight in units of their deviation first; of targets in theirs."""
    coef = method.coefficients()[0]
    if method.loss == "squared":
        coef = coef / unit_of(y)[:, None]
    features = method.candidates()
    features = features[coef[:, features].any(axis=0)]
    values = rows.columns(features).matrix().astype(np.float64)
    mean = np.asarray(values.mean(axis=0)).ravel()
    square = np.asarray((values * values).mean(axis=0)).ravel()
    strength = np.square(coef[:, features]).sum(axis=0) * np.maximum(square - mean**2, 0.0)
    return features[np.argsort(-strength, kind="stable")]


def losses(name: str, scores: Array, y: Array, unit: Array) -> Array:
    """Of each row: squared errors in units of the targets, log-odds of two classes, softmax of more."""
    if name == "squared":
        return LOSSES[name].value(scores / unit, y / unit).sum(axis=1)
    if y.shape[1] == 1:
        return LOSSES[name].value(scores, y)[:, 0]
    share = softmax(scores)[np.arange(len(y)), y.argmax(axis=1)]
    return -np.log(np.maximum(share, 1e-300))


def fewest(found: dict[int, Array]) -> int:
    """The least size whose losses are about as low as the lowest."""
    best = min(found.values(), key=np.mean)
    return min(k for k, loss in found.items() if not clearly_worse(loss, best, ERRORS))
