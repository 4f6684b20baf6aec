"""What the penalised extractors share: parameters, the path over alpha, the search for k, the model."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...core.params import Bool, Or, Param, Real
from ...core.rows import Array
from ...statistics.constraints import PARAMS
from ...statistics.fold_averages import N_FOLDS
from ...statistics.group_descent import GroupSolver
from ...statistics.linear_model import LinearModel, finish, strongest, unexplained
from ...statistics.newton import Solver, solve
from ...statistics.penalties import Penalty
from ...statistics.standardize import Standardized, n_units, selectable
from .method import CRITERION, HONEST, STABILITY, AveragesMethod, K

if TYPE_CHECKING:
    from ...statistics.running import RunningAverages

RATIO = 1e-4 ** (1 / 199)  # of one alpha to the next: the papers' 200 on an exponential grid
LAST = 1e-4  # of alpha_max, where a walk of a folded concave penalty ends
GAIN, PATIENCE = 1e-3, 5  # it ends after this many non-convex points without a gain of `CLEARER`
CLEARER = 0.05  # share of what is unexplained
VANISHING = 1e-8  # of alpha_max, where every other walk ends

ALPHA = Param(
    None,
    Or(Real(0), None),
    "Strength of the penalty on standardised features, lambda of [Sun] eq. (3.9). Pass alpha or k, not "
    "both. With k, the penalty is decreased until the largest model of at most k features is found. For MCP "
    "and SCAD, it is decreased further if the k strongest features of a larger model fit clearly better.",
    live=True,
)
REFIT = Param(
    True,
    Bool(),
    "Whether to refit the selected features by least squares. With fewer than two rows per feature, the "
    "refit has a ridge.",
    live=True,
)

SOURCE = """
averages : RunningAverages or Standardized
    The latter already determines `fit_intercept` and `standardize`.
k : int in [0, p] or None, default=None
    Follow the path from the empty model to the largest support of at most k features; for a folded concave
    penalty (MCP, SCAD) beyond it, if the k strongest of a larger support fit clearly better. With several
    targets the features of all of them count together. Exactly one of `k` and `alpha` is needed.
alpha : float >= 0 or None, default=None
    Penalty lambda of eq. (3.9), in units of the target per deviation of a feature.
"""
ANSWER = """
refit : bool, default=True
    Fit the selected features by least squares, as the last line of Algorithm 5 does; with fewer than two rows
    per feature with a ridge, see `olsth`.
fit_intercept, standardize : bool, default=True
    See `streamsieve.statistics.standardize.standardize`.
**constraints
    `keep`, `penalty_factor`, `positive`, `bounds`, `groups`, `group_categories`, as in the estimators.

Returns
-------
LinearModel
    With ``info["violation"]``, the violation of the optimality conditions in standardised units.
"""

State = list[tuple[Array, Array]]  # weights and gradient of every target


class Walk:
    """One solver per target, moved along alpha together."""

    def __init__(self, s: Standardized, penalties: Sequence[Penalty]) -> None:
        self.s = s
        self.solvers: list[Solver | GroupSolver] = [
            Solver(s.R, s.r[:, t], s.usable, penalty)
            if s.group is None
            else GroupSolver(s.R, s.r[:, t], s.usable, penalty, s.group)
            for t, penalty in enumerate(penalties)
        ]

    def alpha_max(self) -> float:
        return max(solver.alpha_max() for solver in self.solvers)

    def solve(self, alpha: float) -> int:
        """Move to alpha; returns the number of features, or groups, in any target's support."""
        for solver in self.solvers:
            solve(solver, alpha)
        return self.size

    @property
    def size(self) -> int:
        return n_units(self.s, np.flatnonzero(np.any([solver.b for solver in self.solvers], axis=0)))

    @property
    def hard(self) -> bool:
        """Whether the current solution took more than Newton steps."""
        return any(solver.hard for solver in self.solvers)

    def n_free(self, alpha: float) -> int:
        """Number of features, or groups, whose weights are so large that the penalty does not shrink them."""
        free = np.concatenate([solver.free(alpha) for solver in self.solvers])
        return n_units(self.s, np.unique(free))

    @property
    def beta(self) -> Array:
        return np.stack([solver.b for solver in self.solvers], axis=1)

    @property
    def state(self) -> State:
        return [(solver.b, solver.g) for solver in self.solvers]

    @state.setter
    def state(self, state: State) -> None:
        for solver, (b, g) in zip(self.solvers, state):
            solver.b, solver.g = b, g

    @property
    def info(self) -> dict[str, Any]:
        return {
            "violation": max(solver.violation for solver in self.solvers),
            "steps": sum(solver.steps for solver in self.solvers),
            "sweeps": sum(solver.sweeps for solver in self.solvers),
        }


def grid(start: float, stop: float) -> Iterator[float]:
    """Descending alphas from start to stop, at least as dense as the papers'; stop may be zero."""
    low = max(stop, VANISHING * start)
    if start > low:
        steps = math.ceil(math.log(low / start) / math.log(RATIO))
        yield from np.geomspace(start, low, steps + 1)[:-1].tolist()
    yield stop


