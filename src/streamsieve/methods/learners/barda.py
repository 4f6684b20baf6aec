"""Budgeted adaptive regularised dual averaging: [Zhai] Algorithm 1."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...core.params import OneOf, Param
from ...core.rows import Array, Rows
from ...core.state import State, record, zeros
from . import adaptive, heap
from .adaptive import adaptive_rule, features_of
from .heap import Budgeted, check_heap, heap_features, new_heap
from .steps import scatter


class BARDA(Budgeted):
    """K features by adaptive dual averaging, truncated after every row ([Zhai] Algorithm 1).

    Each row costs O(nnz log k), amortised, independently of p; memory is O(p). The selected
    features are the same as if all p scores were sorted after every row. More than two classes are learned
    jointly, one against the rest, and share the k features.

    Notes
    -----
    Let g_t be the gradient of the loss of row t at w_t, G the sum of the gradients, and s_j the norm of the
    gradients of feature j. Then ``H = delta + s`` and ``z = -eta G / (alpha eta t + H)``. w_{t+1} is z for
    the k features with the largest H z^2, and 0 for the others. Features are thus ranked by their weights and
    by the size of their gradients. The gradients of all features are summed, so a dropped feature can return.
    Groups are ranked by the mean of H z^2 over their features; the paper leaves groups to future work.

    The paper has the squared hinge, delta = 0.01, two classes, rows of norm 1 and no intercept.

    Differences from the paper: There is the squared loss for regression. Several outputs share the features,
    which are ranked by H_j |z_j|^2, with s_j the norm over rows and outputs. ``fit_intercept`` adds a feature
    that is always 1; it is not penalised, and does not count towards k. For a row of weight r, the gradient
    is multiplied by r, but the penalty alpha counts it as one row.
    """

    eta, alpha, delta = adaptive.ETA, adaptive.ALPHA, adaptive.DELTA
    groups, group_categories = adaptive.GROUPS, adaptive.GROUP_CATEGORIES
    truncation = Param(
        "weighted",
        OneOf("weighted", "naive"),
        "Which weights to keep. 'weighted': the k largest by H z^2 (step 10 of Algorithm 1). 'naive': the k "
        "largest by |z|, as in the paper's comparison; this prefers rare features.",
    )

    losses = adaptive.LOSSES

    def start(self, p: int, q: int) -> State:
        return State(
            clock=heap.row_count(),
            # what the scores in the heaps bound, and the parameters they were computed with
            bounds=record(
                horizon=0.0,
                pool_target=0.0,
                work=0.0,
                floor=0.0,
                floor_feature=0.0,
                eta=0.0,
                alpha=0.0,
                delta=0.0,
            ),
            kept=new_heap(min(self.k, p)),
            pool=new_heap(p, "feature"),  # features that may be next, best first
            place=zeros(feature=p, dtype=np.int32),  # in the pool: -1 - place
            gradient=zeros(feature=p, fixed=1 + q),  # sum of squares over rows and outputs, and the sums, G
            bias=zeros(output=q),
            bias_gradient=zeros(fixed=1 + q),  # of the intercept, as if it were a feature
        )

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        rule = adaptive_rule(self) | {"naive": self.truncation == "naive"}
        return _core.barda(rows.kernel, self.loss_function, y, w, rule, self.state)

    def weights(self) -> tuple[Array, Array]:
        s = self.state
        kept = features_of(self, heap_features(s.kept))
        square, sums = s.gradient[kept, :1], s.gradient[kept, 1:]
        rule = adaptive_rule(self)
        below = self.alpha * rule["eta"] * s.clock["rows"] + (rule["delta"] + np.sqrt(square))
        return scatter(kept, -rule["eta"] * sums / below, self.p), s.bias.copy()

    def check_state(self) -> None:
        super().check_state()
        s = self.state
        check_heap("pool", s.pool, s.place, -1)
        most = max(2 * len(s.kept.entry) + 256, self.p)
        if not 0 <= s.bounds["pool_target"] <= most or s.bounds["horizon"] < 0:
            raise ValueError(f"bounds={s.bounds}: the pool is to hold 0 to {most} features.")
        if len(s.gradient) and s.gradient[:, 0].min() < 0:
            raise ValueError("gradient has sums of squares below 0.")
