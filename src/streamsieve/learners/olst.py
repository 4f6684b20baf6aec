"""Online least squares with thresholding: [Susan] Algorithm 1, a new model after every row."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from .._base import param
from ._learner import Array, Core, LabelLearner, RegressionLearner, Rowwise, check_budget, is_number
from ._moments import InverseMoments


def check_ridge(ridge: Any) -> None:
    if ridge != "auto" and not (is_number(ridge) and 0 < ridge < np.inf):
        raise ValueError(f"ridge={ridge!r}; pass a positive number of rows, or 'auto' to derive it.")


class OLST(Rowwise):
    k: int = param(10, "int >= 1", "Number of features to keep, at most.", positional=True)
    ridge: float | Literal["auto"] = param(
        "auto",
        "float > 0 or 'auto'",
        "Ridge of the first step, in rows: after n rows ridge / n is added to the diagonal of the "
        "standardised S_xx. 'auto' takes p / 10, and from row 64 on the ridge of largest marginal likelihood "
        "at row 64, 128, 256, ... if that is more.",
    )
    standardize: bool = param(
        True, "bool", "Rank by sigma_j |beta_j|, so that scale does not decide; without it by |beta_j|."
    )

    _others: ClassVar[tuple[str, ...]] = ()

    def _check_params(self) -> None:
        check_budget(self.k)
        check_ridge(self.ridge)

    def _reset(self, p: int, q: int) -> None:
        self.olst_ = InverseMoments(p, q, self.ridge, bool(self.fit_intercept))

    def _resize(self, p: int) -> None:
        if self.olst_.p != p:
            self.olst_ = self.olst_.grown(p)
        self.n_features_in_ = p

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        self.olst_.take(rows, y, w)
        return len(y)

    def _can_overflow(self) -> bool:
        return False

    def _check_state(self) -> None:
        if self._started():
            self.olst_.check(self.olst_.p, len(self.olst_.mean_y))

    def _linear(self) -> tuple[Array, Array]:
        return self.olst_.extract(self.k, self.standardize)

    @property
    def bias_(self) -> Array:  # type: ignore[override]
        """Intercepts, shape (q,)."""
        return self._linear()[1]

    @property
    def ridge_(self) -> float:
        """Ridge of the first step as of now, on the diagonal of the standardised S_xx; fades like 1 / n."""
        return self.olst_.ridge()


class OLSTRegressor(RegressionLearner, OLST):
    """Least squares, the k largest weights, least squares on those: the model anew after every row.

    O(p^2) a row and O(p^2) memory, O(p^2 + k^3) to read the model after every row; a batch that is wider than
    those before (`grow`, `learn_one`) costs as much as one row more. Where only the last model matters,
    `OLSthRegressor` does the same from running averages and can choose k too.

    Attributes
    ----------
    coef_ : array of shape (p,) or (q, p)
        At most k non-zero columns; those of the rows so far, exactly.
    intercept_ : float or array of shape (q,)
    ridge_ : float
        What was added to the diagonal of the standardised S_xx in the first step.

    Notes
    -----
    [Susan] Algorithm 1, after every row:

    1. ``(S_xx + lambda I) beta = S_xy``, standardised, by rank-one updates of the inverse;
    2. keep the k largest ``|beta_j|`` (several targets: the norms of the rows), ties by the lower index;
    3. least squares on those.

    Differences from the paper: it takes a ridge in step 1 and does not say which. Here ``lambda_j`` is
    ``ridge sigma_j^2 / n``, with sigma_j (and a derived ridge) as of the last of the rows 64, 128, 256, ...,
    where the inverse is made anew (O(p^3), so that no rounding error piles up either) and as of now before
    row 64; a feature that begins to vary in between has the sigma of that row. Step 3 keeps the ridge while
    there are at most 4 rows for each of the k features: around n = k least squares interpolates noise.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OLSTRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> OLSTRegressor(2).fit(X, X[:, 7] - 2 * X[:, 31]).get_support(indices=True)
    array([ 7, 31])
    """


class OLSTClassifier(LabelLearner, OLST):
    """Least squares on labels -1 and +1, the k largest weights, refitted: the model anew after every row.

    O(p^2) a row and O(p^2) memory, O(p^2 + k^3) to read the model after every row; a batch that is wider than
    those before (`grow`, `learn_one`) costs as much as one row more. More than two classes are as many
    targets, one against the rest, that share the k features.

    Attributes
    ----------
    classes_ : array of labels
    coef_ : array of shape (1, p) or (q, p)
        At most k non-zero columns; those of the rows so far, exactly.
    intercept_ : array of shape (1,) or (q,)
    ridge_ : float
        What was added to the diagonal of the standardised S_xx in the first step.

    Notes
    -----
    Differences from the paper: as for `OLSTRegressor`; it does not classify.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OLSTClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 20))
    >>> OLSTClassifier(2).fit(X, X[:, 7] > X[:, 13]).get_support(indices=True)
    array([ 7, 13])
    """

    def _loss(self) -> str:
        return "squared"
