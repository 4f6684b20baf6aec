"""What the row-wise learners share: state, steps, growth, failure, one row at a time.

How to add a learner ``Foo``:

1. ``cpp/learners/foo.hpp``: one template over (Rows, Loss, q[, Units]) that walks the rows, takes `margins`,
   `slopes` and `StepSize::next`, and returns how many rows it learned (it stops where ``fits`` says no).
2. ``cpp/learners/foo.cpp``: one `m.def` whose lambda calls `dispatch`; list it in ``cpp/module.cpp`` and
   ``_core.pyi``.
3. ``learners/foo.py``: ``class Foo(RowLearner)`` with its `param` fields; `_features` names the state arrays
   that have one row per feature (these grow, and are guarded), `_others` the small ones; `_reset` lays
   them out after ``super()._reset``, `_kernel` calls the kernel with ``*self._steps()``, `_linear` reads the
   weights.
4. ``class FooRegressor(RegressionLearner, Foo)`` and ``class FooClassifier(ClassificationLearner, Foo)``;
   name them in ``learners/__init__.py``: the laws in ``tests/test_laws.py`` then run on them.
   A learner whose steps are its own starts from ``Rowwise``, one whose loss is its own from ``LabelLearner``;
   where Foo changes the default of a field of theirs, it comes first among the bases.
5. ``tests/reference/foo.py``, a slow twin from the paper alone, and ``tests/test_foo.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._base import Classifier, OnlineModel, Regressor, available_if, param
from .._input import Rows, as_rows, as_scipy, check_rows, is_sparse
from ..losses import LOSSES, expit

Array = NDArray[np.float64]
Core = Any  # rows as the kernels take them: a C-ordered 2-D array, or (indptr, indices, data)

_LABEL = np.array([[[-1.0]], [[1.0]]])  # one row of targets for each of two classes
_BLOCK = 1 << 17  # values of a column-ordered array that are put in row order at a time


def _core_rows(X: Rows) -> Iterator[tuple[slice, Core]]:
    """X in the layouts of the kernels: itself, or, where it is not in row order, copied block by block."""
    n, p = X.shape
    if is_sparse(X):
        yield slice(0, n), (X.indptr, X.indices, X.data)
    elif p <= 1 or (X.strides[1] == X.itemsize and X.strides[0] % X.itemsize == 0):
        yield slice(0, n), X
    else:
        step = max(1, _BLOCK // p)
        for at in range(0, n, step):
            yield slice(at, min(n, at + step)), np.ascontiguousarray(X[at : at + step])


def _resized(a: NDArray[Any], p: int) -> NDArray[Any]:
    """The array with p rows, new ones zero: a view of its owner while that has room, else of a new one.

    The new one is twice as long, so that growing feature by feature costs O(1) each.
    """
    if p <= len(a):
        return a[:p]
    owner = a.base if isinstance(a.base, np.ndarray) else a
    same = owner.dtype == a.dtype and owner.shape[1:] == a.shape[1:] and owner.ctypes.data == a.ctypes.data
    if not (same and owner.flags.owndata and len(owner) >= p):
        owner = np.zeros((max(p, 2 * len(a)), *a.shape[1:]), dtype=a.dtype)
        owner[: len(a)] = a
    return owner[:p]


class Rowwise(OnlineModel):
    """State, growth, failure and one row at a time; it does not say how a step is taken."""

    fit_intercept: bool = param(
        True, "bool", "Fit an intercept; it is never penalised, truncated nor counted."
    )
    grow: bool = param(
        False,
        "bool",
        "Let a sparse batch be wider than those before: the state grows, `n_features_in_` moves on, and "
        "narrower batches are read as if the missing columns were zero.",
    )

    # Within these bounds a derived step cannot overflow, so that nothing need be put aside for it.
    _limit: ClassVar[float] = 1e75
    _features: ClassVar[tuple[str, ...]] = ()
    _others: ClassVar[tuple[str, ...]] = ("clock_", "bias_")

    # ---------------------------------------------------------------- what a learner provides

    def _reset(self, p: int, q: int) -> None:  # noqa: ARG002
        self.clock_ = np.array([0.0, 0.0, 0.0, 0.0, 3.0])  # log(a) / a is largest at 3
        self.bias_ = np.zeros(q)
        self._fresh = True  # until the first rows: nothing to put aside

    def _kernel(self, rows: Core, y: Array, w: Array | None) -> int:
        """Learn the rows; how many were, before a step would have overflowed."""
        raise NotImplementedError  # pragma: no cover

    def _resize(self, p: int) -> None:
        """Make room for p features, or give it back."""
        for name in self._by_feature():
            setattr(self, name, _resized(getattr(self, name), p))
        self.n_features_in_ = p

    def _by_feature(self) -> list[str]:
        return [name for name in self._features if getattr(self, name) is not None]

    def _restored(self) -> None:
        """Called when a failed call has been undone, for state that `_features` does not cover."""

    def _loss(self) -> str:
        raise NotImplementedError  # pragma: no cover

    def _can_overflow(self) -> bool:
        """Whether a step may be too long, so that what it changes must be put aside first."""
        return True

    def _may_change(self, seen: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        """Features whose state can change with rows in which the features `seen` occur."""
        return seen

    def _blame(self) -> tuple[str, str]:
        """What was too much where a step overflows, and what to pass instead."""
        raise NotImplementedError  # pragma: no cover

    # ---------------------------------------------------------------- learning

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        if reset or not self.grow or not is_sparse(X):
            return super()._rows(X, reset=reset)
        rows = as_rows(X)[0]
        return check_rows(rows, rows.shape[1], limit=self._limit)

    def _check_size(self, y: Array, w: Array | None) -> None:
        for name, values in (("y", y), ("sample_weight", w)):
            if values is not None and not np.abs(values).max() <= self._limit:
                raise ValueError(f"{name} holds values beyond {self._limit:g}, which overflow; rescale it.")

    def _update(self, X: Rows, y: Array, w: Array | None) -> None:
        self._check_size(y, w)
        seen = X.indices[X.indptr[0] : X.indptr[-1]] if is_sparse(X) else None
        blocks = ((rows, y[at], None if w is None else w[at]) for at, rows in _core_rows(X))
        self._take(blocks, X.shape[1], seen)

    def _take(self, blocks: Any, width: int, seen: NDArray[np.integer[Any]] | None) -> None:
        """Learn blocks (rows, y, w), or, where a step would overflow, leave the state as it was and raise.

        `seen` are the features that occur: only their state can change, so only it is put aside. A call that
        began by a reset is undone by its caller, who has the state from before; and a derived step moves no
        margin beyond its target, so that within `_limit` the weights grow at most like the number of rows.
        """
        p = self.n_features_in_
        if width > p:
            self._resize(width)
        fresh = self.__dict__.pop("_fresh", False)
        guarded = not fresh and self._can_overflow()
        where: Any = slice(None)
        if guarded and seen is not None and len(seen) < self.n_features_in_:
            where = self._may_change(seen)
        before = {name: np.array(getattr(self, name)[where]) for name in self._by_feature() if guarded}
        others = {name: getattr(self, name).copy() for name in self._others if guarded}
        at = 0
        for rows, y, w in blocks:
            done = self._kernel(rows, y, w)
            at += done
            if done < len(y):
                break
        else:
            return
        if guarded:
            for name, old in before.items():
                getattr(self, name)[where] = old
            for name, old in others.items():
                setattr(self, name, old)
            self._restored()
            self._resize(p)
        undone = "the call" if guarded or fresh else "that row"
        told, instead = self._blame()
        raise ValueError(
            f"The weights overflow at row {at} of this call: {told} for these rows, or their values are too "
            f"large. Pass {instead}, or rescale the features and targets. "
            f"The model is as it was before {undone}."
        )

    # ---------------------------------------------------------------- one row at a time

    def _name_features(self) -> dict[Any, int]:
        """Feature names and their indices, as `learn_one` has met them."""
        if not hasattr(self, "names_"):
            known = getattr(self, "feature_names_in_", range(getattr(self, "n_features_in_", 0)))
            self.names_: dict[Any, int] = {name: j for j, name in enumerate(known)}
        return self.names_

    def _one(self, x: Mapping[Any, float], grow: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """The row as (indptr, indices, data)."""
        names = self._name_features()
        size = len(x)
        indptr, indices, values = np.zeros(2, np.int64), np.empty(size, np.int64), np.empty(size)
        n = _core.index_features(x if type(x) is dict else dict(x), names, indices, values, self._limit, grow)
        if n < 0:
            bad = next(name for name, value in x.items() if not abs(value) <= self._limit)
            raise ValueError(
                f"Feature {bad!r} is {x[bad]}; values must be finite and within {self._limit:g}: "
                "drop or impute it first."
            )
        indptr[1] = n
        return (indptr, indices, values) if n == size else (indptr, indices[:n], values[:n])

    def _first_target(self, y: Any, classes: Any) -> int:
        """Note what the first target says about all; the number of outputs."""
        raise NotImplementedError  # pragma: no cover

    def _one_target(self, y: Any) -> Array:
        raise NotImplementedError  # pragma: no cover

    def _learn_one(self, x: Mapping[Any, float], y: Any, w: float, classes: Any) -> Self:
        if not (is_number(w) and 0 <= w <= self._limit):
            raise ValueError(f"w={w!r}; a weight must be finite and not negative.")
        first = not self._started()
        if first:
            self._check_params()
            q = self._first_target(y, classes)
            self.n_features_in_ = 0
            self._reset(0, q)
        known = len(self._name_features())
        try:
            Y = self._one_target(y)
            rows = self._one(x, True)
            if w == 0:
                self._resize(max(self.n_features_in_, len(self.names_)))
                return self
            weight = None if w == 1 else np.array([w], dtype=np.float64)
            self._take([(rows, Y, weight)], len(self.names_), rows[1])
        except Exception:
            for name in list(self.names_)[known:]:
                del self.names_[name]
            if first:
                for name in [name for name in vars(self) if name.endswith("_")]:
                    delattr(self, name)
            raise
        return self

    def _score_one(self, x: Mapping[Any, float]) -> Array:
        if not self._started():
            return np.zeros(1)
        return self._scores(self._one(x, False), 1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the selected features."""
        if input_features is None and hasattr(self, "names_"):
            return np.array(list(self.names_), dtype=object)[self.get_support()]
        return super().get_feature_names_out(input_features)

    # ---------------------------------------------------------------- reading

    def _read(self) -> tuple[Array, float]:
        """Weights (p, q) and the factor they come with: what scores are made of."""
        return np.ascontiguousarray(self._linear()[0].T), 1.0

    def _scores(self, rows: Core, n: int) -> Array:
        weights, scale = self._read()
        out = np.empty((n, weights.shape[1]))
        _core.margins(rows, weights, scale, self.bias_, out)
        return out

    def _decision(self, X: Any) -> Array:
        self._check_fitted()
        rows = self._rows(X, reset=False)
        if rows.shape[1] > self.n_features_in_:  # features that no batch has brought have no weight yet
            rows = (as_scipy(rows) if is_sparse(rows) else rows)[:, : self.n_features_in_]
        blocks = [self._scores(core, at.stop - at.start) for at, core in _core_rows(rows)]
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.bias_)))