def walk_to_alpha(walk: Walk, alpha: Array) -> None:
    """Move every target down the path to its own alpha."""
    for solver, end in zip(walk.solvers, alpha):
        if math.isfinite(end):  # a constant target has no alpha and no weights
            for step in grid(solver.alpha_max(), end):
                solve(solver, step)


def walk_to_k(walk: Walk, k: int) -> tuple[float, Array]:
    """The largest support of at most k features on the path: its alpha and weights.

    The path is followed down to the first alpha with more than k features; the last step is then bisected.
    """
    start = walk.alpha_max()
    best = (0, start, walk.beta)
    if k == 0 or start == 0:
        return best[1:]
    high, state = start, walk.state
    for alpha in grid(start, VANISHING * start):
        size = walk.solve(alpha)
        if size > k:
            return max(best, bisect(walk, k, high, alpha, state), key=lambda found: found[0])[1:]
        high, state = alpha, walk.state
        if size >= best[0]:
            best = (size, alpha, walk.beta)
        if size == k:
            break
    return best[1:]


def walk_folded(walk: Walk, k: int) -> tuple[float, Array]:
    """The largest support of at most k features, or k of a larger one that fit clearly better.

    The support of a folded concave penalty exceeds k while the penalty acts like the lasso, and shrinks when
    the true features are beyond the penalty and displace the wrong ones; it returns to exactly k only by
    chance. So the path is followed until k features are beyond the penalty. Among supports of at most k the
    largest is taken, the last of equal ones. A larger support is judged by the least squares fit of its k
    strongest features, which must leave `CLEARER` less variance unexplained. Where the path is no longer
    locally convex (Breheny and Huang 2011), solutions cost most and help least: there the search ends after
    `PATIENCE` points without a gain.
    """
    s, start = walk.s, walk.alpha_max()
    within = (0, start, walk.beta)
    beyond = (math.inf, start, walk.beta)
    if k == 0 or start == 0:
        return within[1:]
    high: float | None = start
    state, before, idle = walk.state, math.inf, 0
    for alpha in grid(start, LAST * start):
        size = walk.solve(alpha)
        beta = walk.beta
        if size <= k:
            high, state = alpha, walk.state
            if size >= within[0]:
                within = (size, alpha, beta)
        else:
            if high is not None:  # the step that exceeded k
                after = walk.state
                within = max(within, bisect(walk, k, high, alpha, state), key=lambda found: found[0])
                walk.state, high = after, None
            left_out = np.ones(len(beta), dtype=bool)
            left_out[strongest(s, beta, k)] = False
            beta[left_out] = 0.0
            beyond = min(beyond, (unexplained(s, support_of(beta)), alpha, beta), key=lambda found: found[0])
            if beyond[0] < (1 - GAIN) * before:
                before, idle = beyond[0], 0
            elif walk.hard:
                idle += 1
        if idle == PATIENCE or walk.n_free(alpha) >= k:
            break
    clearly = beyond[0] < (1 - CLEARER) * unexplained(s, support_of(within[2]))
    return (beyond if clearly else within)[1:]


def support_of(beta: Array) -> Any:
    return np.flatnonzero(beta.any(axis=1))


def bisect(walk: Walk, k: int, high: float, low: float, state: State) -> tuple[int, float, Array]:
    """Between alpha `high` with at most k features (and that state), and `low` with more."""
    walk.state = state
    best = (walk.size, high, walk.beta)
    while best[0] < k and high - low > 1e-9 * high:
        walk.state = state
        middle = math.sqrt(high * low)
        size = walk.solve(middle)
        if size > k:
            low = middle
        else:
            high, state = middle, walk.state
            if size >= best[0]:
                best = (size, middle, walk.beta)
    return best


def sparse(walk: Walk) -> Any:
    """The weights (p, q) from their parts, because converting an array costs as much as a Newton step."""
    rows = [np.flatnonzero(solver.b) for solver in walk.solvers]
    data = np.concatenate([solver.b[at] for solver, at in zip(walk.solvers, rows)])
    ends = np.cumsum([0, *map(len, rows)])
    from scipy.sparse import csc_array

    return csc_array((data, np.concatenate(rows), ends), shape=(len(walk.solvers[0].b), len(rows)))


