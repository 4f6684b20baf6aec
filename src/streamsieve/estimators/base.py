"""What the estimators share: validation, labels, names of features, prediction, selection."""

from __future__ import annotations

import copy
import inspect
import logging
import operator
import warnings
from threading import Lock, RLock
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import validate_data

from ..core.method import Method
from ..core.params import Bool, Param, Parameter
from ..core.rows import Array, Rows, as_rows, check_any_weight, is_frame, is_sparse
from ..core.tasks import Task
from ..core.words import counted
from ..sources import read
from ..sources.schema import Schema
from ..sources.stream import Stream
from ..statistics.folds import hash_ids
from ..training.model import Model
from ..training.outside import reach_of
from ..training.passes import continue_from
from ..training.progress import ProgressLog, logger
from ..training.trainer import Trainer, machine_memory
from .blocks import CheckedBlocks, is_source
from .frames import columns_of, frame_schema, rows_of_frame

VERBOSE = Param(
    False, Bool(), "Print the progress of `fit` to stderr. The logger 'streamsieve' logs it at INFO."
)


class Estimator(SelectorMixin, BaseEstimator):
    """A scikit-learn estimator and selector around a `Model`."""

    _method_class: ClassVar[type[Method]]
    _params: ClassVar[dict[str, Parameter]]
    _values: ClassVar[operator.itemgetter[Any]]  # of the parameters, from a dict
    _fixed_loss: ClassVar[str | None]
    _task_name: ClassVar[str]
    _model: Model  # once fitted
    verbose: bool
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
        values = {name: getattr(self, name) for name in self._params}
        if self._fixed_loss is not None:
            values["loss"] = self._fixed_loss
        else:
            self._params["loss"].check("loss", values["loss"])  # a method knows those of all tasks
        return Model(self._method_class(**values), self._task_name)

    def _check_unchanged(self) -> None:
        """Pass on parameters that may change to the method; raise ValueError if others have changed."""
        method = self._model.method
        given, used = vars(self), vars(method)
        values = self._values
        if all(map(operator.is_, values(given), values(used))):
            return
        for name, param in self._params.items():
            now, before = given[name], used[name]
            if now is before or (type(now) is type(before) and now == before):
                continue
            now = param.check(name, now)
            if now == before or (name == "k" and now == "auto" and "k_" in given):
                continue
            if not param.live:
                raise ValueError(
                    f"{name} was {before!r} when the first rows came and is {now!r} now; call fit to start "
                    "again with it."
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
            if not (rows.sparse and (not model.started or model.method.grow)):
                raise ValueError(
                    f"X has {rows.p} features, but {type(self).__name__} is expecting "
                    f"{width} features as input."
                )
            rows = rows if rows.p > width else rows.with_width(width)
        return rows

    def _table_rows(self, X: Any, *, first: bool) -> Rows | None:
        """Rows of a frame by its schema, which the first rows determine; None if all columns are numbers."""
        model = self._model
        if first:
            schema = frame_schema(X, model.method)
            if schema is None:
                return None
            self._set_schema(schema)
        elif not hasattr(self, "schema_"):
            return None
        return as_rows(rows_of_frame(X, self.schema_), nan_ok=model.nan_ok, limit=model.method.limit)[0]

    def _set_schema(self, schema: Schema) -> None:
        """Take the names of features from the schema of a table, and those of the input from its columns."""
        self.schema_ = schema
        self.feature_names_in_ = np.array(columns_of(schema), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    def _feature_names(self) -> Any:
        """Names of the features of the model; None if they have none."""
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
        """Check everything, then learn, or continue from `start`; a call that fails changes nothing."""
        if isinstance(y, str):
            check_columns(y, sample_weight, cluster)
            return self._partial_fit_table(X, y, classes, sample_weight)
        if start is not None:
            return self._begin(X, y, classes, sample_weight, cluster, start)
        if not hasattr(self, "_model"):
            with first_call(self):  # of two threads, only one is the first
                if not hasattr(self, "_model"):
                    return self._begin(X, y, classes, sample_weight, cluster)
        self._check_unchanged()
        self._learn(*self._check_batch(X, y, classes, sample_weight, cluster, first=False))
        return self

    def _partial_fit_table(self, X: Any, target: str, classes: Any, weight: Any) -> Self:
        """Learn a table block by block: a frame, an Arrow stream, files, a query; columns are named."""
        method: Any = (self._model if hasattr(self, "_model") else self._new_model()).method
        schema = getattr(self, "schema_", None)
        stream = read(X, target=target, weight=weight, schema=schema, missing=method.missing_numbers)
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
        """Learn the first rows of a stream, or continue from a model."""
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
        """Forget everything and learn rows, or a source of blocks, in as many passes as the method needs."""
        if isinstance(y, str):  # the column of a table: a frame, an Arrow stream, files, a query
            check_columns(y, sample_weight, cluster)
            missing: Any = self._new_model().method.missing_numbers
            X, y, sample_weight = read(X, target=y, weight=sample_weight, missing=missing), None, None
        check_any_weight(sample_weight)
        fresh = self._fresh()
        shown = VERBOSE.check("verbose", self.verbose) or logger.isEnabledFor(logging.INFO)
        log = ProgressLog(f"{type(self).__name__}.fit") if shown else None
        trainer = Trainer(fresh._model, progress=log)
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
        if log is not None:
            log.finish(trainer.rows, trainer.n_iter, trainer.k)
        return self._become(fresh)

    def _check_block(self, X: Any, first: bool, source: Any) -> Rows:
        rows = self._rows(X, first=first)
        if first:
            if isinstance(source, Stream) and source.schema is not None:
                self._set_schema(source.schema)
            self._model.feature_names = self._feature_names()
        return rows

    def _become(self, fresh: Self) -> Self:
        """Replace what was learned by what another estimator with the same parameters has learned."""
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
        """A copy that predicts and selects but cannot learn: small to pickle and to send."""
        from ..training.slim import slim_model

        self._check_fitted()
        self._check_unchanged()
        other = copy.copy(self)
        other._model = slim_model(self._model)
        return other

    def _adopt(self, model: Model) -> None:
        """Become fitted as this model is."""
        from .saved import adopt

        adopt(self, model)

    def _weights(self) -> tuple[Array, Array]:
        self._check_fitted()
        self._check_unchanged()
        return self._model.coefficients()

    def _lines(self) -> tuple[Array, Array]:
        """Weights and intercepts; raise AttributeError if the model consists of shapes or pairs."""
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
                clipped = self._model.method.clip
                warnings.warn(
                    f"{n:,} of {counted(len(rows), 'row')} to predict lie outside the range of the training "
                    "rows in a selected feature. Check these rows: "
                    + (
                        "their values were clipped to that range (clip=False extrapolates)."
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
        """The selected columns of X, including products if the method has `interactions`."""
        self._check_fitted()
        pairs = self.method_.pairs
        if pairs is None and hasattr(self, "schema_"):
            selected = self.get_support(indices=True)
            return self._rows(X).columns(selected).to_array()
        if pairs is None:
            if is_sparse(X):
                as_rows(X, nan_ok=True)  # SciPy does not check indices
            return super().transform(X)
        rows = self._rows(X)
        return pairs.expand(rows.to_array(), self.get_support(indices=True))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the selected features."""
        self._check_fitted()
        pairs = self.method_.pairs
        if pairs is not None:
            known = input_features if self._feature_names() is None else self._feature_names()
            return np.array(pairs.names(known), dtype=object)[self.get_support()]
        if hasattr(self, "schema_"):
            return np.array(self.schema_.feature_names, dtype=object)[self.get_support()]
        if input_features is None and hasattr(self, "names_"):
            with self._model.lock:  # new names come with new weights
                return np.array(list(self.names_), dtype=object)[self.get_support()]
        return super().get_feature_names_out(input_features)

    # ---------------------------------------------------------------- copies

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "names_" in state:
            with self._model.lock:  # names and weights of one moment, even if another thread learns
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
        missing, curved = getattr(self, "missing", "error"), getattr(self, "effects", "linear") != "linear"
        tags.input_tags.allow_nan = missing == "mean" or (missing == "auto" and curved)
        tags.target_tags.required = True
        return tags


def constructor(params: dict[str, Parameter]) -> Any:
    """An `__init__` that stores its arguments: `k` may come by position, all else by keyword."""
    kinds = {"k": inspect.Parameter.POSITIONAL_OR_KEYWORD}
    arguments = [
        inspect.Parameter(name, kinds.get(name, inspect.Parameter.KEYWORD_ONLY), default=param.default)
        for name, param in params.items()
    ]
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([itself, *sorted(arguments, key=lambda each: each.kind)])

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name in params:
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


_FIRST_CALLS: WeakKeyDictionary[Estimator, RLock] = WeakKeyDictionary()
_MUTEX = Lock()


def first_call(estimator: Estimator) -> RLock:
    """The lock for creating an estimator's model; from then on the model's own lock is used."""
    with _MUTEX:
        return _FIRST_CALLS.setdefault(estimator, RLock())


def check_columns(target: str, weight: Any, cluster: Any) -> None:
    """Raise ValueError unless weights are a column of X, as the targets are."""
    for name, value in (("sample_weight", weight), ("cluster", cluster)):
        if value is not None and (name == "cluster" or not isinstance(value, str)):
            expected = "the name of one" if name == "sample_weight" else "None"
            raise ValueError(
                f"{name} is of type {type(value).__name__}, expected {expected}, as y={target!r} is a column "
                "of X; or pass the targets themselves as y."
            )