class Stepping(Rowwise):
    """Steps of a length that is given, or derived from the rows, and fades."""

    eta: float | Literal["auto"] = param(
        "auto",
        "float > 0 or 'auto'",
        "Step. 'auto' derives it from the rows seen: 1 / (4 L R^2), R^2 the mean squared norm of the rows, "
        "L the curvature of the loss, and never so long that a row overshoots its own target.",
    )
    schedule: Literal["constant", "sqrt", "doubling"] = param(
        "constant",
        "{'constant', 'sqrt', 'doubling'}",
        "How the step fades with the row t: not at all, as 1 / sqrt(t), or as log(a) / a, a doubling "
        "whenever t has passed it ([Susan] section 4).",
    )

    def _check_params(self) -> None:
        super()._check_params()
        if self.eta != "auto" and not (is_number(self.eta) and 0 < self.eta < np.inf):
            raise ValueError(f"eta={self.eta!r}; pass a positive step, or 'auto' to derive it from the rows.")
        if self.schedule not in ("constant", "sqrt", "doubling"):
            raise ValueError(f"schedule={self.schedule!r}; pass 'constant', 'sqrt' or 'doubling'.")

    def _given_step(self) -> float:
        """The step as the kernels take it: 0 to derive it."""
        return 0.0 if self.eta == "auto" else float(self.eta)

    def _can_overflow(self) -> bool:
        return self.eta != "auto"

    def _blame(self) -> tuple[str, str]:
        told = f"eta={self.eta}" if self.eta != "auto" else "the derived step (eta='auto')"
        return f"{told} is too long", "a smaller eta or eta='auto'"


