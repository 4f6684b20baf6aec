"""What every estimator shares: parameters, validation, labels, prediction, selection.

An estimator is a dataclass: its fields are its parameters, each with its domain and meaning, and signature,
``get_params`` and docstring all come from them. A family adds three methods: `_reset` (lay out the state for
p features and q targets), `_update` (take checked rows) and `_linear` (the weights as of now).
"""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from . import _light
from ._input import (
    FLOATS,
    Rows,
    as_rows,
    as_scipy,
    as_targets,
    as_weights,
    check_rows,
    different,
    is_frame_like,
    is_sparse,
    some_weight,
)

if TYPE_CHECKING or not _light.wanted:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.feature_selection import SelectorMixin
else:
    from ._light import BaseEstimator, ClassifierMixin, RegressorMixin, SelectorMixin


def param(default: Any, domain: str, doc: str, *, positional: bool = False) -> Any:
    """A parameter of an estimator: default, domain and meaning."""
    return field(default=default, kw_only=not positional, metadata={"domain": domain, "doc": doc})


class available_if:
    """A method that is there while `holds(self)`: the loss, say, decides whether there are probabilities."""

    def __init__(self, holds: Callable[[Any], bool]) -> None:
        self.holds = holds

    def __call__(self, method: Any) -> Any:
        self.method, self.__doc__ = method, method.__doc__
        return self

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is not None and not self.holds(instance):
            raise AttributeError(
                f"This {owner.__name__} has no {self.name!r} with the parameters that it was given."
            )
        return self.method.__get__(instance, owner)


def _documented(cls: type[OnlineModel]) -> str:
    """The class docstring, with what the class shares with others: remark, parameters, attributes.

    They go before its first section; the parameters come from the fields.
    """
    lines = inspect.cleandoc(cls.__dict__["__doc__"]).splitlines()
    at = next((i for i in range(1, len(lines)) if set(lines[i].strip()) == {"-"}), len(lines) + 1) - 1
    section = ["Parameters", "----------"]
    for f in sorted(fields(cls), key=lambda f: bool(f.kw_only)):
        default = "" if f.default is MISSING else f", default={f.default!r}"
        section.append(f"{f.name} : {f.metadata['domain']}{default}")
        section += textwrap.wrap(f.metadata["doc"], 100, initial_indent="    ", subsequent_indent="    ")
    if cls._attributes:
        section += ["", "Attributes", "----------", inspect.cleandoc(cls._attributes)]
    remark = ["", inspect.cleandoc(cls._remark)] if cls._remark else []
    about = "\n".join(lines[:at]).rstrip()
    return "\n".join([about, *remark, "", *section, "", *lines[at:]]).strip() + "\n"


@dataclass_transform(eq_default=False, field_specifiers=(param,))
class OnlineModel(SelectorMixin, BaseEstimator):
    """Base of all: a linear model learned from batches, whose non-zero weights are the selection."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(eq=False, repr=False)(cls)
        if cls.__dict__.get("__doc__"):
            cls.__doc__ = _documented(cls)

    _remark: ClassVar[str] = ""  # of the docstring: what holds for a whole family
    _attributes: ClassVar[str] = ""
    _averaged: ClassVar[bool] = False  # a model is read from averages, at a cost of p^3
    _limit: ClassVar[float] = math.inf  # the largest magnitude that a value of X may have
    # State that may be None or, along this axis, longer or shorter than `_reset` makes it.
    _free: ClassVar[dict[str, int]] = {}

    # ---------------------------------------------------------------- what a family provides

    def _check_params(self) -> None:
        """Raise ValueError for parameters outside their domains; called before any state is touched."""

    def _reset(self, p: int, q: int) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _reset")  # pragma: no cover

    def _update(self, X: Rows, y: NDArray[np.float64], w: NDArray[np.float64] | None) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _update")  # pragma: no cover

    def _linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights (q, p) and intercepts (q,) as of now."""
        raise NotImplementedError(f"{type(self).__name__} must define _linear")  # pragma: no cover

    # ---------------------------------------------------------------- learning

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        """X as the kernels take it, of the width and with the names seen before."""
        plain = (type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS) or is_sparse(X)
        names = None if reset else getattr(self, "feature_names_in_", None)
        rows = as_rows(X)[0]
        if (reset or not plain) and rows.shape[1] == 0:
            raise ValueError(f"0 feature(s) (shape={rows.shape}) while a minimum of 1 is required.")
        if reset and plain:
            self.n_features_in_ = X.shape[1]
        elif not _light.wanted and (not plain or names is not None):
            from sklearn.utils.validation import validate_data  # its own words about names

            validate_data(self, X, reset=reset, skip_check_array=True)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return check_rows(rows, self.n_features_in_, nan_ok=self._nan_ok(), names=names, limit=self._limit)

    def _targets(self, y: Any, n: int, classes: Any, reset: bool) -> NDArray[np.float64]:
        raise NotImplementedError  # pragma: no cover

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, reset: bool) -> Self:
        self._check_params()
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        # Validated on a bare twin first, so that a bad first batch leaves no half-made state behind.
        target = type(self)(**self.get_params(deep=False)) if reset else self
        rows = target._rows(X, reset=reset)
        n = rows.shape[0]
        Y = target._targets(y, n, classes, reset)
        w = as_weights(sample_weight, n)
        before = dict(vars(self)) if reset else None
        try:
            if reset:
                if n == 0:
                    raise ValueError(
                        f"Found array with 0 sample(s) (shape={rows.shape}) while a minimum of 1 is required."
                    )
                state = {name: value for name, value in vars(self).items() if not name.endswith("_")}
                self.__dict__ = state | {n: value for n, value in vars(target).items() if n.endswith("_")}
                self._reset(rows.shape[1], Y.shape[1])
            if w is not None and not w.all():
                keep = w > 0
                rows, Y, w = (as_scipy(rows) if is_sparse(rows) else rows)[keep], Y[keep], w[keep]
            if rows.shape[0]:
                self._update(rows, Y, w)
        except Exception:
            if before is not None:
                self.__dict__ = before
            raise
        return self

    def _nan_ok(self) -> bool:
        return False

    def _started(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _check_fitted(self) -> None:
        if not self._started():
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                f"This {type(self).__name__} has not learned a row yet; call fit or partial_fit first."
            )

    # ---------------------------------------------------------------- the model

    @property
    def coef_(self) -> NDArray[np.float64]:
        raise NotImplementedError  # pragma: no cover

    def _decision(self, X: Any) -> NDArray[np.float64]:
        self._check_fitted()
        rows = self._rows(X, reset=False)
        coef, intercept = self._linear()
        return np.asarray(rows @ coef.T) + intercept

    def _get_support_mask(self) -> NDArray[np.bool_]:
        self._check_fitted()
        mask: NDArray[np.bool_] = np.any(self._linear()[0] != 0, axis=0)
        return mask

    def __sklearn_is_fitted__(self) -> bool:
        return self._started()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._nan_ok()
        tags.target_tags.required = True
        return tags


