"""What the estimators share: validation, labels, names of features, prediction, selection."""

from __future__ import annotations

import copy
from threading import Lock, RLock
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import validate_data

from ..base import Method
from ..clusters import hash_ids
from ..fitted import FittedModel
from ..learners.refit import Refit
from ..learners.size import check_auto, choose_size, has_auto, is_auto
from ..learners.start import continue_from
from ..params import ParamError, Parameter
from ..passes import MeanLoss, blocks_of, fit_rows, has_passes, is_source, repeat
from ..rows import Array, Rows, as_rows, as_weights, check_any_weight, is_sparse
from ..tasks import Task


class Estimator(SelectorMixin, BaseEstimator):
    """A scikit-learn estimator and selector around a `Method`."""

    _method_class: ClassVar[type[Method]]
    _params: ClassVar[dict[str, Parameter]]
    _fixed_loss: ClassVar[str | None]
    _task: Any  # of the first rows: a `Task`
    n_iter_: int
    k_: int

    # ---------------------------------------------------------------- learning

    def _new_method(self, **chosen: Any) -> Method:
        """The method with the parameters as given, or as chosen."""
        given = {name: self._params[name].check(name, getattr(self, name)) for name in self._params}
        values = given | chosen
        if is_auto(values.get("k")) and has_auto(self._method_class):
            raise ParamError("k", "auto", "it is chosen by fit, from data in memory; pass a number.")
        if self._fixed_loss is not None:
            values["loss"] = self._fixed_loss
        return self._method_class(**values)

    def _check_unchanged(self) -> None:
        """Hand parameters that may change to the method; raise ValueError for others that have changed."""
        given, used = vars(self), vars(self.method_)
        for name, param in self._params.items():
            now, before = given[name], used[name]
            if name == "k" and is_auto(now) and "k_" in given:
                continue
            if now is before or (type(now) is type(before) and now == before):
                continue
            now = param.check(name, now)
            if now == before:
                continue
            if not param.live:
                raise ValueError(
                    f"{name} was {before!r} when the first rows came and is {now!r} now; call fit to begin "
                    "anew with it."
                )
            setattr(self.method_, name, now)
            try:
                self.method_.check()
            except ValueError:
                setattr(self.method_, name, before)
                raise

    def _rows(self, X: Any, method: Method, *, first: bool) -> Rows:
        """Checked rows, of the width and with the names seen before."""
        names = None if first else getattr(self, "feature_names_in_", None)
        plain = type(X) is np.ndarray or is_sparse(X) or isinstance(X, Rows)
        rows, _ = as_rows(X, names=names, nan_ok=_nan_ok(method), limit=method.limit)
        if rows.p == 0 and (first or not plain):
            raise ValueError(f"0 feature(s) (shape={rows.shape}) while a minimum of 1 is required.")
        if not plain or names is not None or (first and not is_sparse(X)):
            validate_data(self, X, reset=first, skip_check_array=True)  # scikit-learn's words about names
        if first:
            self.n_features_in_: int = rows.p
        elif rows.p != self.n_features_in_:
            if not (rows.sparse and getattr(method, "grow", False)):
                raise ValueError(
                    f"X has {rows.p} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            rows = rows if rows.p > method.p else rows.with_width(method.p)
        return rows

    def _first_task(self, y: Any, n: int, classes: Any) -> Task:
        raise NotImplementedError  # pragma: no cover

    def _update(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        *,
        first: bool,
        model: Any = None,
        passes: bool = False,
        cluster: Any = None,
    ) -> Self:
        """Check everything, then let the method learn; a call that fails changes nothing.

        With `passes` the method learns the rows several times, if it has `max_iter`.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        if first and not passes and model is None:
            with first_call(self):  # of two threads, one is first, the other not
                if not hasattr(self, "method_"):
                    return self._begin(X, y, classes, sample_weight, cluster)
        elif first:
            return self._begin(X, y, classes, sample_weight, cluster, model, passes)
        self._check_unchanged()
        cluster = self._check_cluster(cluster, sample_weight)
        rows, Y, w = self._check_batch(X, y, classes, sample_weight, first=False)
        self._learn(rows, Y, w, cluster)
        return self

    def _check_cluster(self, cluster: Any, sample_weight: Any) -> Any:
        """Ids of the rows' clusters as numbers, without rows of weight 0; ValueError where none are taken."""
        if cluster is None:
            return None
        self.method_.check_clusters()
        ids = hash_ids(cluster)
        w = as_weights(sample_weight, len(ids), self.method_.weight_limit)
        return ids if w is None else ids[w > 0]

    def _begin(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        cluster: Any,
        model: Any = None,
        passes: bool = False,
    ) -> Self:
        """Learn the first rows."""
        fresh = type(self)(**self.get_params(deep=False))
        chooses = passes and has_auto(self._method_class) and is_auto(self.k)
        fresh.method_ = method = fresh._new_method(**({"k": 1} if chooses else {}))
        cluster = fresh._check_cluster(cluster, sample_weight)
        rows, Y, w = fresh._check_batch(X, y, classes, sample_weight, first=True)
        if not len(rows):
            raise ValueError(
                f"Found array with 0 sample(s) (shape={rows.shape}) while a minimum of 1 is required."
            )
        if chooses:
            check_auto(method)
            fresh.k_ = choose_size(lambda k: fresh._new_method(k=k), rows, Y, w)
            fresh.method_ = method = fresh._new_method(k=fresh.k_)
        method.feature_names = getattr(fresh, "feature_names_in_", None)
        if method.needs_passes and not passes:
            raise ValueError(
                f"{type(self).__name__} with loss={method.loss!r} learns its rows several times; call "
                "fit, or pass loss='squared'."
            )
        if passes:
            method.expect(len(rows), rows.n_values, rows.p, rows.sparse)
        method.begin(rows.p, fresh._task.q)
        if model is not None:
            continue_from(method, model, rows, w)
        elif passes and has_passes(method):
            fresh.n_iter_ = fit_rows(method, rows, Y, w)
            if Refit.wanted(method):
                refit = Refit(method)
                refit.update(rows, Y, w)
                refit.finish()
        else:
            fresh._learn(rows, Y, w, cluster)
        while passes and (again := fresh.method_.next_pass()) is not None:
            fresh.method_ = again
            fresh._learn(rows, Y, w, cluster)
        return self._become(fresh)

    def _become(self, fresh: Self) -> Self:
        """Take over what another one of the same parameters has learned, and forget what was."""
        fitted = {name: value for name, value in vars(fresh).items() if name not in fresh._params}
        own = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = own | fitted
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, cluster: Any = None) -> Self:
        check_any_weight(sample_weight)
        if y is None and has_passes(self._method_class) and is_source(X):
            return self._fit_source(X)
        return self._update(X, y, None, sample_weight, first=True, passes=True, cluster=cluster)

    def _fit_source(self, source: Any) -> Self:
        """Learn in passes over blocks (X, y) or (X, y, sample_weight), which are read anew for each pass."""
        if iter(source) is source:
            raise ValueError(
                f"{type(source).__name__} can be read once only, and fit reads its data up to "
                f"{self.max_iter} times; pass an object whose __iter__ starts again, or use partial_fit."
            )
        fresh = type(self)(**self.get_params(deep=False))
        fresh.method_ = method = fresh._new_method()
        n, classes = fresh._count(source)
        started = False

        def one_pass(at: int) -> float:  # noqa: ARG001
            nonlocal started
            loss = MeanLoss(method)
            for X, y, weight in blocks_of(source):
                rows, Y, w = fresh._check_batch(X, y, None if started else classes, weight, first=not started)
                if not started:
                    method.begin(rows.p, fresh._task.q)
                    method.plan(n)
                    started = True
                if loss.needed:
                    loss.add(method.scores(rows), Y, w)
                fresh._learn(rows, Y, w)
            if not started:
                raise ValueError("The source has no rows; pass one that yields blocks (X, y).")
            return loss.mean()

        fresh.n_iter_ = repeat(method, one_pass)
        if Refit.wanted(method):
            again = Refit(method)
            for X, y, weight in blocks_of(source):
                again.update(*fresh._check_batch(X, y, None, weight, first=False))
            again.finish()
        return self._become(fresh)

    def _count(self, source: Any) -> tuple[int, Any]:
        """Rows of a source, and its labels, where these must be known beforehand: a first reading."""
        return (sum(len(y) for _, y, _ in blocks_of(source)) if self.method_.plans else 0), None

    def _check_batch(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool
    ) -> tuple[Rows, Array, Array | None]:
        method = self.method_
        rows = self._rows(X, method, first=first)
        n = len(rows)
        if first:
            self._task = self._first_task(y, n, classes)
        elif classes is not None:
            self._check_classes(classes)
        Y = self._task.encode(self._labels(y), n, method.limit)
        w = as_weights(sample_weight, n, method.weight_limit)
        if w is not None and not w.all():
            rows, Y, w = rows.take(w > 0), Y[w > 0], w[w > 0]
        return rows, Y, w

    def _learn(self, rows: Rows, Y: Array, w: Array | None, cluster: Any = None) -> None:
        if cluster is not None and len(cluster) != len(rows):
            raise ValueError(f"cluster has {len(cluster)} ids for {len(rows)} rows; pass one a row.")
        method = self.method_
        with method.lock:
            try:
                method.update(rows, Y, w, cluster)
            finally:
                self.n_features_in_ = method.p

    def _labels(self, y: Any) -> Any:
        return y

    def _check_classes(self, classes: Any) -> None:
        """Raise ValueError unless these are the labels of the first call."""

    def _check_fitted(self) -> None:
        if not hasattr(self, "method_"):
            raise NotFittedError(
                f"This {type(self).__name__} has not learned a row yet; call fit or partial_fit first."
            )

    def _to_fitted(self) -> FittedModel:
        """What a file holds of it."""
        from .saved import to_fitted

        return to_fitted(self)

    def _adopt(self, model: FittedModel) -> None:
        """Be fitted as a model is."""
        from .saved import adopt

        adopt(self, model)

    # ---------------------------------------------------------------- the model

    def _weights(self) -> tuple[Array, Array]:
        self._check_fitted()
        self._check_unchanged()
        return self.method_.coefficients()

    def _scores(self, X: Any) -> Array:
        self._check_fitted()
        self._check_unchanged()
        rows = self._rows(X, self.method_, first=False)
        if rows.p > self.method_.p:  # features that no batch has brought have no weight yet
            rows = rows.with_width(self.method_.p)
        return self.method_.scores(rows)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = np.any(self._weights()[0] != 0, axis=0)
        return mask

    def transform(self, X: Any) -> Any:
        """The selected columns of X, and of products where the method has `interactions`."""
        self._check_fitted()
        pairs = getattr(self.method_, "pairs", None)
        if pairs is None:
            if is_sparse(X):
                as_rows(X, nan_ok=True)  # SciPy follows indices without a look
            return super().transform(X)
        rows = self._rows(X, self.method_, first=False)
        return pairs.expand(rows.to_array(), self.get_support(indices=True))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the selected features."""
        self._check_fitted()
        pairs = getattr(self.method_, "pairs", None)
        if pairs is not None:
            known = getattr(self, "feature_names_in_", input_features)
            return np.array(pairs.names(known), dtype=object)[self.get_support()]
        if input_features is None and hasattr(self, "names_"):
            with self.method_.lock:  # new names come with new weights
                return np.array(list(self.names_), dtype=object)[self.get_support()]
        return super().get_feature_names_out(input_features)

    # ---------------------------------------------------------------- copies

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "names_" in state:
            with self.method_.lock:  # names and weights of one moment, whoever learns meanwhile
                state["method_"], state["names_"] = copy.copy(self.method_), dict(self.names_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        method = getattr(self, "method_", None)
        if method is not None:
            self.n_features_in_ = method.p
            if hasattr(self, "names_"):
                method.feature_names = self.names_  # the copy's own, which grow with it

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "method_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "mean"
        tags.target_tags.required = True
        return tags


_FIRST_CALLS: WeakKeyDictionary[Estimator, RLock] = WeakKeyDictionary()
_MUTEX = Lock()


def first_call(estimator: Estimator) -> RLock:
    """The lock under which an estimator gets its method, whose own lock does from then on."""
    with _MUTEX:
        return _FIRST_CALLS.setdefault(estimator, RLock())


def _nan_ok(method: Method) -> bool:
    return getattr(method, "missing", "error") == "mean"