class RowLearner(Stepping):
    """With a penalty on the squares of the weights."""

    lam: float = param(0.0, "float >= 0", "Strength of the penalty lam / 2 |w|^2.")

    _others: ClassVar[tuple[str, ...]] = (*Rowwise._others, "scale_")

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        self.scale_ = np.ones(1)

    def _check_params(self) -> None:
        super()._check_params()
        if not (is_number(self.lam) and 0 <= self.lam < np.inf):
            raise ValueError(f"lam={self.lam!r}; a penalty is a non-negative number.")
        self._check_shrink()

    def _check_shrink(self) -> None:
        if self.eta != "auto" and self.eta * self.lam >= 1:
            raise ValueError(
                f"eta={self.eta} times lam={self.lam} is {self.eta * self.lam:g}; each step shrinks the "
                "weights by that share, so it must be below 1: lower one of them."
            )

    def _steps(self) -> tuple[float, str, float, bool, Array]:
        """What every kernel takes of its steps: eta (0 to derive it), schedule, lam, fit_intercept, clock."""
        return self._given_step(), self.schedule, float(self.lam), bool(self.fit_intercept), self.clock_


class Standardizing(RowLearner):
    """Steps and ranks in the features' own units: needs their running moments, four numbers a feature."""

    standardize: bool = param(
        True,
        "bool",
        "Take steps and compare weights in units of each feature, from running moments, so that scale does "
        "not decide; without it features are taken as they come, as the papers do after normalising them.",
    )

    _features: ClassVar[tuple[str, ...]] = ("moments_",)

    def _reset(self, p: int, q: int) -> None:
        super()._reset(p, q)
        # of the non-zero values: weight, the first, sum and sum of squares of the differences from it
        self.moments_: Array | None = np.zeros((p, 4)) if self.standardize else None

    def _spread(self) -> Array | float:
        """Total weight times variance of each feature, its zeros counted; 1 for all without `standardize`."""
        if self.moments_ is None:
            return 1.0
        n, first, total, squares = self.moments_.T
        off = np.divide(total, n, out=np.zeros(len(n)), where=n > 0)
        share = np.maximum(0.0, 1.0 - n / max(self.clock_[1], 1e-300))
        spread: Array = np.maximum(0.0, squares - off * total) + np.square(first + off) * n * share
        return spread


