"""scikit-learn estimators on running averages: learn by `partial_fit`, choose k and the penalty when read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._base import Classifier, OnlineModel, Regressor, param
from .._input import Rows, as_rows, as_scipy, check_rows
from .._light import Csr
from . import extract
from .crossval import FoldAverages, cross_validate
from .forgetting import Alpha
from .interactions import Pairs
from .model import LinearModel
from .path import path
from .running import RunningAverages
from .standardize import Array, Standardized, standardize


class FromAverages(OnlineModel):
    _averaged: ClassVar[bool] = True

    alpha: Alpha = param(
        None,
        "float in [0, 1), callable or None",
        "Forgetting per row: a row of age a weighs (1 - alpha)^a. A callable gives alpha_n of [Sun] eq. "
        "(3.11). None keeps everything.",
    )
    half_life: float | None = param(
        None, "float > 0 or None", "Rows after which a weight has halved; another way to say alpha."
    )
    missing: Literal["error", "mean"] = param(
        "error",
        "{'error', 'mean'}",
        "NaN in X is refused, or replaced by the column's mean over the rows before it and counted; "
        "in predictions, by the mean of all rows.",
    )
    interactions: bool = param(
        False, "bool", "Use all products x_i x_j as features too; made block by block, never as a whole."
    )
    grow: bool = param(
        False,
        "bool",
        "Let a sparse batch be wider than those before: the averages grow, `n_features_in_` moves on, and "
        "narrower batches are read as if the missing columns were zero.",
    )
    dtype: Any = param("float64", "{'float64', 'float32'}", "Precision of the averages.")
    fit_intercept: bool = param(True, "bool", "Fit an intercept; it is never penalised nor counted.")
    standardize: bool = param(
        True, "bool", "Compare features on a common scale; without it raw weights are compared."
    )

    method: ClassVar[str]
    _free: ClassVar[dict[str, int]] = {"averages_": 0}  # with or without folds

    _attributes: ClassVar[str] = """
    coef_, intercept_
        The model as of now, in the units of the data; derived from `model_`.
    model_ : LinearModel
        Support, standard errors, t values, R^2, residual variance, ridge or penalty used.
    averages_ : RunningAverages
        What has been learned (`FoldAverages` where k is chosen by cross-validation)."""

    def _check_params(self) -> None:
        RunningAverages(**self._options())

    def _options(self) -> dict[str, Any]:
        return {
            name: getattr(self, name) for name in ("alpha", "half_life", "missing", "interactions", "dtype")
        }

    def _nan_ok(self) -> bool:
        return self.missing == "mean"

    def _reset(self, p: int, q: int) -> None:  # noqa: ARG002
        self.averages_: RunningAverages | FoldAverages = RunningAverages(**self._options())
        self._begun_ = self._options()
        self._cache: dict[str, Any] = {}  # the model last read; not state, it follows from the averages

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_cache": {}} if "_cache" in state else state

    def _check_state(self) -> None:
        if self._started() and any(a.n_features_in_ != self.n_features_in_ for a in self._parts()):
            raise ValueError(f"the averages are not of {self.n_features_in_} columns.")

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        X = as_scipy(X) if isinstance(X, Csr) else X  # here more is asked of it than its arrays
        if reset or not self.grow or not sp.issparse(X) or self.interactions:
            return super()._rows(X, reset=reset)
        rows = as_rows(X)[0]
        rows = check_rows(rows, rows.shape[1], nan_ok=self._nan_ok())
        wide = max(rows.shape[1], self.n_features_in_)
        return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], wide))

    def _update(self, X: Rows, y: Array, w: Array | None) -> None:
        self._check_unchanged()
        wide: int = X.shape[1]
        if wide != self.n_features_in_:
            self.averages_.widen(wide)
            self.n_features_in_: int = wide
        self.averages_.update(X, y, w)

    def _take_over(self, other: FromAverages, averages: RunningAverages) -> None:
        """Be fitted as `other` is, by its averages, but extract models in this estimator's way."""
        for name in (*self._options(), "grow"):
            setattr(self, name, getattr(other, name))
        for name, value in vars(other).items():
            if name.endswith("_"):
                setattr(self, name, value)
        self.averages_, self._begun_, self._cache = averages, self._options(), {}

    def _parts(self) -> list[RunningAverages]:
        return self.averages_.folds_ if isinstance(self.averages_, FoldAverages) else [self.averages_]

    def _add(self, other: FromAverages, where: NDArray[np.int64] | None, wide: int) -> None:
        """Add the averages of `other`, whose feature j is `where[j]` of the `wide` that both then have."""
        for model, to in ((self, None), (other, where)):
            for held in model._parts():
                held.widen(wide, to)
            model.n_features_in_ = wide
        for mine, theirs in zip(self._parts(), other._parts()):
            mine.merge(theirs)
        if isinstance(self.averages_, FoldAverages):
            self.averages_.n_samples_ += other.averages_.n_samples_
        self._cache = {}

    def _check_unchanged(self) -> None:
        changed = [name for name, value in self._options().items() if value != self._begun_[name]]
        if changed:
            name = changed[0]
            raise ValueError(
                f"{name} was {self._begun_[name]!r} when the first rows came and is {getattr(self, name)!r} "
                "now; call fit to begin anew with it."
            )

    def _extract(self, s: Standardized) -> LinearModel:
        raise NotImplementedError  # pragma: no cover

    @property
    def model_(self) -> LinearModel:
        """The model as of now, with standard errors, R^2 and residual variance; extracted when first read."""
        self._check_fitted()
        self._check_unchanged()
        taken = getattr(self.averages_, "_changes", self.averages_.n_samples_)
        as_of = (taken, tuple(self.get_params(deep=False).items()))
        if self._cache.get("as_of") != as_of:
            model = self._choose()
            if hasattr(self, "feature_names_in_"):  # the averages saw arrays
                pairs, names = self._pairs(), self.feature_names_in_
                names = names if pairs is None else np.array(pairs.names(names), dtype=object)
                model = replace(model, feature_names=names)
            self._cache.update(as_of=as_of, model=model)
        chosen: LinearModel = self._cache["model"]
        return chosen

    def _choose(self) -> LinearModel:
        assert isinstance(self.averages_, RunningAverages)
        return self._extract(self._standardized(self.averages_))

    def _standardized(self, averages: RunningAverages) -> Standardized:
        return standardize(averages, fit_intercept=self.fit_intercept, scale=self.standardize)

    def _linear(self) -> tuple[Array, Array]:
        model = self.model_
        return np.atleast_2d(model.coef), np.atleast_1d(model.intercept)

    def _pairs(self) -> Pairs | None:
        return Pairs(self.n_features_in_) if self.interactions else None

    def _decision(self, X: Any) -> Array:
        self._check_fitted()
        rows = self._rows(X, reset=False)[:, : self.n_features_in_]  # of later features nothing is known yet
        rows = self._imputed(rows)
        pairs = self._pairs()
        coef, intercept = self._linear()
        if pairs is None:
            return np.asarray(rows @ coef.T) + intercept
        support = self.model_.support
        return pairs.expand(rows, support) @ coef[:, support].T + intercept

    def _imputed(self, rows: Rows) -> Rows:
        """The rows with the means so far in place of missing values."""
        values = rows.data if sp.issparse(rows) else rows
        absent = np.isnan(values) if self.missing == "mean" else np.zeros(0, dtype=bool)
        if not absent.any():
            return rows
        averages = self.averages_.total() if isinstance(self.averages_, FoldAverages) else self.averages_
        mean = averages.mean_x_[: self.n_features_in_]
        rows = rows.copy()
        if sp.issparse(rows):
            rows.data[absent] = mean[rows.indices[absent]]
        else:
            rows[absent] = np.broadcast_to(mean, rows.shape)[absent]
        return rows

    def transform(self, X: Any) -> Any:
        """The columns of X that were selected (with `interactions`, the products too)."""
        pairs = self._pairs()
        if pairs is None:
            return super().transform(X)
        self._check_fitted()
        return pairs.expand(self._rows(X, reset=False), self.model_.support)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the selected features."""
        pairs = self._pairs()
        if pairs is None:
            return super().get_feature_names_out(input_features)
        self._check_fitted()
        known = getattr(self, "feature_names_in_", input_features)
        return np.array(pairs.names(known), dtype=object)[self.model_.support]


class Selecting(FromAverages):
    k: int | Literal["auto"] | None = param(
        "auto",
        "int >= 0 or 'auto'",
        "Number of features; 'auto' takes the best model of the path by `criterion`.",
        positional=True,
    )
    criterion: Any = param(
        "bic",
        "{'aic', 'bic', 'ebic', 'cv'}",
        "How k='auto' chooses; 'cv' keeps one set of averages per fold.",
    )
    cv: int = param(5, "int >= 2", "Folds of criterion='cv'; row i belongs to fold i mod cv.")

    def _check_params(self) -> None:
        super()._check_params()
        if self.criterion not in ("aic", "bic", "ebic", "cv"):
            raise ValueError(f"criterion={self.criterion!r}; pass 'aic', 'bic', 'ebic' or 'cv'.")
        k = self.k
        if k is not None and k != "auto" and not (isinstance(k, int | np.integer) and k >= 0):
            raise ValueError(f"k={k!r}; pass a non-negative integer or 'auto'.")
        if self._by_folds():
            FoldAverages(self.cv)

    def _automatic(self) -> bool:
        return self.k == "auto"

    def _size(self) -> int:
        assert isinstance(self.k, int | np.integer)
        return int(self.k)

    def _by_folds(self) -> bool:
        return self._automatic() and self.criterion == "cv"

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        if isinstance(self.k, int | np.integer):
            wide = p if not self.interactions else Pairs(p).n_features
            if self.k > wide:
                raise ValueError(f"k={self.k} exceeds the {wide} columns of X; pass at most {wide}.")
        if self._by_folds():
            self.averages_ = FoldAverages(self.cv, **self._options())

    def _path_options(self) -> dict[str, Any]:
        """What the path of this method takes beyond the averages."""
        return {}

    def _choose(self) -> LinearModel:
        averages = self.averages_
        options = {
            "fit_intercept": self.fit_intercept,
            "standardize": self.standardize,
            **self._path_options(),
        }
        if self._by_folds():
            if not isinstance(averages, FoldAverages):
                raise ValueError("criterion='cv' was set after rows had been taken without folds; fit anew.")
            return cross_validate(averages, self.method, **options).best()
        if isinstance(averages, FoldAverages):  # k or the criterion was set after the fit
            averages = averages.total()
        if self._automatic():
            return path(averages, self.method, **options).best(self.criterion)
        return self._extract(self._standardized(averages))


class _Penalized(Selecting):
    lam: float | None = param(
        None,
        "float >= 0 or None",
        "Penalty, lambda of [Sun] eq. (3.9), on standardised features; instead of k. Given k, the path is "
        "walked to the largest support of at most k features.",
    )
    refit: bool = param(True, "bool", "Refit the selected features by least squares.")

    def _check_params(self) -> None:
        super()._check_params()
        if self.lam is not None and not self.lam >= 0:
            raise ValueError(f"lam={self.lam}; a penalty is a non-negative number.")
        if self.lam is not None and self.k not in ("auto", None):
            raise ValueError(
                f"k={self.k} and lam={self.lam} both say how sparse the model is; pass one of them."
            )
        if self.lam is None and self.k is None:
            raise ValueError("k=None needs lam; pass k, k='auto' or lam.")

    def _automatic(self) -> bool:
        return self.k == "auto" and self.lam is None

    def _budget(self) -> dict[str, Any]:
        return (
            {"k": self.k, "refit": self.refit} if self.lam is None else {"lam": self.lam, "refit": self.refit}
        )

    def _path_options(self) -> dict[str, Any]:
        return {"refit": self.refit, **self._shape()}

    def _shape(self) -> dict[str, Any]:
        """Parameters that shape the penalty."""
        return {}

    def _extract(self, s: Standardized) -> LinearModel:
        return getattr(extract, self.method)(s, **self._budget(), **self._shape())


class _OLS(FromAverages):
    ridge: Any = param(
        "auto",
        "float >= 0 or 'auto'",
        "Ridge added to the standardised S_xx; 'auto' adds one only where S_xx is singular.",
    )

    method = "ols"

    def _extract(self, s: Standardized) -> LinearModel:
        return extract.ols(s, ridge=self.ridge)


class _OLSth(Selecting):
    ridge: Any = param(
        "auto",
        "float >= 0 or 'auto'",
        "Ridge of the first step; 'auto' adds one where S_xx is singular or n <= 4 p.",
    )

    method = "olsth"

    def _extract(self, s: Standardized) -> LinearModel:
        return extract.olsth(s, self._size(), ridge=self.ridge)

    def _path_options(self) -> dict[str, Any]:
        return {"ridge": self.ridge}


class _OFSA(Selecting):
    steps: int = param(500, "int >= 1", "Gradient steps, T of the annealing schedule M_t.")
    mu: float = param(1.0, "float > -1", "Annealing: the larger, the sooner features are dropped.")
    warmup: float = param(0.1, "float in [0, 1)", "Share of the steps before the first feature is dropped.")
    eta: Any = param("auto", "float > 0 or 'auto'", "Step size; 'auto' takes it from the largest eigenvalue.")

    method = "ofsa"

    def _extract(self, s: Standardized) -> LinearModel:
        return extract.ofsa(s, self._size(), **self._path_options())

    def _path_options(self) -> dict[str, Any]:
        return {"steps": self.steps, "mu": self.mu, "warmup": self.warmup, "eta": self.eta}


class _OLasso(_Penalized):
    method = "olasso"


class _OElasticNet(_Penalized):
    l1_ratio: float = param(
        0.99,
        "float in (0, 1]",
        "Share of the l1 penalty; 1 is the lasso. Less of it keeps correlated features together, and finds "
        "fewer of the true ones.",
    )

    method = "oelasticnet"

    def _shape(self) -> dict[str, Any]:
        return {"l1_ratio": self.l1_ratio}


class _OAdaptiveLasso(_Penalized):
    gamma: float = param(1.0, "float > 0", "Exponent of the weights 1 / |beta_ols|^gamma.")

    method = "oadaptivelasso"

    def _shape(self) -> dict[str, Any]:
        return {"gamma": self.gamma}


class _OMCP(_Penalized):
    gamma: float = param(
        3.0, "float > 1", "Where the penalty levels off, in units of lam; b of [Sun] eq. (3.10)."
    )

    method = "omcp"

    def _shape(self) -> dict[str, Any]:
        return {"gamma": self.gamma}


class _OSCAD(_Penalized):
    gamma: float = param(3.7, "float > 2", "Where the penalty levels off, in units of lam; a of Fan and Li.")

    method = "oscad"

    def _shape(self) -> dict[str, Any]:
        return {"gamma": self.gamma}


# ---------------------------------------------------------------- the public estimators


class LabelRegression(Classifier):
    _remark = """Labels are regressed as -1 and +1; more than two classes go one against the rest, with one
    S_xx and one support for all ([Sun] 3.2.6)."""


class OLSRegressor(_OLS, Regressor):
    """Online least squares ([Sun] 3.2.2): all features, no selection.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OLSRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] - 2 * X[:, 5]
    >>> OLSRegressor().fit(X, y).get_support(indices=True)
    array([0, 1, 2, 3, 4, 5])
    """


class OLSClassifier(_OLS, LabelRegression):
    """Online least squares ([Sun] 3.2.2): all features, no selection."""


class OLSthRegressor(_OLSth, Regressor):
    """Online least squares with thresholding ([Sun] Alg. 3): fit all features, keep the k largest, refit.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OLSthRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] - 2 * X[:, 5]
    >>> OLSthRegressor(k=2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """


class OLSthClassifier(_OLSth, LabelRegression):
    """Online least squares with thresholding ([Sun] Alg. 3): fit all features, keep the k largest, refit."""


class OFSARegressor(_OFSA, Regressor):
    """Online feature selection with annealing ([Sun] Alg. 4): gradient steps while features are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OFSARegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] - 2 * X[:, 5]
    >>> OFSARegressor(k=2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """


class OFSAClassifier(_OFSA, LabelRegression):
    """Online feature selection with annealing ([Sun] Alg. 4): gradient steps while features are dropped."""


class OLassoRegressor(_OLasso, Regressor):
    """Online lasso ([Sun] Alg. 5): the l1 penalty, from running averages.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OLassoRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] - 2 * X[:, 5]
    >>> OLassoRegressor(k=2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """


class OLassoClassifier(_OLasso, LabelRegression):
    """Online lasso ([Sun] Alg. 5): the l1 penalty, from running averages."""


class OElasticNetRegressor(_OElasticNet, Regressor):
    """Online elastic net ([Sun] Alg. 5): l1 and l2 penalty, from running averages.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OElasticNetRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] - 2 * X[:, 5]
    >>> OElasticNetRegressor(k=2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """


class OElasticNetClassifier(_OElasticNet, LabelRegression):
    """Online elastic net ([Sun] Alg. 5): l1 and l2 penalty, from running averages."""


class OAdaptiveLassoRegressor(_OAdaptiveLasso, Regressor):
    """Online adaptive lasso ([Slides] Alg. 3): l1 penalty weighted by the least squares fit.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OAdaptiveLassoRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] - 2 * X[:, 5]
    >>> OAdaptiveLassoRegressor(k=2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """


class OAdaptiveLassoClassifier(_OAdaptiveLasso, LabelRegression):
    """Online adaptive lasso ([Slides] Alg. 3): l1 penalty weighted by the least squares fit."""


class OMCPRegressor(_OMCP, Regressor):
    """Online minimax concave penalty ([Sun] eq. 3.10): sparse without the lasso's bias.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OMCPRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] - 2 * X[:, 5]
    >>> OMCPRegressor(k=2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """


class OMCPClassifier(_OMCP, LabelRegression):
    """Online minimax concave penalty ([Sun] eq. 3.10): sparse without the lasso's bias."""


class OSCADRegressor(_OSCAD, Regressor):
    """Online smoothly clipped absolute deviation (Fan and Li 2001).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve import OSCADRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] - 2 * X[:, 5]
    >>> OSCADRegressor(k=2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """


class OSCADClassifier(_OSCAD, LabelRegression):
    """Online smoothly clipped absolute deviation (Fan and Li 2001)."""
