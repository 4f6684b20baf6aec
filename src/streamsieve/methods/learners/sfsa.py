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
_SPARE = 2  # times k features that annealing leaves: the candidates, of which the k best are the answer
_CANDIDATE_ROWS = 8  # times k rows that the candidates learn alone, or a quarter of those since the warmup
_MOMENTS = {"plain": 0, "momentum": 1, "nesterov": 1, "adam": 2}


class SFSA(Method):
    """Gradient steps by mini-batch while features are removed on a schedule ([Sun] Algorithm 1).

    O(nnz) a row and O(p) memory; a feature that is gone costs a look-up, one never seen nothing. The answer
    comes from the latest model that has matured; before the first has, from the k largest weights as of now.
    More than two classes are learned jointly, one against the rest, and share the k features.

    Notes
    -----
    For mini-batch t, with the gradient g of the mean loss over its rows (all at the same weights), ::

        beta <- beta - eta g,    then keep the M_t features with the largest sigma_j |beta_j|,
        M_t = k + (p - k) max(0, (T - t) / (t mu + T)),    T = maturity, mu = annealing

    (t and T less the warmup). Ties go to the lower index.

    *The warmup*. Before the first feature goes rows are learned one by one, by the steps of `SGD`: as many
    rows as a mini-batch has take weights farther than one step for all of them can. A model goes on like this
    and keeps all features. What goes was part of the fit of what stays, whose gradients are noise until the
    rest has made up for it; in the model that keeps all they are not. So features go until 2 k are left, and
    those 2 k stay, or return, which rank highest in the model that keeps all: the candidates. They learn the
    last 8 k rows before maturity alone (or a quarter of the rows since the warmup, if that is less); then the
    k of them that rank highest in the model that keeps all are the answer.

    *The ladder* (Fig. 2.1). A copy of the model that keeps all loses features from batch T / 2 to T, the next
    from T to 2 T, then from 2 T to 4 T, ... (a longer `warmup` shortens that). When one has matured, it
    answers, and goes on learning its k weights. So one loses features at a time, and the answer was chosen
    with all rows up to its maturity, at least half of those that have come.

    *Rows in memory* ([Sun] ch. 6). `fit` makes shuffled passes, and features go over all of them: with
    ``ladder=False`` and a maturity of E n / batch_size over E epochs.

    *Features that join* (`grow`, `learn_one`) are added to the models that are not mature; schedules count
    them from then on. A model that has matured keeps its k features, so that a newcomer reaches the answer
    with the next one, after at most twice the rows of the last; without `ladder` there is none.

    *The step* of a mini-batch, unless given: 1 / (L (Lambda + R^2 / b)), R^2 the mean squared norm of the
    rows over the features alive, Lambda a bound of the largest eigenvalue of their second moments from
    products of two rows of each batch, L the mean second derivative of the loss; all of recent batches, and
    of the current one where it is larger. As features go steps grow. While they are chosen, they stay so
    short that all batches so far count. With 'momentum' and 'nesterov' the gradient is an average with
    weights 0.9^age; 'adam' is Adam with (0.9, 0.999), and its derived step has the size of the slopes, so
    that the units of y cancel. The penalty is outside of these averages in every variant: before a step
    all weights shrink by 1 - eta alpha, as AdamW has it.

    *Restarts.* The mean loss of each batch is measured before it is learned, and standardised by those before
    it. A one-sided CUSUM test sums what exceeds one deviation, no batch counting more than four; a sum above
    12 is a change. A large change is found in 100 rows or so.

    *The refit* of a stream. With few features left, their running averages are cheap, and least squares is
    exact where gradient steps are not. They begin with the candidates, 2 k x 2 k, so that at maturity those
    of the answer have their rows, and go on with the k.

    Differences from the paper: the warmup, since ranks of the first batches are noise. Models of the ladder
    lose features one after the other, and have learned all rows before. With `standardize` also the steps are
    in units of the features (the root mean square of their values that are not 0), and Remark 1's sigma has
    the square root that its print forgets. Features never seen go before any that was. On rows with few
    values features are not removed before a quarter of those seen is due, which makes a removal O(1); where
    rows have more than twice as many values as there are features with a weight, and at maturity, M_t is kept
    exactly. Several targets share the k features, by the norm of their weights.
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
    annealing = Param(3.0, Real(0), "The larger, the sooner most features go.", symbol="mu")
    warmup = Param(
        0.5,
        Real(0, below=1),
        "Share of `maturity` before the first feature goes: early weights are noise, and removed features "
        "never return. 0 is the schedule of the paper, down to k features by their own ranks; models of a "
        "ladder after the first have at least 0.5.",
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
        f"{steps.REFIT.text} A stream with the squared loss too: running averages of the features that "
        "remain give the ridge solution on the rows since there were 2 k, once these are more than twice as "
        "many as k.",
    )
    standardize, fit_intercept, grow = steps.STANDARDIZE, steps.FIT_INTERCEPT, steps.GROW
    max_iter, tol, shuffle, random_state = steps.MAX_ITER, steps.TOL, steps.SHUFFLE, steps.RANDOM_STATE

    attributes = {
        "current_maturity": "int: Mini-batches with which the answering model matured, 0 while none has.",
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
            base=self._new_model(p, q, 0),  # keeps all features; None once no other will begin
            growing=optional(),
            candidates=optional(),  # averages of what annealing has left in `growing`
            answer=optional(),
            # of the model that grows, or is the next to do so
            next_maturity=self._first_maturity(self._planned_rows),
            detector=ChangeDetector() if self.restart else None,
            averages=optional(),
            n_restarts=0,
        )

    def set_intercept(self, constant: Array) -> None:
        self.state.base.bias[0] = constant

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
        if s.base is s.answer is None:
            raise ValueError("there is no model to answer.")
        if (s.detector is not None) != self.restart or s.n_restarts < 0:
            raise ValueError("changes are looked for without `restart`, or the other way round.")
        for model in (s.base, s.growing, s.answer):
            if model is not None:
                if not isinstance(model, AnnealedModel):
                    raise ValueError(f"a model is {type(model).__name__}, not AnnealedModel.")
                model.check(self._new_model(self.p, self.q, 1))
                if model.clock["filled"] >= self.batch_size:
                    raise ValueError(f"{model.clock['filled']} rows are in a batch of {self.batch_size}.")
        if s.growing is not None and not 0 <= s.growing.clock["batches"] < s.next_maturity:
            raise ValueError("a model has matured and does not answer.")
        if (s.base is not None and s.base.maturity) or s.next_maturity < 1:
            raise ValueError("the model that keeps all features matures, or the next one does not.")
        if s.growing is None and s.base is not None and s.base.clock["batches"] >= s.next_maturity:
            raise ValueError("a model has not begun and should have matured.")
        for averages, model in ((s.candidates, s.growing), (s.averages, s.answer)):
            if averages is not None:
                if model is None or not isinstance(averages, AveragesRefit):
                    raise ValueError("there is a refit of no model.")
                averages.check(AveragesRefit(model.size, self.q))

    def changed_by(self, rows: Rows) -> None:  # noqa: ARG002
        return None  # the end of a batch removes features that its rows do not have

    def in_one_step(self, rows: Rows) -> bool:  # noqa: ARG002
        return False

    # ---------------------------------------------------------------- learning

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s, n, rule = self.state, len(rows), self._rule()
        at = ahead = 0  # rows learned by the models that keep or lose features, and by the answering one
        while at < n:
            self._begin_annealing()
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
            for model, k in ((s.base, self.k), (s.growing, self._annealed_to)):
                if model is not None:
                    options = rule | {"k": k, "choosing": True}
                    done = model.learn(rows[part], self.loss_function, y[part], weights, options)
                    if done < stop - at:
                        return at + int(done)
            if s.candidates is not None:
                s.candidates.update(s.growing, rows[part], y[part], weights)
            if s.growing is not None and s.growing.rows_to(s.next_maturity, self.batch_size) == 0:
                self._promote()
                ahead = stop
            elif s.growing is not None and s.growing.rows_to(s.growing.maturity, self.batch_size) == 0:
                self._begin_candidates()
            at = stop
        return n

    def _begin_annealing(self) -> None:
        """Let the next model of the ladder begin, with all that has been learned, where it is time."""
        s = self.state
        if s.growing is None and s.base is not None:
            batches, begin = int(s.base.clock["batches"]), self.warmup * s.next_maturity
            if batches >= int(begin):
                begin = max(begin, float(batches))
                alone = 0
                if self.warmup > 0:
                    wanted = -(-_CANDIDATE_ROWS * self.k // self.batch_size)
                    alone = min(wanted, int((s.next_maturity - begin) / 4))
                s.growing = s.base.annealed(s.next_maturity - alone, begin)

    @property
    def _annealed_to(self) -> int:
        """Features that annealing leaves: candidates, or without warmup the answer."""
        return (_SPARE if self.warmup > 0 else 1) * self.k

    def _begin_candidates(self) -> None:
        """Let those features that rank highest in the model that keeps all learn alone until maturity."""
        s = self.state
        features, _, _ = s.base.largest(self._annealed_to, self.standardize)
        s.growing = s.growing.restricted(features, s.base)
        if self._averages_refit:
            s.candidates = AveragesRefit(s.growing.size, self.q)

    @property
    def _averages_refit(self) -> bool:
        return bool(self.refit and self.loss == "squared")

    def _rows_to_event(self) -> int:
        """Rows until a model begins, has candidates, or matures."""
        s = self.state
        if s.growing is not None:
            batches = s.next_maturity if s.growing.mature else s.growing.maturity
            return int(s.growing.rows_to(batches, self.batch_size))
        if s.base is not None:
            return int(s.base.rows_to(int(self.warmup * s.next_maturity), self.batch_size))
        return 2**62

    def _restart(self) -> None:
        """Begin anew after a change; the old model answers until a new one has matured."""
        s = self.state
        s.next_maturity = self._first_maturity(0)
        s.base, s.growing, s.candidates = self._new_model(self.p, self.q, 0), None, None
        s.n_restarts += 1

    def _rule(self) -> dict[str, Any]:
        return step_rule(self) | {
            "k": self.k,
            "annealing": self.annealing,
            "batch_size": self.batch_size,
            "variant": self.variant,
            "standardize": self.standardize,
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
            s.averages.update(s.answer, part, targets, weights)
        if losses is not None and s.detector.active:
            batch = s.detector.update(losses[:ended])
            if batch is not None:
                return b, (batch + 1) * self.batch_size - filled
        return b, None

    def _promote(self) -> None:
        """The model that has matured answers; the next one matures after twice the batches."""
        s = self.state
        model, candidates = s.growing, s.candidates
        if self.warmup > 0:
            among = model.features if model.maturity < s.next_maturity else None
            features, _, _ = s.base.largest(self.k, self.standardize, among)
            if candidates is not None:
                candidates = candidates.restricted(model.slot[features] - 1)
            model = model.restricted(features, s.base)
        model.maturity = s.next_maturity
        model.reserve(0)
        s.answer, s.growing, s.candidates = model, None, None
        s.next_maturity *= 2
        if not self.ladder:
            s.base = None
        if self.restart:
            s.detector = ChangeDetector()
        if self._averages_refit:
            s.averages = candidates or AveragesRefit(model.size, self.q)

    # ---------------------------------------------------------------- reading

    def weights(self) -> tuple[Array, Array]:
        s = self.state
        if s.averages is not None and s.averages.enough:
            weight, intercept = s.averages.solve(self.fit_intercept)
            return scatter(s.answer.id[: s.averages.k], weight, self.p), intercept
        model = s.answer or s.base
        if model.clock["batches"] == 0 and model.clock["filled"] > 0:
            model = model.ended(self.loss_function, self._rule())
        features, weight, intercept = model.largest(self.k, self.standardize)
        return scatter(features, weight, self.p), intercept

    @property
    def current_maturity(self) -> int:
        """Mini-batches with which the answering model matured, 0 while none has."""
        return 0 if self.state.answer is None else int(self.state.answer.maturity)

    @property
    def n_restarts(self) -> int:
        """Changes that `restart` has found."""
        return int(self.state.n_restarts)