class Listed(Rowwise):
    """A model that lists its features: `_model` has them, their weights (k, q) and the intercepts (q,)."""

    def _model(self) -> tuple[NDArray[np.int64], Array, Array]:
        raise NotImplementedError  # pragma: no cover

    def _linear(self) -> tuple[Array, Array]:
        kept, weights, bias = self._model()
        coef = np.zeros((weights.shape[1], self.n_features_in_))
        coef[:, kept] = weights.T
        return coef, bias

    def _scores(self, rows: Core, n: int) -> Array:
        kept, weights, bias = self._model()
        w = np.zeros((self.n_features_in_, weights.shape[1]))
        w[kept] = weights
        out = np.empty((n, weights.shape[1]))
        _core.margins(rows, w, 1.0, bias, out)
        return out

    @property
    def bias_(self) -> Array:  # type: ignore[override]
        """Intercepts, shape (q,)."""
        return self._model()[2]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def same_shape(what: str, came: Any, shape: tuple[int, ...], dtype: Any = np.float64) -> None:
    """Refuse an array from a file that is not of this shape and type: the kernels trust both."""
    if not isinstance(came, np.ndarray) or came.shape != shape or came.dtype != np.dtype(dtype):
        told = (came.shape, str(came.dtype)) if isinstance(came, np.ndarray) else type(came).__name__
        raise ValueError(f"{what} is {told}, not {shape} of {np.dtype(dtype)}.")


