"""`k="auto"` of learners: how many features, by EBIC with more rows than features, else by left-out rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..core.losses import Loss, softmax
from ..core.method import Method
from ..core.params import ParamError
from ..core.rows import Array, Rows
from ..methods.learners.steps import MOST_CHOSEN, squares
from ..statistics import criteria
from ..statistics.constraints import Constraints
from ..statistics.folds import FOLDS, assign, fewest, sizes_to
from .model import Model
from .passes import fit_passes
from .refit import Refit

FALLBACK = 10  # features where there are too few rows for folds

Make = Callable[[int], Model]  # the model with k features


def check_constraints(method: Method) -> None:
    """Raise ParamError where units other than single features are selected, or some are to be kept."""
    if Constraints.of(method).given:
        raise ParamError("k", "auto", "with keep or groups pass a number.")


def choose_size(make: Make, rows: Rows, y: Array, w: Array | None) -> int:
    """The size of least EBIC; with no more rows than features, by left-out rows.

    That is the fewest features whose loss is within some standard errors of the least, and one where no size
    predicts better than a constant. Without each of five folds in turn, the method selects the most features
    that may be, and their refits are compared along its ranking: what is left out has not selected either.
    """
    if len(rows) > rows.p:
        return least_ebic(make(min(MOST_CHOSEN, rows.p)), rows, y, w)
    fold = folds_of(y)
    held = [fold == j for j in range(FOLDS)]
    held = [some for some in held if some.any() and not some.all()]
    top = min(MOST_CHOSEN, rows.p, len(rows) - max((int(some.sum()) for some in held), default=len(rows)))
    if not held or top < 1:
        return min(FALLBACK, rows.p)
    return max(1, fewest(curve(make, top, rows, y, w, held)))


def least_ebic(model: Model, rows: Rows, y: Array, w: Array | None) -> int:
    """The size of least EBIC along the ranking of a model: of a ladder, then beside its best."""
    _, rows, y = fit_passes(model, rows, y, w)
    n, q, loss = len(rows), y.shape[1], model.method.loss_function.for_refit()
    ranking, units = ranked(model, rows, y)[: max(1, n // 3)], units_of(model, y)  # more fit any targets
    if not len(ranking):
        return 1

    @cache
    def ebic(size: int) -> float:
        refit(model, ranking[:size], rows, y, w)
        scores = model.scores(rows)
        left = 2 * np.average(losses(loss, scores, y, units), axis=0, weights=w)
        deviance = criteria.gaussian_deviance(left, n) if loss.has_units else n * left.sum()
        return float(criteria.ebic(deviance, size * q, n, size, rows.p))

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
    """The losses of all rows, each when left out, by the number of features; of the best constant as 0."""
    found = {size: np.zeros(len(rows)) for size in (0, *reversed(sizes_to(top)))}
    for some in held:
        part, target, weight = rows.take(~some), y[~some], None if w is None else w[~some]
        test, model = rows.take(some), make(top)
        _, part, target = fit_passes(model, part, target, weight)
        ranking = ranked(model, part, target)
        used = model.method.loss_function.for_refit()
        scores = np.tile(used.constant(target, weight) * bool(model.method.fit_intercept), (len(test), 1))
        for size, loss in found.items():
            if 1 <= size <= max(len(ranking), 1):
                refit(model, ranking[:size], part, target, weight)
                scores = model.scores(test)
            loss[some] = losses(used, scores, y[some], units_of(model, y)).sum(axis=1)
            if w is not None:
                loss[some] *= w[some]
    return found


def refit(model: Model, features: NDArray[np.intp], rows: Rows, y: Array, w: Array | None) -> None:
    """Let the model have the weights of some features, fitted on their own."""
    stage = Refit(model.method, np.sort(features), len(features))
    stage.update(rows, y, w)
    model.refitted = stage.weights() or model.refitted


def units_of(model: Model, y: Array) -> tuple[Array, Array]:
    """Centre and unit of the targets, as the loss of the model has them."""
    return model.method.loss_function.units(y)


def folds_of(y: Array) -> NDArray[np.uint8]:
    """A fold for each row, classes balanced."""
    labels = np.isin(y, (-1.0, 1.0)).all()
    code = (y @ (2.0 ** np.arange(y.shape[1]))) if labels and y.shape[1] < 50 else np.zeros(len(y))
    strata = np.unique(code, return_inverse=True)[1]
    return assign(strata, np.zeros(strata.max(initial=0) + 1, dtype=np.int64))


def ranked(model: Model, rows: Rows, y: Array) -> NDArray[np.intp]:
    """The features of a model, the largest weight in units of their deviation first; of targets in theirs."""
    coef = model.coefficients()[0] / units_of(model, y)[1][:, None]
    features = np.flatnonzero(coef.any(axis=0))
    values = rows.columns(features).matrix().astype(np.float64)
    mean = np.asarray(values.mean(axis=0)).ravel()
    square = np.asarray((values * values).mean(axis=0)).ravel()
    strength = squares(coef[:, features].T) * np.maximum(square - mean**2, 0.0)
    return features[np.argsort(-strength, kind="stable")]


def losses(loss: Loss, scores: Array, y: Array, units: tuple[Array, Array]) -> Array:
    """Of each row and target, in the units of the targets; of more than two classes together, (n, 1)."""
    if loss.name == "logistic" and y.shape[1] > 1:
        share = softmax(scores)[np.arange(len(y)), y.argmax(axis=1)]
        return -np.log(np.maximum(share, 1e-300))[:, None]
    center, unit = units
    return loss.value((scores - center) / unit, (y - center) / unit)
