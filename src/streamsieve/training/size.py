"""`k="auto"` of learners: the size that `criterion` prefers, along the ranking of a model."""

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
from ..statistics.criteria import INFORMATION
from ..statistics.folds import FOLDS, MANY, assign, fewest, sizes_to
from .model import Model
from .passes import fit_passes
from .refit import Refit

FALLBACK = 10  # features if there are too few rows for folds

Make = Callable[[int], Model]  # returns an unfitted model with k features


def check_constraints(method: Method) -> None:
    """Raise ParamError if there are groups or features to keep."""
    if Constraints.of(method).given:
        raise ParamError("k", "auto", "with keep or groups pass a number.")


def choose_size(make: Make, criterion: str, rows: Rows, y: Array, w: Array | None) -> int:
    """The size that a criterion prefers (see `statistics/criteria.py`).

    By held-out loss: for each of five folds, the method selects the largest allowed number of features on the
    other rows, and the sizes along its ranking are refitted and compared on the fold. The size is 1 if no
    model predicts better than a constant.
    """
    if criterion in INFORMATION:
        return least_criterion(make(min(MOST_CHOSEN, rows.p)), criterion, rows, y, w)
    fold = folds_of(y)
    held = [fold == j for j in range(FOLDS)]
    held = [some for some in held if some.any() and not some.all()][: 1 if len(rows) > MANY else FOLDS]
    top = min(MOST_CHOSEN, rows.p, len(rows) - max((int(some.sum()) for some in held), default=len(rows)))
    if not held or top < 1:
        return min(FALLBACK, rows.p)
    return max(1, fewest(curve(make, top, rows, y, w, held), errors=criterion == "1se"))


def least_criterion(model: Model, criterion: str, rows: Rows, y: Array, w: Array | None) -> int:
    """The size of least AIC, BIC or EBIC along a ranking: best of a grid, then a local search."""
    _, rows, y = fit_passes(model, rows, y, w)
    n, q, loss = len(rows), y.shape[1], model.method.loss_function.for_refit()
    ranking, units = ranked(model, rows, y)[: max(1, n // 3)], units_of(model, y)  # more would overfit
    if not len(ranking):
        return 1

    @cache
    def value(size: int) -> float:
        refit(model, ranking[:size], rows, y, w)
        scores = model.scores(rows)
        left = 2 * np.average(losses(loss, scores, y, units), axis=0, weights=w)
        deviance = criteria.gaussian_deviance(left, n) if loss.has_units else n * left.sum()
        return float(criteria.value(criterion, deviance, size * q, n, size, rows.p))

    best = min(sizes_to(len(ranking)), key=value)
    step = (best + 3) // 4
    while step:
        beside = [size for size in (best - step, best + step) if 1 <= size <= len(ranking)]
        better = min((best, *beside), key=value)
        best, step = better, step if better != best else step // 2
    return best


def curve(
    make: Make, top: int, rows: Rows, y: Array, w: Array | None, held: list[NDArray[np.bool_]]
) -> dict[int, Array]:
    """Held-out losses of all rows by the number of features; size 0 is the best constant."""
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
    """Replace the weights of the model by a refit on these features only."""
    stage = Refit(model.method, np.sort(features), len(features))
    stage.update(rows, y, w)
    model.refitted = stage.weights() or model.refitted


def units_of(model: Model, y: Array) -> tuple[Array, Array]:
    """Centre and scale of the targets for the loss of the model."""
    return model.method.loss_function.units(y)


def folds_of(y: Array) -> NDArray[np.uint8]:
    """The fold of each row, with balanced classes."""
    labels = np.isin(y, (-1.0, 1.0)).all()
    code = (y @ (2.0 ** np.arange(y.shape[1]))) if labels and y.shape[1] < 50 else np.zeros(len(y))
    strata = np.unique(code, return_inverse=True)[1]
    return assign(strata, np.zeros(strata.max(initial=0) + 1, dtype=np.int64))


def ranked(model: Model, rows: Rows, y: Array) -> NDArray[np.intp]:
    """The features of a model by decreasing standardized weight."""
    coef = model.coefficients()[0] / units_of(model, y)[1][:, None]
    features = np.flatnonzero(coef.any(axis=0))
    values = rows.columns(features).matrix().astype(np.float64)
    mean = np.asarray(values.mean(axis=0)).ravel()
    square = np.asarray((values * values).mean(axis=0)).ravel()
    strength = squares(coef[:, features].T) * np.maximum(square - mean**2, 0.0)
    return features[np.argsort(-strength, kind="stable")]


def losses(loss: Loss, scores: Array, y: Array, units: tuple[Array, Array]) -> Array:
    """Losses of each row and target, on scaled targets; (n, 1) for more than two classes."""
    if loss.name == "logistic" and y.shape[1] > 1:
        share = softmax(scores)[np.arange(len(y)), y.argmax(axis=1)]
        return -np.log(np.maximum(share, 1e-300))[:, None]
    center, unit = units
    return loss.value((scores - center) / unit, (y - center) / unit)