def check_budget(k: Any) -> None:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k={k!r}; pass the number of features to keep, an integer of at least 1.")


class RegressionLearner(Regressor, Rowwise):
    """The squared loss, and one target a row."""

    def _loss(self) -> str:
        return "squared"

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> Self:
        """Learn one row, given as a mapping of feature names to values; new names are new features."""
        return self._learn_one(x, y, w, None)

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Predicted target of one row; unknown names count as absent."""
        return float(self._score_one(x)[0, 0]) if self._started() else 0.0

    def _first_target(self, y: Any, classes: Any) -> int:  # noqa: ARG002
        self._one_column_ = True
        self.n_targets_ = 1
        return 1

    def _one_target(self, y: Any) -> Array:
        value = float(y)
        if not abs(value) <= self._limit:
            raise ValueError(f"y = {y}; every row needs a finite target within {self._limit:g}.")
        return np.array([[value]])


class LabelLearner(Classifier, Rowwise):
    """Labels as -1 and +1, one output for each of more than two classes."""

    def _loss(self) -> str:
        return "hinge"

    def learn_one(
        self, x: Mapping[Any, float], y: Any, w: float = 1.0, *, classes: Sequence[Any] | None = None
    ) -> Self:
        """Learn one row, given as a mapping of feature names to values; new names are new features.

        The first call needs `classes`, unless y is a bool or one of 0 and 1 (or -1 and 1).
        """
        return self._learn_one(x, y, w, classes)

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Predicted label of one row, None before the first; unknown names count as absent."""
        if not self._started():
            return None
        scores = self._score_one(x)[0]
        best = int(scores[0] > 0) if len(scores) == 1 else int(scores.argmax())
        return self.classes_[best].item() if self.classes_.dtype.kind != "O" else self.classes_[best]

    def _first_target(self, y: Any, classes: Any) -> int:
        if classes is None:
            if isinstance(y, bool | np.bool_):
                classes = [False, True]
            elif is_number(y) and y in (0, 1):
                classes = [0, 1]
            elif is_number(y) and y == -1:
                classes = [-1, 1]
            else:
                raise ValueError(f"y={y!r}: name all labels in the first call: learn_one(x, y, classes=...).")
        known = np.unique(np.asarray(classes))
        if len(known) < 2:
            raise ValueError(f"classes={classes!r} holds only one class; at least 2 classes are needed.")
        self.classes_ = known
        return 1 if len(known) == 2 else len(known)

    def _one_target(self, y: Any) -> Array:
        classes = self.classes_.tolist()
        try:
            code = classes.index(y)
        except ValueError:
            raise ValueError(
                f"y = {y!r} is none of the {len(classes)} classes of the first call: {classes}."
            ) from None
        if len(classes) == 2:
            return np.array([[1.0 if code else -1.0]])
        Y = np.full((1, len(classes)), -1.0)
        Y[0, code] = 1.0
        return Y


class ClassificationLearner(LabelLearner):
    """Labels, and the loss of a margin to choose."""

    loss: str = param(
        "logistic",
        "{'logistic', 'hinge', 'squared_hinge', 'squared'}",
        "Loss of a margin; probabilities come with 'logistic'.",
    )

    def _loss(self) -> str:
        return self.loss

    def _check_params(self) -> None:
        super()._check_params()
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r}; pass one of {', '.join(map(repr, LOSSES))}.")

    @available_if(lambda self: self.loss == "logistic")
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of `classes_`.

        More than two classes are taken one against the rest, and normalised.
        """
        scores = self._decision(X)
        if scores.shape[1] == 1:
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        share = expit(scores)
        total = share.sum(axis=1, keepdims=True)
        # all may underflow: then the classes are equally unlikely
        return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1.0 / share.shape[1])

    @available_if(lambda self: self.loss == "logistic")
    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Probability of each class for one row; empty before the first."""
        if not self._started():
            return {}
        share = expit(self._score_one(x)[0])
        if len(share) == 1:
            share = np.array([1.0 - share[0], share[0]])
        total = share.sum()
        share = share / total if total > 0 else np.full(len(share), 1.0 / len(share))
        return dict(zip(self.classes_.tolist(), share.tolist()))
