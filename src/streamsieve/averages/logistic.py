"""Labels by the logistic loss on averages: a pass over the rows for each step of Newton's method.

Around a model whose margins are eta, the loss of a row with label t in {0, 1} is D (z - margin)^2 / 2 and a
constant, D = P (1 - P), z = eta + (t - P) / D, P = 1 / (1 + exp(-eta)): averages of the rows, weighted by D,
with target z hold all of it, and any extractor finds the next model (iteratively reweighted least squares).
More than two classes share their averages of the features, so that D is a number, the bound 1/2 of the
softmax's curvature (Boehning 1992): more passes, and the same model in the end.

Without selection, each step extracts the model anew. With k, the first passes fit all features (a ridge
where these are not determined); k of them are selected around that fit, as a selection around a few features
would not see the others; the last passes fit those k. A penalty by `alpha` is refused: averages divide by the
sum of the weights, so that its strength would change from pass to pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..losses import expit, softmax
from ..params import ParamError
from ..rows import Array, Rows
from ..state import State, check_array, optional, zeros
from .model import as_standardized, finish, inverse_scale, least_squares

if TYPE_CHECKING:
    from .method import AveragesMethod

PASSES = 30  # at most, of all kinds
FULL_PASSES = 8  # at most, of those that fit all features: where labels are separable there is no end to it
TOLERANCE = 1e-3  # a step that moves the weights by less than this share of their norm is the last
FLOOR = 0.01  # of D: it only shortens steps, the model at which they end is the same
UNAVAILABLE = {"decay": None, "half_life": None, "interactions": False, "se": "classical",
               "honest": None, "stability": None, "fdr": None, "alpha": None}  # fmt: skip


def check(method: AveragesMethod) -> None:
    """Raise ParamError for what reweighted averages cannot do."""
    for name, default in UNAVAILABLE.items():
        value = getattr(method, name, default)
        if value != default:
            raise ParamError(name, value, f"expected {default!r} beside loss='logistic'.")
    if method._by_folds:
        raise ParamError("criterion", "cv", "expected 'aic', 'bic' or 'ebic' beside loss='logistic'.")


def new_around(p: int, q: int) -> State:
    """The model around which rows are weighted; with `support`, the only features that are still fitted."""
    return State(coef=zeros(output=q, feature=p), intercept=zeros(output=q), passes=0, support=optional())


def check_around(around: Any, p: int, q: int) -> None:
    """Raise ValueError for a model out of a file that is none."""
    if not isinstance(around, State):
        raise ValueError("there is no model to weight rows around.")
    around.verify(new_around(p, q), "around.")
    if around.support is not None:
        check_array("support", around.support, np.int64, (len(around.support),))
        if len(around.support) and not 0 <= around.support.min() <= around.support.max() < p:
            raise ValueError(f"the support is not of {p} features.")


def reweighted(around: State, rows: Rows, y: Array, w: Array | None) -> tuple[Array, Array]:
    """Targets z and weights 4 D w of rows with labels -1, +1 by output; 4 D is 1 where nothing is known."""
    eta = rows.scores(np.ascontiguousarray(around.coef.T), around.intercept)
    weight = np.ones(len(eta)) if w is None else w
    if eta.shape[1] == 1:
        P = expit(eta)
        D = np.maximum(P * (1 - P), FLOOR)
        return eta + ((y > 0) - P) / D, weight * 4 * D[:, 0]
    P = softmax(eta)
    return eta + 2 * ((y > 0) - P), weight


def next_around(method: AveragesMethod) -> State | None:
    """The model around which the next pass weights rows; None where the last step was short."""
    from .extract.ols import ols

    around = method.state.around
    full = hasattr(method, "k") and around.support is None
    if full:
        model = ols(method.averages, fit_intercept=method.fit_intercept, standardize=method.standardize)
    else:
        model = method.model
    after = new_around(method.p, method.q)
    after.coef[:], after.intercept[:] = np.atleast_2d(model.coef), np.atleast_1d(model.intercept)
    after.passes, after.support = around.passes + 1, around.support
    s = as_standardized(method.averages, method.fit_intercept, method.standardize)
    scale = np.divide(1.0, inverse := inverse_scale(s), out=np.zeros(s.p), where=inverse > 0)
    moved = np.linalg.norm((after.coef - around.coef) * scale)
    settled = moved <= TOLERANCE * (10 if full else 1) * np.linalg.norm(after.coef * scale)
    if full and (settled or after.passes >= FULL_PASSES):
        chosen = method.select(method.averages)
        after.coef[:], after.intercept[:] = np.atleast_2d(chosen.coef), np.atleast_1d(chosen.intercept)
        after.support = np.flatnonzero(after.coef.any(axis=0))
        return after
    return None if settled or after.passes >= PASSES else after


def refit(method: AveragesMethod) -> Any:
    """The step on the features that were selected."""
    support = method.state.around.support
    s = as_standardized(method.averages, method.fit_intercept, method.standardize)
    beta = np.zeros((s.p, s.q))
    beta[support] = least_squares(s, support)[0]
    return finish(s, beta, type(method).__name__.lower())
