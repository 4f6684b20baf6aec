"""Stochastic feature selection with annealing, [Sun] chapter 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.method import Extent, Method
from ...core.params import Bool, Int, OneOf, Or, Param, ParamError, Real
from ...core.rows import Array, Rows
from ...core.state import State, optional
from . import steps
from .annealed import AnnealedModel
from .averages_refit import AveragesRefit
from .change import ChangeDetector
from .steps import check_shrink, scatter, step_rule

_FIRST = 4  # mini-batches to the first maturity where neither that nor the number of rows is known
_SHARE = 0.9  # of the rows, where their number is known; the rest is for the weights of what was chosen
_MOMENTS = {"plain": 0, "momentum": 1, "nesterov": 1, "adam": 2}


class SFSA(Method):
    """Gradient steps by mini-batch while features are removed on a schedule ([Sun] Algorithm 1).

    O(nnz) a row and O(p) memory; a feature that has been removed costs a look-up, one never seen nothing. The
    answer is the latest model that has matured; before the first has, the k largest weights so far. More than
    two classes are learned jointly, one against the rest, and share the k features.

    Notes
    -----
    For mini-batch t, with the gradient g of the mean loss over its rows (all at the same weights), ::

        beta <- beta - eta g,    then keep the M_t features with the largest sigma_j |beta_j|,
        M_t = k + (p - k) max(0, (T - t) / (t mu + T)),    T = maturity, mu = annealing

    (t and T less the warmup). A removed feature does not return. Ties go to the lower index.

    *The warmup*. Before the first feature is removed rows are learned one by one, by the steps of `SGD`: as
    many rows as a mini-batch has take weights farther than one step for all of them can.

    *The ladder* (Fig. 2.1). Models mature after T, 2 T, 4 T, ... mini-batches. Each keeps all features until
    the one before it has matured (longer with a longer `warmup`), so that one loses features at a time. Until
    the first of two loses features they are the same, and are learned once. A model that has matured answers,
    and goes on learning its k weights.

    *Rows in memory* ([Sun] ch. 6). `fit` makes shuffled passes, and features are removed over all of them
    with ``ladder=False`` and a maturity of E n / batch_size over E epochs.

    *Features that join* (`grow`, `learn_one`) are added to the models that are not mature; schedules count
    them from then on. A model that has matured keeps its k features, so that a newcomer reaches the answer
    with the next one, after at most twice the rows of the last; without `ladder` there is none.

    *The step* of a mini-batch, unless given: 1 / (L (Lambda + R^2 / b)), R^2 the mean squared norm of the
    rows over the features that remain, Lambda a bound of the largest eigenvalue of their second moments from
    products of two rows of each batch, L the curvature of the loss; of recent batches, and of the current one
    where it is larger. Steps grow as features are removed. While features are chosen, they stay so short that
    all batches so far count. With 'momentum' and 'nesterov' the gradient is an average with weights 0.9^age;
    'adam' is Adam with (0.9, 0.999), and its derived step has the size of the slopes, so that the units of y
    cancel. The penalty is outside of these averages in every variant: before a step all weights shrink by
    1 - eta alpha, as AdamW has it.

    *Restarts.* The mean loss of each batch is measured before it is learned, and standardised by those before
    it. A one-sided CUSUM test sums what exceeds one deviation, no batch counting more than four; a sum above
    12 is a change. A large change is found in 100 rows or so.

    *The refit* of a stream. Of k features running averages are cheap, and least squares is exact where
    gradient steps are not. They begin at maturity; until they have enough rows, the refit of the model that
    answered before serves.

    Differences from the paper: the warmup, since ranks of the first batches are noise (``warmup=0`` has
    none). Models of the ladder lose features one after the other (``ladder=False`` has one). With
    `standardize` also the steps are in units of the features (their root mean square; with a given `eta`,
    that of their values that are not 0); ``standardize="ranks"`` is Remark 1, whose sigma has the square root
    that its print forgets. Features never seen are removed before any that was. On rows with few values
    removal waits until a quarter of the features seen is due, unless `exact_schedule`. Several targets share
    the k features, by the norm of their weights.
    """

    k, eta, schedule, alpha = steps.K, steps.ETA, steps.SCHEDULE, steps.ALPHA
    maturity = Param(
        "auto",
        Or("auto", Int(1)),
        f"Mini-batches after which k features remain. 'auto' starts the ladder at {_SHARE:.0%} of the rows "
        f"in `fit`, which knows their number, else at {_FIRST}.",
        symbol="T",
    )
    ladder = Param(
        True,
        Bool(),
        "When a model has matured, let the next one mature after twice the batches: T, 2 T, 4 T, ... The "
        "latest that has matured answers. Without it there is one, and `maturity` must be given.",
    )
    annealing = Param(10.0, Real(0), "The larger, the sooner most features are removed.", symbol="mu")
    warmup = Param(
        0.5,
        Real(0, below=1),
        "Share of `maturity` before the first feature is removed: early weights are noise, and removed "
        "features never return. 0 is the schedule of the paper; models of a ladder after the first have at "
        "least 0.5.",
    )
    exact_schedule = Param(
        False,
        Bool(),
        "If True, keep M_t features after every batch, as printed, which costs O(p) a batch. If False, and a "
        "batch has less than twice as many values as there are features with a weight, remove features when "
        "a quarter of them is due, which makes a removal O(1); at maturity there are k.",
    )
    batch_size = Param(25, Int(1), "Rows of a mini-batch.")
    variant = Param(
        "plain",
        OneOf("plain", "momentum", "nesterov", "adam"),
        "How a gradient becomes a step. All but 'plain' move every weight with every batch, which costs time "
        "on wide sparse rows.",
    )
    restart = Param(
        False,
        Bool(),
        "Begin a new ladder when the loss of the answering model rises out of its past range (see Notes); "
        "the old answer serves until a new one has matured.",
    )
    refit = Param(
        True,
        Bool(),
        f"{steps.REFIT.text} A stream with the squared loss too: running averages of the k features give the "
        "ridge solution on the rows since maturity, once these are more than twice as many as k.",
    )
    standardize = Param(
        True,
        Or(Bool(), "ranks"),
        f"{steps.STANDARDIZE.text} 'ranks': the same, but for ranks by sigma_j |beta_j| (Remark 1).",
    )
    fit_intercept, grow = steps.FIT_INTERCEPT, steps.GROW
    max_iter, tol, shuffle, random_state = steps.MAX_ITER, steps.TOL, steps.SHUFFLE, steps.RANDOM_STATE

    attributes = {
        "current_maturity": "int: Mini-batches after which the latest model has matured, 0 while none has.",
        "n_restarts": "int: Changes that `restart` has found.",
    }

    prepare = "centre"

    def check(self) -> None:
        check_shrink(self)
        if not self.ladder and self.maturity == "auto":
            raise ParamError(
                "maturity", "auto", "with ladder=False a single model needs its maturity, in mini-batches."
            )

    _planned_rows: float = 0  # where `fit` knows how many will come

    def start(self, p: int, q: int) -> State:
        return State(
            growing=self._new_model(p, q, self._first_maturity(self._planned_rows)),  # the next to mature
            following=optional(),  # with a ladder: the one after it, from where `growing` loses features
            answer=optional(),
            averages=optional(),  # of the features of the answer
            previous=optional(),  # those of the answer before, until there are enough rows
            detector=ChangeDetector() if self.restart else None,
            n_restarts=0,
        )

    def set_intercept(self, constant: Array) -> None:
        self.state.growing.bias[0] = constant

    def plan(self, extent: Extent) -> None:
        self._planned_rows = extent.rows

    def _first_maturity(self, n_rows: float) -> int:
        if self.maturity != "auto":
            return int(self.maturity)
        return max(_FIRST, int(_SHARE * n_rows / self.batch_size))

    def _new_model(self, p: int, q: int, maturity: int) -> AnnealedModel:
        return AnnealedModel(p, q, maturity, self.warmup * maturity, _MOMENTS[self.variant])

    def check_state(self) -> None:
        s = self.state
        if s.growing is s.answer is None:
            raise ValueError("there is no model to answer.")
        if (s.detector is not None) != self.restart or s.n_restarts < 0:
            raise ValueError("changes are looked for without `restart`, or the other way round.")
        for model in (s.growing, s.following, s.answer):
            if model is not None:
                if not isinstance(model, AnnealedModel):
                    raise ValueError(f"a model is {type(model).__name__}, not AnnealedModel.")
                model.check(self._new_model(self.p, self.q, 1))
                if model.clock["filled"] >= self.batch_size:
                    raise ValueError(f"{model.clock['filled']} rows are in a batch of {self.batch_size}.")
        if s.growing is not None and s.growing.mature:
            raise ValueError("a model has matured and does not answer.")
        if s.following is not None and (s.growing is None or s.following.batches > s.following.begin):
            raise ValueError("a model loses features before the one before it has matured.")
        if s.answer is not None and not s.answer.mature:
            raise ValueError("the model that answers has not matured.")
        for averages in (s.averages, s.previous):
            if averages is not None:
                if s.answer is None or not isinstance(averages, AveragesRefit):
                    raise ValueError("there is a refit of no model.")
                averages.check(self.p, self.q)

    def changed_by(self, rows: Rows) -> None:  # noqa: ARG002
        return None  # the end of a batch removes features that its rows do not have

    def in_one_step(self, rows: Rows) -> bool:  # noqa: ARG002
        return False

    # ---------------------------------------------------------------- learning

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s, n, rule = self.state, len(rows), self._rule()
        at = ahead = 0  # rows learned by the models that are not mature, and by the answering one
        while at < n:
            self._begin_following()
            stop = min(n, at + self._rows_to_event())
            if s.answer is not None and ahead < stop:
                begun = ahead
                ahead, change = self._follow(rows, y, w, ahead, stop, rule)
                if ahead < stop:
                    return ahead
                if change is not None:
                    self._restart()
                    at = begun + change
                    continue
            part, weights = slice(at, stop), None if w is None else w[at:stop]
            for model in (s.growing, s.following):
                if model is not None:
                    options = rule | {"choosing": True}
                    done = model.learn(rows[part], self.loss_function, y[part], weights, options)
                    if done < stop - at:
                        return at + int(done)
            if s.growing is not None and s.growing.mature:
                self._promote()
                ahead = stop
            at = stop
        return n

    def _begin_following(self) -> None:
        """Before the growing model loses its first feature, let the next one of the ladder go on from it."""
        s = self.state
        if self.ladder and s.following is None and s.growing.batches >= int(s.growing.begin):
            maturity = 2 * s.growing.maturity
            s.following = s.growing.maturing(maturity, max(self.warmup * maturity, s.growing.maturity))

    def _rows_to_event(self) -> int:
        """Rows until a model of the ladder begins, or one matures."""
        s = self.state
        if s.growing is None:
            return 2**62
        begins = self.ladder and s.following is None
        return int(s.growing.rows_to(int(s.growing.begin) if begins else s.growing.maturity, self.batch_size))

    def _promote(self) -> None:
        """The model that has matured answers; the next one matures after twice the batches."""
        s = self.state
        s.answer, s.growing, s.following = s.growing, s.following, None
        s.answer.reserve(0)
        if self.restart:
            s.detector = ChangeDetector()
        if self.refit and self.loss == "squared":
            if s.averages is not None and s.averages.enough:
                s.previous = s.averages
            s.averages = AveragesRefit(s.answer.features, self.q)

    def _restart(self) -> None:
        """Begin anew after a change; the old model answers until a new one has matured."""
        s = self.state
        s.growing, s.following = self._new_model(self.p, self.q, self._first_maturity(0)), None
        s.n_restarts += 1

    def _rule(self) -> dict[str, Any]:
        return step_rule(self) | {
            "k": self.k,
            "annealing": self.annealing,
            "batch_size": self.batch_size,
            "variant": self.variant,
            "units": self.standardize is True,
            "deviations": bool(self.standardize),
            "exact": self.exact_schedule,
            "choosing": False,
            "losses": None,
        }

    def _follow(
        self, rows: Rows, y: Array, w: Array | None, a: int, b: int, rule: dict[str, Any]
    ) -> tuple[int, int | None]:
        """Let the answering model learn rows a to b: how far it got, and after how many it found a change."""
        s = self.state
        part, targets, weights = rows[a:b], y[a:b], None if w is None else w[a:b]
        filled = int(s.answer.clock["filled"])
        ended = (filled + b - a) // self.batch_size
        losses = np.empty(ended + 1) if s.detector is not None else None
        rule = rule if losses is None else rule | {"losses": losses}
        done = s.answer.learn(part, self.loss_function, targets, weights, rule)
        if done < b - a:
            return a + done, None
        if s.averages is not None:
            s.averages.update(part, targets, weights)
            if s.averages.enough:
                s.previous = None
        if losses is not None and s.detector.active:
            batch = s.detector.update(losses[:ended])
            if batch is not None:
                return b, (batch + 1) * self.batch_size - filled
        return b, None

    # ---------------------------------------------------------------- reading

    def weights(self) -> tuple[Array, Array]:
        s = self.state
        averages = s.previous or s.averages
        if averages is not None and averages.enough:
            weight, intercept = averages.solve(self.fit_intercept)
            return scatter(averages.features, weight, self.p), intercept
        model = s.answer or s.growing
        if model.batches == 0 and model.clock["filled"] > 0:
            model = model.ended(self.loss_function, self._rule())
        features, weight, intercept = model.largest(self.k, bool(self.standardize))
        return scatter(features, weight, self.p), intercept

    @property
    def current_maturity(self) -> int:
        """Mini-batches after which the latest model has matured, 0 while none has."""
        return 0 if self.state.answer is None else int(self.state.answer.maturity)

    @property
    def n_restarts(self) -> int:
        """Changes that `restart` has found."""
        return int(self.state.n_restarts)