class PenalizedMethod(AveragesMethod):
    """Base of the methods with a penalty, whose models follow a path of its strength alpha.

    A method provides `penalties`, and names its own parameters in `options`.
    """

    k, alpha, criterion, n_folds, refit = K, ALPHA, CRITERION, N_FOLDS, REFIT
    honest, stability = HONEST, STABILITY
    penalized: ClassVar[bool] = True

    def penalties(self, s: Standardized) -> tuple[Sequence[Penalty], dict[str, Any]]:
        """One penalty per target, and what the `info` of the model says about them."""
        raise NotImplementedError(f"{type(self).__name__} must define penalties")  # pragma: no cover

    def extract(self, s: Standardized) -> LinearModel:
        penalties, info = self.penalties(s)
        walk = Walk(s, penalties)
        if self.alpha is None:
            search = walk_to_k if penalties[0].convex else walk_folded
            alpha, beta = search(walk, selectable(s, min(self.k, s.p)))
            used = alpha * s.y_scale
        else:
            used = np.full(s.q, self.alpha)
            walk_to_alpha(walk, np.divide(used, s.y_scale, out=np.full(s.q, np.inf), where=s.y_scale > 0))
            beta = walk.beta
        name, shown = type(self).__name__.lower(), float(used[0]) if s.q == 1 else used
        return finish(s, beta, name, refit=self.refit, alpha=shown, **info, **walk.info)

    def solutions(
        self,
        s: Standardized,
        *,
        n_alphas: int = 100,
        eps: float = 1e-3,
        alphas: ArrayLike | None = None,
        max_features: int | None = None,
    ) -> tuple[Array, list[Any]]:
        """Solutions along a decreasing sequence of penalties, each started from the one before.

        Costs a few Newton steps per alpha, each O(pm) for m features in the support, and O(m^2) for every
        feature that enters or leaves.

        Parameters
        ----------
        s : Standardized
        n_alphas : int >= 1, default=100
            Length of the geometric grid that begins at the smallest alpha without any feature.
        eps : float in (0, 1), default=1e-3
            Ratio of the last alpha to the first.
        alphas : array-like or None, default=None
            Alphas to use instead of a grid, in the standardised units of `s` (targets of variance 1). They
            are used in descending order.
        max_features : int or None, default=None
            Stop before the first alpha with more features (or groups) than this, in the union over targets.

        Returns
        -------
        alphas : ndarray of shape (L,)
            Descending, in standardised units; a target's own are these times ``s.y_scale``.
        betas : list of L sparse arrays of shape (p, q)
            Standardised weights.
        """
        walk = Walk(s, self.penalties(s)[0])
        if alphas is not None:
            used = np.sort(np.asarray(alphas, dtype=np.float64).ravel())[::-1].copy()
            if not (np.isfinite(used).all() and (used >= 0).all()):
                raise ValueError("alphas must be finite and at least 0.")
        else:
            if n_alphas < 1 or not 0 < eps < 1:
                raise ValueError(f"Expected n_alphas >= 1 and 0 < eps < 1, got {n_alphas} and {eps}.")
            start = walk.alpha_max()
            # if nothing is correlated with the target, the only model is the empty one
            used = np.geomspace(start, eps * start, n_alphas) if start > 0 else np.zeros(1)
        betas = []
        for alpha in used:
            size = walk.solve(float(alpha))
            if max_features is not None and size > max_features:
                break
            betas.append(sparse(walk))
        return used[: len(betas)], betas


def limits(s: Standardized) -> list[dict[str, Any]]:
    """Penalty factors and bounds of the weights of each target, as a `Penalty` takes them."""
    boxes = [None if s.box is None else (s.box[0][:, t], s.box[1][:, t]) for t in range(s.q)]
    return [{"factor": s.factor, "box": box} for box in boxes]


# ---------------------------------------------------------------- extractors as functions


class Options(TypedDict, total=False):
    """Parameters of every penalised extractor; the last six are constraints."""

    alpha: float | None
    refit: bool
    fit_intercept: bool
    standardize: bool
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool


def extract(
    kind: type[PenalizedMethod], averages: RunningAverages | Standardized, k: int | None, **options: Any
) -> LinearModel:
    """The model of a method with k features, or with the penalty `alpha` among the options."""
    alpha = options.get("alpha")
    if (k is None) == (alpha is None):
        raise ValueError(f"Pass either k or alpha, and not both; got k={k}, alpha={alpha}.")
    method = kind(k="auto" if k is None else k, **options)
    s = method.standardized(averages, method.fit_intercept, method.standardize)
    if k is not None and k > s.p:
        raise ValueError(f"k={k} is out of range for {s.p} features; pass 0 <= k <= {s.p}.")
    return method.extract(s)


Extractor = TypeVar("Extractor", bound=Callable[..., LinearModel])


def documented(function: Extractor) -> Extractor:
    """Show the shared parameters in signature and docstring, where they are {source} and {answer}."""
    if function.__doc__:  # not under -OO
        text = inspect.cleandoc(function.__doc__)
        text = text.replace("{source}", SOURCE.strip()).replace("{answer}", ANSWER.strip())
        function.__doc__ = text + "\n"
    signature = inspect.signature(function)
    *own, options = signature.parameters.values()
    shared = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=param.default,
            annotation=Options.__annotations__[name].__forward_arg__,
        )
        for name, param in ((name, PenalizedMethod.params[name]) for name in Options.__annotations__)
        if name not in PARAMS
    ]
    constraints = options.replace(name="constraints", annotation="Any")
    function.__signature__ = signature.replace(parameters=[*own, *shared, constraints])  # type: ignore[attr-defined]
    return function
