"""Stochastic feature selection with annealing, [Sun] chapter 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.method import Method
from ...core.params import Bool, Int, OneOf, Or, Param, ParamError, Real
from ...core.rows import Array, Rows
from ...core.state import State, optional
from . import steps
from .annealed import AnnealedModel
from .averages_refit import StreamRefit
from .change import ChangeDetector
from .steps import check_shrink, scatter, step_rule

_FIRST = 4  # mini-batches until the first maturity, if neither it nor the number of rows is known
_SHARE = (
    0.9  # share of the rows, if their number is known; the rest is for the weights of the chosen features
)
_MOMENTS = {"plain": 0, "momentum": 1, "nesterov": 1, "adam": 2}


class SFSA(Method):
    """Gradient steps by mini-batch while features are removed on a schedule ([Sun] Algorithm 1).

    Each row costs O(nnz), and memory is O(p). A model is mature when only k features remain. Predictions come
    from the latest mature model. Before the first one, they come from the k largest weights. More than two
    classes are learned jointly, one against the rest, and share the k features.

    Notes
    -----
    For mini-batch t, with the gradient g of the mean loss over its rows (all at the same weights), ::

        beta <- beta - eta g,    then keep the M_t features with the largest sigma_j |beta_j|,
        M_t = k + (p - k) max(0, (T - t) / (t mu + T)),    T = maturity, mu = annealing

    where t and T do not count the warmup. A removed feature does not return. Of equal features, the one with
    the lower index is kept.

    *The warmup*. Before the first feature is removed, rows are learned one by one with the steps of `SGD`,
    because one step for each row moves the weights farther than one step for each mini-batch.

    *The ladder* (Fig. 2.1). Several models are learned, which become mature after T, 2 T, 4 T, ...
    mini-batches. Each model keeps all features until the previous model is mature (longer with a longer
    `warmup`), so that only one model removes features at a time. Two models are the same until the first one
    removes features. Until then, they are learned only once. The latest mature model makes the predictions,
    and continues to learn its k weights.

    *Rows in memory* ([Sun] ch. 6). `fit` makes shuffled passes. To remove features over E epochs, pass
    ``ladder=False`` and a maturity of E n / batch_size.

    *New features* (`grow`, `learn_one`) are added to the models that are not mature, and their schedules
    count these features from then on. A mature model keeps its k features. A new feature can therefore be
    selected only by the next model, after at most twice the rows of the last one. With ``ladder=False`` there
    is no next model.

    *The step* of a mini-batch of b rows, unless `eta` is given, is 1 / (L (Lambda + R^2 / b)). L is the
    curvature of the loss. R^2 is the mean squared norm of the rows over the remaining features. Lambda is a
    bound of the largest eigenvalue of their second moments, computed from products of two rows of each batch.
    Both are computed from recent batches. If the current batch has a larger value, this value is used. Steps
    grow as features are removed. While features are chosen, steps stay so short that all batches so far
    influence the weights. With 'momentum' and 'nesterov' the gradient is an average with weights 0.9^age.
    'adam' is Adam with (0.9, 0.999). Its derived step has the size of the slopes, so that it does not depend
    on the units of y. In every variant, the penalty is not part of these averages: before a step, all weights
    are multiplied by 1 - eta alpha, as in AdamW.

    *Restarts.* The mean loss of each batch is measured before the batch is learned, and standardised by the
    losses of earlier batches. A one-sided CUSUM test sums the excess over one standard deviation, at most
    four for each batch. A sum above 12 signals a change. A large change is found in about 100 rows.

    *The refit* of a stream. Running averages of k features are cheap. Least squares on them gives the exact
    solution, but gradient steps only approximate it. The averages start at maturity. Until they have enough
    rows, the refit of the previous model is used.

    Differences from the paper: There is a warmup, because ranks of the first batches are noise (``warmup=0``
    turns it off). There is a ladder, whose models remove features one after the other (``ladder=False``
    learns one model). With `standardize`, steps are also in units of the features: their root mean square, or
    with a given `eta`, that of their non-zero values. ``standardize="ranks"`` is Remark 1, with the square
    root in sigma that is missing in print. Features that were zero in all rows are removed first. On sparse
    rows, features are not removed after every batch. The method waits until a quarter of the features seen
    must be removed, unless `exact_schedule` is True. Several targets share the k features, which are ranked
    by the norm of their weights.
    """

    k, criterion = steps.K, steps.CRITERION
    eta, schedule, alpha = steps.ETA, steps.SCHEDULE, steps.ALPHA
    maturity = Param(
        "auto",
        Or("auto", Int(1)),
        "Number of mini-batches after which the first model of the ladder has only k features. 'auto': in "
        f"`fit`, the mini-batches of {_SHARE:.0%} of the rows; in a stream, whose length is unknown, "
        f"{_FIRST}.",
        symbol="T",
    )
    ladder = Param(
        True,
        Bool(),
        "If True, models become mature after T, 2 T, 4 T, ... batches, and the latest mature model is used. "
        "If False, there is one model, and `maturity` must be given.",
    )
    annealing = Param(
        10.0,
        Real(0),
        "Speed of the removal: the larger it is, the earlier most features are removed.",
        symbol="mu",
    )
    warmup = Param(
        0.5,
        Real(0, below=1),
        "Share of `maturity` before the first feature is removed. Early weights are noise, and removed "
        "features never return. 0 is the schedule of the paper. All models of a ladder but the first have "
        "at least 0.5.",
    )
    exact_schedule = Param(
        False,
        Bool(),
        "If True, keep exactly M_t features after every batch, as in the paper. This costs O(p) per batch. "
        "If False, features may be removed later, and a removal costs O(1). A batch is sparse if it has "
        "fewer than twice as many values as there are features with a weight. After such a batch, features "
        "are removed only when a quarter of them is due. At maturity, k features remain in both cases.",
    )
    batch_size = Param(25, Int(1), "Number of rows in a mini-batch.")
    variant = Param(
        "plain",
        OneOf("plain", "momentum", "nesterov", "adam"),
        "How a step is computed from the gradient. All variants but 'plain' change every weight in every "
        "batch, which is slow for wide sparse rows.",
    )
    restart = Param(
        False,
        Bool(),
        "If True, start a new ladder when the loss of the mature model leaves its past range (see Notes). "
        "The old model is used until a new one is mature.",
    )
    refit = Param(
        True,
        Bool(),
        f"{steps.REFIT.text} For a stream with the squared loss, the weights are refitted, too. Running "
        "averages of the k features give the ridge solution on the rows since maturity, once there are more "
        "than 2 k of these rows.",
    )
    standardize = Param(
        True,
        Or(Bool(), "ranks"),
        f"{steps.STANDARDIZE.text} 'ranks': as False, but features are ranked by sigma_j |beta_j| (Remark "
        "1).",
    )
    fit_intercept, grow = steps.FIT_INTERCEPT, steps.GROW
    max_iter, tol, shuffle, random_state = steps.MAX_ITER, steps.TOL, steps.SHUFFLE, steps.RANDOM_STATE

    attributes = {
        "current_maturity": "int: Mini-batches until the latest mature model became mature; 0 without one.",
        "n_restarts": "int: Number of changes that `restart` has detected.",
    }

    prepare = "centre"

    def check(self) -> None:
        check_shrink(self)
        if not self.ladder and self.maturity == "auto":
            raise ParamError(
                "maturity", "auto", "with ladder=False a single model needs its maturity, in mini-batches."
            )

    def start(self, p: int, q: int) -> State:
        n = 0.0 if self.extent is None else self.extent.rows
        return State(
            growing=self._new_model(p, q, self._first_maturity(n)),  # the next to mature
            following=optional(),  # with a ladder: the one after it, from where `growing` loses features
            answer=optional(),
            averages=StreamRefit() if self.refit and self.loss == "squared" else None,  # of mature models
            detector=ChangeDetector() if self.restart else None,
            n_restarts=0,
        )

    def set_intercept(self, constant: Array) -> None:
        self.state.growing.bias[0] = constant

    def _first_maturity(self, n_rows: float) -> int:
        if self.maturity != "auto":
            return int(self.maturity)
        return max(_FIRST, int(_SHARE * n_rows / self.batch_size))

    def _new_model(self, p: int, q: int, maturity: int) -> AnnealedModel:
        return AnnealedModel(p, q, maturity, self.warmup * maturity, _MOMENTS[self.variant])

    def check_state(self) -> None:
        s = self.state
        if s.growing is s.answer is None:
            raise ValueError("there is no mature model and no growing one.")
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
        if s.averages is not None:
            if s.answer is None and s.averages.current is not None:
                raise ValueError("there is a refit of no model.")
            s.averages.check(self.p, self.q)

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
        """Before the growing model removes its first feature, start the next one of the ladder from it."""
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
        """Use the model that has matured; the next one matures after twice the batches."""
        s = self.state
        s.answer, s.growing, s.following = s.growing, s.following, None
        s.answer.reserve(0)
        if self.restart:
            s.detector = ChangeDetector()
        if s.averages is not None:
            s.averages.begin(s.answer.features, self.q)

    def _restart(self) -> None:
        """Start again after a change; the old model is used until a new one has matured."""
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
        """Let the mature model learn rows a to b; return the rows learned, and those before a change."""
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
        if losses is not None and s.detector.active:
            batch = s.detector.update(losses[:ended])
            if batch is not None:
                return b, (batch + 1) * self.batch_size - filled
        return b, None

    # ---------------------------------------------------------------- reading

    def weights(self) -> tuple[Array, Array]:
        s = self.state
        refitted = None if s.averages is None else s.averages.solve(self.fit_intercept)
        if refitted is not None:
            features, weight, intercept = refitted
            return scatter(features, weight, self.p), intercept.copy()
        model = s.answer or s.growing
        if model.batches == 0 and model.clock["filled"] > 0:
            model = model.ended(self.loss_function, self._rule())
        features, weight, intercept = model.largest(self.k, bool(self.standardize))
        return scatter(features, weight, self.p), intercept

    def candidates(self, n: int) -> NDArray[np.int64]:
        """The features of the mature model; if n are more, also the best of the next one that has more."""
        s, deviations = self.state, bool(self.standardize)
        features = (s.answer or s.growing).largest(n, deviations)[0]
        younger = s.following or s.growing
        if len(features) < n and younger is not None:
            features = np.union1d(features, younger.largest(n, deviations)[0])
        return features

    @property
    def current_maturity(self) -> int:
        """Mini-batches after which the latest model has matured, 0 while none has."""
        return 0 if self.state.answer is None else int(self.state.answer.maturity)

    @property
    def n_restarts(self) -> int:
        """Changes that `restart` has found."""
        return int(self.state.n_restarts)
