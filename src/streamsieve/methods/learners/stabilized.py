"""Stabilized truncated SGD: Ma and Zheng, Stabilized Sparse Online Learning for Sparse Data, [Ma]."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.method import Method
from ...core.params import Int, OneOf, Or, Param, ParamError, Real
from ...core.rows import Array, Rows, threads
from ...core.state import RowBuffer, State, Undo
from . import steps
from .paths import STAGE, Paths
from .steps import scatter

_CALL = 64  # maximum number of blocks per kernel call, so that Python can handle signals

#: The algorithms of [Ma] as printed: each adds to the one before.
ALGORITHMS: dict[int, dict[str, Any]] = {
    1: {"truncation": "universal", "threshold": 0.0, "n_paths": 1},
    2: {"truncation": "informative", "threshold": 0.0, "n_paths": 1},
    3: {"truncation": "informative"},
    4: {"truncation": "informative", "gravity": "auto", "rejection_spared": 0},
}


@classmethod  # type: ignore[misc]
def as_printed(cls: Any, algorithm: int, **params: Any) -> Any:
    """An estimator with the parameters of one of the algorithms of [Ma], as printed.

    1: bursts with universal truncation, the truncated gradient of Langford et al. 2: bursts with informative
    truncation. 3: these on several paths, with stability selection. 4: with an adaptive gravity. For all of
    them rows are used as given, there is no intercept, bursts have the same length throughout, selection
    probabilities are those of a stage (8), and nothing is refitted.

    Parameters
    ----------
    algorithm : int in [1, 4]
    **params
        Others to set: `eta`, the paper's K as `burst_size` and, for algorithms 1 to 3, g_0 as `gravity`.
    """
    if algorithm not in ALGORITHMS:
        raise ParamError("algorithm", algorithm, "expected int in [1, 4]: an algorithm of [Ma].")
    if algorithm < 4 and "gravity" not in params:
        raise ParamError("gravity", None, f"expected a number: algorithm {algorithm} has a fixed g_0.")
    if algorithm == 4 and "gravity" in params:
        raise ParamError("gravity", params["gravity"], "expected no value: algorithm 4 adapts g_0.")
    printed = {"standardize": False, "fit_intercept": False, "refit": False, "min_bursts": 0.0}
    return cls(**(printed | {"burst_growth": 1e9} | ALGORITHMS[algorithm] | params))


class StabilizedSGD(Method):
    """Truncated gradient steps, stabilized by selection over runs in different orders ([Ma] Algorithm 4).

    A *path* is one run over the rows, in its own order. A *burst* is a number of consecutive rows of a path.
    A feature is *purged* if too few bursts select it; features seen and not purged are *stable*. For each
    path, a row costs O(nnz), purged features cost nothing, and memory is proportional to the number of stable
    features. Paths run in threads. The number of threads does not change the model. Rows are buffered until
    there are `block_size` of them. Then every path learns this block in its own order. Therefore the result
    does not depend on how a stream is cut into calls. When a model is read, it uses all rows so far: a copy
    learns the buffered rows as if the block and the burst had ended. More than two classes are learned
    jointly, one against the rest, and share the features.

    Notes
    -----
    M paths learn the rows, each in its own order. A burst has K steps ``w <- w - eta g`` and ends with the
    informative truncation (Algorithm 2): if the burst saw feature j in k_j rows, w_j is brought closer to
    zero by ``g_0 k_j``. A stage has n_K bursts of each path. After a stage (Algorithms 3 and 4):

    - The selection probability of each feature is computed (8). It is a share of the bursts that saw the
      feature: those that left it non-zero. If at most delta_K (`min_bursts`) bursts saw a feature, its counts
      are carried over to the next stage (16).
    - Features with a selection probability below pi_0 (`threshold`) are purged and never return (9), (10).
    - The rejection rate beta falls from beta_0 (`rejection`) to 0 (12). It depends on d, the number of purged
      features divided by the number of features that may be purged. beta_0 is multiplied by
      ``exp(-gamma d) - d exp(-gamma)``, or for gamma < 0 by ``log(1 - gamma (1 - d)) / log(1 - gamma)``,
      where gamma is `rejection_decay`.
    - The gravity g_0 is the beta-quantile of ``|change of w_j| / k_j`` over the bursts of the stage (11).
    - Bursts get longer. They have ``K_0 log(1 / (burst_growth s))`` rows, but at least K_0 (`burst_size`),
      where s is the share of stable features among the features seen.

    The model is the mean over the paths. In the first stage, g_0 is 0. If `gravity` is a number, it is g_0 in
    all stages. The losses of the paper are 'hinge' and 'logistic'. `as_printed` gives its Algorithms 1 to 4.

    Differences from the paper:

    - (11) is interpreted as a quantile, and d in (12) as a share of purged features. Both shares, d and s,
      are relative to the features seen so far, so that columns that are always zero do not count.
    - All but k features may be purged (all but one without k). When no more features may be purged, nothing
      is rejected, and learning continues as plain SGD.
    - Of the changes of n stable features, at most the share ``1 - 5 / n`` is rejected (`rejection_spared`).
      Otherwise features would be lost when only a few are left and all of them matter.
    - (16) is evaluated if more than delta_K bursts saw the feature. Otherwise the counts are carried over, so
      that no count is lost.
    - With `standardize`, the unit of a feature in steps is the root mean square of its non-zero values.
      Changes are weighted by the standard deviation of the feature in this unit. Without these weights, if
      the data are scaled to variance 1, rare features would be kept because their values are large.
    - The first bursts are so long that they see a typical feature 20 times. The paper has 5 rows for all
      data. A change over one or two rows is mostly noise. Then the gravity would be a quantile of noise, and
      weak signals would be lost.
    - The quantile (11) is that of the non-zero changes. A change is zero if no row with the feature had a
      loss, so that its weight was not updated.
    - There is an intercept, which is never truncated.
    - Steps may be derived as for `SGD`, from the stable features and about the last 256 rows.
    - Several targets share the features. The change of a feature is the largest over the targets.
    - The paper has no k. Rejection ends while about a hundred features are stable. With every pass, the
      weights are spread more evenly over these features. Therefore, the longer `fit` runs, the worse a model
      predicts that is truncated to k features. For this reason, `fit` ends with an elimination of stable
      features and a refit of the others (`refit`).
    """

    k = Param(
        None,
        Or(None, Int(1), "auto"),
        "Maximum number of features. Purging stops at k features. If more are stable, the k features with "
        "the largest selection probabilities are used; of equal ones, those with the largest weights. With "
        "`refit`, `fit` chooses k of the stable features by elimination. "
        f"None: all stable features. {steps.AUTO}",
    )
    criterion = steps.CRITERION
    max_iter = steps.max_iter(60)
    tol = Param(
        1e-3,
        Real(0),
        "`fit` stops when a pass moves the weights by less than this share of their norm.",
        live=True,
    )
    shuffle, random_state = steps.SHUFFLE, steps.RANDOM_STATE
    # the noise of the mean falls as 1 / sqrt(M): of 1,000 paths it is 3 % of that of one
    n_paths = Param(16, Int(1, 1000), "Number of paths.", symbol="M")
    burst_size = Param(
        "auto",
        Or("auto", Int(1)),
        "Number of rows of the first bursts. 'auto': computed from the first block, so that a burst sees the "
        "feature of a typical value 20 times. In `fit`, bursts are shorter if a stage would not end within a "
        "pass. They have at least 50 rows.",
        symbol="K_0",
    )
    burst_growth = Param(
        0.3,
        Real(above=0),
        "Growth of the bursts as features are purged: the smaller it is, the longer bursts become. They have "
        "burst_size log(1 / (burst_growth s)) rows, but at least burst_size, where s is the share of stable "
        "features among the features seen.",
        symbol="alpha",
    )
    n_bursts = Param(5, Int(1), "Number of bursts of each path in a stage.", symbol="n_K")
    truncation = Param(
        "informative",
        OneOf("informative", "universal"),
        "Amount by which a weight shrinks at the end of a burst. 'informative': the gravity times the number "
        "of rows of the burst that contain the feature (Algorithm 2). 'universal': the gravity times the "
        "number of all rows of the burst (Algorithm 1), which costs O(stable features) for each burst.",
    )
    gravity = Param(
        "auto",
        Or("auto", Real(0)),
        "Amount by which a weight shrinks for each row of a burst. 'auto' derives it from `rejection`, for "
        "each stage.",
        symbol="g_0",
    )
    rejection = Param(
        0.9,
        Real(0, below=1),
        "Rejection rate in the first stages. The rejection rate is the share of changes below the gravity.",
        symbol="beta_0",
    )
    rejection_spared = Param(
        5,
        Int(0),
        "Number of features (k, if that is smaller) whose changes are not rejected, on average. Therefore "
        "fewer changes are rejected when few features are left. 0 is the paper's rule.",
    )
    rejection_decay = Param(
        0.0,
        Real(),
        "How the rejection rate falls as features are purged. Above 0: exponentially. 0: linearly. Below 0: "
        "logarithmically, which is slowest.",
        symbol="gamma",
    )
    threshold = Param(
        0.9, Real(0, 1), "Features with a selection probability below it are purged.", symbol="pi_0"
    )
    min_bursts = Param(
        5.0,
        Real(0),
        "A selection probability is computed after more than this number of bursts have seen the feature.",
        symbol="delta_K",
    )
    block_size = Param(1024, Int(1), "Number of rows of a block. Each path learns a block in its own order.")
    n_jobs = Param(-1, Or(Int(1), Int(-1, -1)), "Number of threads that share the paths; -1: all processors.")
    refit, eta, schedule = steps.REFIT, steps.ETA, steps.SCHEDULE
    standardize, fit_intercept, grow = steps.STANDARDIZE, steps.FIT_INTERCEPT, steps.GROW

    attributes = {
        "selection_probabilities": "array of shape (p,): Of the bursts that saw a feature, the share that "
        "left it non-zero, when it was last computed. 1 before the first time, 0 after the feature is "
        "purged.",
        "n_stable": "int: Number of stable features: seen and not purged.",
        "current_gravity": "float: Shrinkage of a weight for each row of a burst, g_0 of the current stage.",
        "current_rejection": "float: The share of changes below the gravity, beta of the current stage.",
        "first_burst": "int: Number of rows of the first bursts, as given or derived; 0 before the first "
        "block.",
        "history": "dict of arrays: 'stage', 'stable', 'gravity', 'rejection' and 'burst_size' after each "
        "stage. If there are more than 512 stages: after every 2nd, 4th, ... stage.",
    }

    estimator_methods = (as_printed,)

    prepare = "centre"
    selects_last = True  # of the stable features; the loss rises as others are purged

    def start(self, p: int, q: int) -> State:
        return State(
            paths=Paths(
                p,
                q,
                n_paths=self.n_paths,
                burst_size=0 if self.burst_size == "auto" else self.burst_size,
                gravity=0.0 if self.gravity == "auto" else self.gravity,
                rejection=self.rejection,
                standardize=self.standardize,
            ),
            buffer=RowBuffer(),
        )

    def set_intercept(self, constant: Array) -> None:
        self.state.paths.bias[:] = constant

    def check_state(self) -> None:
        self.state.paths.check(self.n_bursts)
        self.state.buffer.check(self.p, self.q, self.block_size, self.limit)

    # ---------------------------------------------------------------- learning

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        s, n, at, block = self.state, len(rows), 0, self.block_size
        s._settled = None
        while at < n:
            held = len(s.buffer)
            direct = held == 0 and n - at >= block  # whole blocks, not buffered before
            stop = at + min(_CALL, (n - at) // block) * block if direct else min(n, at + block - held)
            part = rows[at:stop], y[at:stop], None if w is None else w[at:stop]
            if not direct:
                s.buffer.append(*part)
                if held + stop - at < block:
                    return n
                part = s.buffer.joined()
                s.buffer.clear()
            learned = self._run(s.paths, *part)
            if learned < len(part[1]):
                return at + learned if direct else at
            at = stop
        return n

    def _run(self, paths: Paths, rows: Rows, y: Array, w: Array | None) -> int:
        rule = {
            "n_bursts": self.n_bursts,
            "burst_growth": self.burst_growth,
            "rejection": self.rejection,
            "rejection_decay": self.rejection_decay,
            "spared": self.rejection_spared,
            "threshold": self.threshold,
            "min_bursts": self.min_bursts,
            "budget": self.k or 0,
            "fixed_gravity": self.gravity != "auto",
            "universal": self.truncation == "universal",
            "eta": 0.0 if self.eta == "auto" else self.eta,
            "schedule": self.schedule,
            "fit_intercept": self.fit_intercept,
            "block_size": self.block_size,
            "seed": self.random_state,
            "threads": threads(self.n_jobs),
        }
        extent = self.extent if self.burst_size == "auto" else None
        pass_rows = np.inf if extent is None else extent.rows  # of `fit`, within which the first stage ends
        return paths.learn(rows, self.loss_function, y, w, rule, pass_rows)

    def changed_by(self, rows: Rows) -> None:  # noqa: ARG002
        return None  # the end of a stage purges features that its rows do not have

    def undo(self, rows: Rows, y: Array, w: Array | None) -> Undo:
        # rows that do not fill a block are buffered, which cannot fail
        fills = len(self.state.buffer) + len(rows) >= self.block_size
        return super().undo(rows, y, w) if fills else Undo()

    def in_one_step(self, rows: Rows) -> bool:
        return len(self.state.buffer) + len(rows) < self.block_size

    # ---------------------------------------------------------------- passes of `fit`

    def end_pass(self) -> None:
        """Learn the buffered rows as a block of their own."""
        s = self.state
        if len(s.buffer):
            part = s.buffer.joined()
            s.buffer.clear()
            s._settled = None
            if self._run(s.paths, *part) < len(part[1]):
                raise self.overflow_error()

    def _mean(self, paths: Paths) -> tuple[NDArray[np.int64], Array, Array]:
        return paths.mean(self.truncation == "universal")

    def unselected(self) -> Array:
        """Weights of all stable features, of which the model has k."""
        paths = self._settled()
        slots, weights, _ = self._mean(paths)
        return scatter(paths.id[slots], weights, self.p)

    # ---------------------------------------------------------------- reading

    def _settled(self) -> Paths:
        """The paths as if the buffered rows were a block."""
        s = self.state
        paths: Paths = s.paths
        if not len(s.buffer):
            return paths
        if getattr(s, "_settled", None) is None:
            part = s.buffer.joined()
            copy = paths.copy()
            assert isinstance(copy, Paths)
            if self._run(copy, *part) < len(part[1]):
                raise self.overflow_error()
            s._settled = copy
        settled: Paths = s._settled
        return settled

    def weights(self) -> tuple[Array, Array]:
        paths = self._settled()
        slots, weights, bias = self._mean(paths)
        size = np.abs(weights).max(axis=1, initial=0.0) * paths.unit["deviation"][slots]
        kept = np.flatnonzero(size > 0)
        if self.k is not None and len(kept) > self.k:
            probability = paths.tally["probability"][slots[kept]]
            rank = np.lexsort((paths.id[slots[kept]], -size[kept], -probability))
            kept = kept[rank[: self.k]]
        at = slots[kept]
        return scatter(paths.id[at], weights[kept] * paths.unit["scale"][at, None], self.p), bias

    @property
    def selection_probabilities(self) -> Array:
        """Selection probability of each feature: [Ma] (8) and (16)."""
        paths = self._settled()
        out: Array = np.where(paths.slot < 0, 0.0, 1.0)
        slots = np.flatnonzero(paths.alive[: paths.size])
        out[paths.id[slots]] = paths.tally["probability"][slots]
        return out

    @property
    def n_stable(self) -> int:
        """Features seen and not purged."""
        clock = self._settled().clock
        return int(clock["size"] - clock["dead"])

    @property
    def current_gravity(self) -> float:
        """g_0, the amount by which a weight shrinks for each row of a burst."""
        return float(self._settled().clock["gravity"])

    @property
    def current_rejection(self) -> float:
        """beta, the share of changes below the gravity."""
        return float(self._settled().clock["rejection"])

    @property
    def first_burst(self) -> int:
        """Rows of a burst at first; 0 before the first block."""
        return int(self.state.paths.first_burst)

    @property
    def history(self) -> dict[str, Array]:
        """Stage, stable features, gravity, rejection rate and burst size, where stages ended."""
        paths = self._settled()
        return {name: paths.history[name][: paths.n_history].copy() for name in STAGE}

    @property
    def n_rows(self) -> int:
        """Rows learned, including buffered ones."""
        return int(self.state.paths.head["rows"][0]) + len(self.state.buffer)
