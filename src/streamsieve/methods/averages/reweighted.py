"""Losses other than the squared one on averages: a pass over the rows for each step of Newton's method.

Around a model whose margins are eta, the loss of a row is approximated by D (z - margin)^2 / 2 plus a
constant, with D its second derivative there (or that of a parabola above it) and z = eta - loss' / D:
averages of the rows, weighted by D and with target z, contain all of it, and any extractor finds the next
model (iteratively reweighted least squares). The first pass is least squares. Several targets share their
averages of the features, so that D is one number: the largest over the targets, or for more than two classes
the bound 1/2 of the softmax's curvature (Boehning 1992). This takes more passes and leads to the same model.

Losses that depend on the unit of the targets use the standard deviation of the residuals: first of least
squares, then by Huber's proposal 2 in each pass, where residuals beyond 1.345 deviations are clipped to
these.

Without selection, each pass extracts the model again. With k, the first passes fit all features (with a ridge
if these are not determined); then k features are selected around that fit, because a selection around a few
features would miss the others; the last passes fit those k. A penalty by `alpha` is refused: averages divide
by the sum of the weights, so that its strength would change from pass to pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.losses import Loss, or_one, softmax
from ...core.params import ParamError
from ...core.rows import Array, Rows
from ...core.state import State, array, check_array, check_finite, optional, zeros
from ...statistics.least_squares import ols
from ...statistics.linear_model import as_standardized, finish, inverse_scale, least_squares
from ...statistics.standardize import Standardized

if TYPE_CHECKING:
    from .method import AveragesMethod

PASSES = 30  # at most, of all kinds
FULL_PASSES = 8  # maximum number of passes that fit all features: with separable labels they would never end
TOLERANCE = 1e-3  # a step that moves the weights by less than this share of their norm is the last
FLOOR = 0.04  # of D: it only shortens steps, the model at which they end is the same
FAR = 1.345  # deviations beyond which a residual counts as this one
FAR_SQUARE = 0.7102  # mean of min(r, FAR)^2 for normal residuals of deviation 1
CLOSE = 0.05  # change of the unit of the targets, in its logarithm, that is small enough to end the passes
SHIFT = 0.01  # and of the mean margin, in that unit
LEAST = 1e-9  # smallest unit of the targets, in their deviations, if the fit is perfect
UNAVAILABLE = {"decay": None, "half_life": None, "interactions": False, "se": "classical",
               "honest": None, "stability": None, "fdr": None, "alpha": None}  # fmt: skip


def check(method: AveragesMethod) -> None:
    """Raise ParamError for options that reweighted averages do not support."""
    for name, default in UNAVAILABLE.items():
        value = getattr(method, name, default)
        if value != default:
            raise ParamError(name, value, f"expected {default!r} with loss={method.loss!r}.")
    if method._by_folds:
        raise ParamError(
            "criterion", method.criterion, f"expected 'aic', 'bic' or 'ebic' with loss={method.loss!r}."
        )


def new_around(p: int, q: int) -> State:
    """The model around which rows are weighted; with `support`, the only features that are still fitted."""
    return State(
        coef=zeros(output=q, feature=p),
        intercept=zeros(output=q),
        spread=array(np.ones(q), "output"),  # unit of the targets in the loss
        unit=1.0,  # second derivative of a row that counts as one
        weight=0.0,  # of the rows of this pass, and sums over them: second derivatives, squared residuals
        bends=0.0,
        squares=zeros(output=q),
        passes=0,
        support=optional(),
    )


def check_around(around: Any, p: int, q: int) -> None:
    """Raise ValueError for an invalid model from a file."""
    if not isinstance(around, State):
        raise ValueError("the model around which rows are weighted is missing.")
    around.verify(new_around(p, q), "around.")
    check_finite(around, "around.")
    if not ((around.spread > 0).all() and around.unit > 0 and (around.squares >= 0).all()):
        raise ValueError("a unit of the model to weight rows around is not above 0.")
    if not min(around.weight, around.bends) >= 0:
        raise ValueError("a sum over the rows of a pass is below 0.")
    if around.support is not None:
        check_array("support", around.support, np.int64, (len(around.support),))
        if len(around.support) and not 0 <= around.support.min() <= around.support.max() < p:
            raise ValueError(f"the support is not of {p} features.")


@dataclass(frozen=True)
class Reweighted:
    """Targets z (n, q) and weights D w (n,) of rows, and their contributions to the sums of a pass."""

    targets: Array
    weights: Array
    weight: float = 0.0
    bends: float = 0.0
    squares: Any = 0.0

    def count(self, around: State) -> None:
        """Record that the rows have been learned."""
        around.weight += self.weight
        around.bends += self.bends
        around.squares += self.squares


def reweighted(loss: Loss, around: State, rows: Rows, y: Array, w: Array | None) -> Reweighted:
    """Rows as weighted least squares uses them; D is in units of `around`."""
    weight = np.ones(len(y)) if w is None else w
    joint = loss.name == "logistic" and y.shape[1] > 1
    if around.passes == 0 and not joint:
        return Reweighted(loss.first_targets(y), weight)
    eta = rows.scores(np.ascontiguousarray(around.coef.T), around.intercept)
    if joint:
        return Reweighted(eta + 2 * ((y > 0) - softmax(eta)), weight)
    margin, target = eta / around.spread, y / around.spread
    D = np.maximum(loss.parabola(margin, target).max(axis=1), FLOOR * around.unit)
    z = eta - around.spread * loss.derivative(margin, target) / D[:, None]
    squares = weight @ np.minimum(np.square(margin - target), FAR**2)
    return Reweighted(z, weight * (D / around.unit), float(weight.sum()), float(weight @ D), squares)


def next_around(method: AveragesMethod) -> State | None:
    """The model around which the next pass weights rows; None if the last step was short."""
    around = method.state.around
    full = "k" in method.params and around.support is None
    if full:
        model = ols(method.averages, fit_intercept=method.fit_intercept, standardize=method.standardize)
    else:
        model = method.model
    after = new_around(method.p, method.q)
    after.coef[:], after.intercept[:] = np.atleast_2d(model.coef), np.atleast_1d(model.intercept)
    after.passes, after.support = around.passes + 1, around.support
    s = as_standardized(method.averages, method.fit_intercept, method.standardize)
    after.spread[:], after.unit = units(method.loss_function, around, s, np.atleast_1d(model.r2))
    scale = np.divide(1.0, inverse := inverse_scale(s), out=np.zeros(s.p), where=inverse > 0)
    moved = np.linalg.norm((after.coef - around.coef) * scale)
    settled = moved <= TOLERANCE * (10 if full else 1) * np.linalg.norm(after.coef * scale)
    if not np.isfinite(method.loss_function.curvature):  # weights may rest before a huge count is fitted
        settled &= bool(abs(np.log(after.unit / around.unit)) < CLOSE)
    if method.loss_function.needs_units:  # unit and mean margin converge on their own
        shift = after.intercept - around.intercept + (after.coef - around.coef) @ s.x_mean
        settled &= bool((np.abs(shift) < SHIFT * after.spread).all())
        settled &= bool((np.abs(np.log(after.spread / around.spread)) < CLOSE).all())
    # a unit inflated by one target about halves in each pass; labels have no unit
    most = PASSES - FULL_PASSES if method.loss_function.needs_units else FULL_PASSES
    if full and (settled or after.passes >= most):
        chosen = method.select(method.averages)
        after.coef[:], after.intercept[:] = np.atleast_2d(chosen.coef), np.atleast_1d(chosen.intercept)
        after.support = np.flatnonzero(after.coef.any(axis=0))
        return after
    return None if settled or after.passes >= PASSES else after


def units(loss: Loss, around: State, s: Standardized, r2: Array) -> tuple[Array, float]:
    """The unit of the targets in the loss, and the second derivative of a row that counts as one.

    That is the bound of the second derivative or, if it has none, its mean.
    """
    first, spread, unit = around.passes == 0, np.ones(s.q), loss.curvature
    if loss.needs_units:
        left = 1.0 - r2 if first else around.squares / around.weight / FAR_SQUARE
        spread = (s.y_scale if first else around.spread) * np.sqrt(left)
        spread = or_one(np.maximum(spread, LEAST * s.y_scale))
    if not first and (loss.corners or not np.isfinite(unit)):
        unit = around.bends / around.weight
    elif not np.isfinite(unit):
        unit = float(loss.bend(s.y_mean, s.y_mean).max())  # at the mean margin
    return spread, unit


def refit(method: AveragesMethod) -> Any:
    """The step on the features that were selected."""
    support = method.state.around.support
    s = as_standardized(method.averages, method.fit_intercept, method.standardize)
    beta = np.zeros((s.p, s.q))
    beta[support] = least_squares(s, support)[0]
    return finish(s, beta, type(method).__name__.lower())