class Regressor(RegressorMixin, OnlineModel):
    _several_targets = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn from X, y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p)
        y : array of shape (n,) or (n, q)
        sample_weight : array of shape (n,) or None
        """
        some_weight(sample_weight)
        return self._learn(X, y, None, sample_weight, reset=True)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream; how it is cut into calls does not matter.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p)
        y : array of shape (n,) or (n, q)
        sample_weight : array of shape (n,) or None
        """
        return self._learn(X, y, None, sample_weight, reset=not self._started())

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predicted targets, of the shape of y."""
        scores = self._decision(X)
        return scores[:, 0] if self._one_column_ else scores

    def _targets(self, y: Any, n: int, classes: Any, reset: bool) -> NDArray[np.float64]:  # noqa: ARG002
        Y = as_targets(y, n)
        one = np.asarray(y).ndim <= 1
        if reset:
            self._one_column_ = one
            self.n_targets_ = Y.shape[1]
        elif Y.shape[1] != self.n_targets_:
            raise ValueError(f"y has {Y.shape[1]} targets, but {self.n_targets_} were seen before.")
        return Y

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, shape (p,), or (q, p) for several targets."""
        self._check_fitted()
        coef = self._linear()[0]
        return coef[0] if self._one_column_ else coef

    @property
    def intercept_(self) -> Any:
        """Intercept, a float, or shape (q,) for several targets."""
        self._check_fitted()
        intercept = self._linear()[1]
        return float(intercept[0]) if self._one_column_ else intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._several_targets
        return tags


def _check_labels(y: NDArray[Any]) -> None:
    """Refuse targets that are no labels, in scikit-learn's own words."""
    if y.dtype.kind not in "biuU" and not (y.dtype.kind == "f" and np.array_equal(y, np.round(y))):
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)


class Classifier(ClassifierMixin, OnlineModel):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn from X and the labels y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p)
        y : array of shape (n,)
        sample_weight : array of shape (n,) or None
        """
        some_weight(sample_weight)
        return self._learn(X, y, None, sample_weight, reset=True)

    def partial_fit(
        self, X: Any, y: Any, classes: Sequence[Any] | None = None, sample_weight: Any = None
    ) -> Self:
        """Learn from the next rows of a stream; how it is cut into calls does not matter.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, p)
        y : array of shape (n,)
        classes : sequence or None
            All labels that the stream will bring; needed in the first call.
        sample_weight : array of shape (n,) or None
        """
        reset = not self._started()
        if reset and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._learn(X, y, classes, sample_weight, reset)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: positive for `classes_[1]`, or one column per class where there are more than two."""
        scores = self._decision(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def _targets(self, y: Any, n: int, classes: Any, reset: bool) -> NDArray[np.float64]:
        """Labels as -1 and +1, shape (n, 1), or (n, q) one against the rest where there are q > 2 classes."""
        y = np.asarray(y.to_numpy() if is_frame_like(y) else y)
        if y.ndim != 1:
            from sklearn.utils.validation import column_or_1d

            y = column_or_1d(y, warn=True)
        if len(y) != n:
            raise ValueError(f"X has {n} rows and y has {len(y)}; they must be the same rows.")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity; every row needs a label.")
        if reset:  # later labels must be among the classes, which says as much and costs less
            _check_labels(y)
            known = different(y if classes is None else np.asarray(classes))
            if len(known) < 2:
                raise ValueError(
                    f"The labels hold only one class ({', '.join(map(str, known))}); "
                    "at least 2 classes are needed."
                )
            self.classes_ = known
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(f"classes={classes!r} is not the same as on the first call: {self.classes_!r}.")
        code = np.searchsorted(self.classes_, y)
        code = np.minimum(code, len(self.classes_) - 1)
        unknown = np.flatnonzero(self.classes_[code] != y)
        if len(unknown):
            raise ValueError(
                f"y[{unknown[0]}] = {y[unknown[0]]!r} is none of the {len(self.classes_)} classes "
                "of the first call; name all of them in classes."
            )
        if len(self.classes_) == 2:
            return np.where(code == 1, 1.0, -1.0)[:, None]
        return np.where(code[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, shape (1, p), or (q, p) for q > 2 classes."""
        self._check_fitted()
        return self._linear()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts, shape (1,), or (q,) for q > 2 classes."""
        self._check_fitted()
        return self._linear()[1]
