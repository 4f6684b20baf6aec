"""Online least squares with thresholding: [Susan] Algorithm 1, a new model after every row."""

from __future__ import annotations

from ...core.method import Method
from ...core.outliers import find_outlier, warn_of_outlier
from ...core.params import Bool, Or, Param, Real
from ...core.rows import Array, Rows
from ...core.state import State
from . import steps
from .inverse import InverseMoments


class OLST(Method):
    """Least squares on all features, then on the k with the largest weights, after every row ([Susan]).

    Each row costs O(p^2), and memory is O(p^2); reading the model costs O(p^2 + k^3). A batch that is wider
    than those before (`grow`, `learn_one`) costs as much as one more row. If only the last model matters,
    `OLSth` computes the same from running averages and can also choose k. Labels are fitted as -1 and +1;
    more than two classes are learned one against the rest and share the k features.

    Notes
    -----
    [Susan] Algorithm 1, after every row:

    1. ``(S_xx + lambda I) beta = S_xy``, standardised, by rank-one updates of the inverse;
    2. keep the k largest ``|beta_j|`` (several targets: the norms of the rows), ties by the lower index;
    3. least squares on those.

    Differences from the paper: it takes a ridge in step 1 and does not say which. Here ``lambda_j`` is
    ``ridge sigma_j^2 / n``, with sigma_j (and a derived ridge) at the last of the rows 64, 128, 256, ...,
    where the inverse is computed again (O(p^3); rounding errors cannot accumulate either), and at the current
    row before row 64; a feature that begins to vary in between has the sigma of that row. Step 3 keeps the
    ridge while there are at most 4 rows for each of the k features: around n = k least squares interpolates
    noise. From row 64 on, a column that equals one of higher rank up to its unit and rounding is left out in
    step 2. The paper has no intercept (`fit_intercept=False`) and ranks by ``|beta_j|``
    (`standardize=False`).
    """

    k = steps.FIXED_K
    ridge = Param(
        "auto",
        Or("auto", Real(0)),
        "Ridge of the first step, in rows: after n rows ridge / n is added to the diagonal of the "
        "standardised S_xx. 0 is least squares, up to a ridge of 1e-9 of the variances. 'auto' is p / 10 "
        "and, "
        "from row 64 on, the ridge of largest marginal likelihood at row 64, 128, ... if that is larger.",
    )
    standardize = Param(
        True,
        Bool(),
        "If True, rank by sigma_j |beta_j|, so that the scale of a feature does not matter; if False, by "
        "|beta_j|.",
    )
    fit_intercept, grow = steps.FIT_INTERCEPT, steps.GROW

    losses = {"regression": ("squared",), "classification": ("squared",)}
    uses_blas = True
    weight_notes = {}
    attributes = {
        "current_ridge": "float: Ridge of the first step, on the diagonal of the standardised S_xx."
    }
    examples = {
        "classification": """
        >>> import numpy as np
        >>> from streamsieve import OLSTClassifier
        >>> X = np.random.default_rng(0).normal(size=(1000, 20))
        >>> OLSTClassifier(2).fit(X, X[:, 7] > X[:, 13]).get_support(indices=True)
        array([ 7, 13])
        """,
    }

    _warned = False  # of an outlier; not state

    def start(self, p: int, q: int) -> State:
        return InverseMoments(p, q, self.ridge, self.fit_intercept)

    def learn(self, rows: Rows, y: Array, w: Array | None) -> int:
        self.loss_function.check_targets(y)
        self.state.update(rows, y, w)
        if not self._warned:
            s, p = self.state, rows.p
            found = find_outlier(rows, s.mean[:p], s.square[:p], self.p)
            if found is not None:
                self._warned = True
                warn_of_outlier(self, found)
        return len(rows)

    def in_one_step(self, rows: Rows) -> bool:  # noqa: ARG002
        return False

    def weights(self) -> tuple[Array, Array]:
        return self.state.extract(self.k, self.standardize)

    def check_state(self) -> None:
        self.state.check()

    @property
    def current_ridge(self) -> float:
        """Current ridge of the first step, on the diagonal of the standardised S_xx; fades like 1 / n."""
        return self.state.ridge()

    @property
    def n_rows(self) -> int:
        return int(self.state.rows)
