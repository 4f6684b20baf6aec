"""What the estimators share: validation, labels, names of features, prediction, selection, single rows."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from threading import Lock, RLock
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import validate_data

from .. import _core
from ..core.method import Method
from ..core.params import Parameter
from ..core.rows import Array, Rows, as_rows, check_any_weight, is_frame, is_sparse
from ..core.tasks import Task
from ..core.words import counted
from ..sources import read
from ..sources.schema import Schema
from ..sources.stream import Stream
from ..statistics.constraints import Constraints
from ..statistics.folds import hash_ids
from ..training.model import Model
from ..training.outside import reach_of
from ..training.passes import continue_from
from ..training.trainer import Trainer, machine_memory
from .blocks import CheckedBlocks, is_source
from .frames import columns_of, frame_schema, rows_of_frame


class Estimator(SelectorMixin, BaseEstimator):
    """A scikit-learn estimator and selector around a `Model`."""

    _method_class: ClassVar[type[Method]]
    _params: ClassVar[dict[str, Parameter]]
    _fixed_loss: ClassVar[str | None]
    _task_name: ClassVar[str]
    _model: Model  # once fitted
    n_iter_: int
    k_: int

    @property
    def method_(self) -> Any:
        """The method itself, with its state."""
        return self._model.method

    @property
    def _task(self) -> Any:
        return self._model.task

    # ---------------------------------------------------------------- learning

    def _fresh(self) -> Self:
        """An estimator of the same parameters whose model has learned nothing."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._model = fresh._new_model()
        return fresh

    def _new_model(self) -> Model:
        values = {name: param.check(name, getattr(self, name)) for name, param in self._params.items()}
        if self._fixed_loss is not None:
            values["loss"] = self._fixed_loss
        return Model(self._method_class(**values), self._task_name)

    def _check_unchanged(self) -> None:
        """Hand parameters that may change to the method; raise ValueError for others that have changed."""
        method = self._model.method
        given, used = vars(self), vars(method)
        for name, param in self._params.items():
            now, before = given[name], used[name]
            if now is before or (type(now) is type(before) and now == before):
                continue
            now = param.check(name, now)
            if now == before or (name == "k" and now == "auto" and "k_" in given):
                continue
            if not param.live:
                raise ValueError(
                    f"{name} was {before!r} when the first rows came and is {now!r} now; call fit to begin "
                    "anew with it."
                )
            setattr(method, name, now)
            try:
                method.check()
            except ValueError:
                setattr(method, name, before)
                raise

    def _rows(self, X: Any, *, first: bool = False) -> Rows:
        """Checked rows, of the width and with the names seen before."""
        model = self._model
        plain = type(X) is np.ndarray or is_sparse(X) or isinstance(X, Rows)
        if not plain and not isinstance(X, np.ndarray | list | tuple) and is_frame(X):
            rows = self._table_rows(X, first=first)
            if rows is not None:
                return rows
        names = None if first or hasattr(self, "schema_") else getattr(self, "feature_names_in_", None)
        rows, _ = as_rows(X, names=names, nan_ok=model.nan_ok, limit=model.method.limit)
        if rows.p == 0 and (first or not plain):
            raise ValueError(f"0 feature(s) (shape={rows.shape}) while a minimum of 1 is required.")
        if not plain or names is not None or (first and not is_sparse(X)):
            validate_data(self, X, reset=first, skip_check_array=True)  # scikit-learn's words about names
        if first:
            self.n_features_in_: int = rows.p
        elif rows.p != (width := self._width(rows)):
            if not (rows.sparse and (not model.started or getattr(model.method, "grow", False))):
                raise ValueError(
                    f"X has {rows.p} features, but {type(self).__name__} is expecting "
                    f"{width} features as input."
                )
            rows = rows if rows.p > width else rows.with_width(width)
        return rows

    def _table_rows(self, X: Any, *, first: bool) -> Rows | None:
        """Rows of a frame by its schema, which the first rows make; None where it holds numbers alone."""
        model = self._model
        if first:
            schema = frame_schema(X, model.nan_ok)
            if schema is None:
                return None
            self._set_schema(schema)
        elif not hasattr(self, "schema_"):
            return None
        return as_rows(rows_of_frame(X, self.schema_), nan_ok=model.nan_ok, limit=model.method.limit)[0]

    def _set_schema(self, schema: Schema) -> None:
        """Know features by the schema of a table, and its columns as what comes in."""
        self.schema_ = schema
        self.feature_names_in_ = np.array(columns_of(schema), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    def _feature_names(self) -> Any:
        """Names of the features of the model, where they have any."""
        schema = getattr(self, "schema_", None)
        return getattr(self, "feature_names_in_", None) if schema is None else schema.feature_names

    def _width(self, rows: Rows) -> int:
        """Features that rows must have: those of the model or, before it begins, of the first block."""
        if self._model.started:
            return self._model.p
        return rows.p if hasattr(self, "schema_") else self.n_features_in_  # a schema makes them alike

    def _set_width(self) -> None:
        self.n_features_in_ = len(self.feature_names_in_) if hasattr(self, "schema_") else self._model.p

    def _first_task(self, y: Any, n: int, classes: Any) -> Task:
        raise NotImplementedError  # pragma: no cover

    def _check_batch(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, cluster: Any, *, first: bool
    ) -> tuple[Rows, Array, Array | None, Any]:
        """Checked rows, outputs, weights and ids of clusters, without rows of weight 0."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        model = self._model
        if cluster is not None:
            model.method.check_clusters()
            cluster = hash_ids(cluster)
        rows = self._rows(X, first=first)
        if first:
            model.task = self._first_task(y, len(rows), classes)
            model.feature_names = self._feature_names()
        elif classes is not None:
            self._check_classes(classes)
        batch = model.encode(rows, self._labels(y), sample_weight, cluster)
        if first and not len(batch[0]):
            raise ValueError(
                f"Found array with 0 sample(s) (shape={rows.shape}) while a minimum of 1 is required."
            )
        return batch

    def _partial_fit(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, cluster: Any, start: Any = None
    ) -> Self:
        """Check everything, then learn; a call that fails changes nothing. `start` is a model to go on from,
        in place of learning the rows."""
        if isinstance(y, str):
            return self._partial_fit_table(X, y, classes, sample_weight)
        if start is not None:
            return self._begin(X, y, classes, sample_weight, cluster, start)
        if not hasattr(self, "_model"):
            with first_call(self):  # of two threads, one is first, the other not
                if not hasattr(self, "_model"):
                    return self._begin(X, y, classes, sample_weight, cluster)
        self._check_unchanged()
        self._learn(*self._check_batch(X, y, classes, sample_weight, cluster, first=False))
        return self

    def _partial_fit_table(self, X: Any, target: str, classes: Any, weight: Any) -> Self:
        """Learn a table block by block: a frame, an Arrow stream, files, a query; columns are named."""
        stream = read(X, target=target, weight=weight, schema=getattr(self, "schema_", None))
        for examples in stream.blocks():
            first = not hasattr(self, "_model")
            self._partial_fit(examples.rows.matrix(), examples.y, classes, examples.weight, None)
            if first and stream.schema is not None:
                self._set_schema(stream.schema)
                self._model.feature_names = self._feature_names()
        return self

    def _begin(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, cluster: Any, start: Any = None
    ) -> Self:
        """Learn the first rows of a stream, or go on from a model."""
        fresh = self._fresh()
        model = fresh._model
        if model.method.needs_passes:
            raise ValueError(
                f"{type(self).__name__} with loss={model.method.loss!r} learns its rows several times; call "
                "fit, or pass loss='squared'."
            )
        batch = fresh._check_batch(X, y, classes, sample_weight, cluster, first=True)
        rows, Y, w, _ = batch
        model.begin(rows.p, Y.shape[1])
        if start is None:
            fresh._learn(*batch)
        else:
            continue_from(model, start, rows, Y, w)
        return self._become(fresh)

    def _learn(self, rows: Rows, Y: Array, w: Array | None, cluster: Any = None) -> None:
        model = self._model
        with model.lock:
            try:
                model.update(rows, Y, w, cluster)
            finally:
                self._set_width()

    def _fit(self, X: Any, y: Any, sample_weight: Any, cluster: Any = None) -> Self:
        """Forget everything and learn rows, or a source of blocks, as often as the method wants."""
        if isinstance(y, str):  # the column of a table: a frame, an Arrow stream, files, a query
            X, y, sample_weight = read(X, target=y, weight=sample_weight), None, None
        check_any_weight(sample_weight)
        fresh = self._fresh()
        trainer = Trainer(fresh._model)
        if y is None and is_source(X):
            blocks = CheckedBlocks(X, lambda rows, first: fresh._check_block(rows, first, X), fresh._labels)
            trainer.fit_source(blocks, machine_memory() // 4)
        else:
            trainer.fit(*fresh._check_batch(X, y, None, sample_weight, cluster, first=True))
        fresh._set_width()
        if trainer.n_iter is not None:
            fresh.n_iter_ = trainer.n_iter
        if trainer.k is not None:
            fresh.k_ = trainer.k
        return self._become(fresh)

    def _check_block(self, X: Any, first: bool, source: Any) -> Rows:
        rows = self._rows(X, first=first)
        if first:
            if isinstance(source, Stream) and source.schema is not None:
                self._set_schema(source.schema)
            self._model.feature_names = self._feature_names()
        return rows

    def _become(self, fresh: Self) -> Self:
        """Take over what another one of the same parameters has learned, and forget what was."""
        fitted = {name: value for name, value in vars(fresh).items() if name not in fresh._params}
        own = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = own | fitted
        return self

    def _labels(self, y: Any) -> Any:
        return y

    def _check_classes(self, classes: Any) -> None:
        """Raise ValueError unless these are the labels of the first call."""

    def _check_fitted(self) -> None:
        if not hasattr(self, "_model"):
            raise NotFittedError(
                f"This {type(self).__name__} has not learned a row yet; call fit or partial_fit first."
            )

    # ---------------------------------------------------------------- the model

    def _to_model(self) -> Model:
        """What a file holds of it."""
        from .saved import to_model

        return to_model(self)

    def slim(self) -> Self:
        """A copy that predicts and selects, without what it takes to learn: small to pickle and to send."""
        from ..training.slim import slim_model

        self._check_fitted()
        self._check_unchanged()
        other = copy.copy(self)
        other._model = slim_model(self._model)
        return other

    def _adopt(self, model: Model) -> None:
        """Be fitted as a model is."""
        from .saved import adopt

        adopt(self, model)

    def _weights(self) -> tuple[Array, Array]:
        self._check_fitted()
        self._check_unchanged()
        return self._model.coefficients()

    def _lines(self) -> tuple[Array, Array]:
        """Weights and intercepts that predict; AttributeError where shapes or pairs do."""
        weights = self._weights()
        if not self._model.method.linear:
            raise AttributeError(
                f"This {type(self).__name__} has {self._model.attribute('effects_')}, not weights: see "
                "terms_ and effect(feature), or pass effects='linear'."
            )
        return weights

    def _scores(self, X: Any) -> Array:
        self._check_fitted()
        self._check_unchanged()
        rows = self._rows(X)
        if not self._model.warned_of_outside and (reach := reach_of(self._model)) is not None:
            n = np.count_nonzero(reach.n_outside(rows))
            if n:
                self._model.warned_of_outside = True
                clipped = getattr(self._model.method, "clip", False)
                warnings.warn(
                    f"{n:,} of {counted(len(rows), 'row')} to predict lie outside of all rows learned, in "
                    "selected features. Check these rows: "
                    + (
                        "their values were clipped to the range learned (clip=False extrapolates)."
                        if clipped
                        else "their predictions are extrapolations."
                    ),
                    stacklevel=3,
                )
        return self._model.scores(rows)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = np.any(self._weights()[0] != 0, axis=0)
        return mask

    def transform(self, X: Any) -> Any:
        """The selected columns of X, and of products where the method has `interactions`."""
        self._check_fitted()
        pairs = getattr(self.method_, "pairs", None)
        if pairs is None and hasattr(self, "schema_"):
            selected = self.get_support(indices=True)
            return self._rows(X).columns(selected).to_array()
        if pairs is None:
            if is_sparse(X):
                as_rows(X, nan_ok=True)  # SciPy follows indices without a look
            return super().transform(X)
        rows = self._rows(X)
        return pairs.expand(rows.to_array(), self.get_support(indices=True))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the selected features."""
        self._check_fitted()
        pairs = getattr(self.method_, "pairs", None)
        if pairs is not None:
            known = input_features if self._feature_names() is None else self._feature_names()
            return np.array(pairs.names(known), dtype=object)[self.get_support()]
        if hasattr(self, "schema_"):
            return np.array(self.schema_.feature_names, dtype=object)[self.get_support()]
        if input_features is None and hasattr(self, "names_"):
            with self._model.lock:  # new names come with new weights
                return np.array(list(self.names_), dtype=object)[self.get_support()]
        return super().get_feature_names_out(input_features)

    # ---------------------------------------------------------------- one row at a time

    def _one_row(self, x: Mapping[Any, float], *, grow: bool) -> Rows:
        """A mapping as a row; unknown names are new features if `grow`, else left out."""
        if type(x) is not dict and not isinstance(x, Mapping):
            raise TypeError(f"x = {shortened(x)}; a row is a mapping of feature names to values.")
        limit, n = self.method_.limit, len(x)
        indptr, indices, values = np.zeros(2, np.int32), np.empty(n, np.int32), np.empty(n)
        row = x if type(x) is dict else dict(x)
        try:
            n = _core.index_features(row, self._feature_index(), indices, values, limit, grow)
        except (TypeError, ValueError, OverflowError):
            n = -1
        if n < 0:
            bad = next(name for name, value in x.items() if not _within(value, limit))
            raise ValueError(
                f"Feature {bad!r} is {shortened(x[bad])}; values must be finite and within {limit:g}: "
                "drop or impute it first."
            )
        indptr[1] = n
        return Rows(p=max(len(self.names_), self.method_.p), csr=(indptr, indices[:n], values[:n]))

    def _feature_index(self) -> dict[Any, int]:
        """Feature names and their indices, as `learn_one` has met them."""
        if not hasattr(self, "names_"):
            known = getattr(self, "feature_names_in_", range(self.method_.p))
            self.names_: dict[Any, int] = {name: j for j, name in enumerate(known)}
        return self.names_

    def _learn_one(self, x: Mapping[Any, float], y: Any, w: float, classes: Any) -> Self:
        if not hasattr(self, "_model"):
            with first_call(self):
                if not hasattr(self, "_model"):
                    fresh = self._fresh()
                    fresh._model.task = task = fresh._first_task_of_one(y, classes)
                    fresh._model.begin(0, task.q)
                    fresh.n_features_in_ = 0
                    fresh._model.feature_names = fresh._feature_index()
                    fresh._learn_one(x, y, w, None)
                    return self._become(fresh)
        with self._model.lock:  # the names of features are state too
            return self._learn_next(x, y, w)

    def _learn_next(self, x: Mapping[Any, float], y: Any, w: float) -> Self:
        limit = self.method_.weight_limit
        if not isinstance(w, int | float | np.integer | np.floating) or not (
            w == 0 or 1 / limit <= float(w) <= limit
        ):
            raise ValueError(f"w={w!r}; a weight is 0 or within {1 / limit:g} and {limit:g}.")
        self._check_unchanged()
        known = len(self._feature_index())
        try:
            Y = self._encode_one(y)
            row = self._one_row(x, grow=True)
            if row.p > self.method_.p > 0:  # a list with one value a feature does not fit new features
                Constraints.of(self.method_).resolve(row.p, [*map(str, self.names_)])
            if w == 0:
                self._model.resize(row.p)
                self.n_features_in_ = row.p
            else:
                self._learn(row, Y, None if w == 1 else np.array([w], dtype=np.float64))
        except BaseException:
            for name in list(self.names_)[max(known, self.method_.p) :]:
                del self.names_[name]
            raise
        return self

    def _first_task_of_one(self, y: Any, classes: Any) -> Task:
        raise NotImplementedError  # pragma: no cover

    def _encode_one(self, y: Any) -> Array:
        raise NotImplementedError  # pragma: no cover

    def _score_one(self, x: Mapping[Any, float]) -> Array:
        self._check_unchanged()
        return self._model.scores(self._one_row(x, grow=False))

    # ---------------------------------------------------------------- copies

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "names_" in state:
            with self._model.lock:  # names and weights of one moment, whoever learns meanwhile
                state["_model"], state["names_"] = copy.copy(self._model), dict(self.names_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_model"):
            self._set_width()
            if hasattr(self, "names_"):
                self._model.feature_names = self.names_  # the copy's own, which grow with it

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "mean"
        tags.target_tags.required = True
        return tags


_FIRST_CALLS: WeakKeyDictionary[Estimator, RLock] = WeakKeyDictionary()
_MUTEX = Lock()


def first_call(estimator: Estimator) -> RLock:
    """The lock under which an estimator gets its model, whose own lock does from then on."""
    with _MUTEX:
        return _FIRST_CALLS.setdefault(estimator, RLock())


def _within(value: Any, limit: float) -> bool:
    try:
        return not isinstance(value, str) and abs(float(value)) <= limit
    except (TypeError, ValueError, OverflowError):
        return False


def shortened(value: Any, most: int = 80) -> str:
    """The value as Python shows it, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of thousands of digits
        text = f"an {type(value).__name__} of {value.bit_length()} bits"
    return text if len(text) <= most else text[:most] + "..."
