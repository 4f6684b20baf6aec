"""`AveragesMethod`: learn running averages; extract the model from them when it is read."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...core import linalg
from ...core.losses import loss_names
from ...core.method import Method
from ...core.params import Bool, Int, OneOf, Or, Param, ParamError, Real
from ...core.rows import Array, Rows
from ...core.state import State, optional
from ...statistics import criteria
from ...statistics.bank import AveragesBank
from ...statistics.batch import LIMIT, WEIGHT_LIMIT
from ...statistics.constraints import (
    BOUNDS,
    GROUP_CATEGORIES,
    GROUPS,
    KEEP,
    PENALTY_FACTOR,
    POSITIVE,
    Constraints,
)
from ...statistics.fold_averages import FoldAverages
from ...statistics.forgetting import DECAY, decay_per_row
from ...statistics.fourth import FourthMoments
from ...statistics.interactions import Pairs
from ...statistics.linear_model import LinearModel, as_standardized
from ...statistics.running import DTYPE, INTERACTIONS, MISSING, RunningAverages
from ...statistics.standardize import Standardized
from ..inference.ols import with_errors
from ..inference.split import split
from ..inference.stability import stability
from . import reweighted
from .crossval import cross_validate
from .path import Path, path

K = Param(
    "auto",
    Or(Int(0), "auto"),
    "Number of features. 'auto': of the models of all sizes, the best one by `criterion`.",
    live=True,
)
CRITERION = Param(
    "bic",
    OneOf(*criteria.CRITERIA),
    f"{criteria.MEANING} 'cv' and '1se' need averages of each fold: set them before the first rows are "
    "learned.",
    live=True,
)
SE = Param(
    "classical",
    OneOf("classical", "folds", "cluster", "hc1"),
    "Kind of standard errors, see `inference.ols`: 'classical' (constant noise variance), 'folds' "
    "(jackknife over folds), 'cluster' (sandwich over folds; pass `cluster` to `fit` if rows depend on each "
    "other) or 'hc1' (fourth moments). Kinds other than 'classical' must be set before the first rows are "
    "learned.",
    live=True,
)
HONEST = Param(
    None,
    Or(Real(above=0, below=1), None),
    "Share of the folds that are used for selection. The other folds are used for estimation, so that "
    "standard errors are valid after selection, see `inference.split`. None: all rows are used for both. "
    "Must be set before the first rows are learned.",
    live=True,
)
STABILITY = Param(
    None,
    Or(Real(above=0.5, most=1), None),
    "Keep the features that are selected in at least this share of random halves of the folds, see "
    "`inference.stability`. Must be set before the first rows are learned.",
    live=True,
)
RIDGE = Or(Real(0), "auto")
HALF_LIFE = Param(
    None,
    Or(Real(above=0), "auto", None),
    "Number of rows after which the weight of a row has halved; determines the decay. 'auto' adapts it to "
    "the drift of the stream and drops the rows before abrupt changes, see `AveragesBank`.",
)

#: Parameters that a model needs, and those that the averages depend on.
_AVERAGED = ("decay", "half_life", "missing", "interactions", "dtype")


class AveragesMethod(Method):
    """Base of the methods on running averages: an extractor, and the choice of k.

    A method provides `extract(standardized) -> LinearModel` and, if it selects, the parameters `K`,
    `CRITERION` and `N_FOLDS` and its path: `path(standardized, sizes, ebic_gamma) -> Path`. Those with a
    penalty are a `PenalizedMethod`.
    """

    decay, half_life, missing, interactions, dtype = DECAY, HALF_LIFE, MISSING, INTERACTIONS, DTYPE
    grow = Param(
        False,
        Bool(),
        "If True, a sparse batch may have more columns than earlier batches. The averages and "
        "`n_features_in_` then grow. Columns that a batch does not have are read as zero.",
    )
    fit_intercept = Param(
        True,
        Bool(),
        "Whether to fit an intercept. It is never penalised, and does not count towards k.",
        live=True,
    )
    standardize = Param(
        True,
        Bool(),
        "If True, compare weights of features scaled to standard deviation 1; if False, raw weights.",
        live=True,
    )

    se = SE
    keep, penalty_factor, positive, bounds = KEEP, PENALTY_FACTOR, POSITIVE, BOUNDS
    groups, group_categories = GROUPS, GROUP_CATEGORIES

    extracts = uses_blas = merges = on_averages = True
    weight_notes: ClassVar[dict[str, str]] = {}
    losses = {t: loss_names(t, newton=True, first="squared") for t in ("regression", "classification")}
    attributes = {
        "model": "LinearModel: Support, standard errors, t values, R^2, residual variance, ridge or penalty.",
        "averages": "RunningAverages: The averages of the rows. They are FoldAverages with criterion='cv', "
        "standard errors by folds, `honest` or `stability`. They are an AveragesBank with half_life='auto'.",
        "drift": "list of int: Detected change points, as row numbers; None unless half_life='auto'.",
        "current_half_life": "float: Current half-life with half_life='auto'; otherwise as given.",
    }
    #: The extractor's own parameters, which also apply to its path.
    options: ClassVar[tuple[str, ...]] = ()
    #: Constraints that it does not support, and why.
    refused: ClassVar[dict[str, str]] = {}
    #: Whether its path is one of penalties, not of sizes: `PenalizedMethod`.
    penalized: ClassVar[bool] = False

    # parameters of methods that select, as they are for others
    refit: Any = True
    alpha: Any = None
    honest: Any = None
    stability: Any = None
    fdr: Any = None

    if TYPE_CHECKING:
        criterion: Any
        n_folds: Any
        solutions: Any  # of a `PenalizedMethod`

    _cache: Any = None  # the model last read and its key; a cache, not state

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        limit = LIMIT[self.dtype]
        self.limit = limit**0.5 if self.interactions or self.se == "hc1" else limit  # for products of values
        self.weight_limit = WEIGHT_LIMIT[self.dtype]

    # ---------------------------------------------------------------- what a method provides

    def extract(self, s: Standardized) -> LinearModel:
        """The model of the given size or penalty."""
        raise NotImplementedError(f"{type(self).__name__} must define extract")  # pragma: no cover

    def path(self, s: Standardized, sizes: Any, ebic_gamma: float) -> Path:
        """Models of some sizes, None for those that the method chooses."""
        raise NotImplementedError(f"{type(self).__name__} must define path")  # pragma: no cover

    # ---------------------------------------------------------------- learning

    def check(self) -> None:
        decay_per_row(self.decay, None if self.half_life == "auto" else self.half_life)
        self._check_bank()
        self.constraints.check(type(self).__name__, self.refused, standardize=self.standardize)
        if self.alpha is not None and self.k != "auto":
            raise ParamError(
                "k", self.k, f"expected 'auto' with alpha={self.alpha}: both determine the sparsity."
            )
        self._check_errors()
        if self.needs_passes:
            reweighted.check(self)
        held = getattr(self, "state", None)
        if held is None:
            return
        self._check_size(self.p)
        if held.folds is None and self._fold_reason is not None:
            name = self._fold_reason
            raise ParamError(
                name,
                getattr(self, name),
                "it must be set before the first rows, which were assigned to no fold; call fit.",
            )
        if self.se == "hc1" and not hasattr(held, "fourth"):
            raise ParamError("se", "hc1", "it must be set before the first rows; call fit.")

    def _check_bank(self) -> None:
        if self.half_life != "auto":
            return
        wrong = {"decay": self.decay is not None, "missing": self.missing == "mean", "se": self.se == "hc1"}
        wrong["loss"] = self.needs_passes
        name = next((name for name, given in wrong.items() if given), self._fold_reason)
        if name is not None:
            raise ParamError(
                "half_life", "auto", f"expected a number or None with {name}={getattr(self, name)!r}."
            )

    def _check_errors(self) -> None:
        errors = [name for name in ("honest", "stability", "fdr") if getattr(self, name) is not None]
        errors += ["se"] if self.se != "classical" else []
        errors += ["loss"] if self.needs_passes else []
        unfree = [name for name in self.constraints.given if name not in ("keep", "penalty_factor")]
        if errors and unfree:
            raise ParamError(
                errors[0],
                getattr(self, errors[0]),
                f"expected without {unfree[0]}: it needs least squares without such constraints.",
            )
        if self.honest is not None and self.stability is not None:
            raise ParamError(
                "honest", self.honest, f"expected None with stability={self.stability}: pass one of them."
            )
        if self.se != "classical" and not self.refit:
            raise ParamError(
                "se", self.se, "expected 'classical' with refit=False: there are no standard errors."
            )
        if self.se != "hc1":
            return
        for name in ("grow", "interactions", "decay", "half_life"):
            if getattr(self, name):
                raise ParamError("se", "hc1", f"expected 'folds' with {name}={getattr(self, name)!r}.")
        if self._fold_reason is not None:
            raise ParamError(
                "se", "hc1", f"expected 'folds' with {self._fold_reason}: fourth moments need all rows."
            )

    @property
    def _automatic(self) -> bool:
        """Whether the model is the best of a path."""
        return self.k == "auto" and self.alpha is None

    @property
    def _by_folds(self) -> bool:
        return self._automatic and self.criterion in criteria.HELD_OUT

    @property
    def _fold_reason(self) -> str | None:
        """The parameter for which rows are dealt out to folds."""
        if self.se in ("folds", "cluster"):
            return "se"
        for name in ("honest", "stability"):
            if getattr(self, name) is not None:
                return name
        return "criterion" if self._by_folds else None

    def start(self, p: int, q: int) -> State:
        if p > 0 and not self.grow:
            width = Pairs(p).n_features if self.interactions else p
            self.constraints.resolve(width, self._all_names(p), self.first_index)
        values = {name: getattr(self, name) for name in _AVERAGED}
        if self._fold_reason is not None:
            n_folds = self.n_folds
            if n_folds == "auto":
                n_folds = 5 if self._fold_reason == "criterion" else 20
            return State(averages=optional(), folds=FoldAverages(n_folds, **values).begin(p, q))
        if self.half_life == "auto":
            bank = AveragesBank(dtype=self.dtype, interactions=self.interactions)
            return State(averages=bank.begin(p, q), folds=optional())
        state = State(averages=RunningAverages(**values).begin(p, q), folds=optional())
        if self.needs_passes:
            state.around = reweighted.new_around(p, q)
        if self.se == "hc1":
            state.fourth = FourthMoments(missing=self.missing, dtype=self.dtype)
            if p:
                state.fourth.begin(p, q)
        return state

    @property
    def constraints(self) -> Constraints:
        return Constraints.of(self)

    def begin(self, p: int, q: int) -> Self:
        self._check_size(p)
        return super().begin(p, q)

    def _check_size(self, p: int) -> None:
        """Raise ParamError if k exceeds the number of features."""
        width = Pairs(p).n_features if self.interactions else p
        if self.k not in (None, "auto") and self.k > width and p > 0 and not self.grow:
            raise ParamError("k", self.k, f"expected at most {width}, the number of features.")

    def update(self, rows: Rows, y: Array, w: Array | None = None, cluster: Any = None) -> None:
        """Add checked rows; all or none, see `RunningAverages.add`.

        `cluster` are the `folds.hash_ids` of the rows' clusters, which determine their folds.
        """
        self.learn(rows, y, w, cluster)
        self.p = self.averages.n_features_in_

    def learn(self, rows: Rows, y: Array, w: Array | None, cluster: Any = None) -> int:
        folds, fourth = self.state.folds, getattr(self.state, "fourth", None)
        self.loss_function.check_targets(y)
        if cluster is not None:
            if self._fold_reason is None:
                raise ValueError(
                    f"{type(self).__name__} has no folds to keep clusters together in; pass se='folds' or "
                    "'cluster', honest or stability."
                )
            folds.add(rows, y, w, None, cluster % len(folds.folds_))
            return len(rows)
        around = self.state.around if self.needs_passes else None
        width, seen = 0 if around is None else around.coef.shape[1], None
        try:
            with self.averages.all_or_none() if fourth is not None else nullcontext():
                if around is not None:
                    around.resize(max(rows.p, width))
                    seen = reweighted.reweighted(self.loss_function, around, self._imputed(rows), y, w)
                    y, w = seen.targets, seen.weights
                self.averages.add(rows, y, w)
                if fourth is not None:
                    fourth.add(rows, y, w)
        except BaseException:
            if around is not None:
                around.resize(width)
            raise
        if around is not None and seen is not None:
            seen.count(around)
        return len(rows)

    def resize(self, p: int) -> None:
        self.averages.widen(p)
        if self.needs_passes:
            self.state.around.resize(p)
        self.p = p

    def merge(
        self,
        other: AveragesMethod,
        where: NDArray[np.int64] | None = None,
        p: int | None = None,
        *,
        follows: bool = False,
    ) -> None:
        """Merge the averages of another method of the same kind.

        Its feature j becomes feature `where[j]` (None: j) of p. If its rows follow those here, folds continue
        to count them.
        """
        for name in ("folds", "fourth"):
            one, two = (getattr(m.state, name, None) for m in (self, other))
            if (one is None) != (two is None):
                raise ValueError(
                    f"One of the two has {name}, the other has not; fit both with the same se, honest, "
                    "stability and criterion."
                )
        if self.half_life == "auto":
            self.averages.merge(other.averages)  # raises
        p = max(self.p, other.p) if p is None else p
        self.resize(p)
        other.averages.widen(p, where)
        other.p = p
        if follows and self.state.folds is not None:
            self.averages.append(other.averages)
        else:
            self.averages.merge(other.averages)
        if getattr(self.state, "fourth", None) is not None:
            self.state.fourth.merge(other.state.fourth)

    def adopt(self, other: AveragesMethod) -> None:
        """Extract models from the averages of another method, whose parameters of averages are the same."""
        self.p, self.q = other.p, other.q
        self.state = State(averages=other.state.averages, folds=other.state.folds)
        if hasattr(other.state, "fourth"):
            self.state.fourth = other.state.fourth
        self.check()
        self._cache = None

    def check_state(self) -> None:
        if (self.state.averages is None) == (self.state.folds is None):
            raise ValueError("expected either averages or folds.")
        self.averages.check()
        fourth = getattr(self.state, "fourth", None)
        if fourth is not None:
            fourth.check()
            if self.p and (fourth.n_features_in_, fourth.n_targets_) != (self.p, self.q):
                raise ValueError(f"the fourth moments are not of {self.p} columns.")
        if self.needs_passes:
            reweighted.check_around(getattr(self.state, "around", None), self.p, self.q)
        if self.averages.n_features_in_ != self.p:
            raise ValueError(f"the averages are not of {self.p} columns.")

    # ---------------------------------------------------------------- passes, for losses that are not squared

    @property
    def needs_passes(self) -> bool:  # type: ignore[override]
        return self.loss != "squared"

    def next_pass(self) -> AveragesMethod | None:
        if not self.needs_passes or (around := reweighted.next_around(self)) is None:
            return None
        again = self.with_values().begin(self.p, self.q)
        again.state.around = around
        return again

    @property
    def pass_note(self) -> str:
        around = self.state.around
        fitted = "all features" if around.support is None else f"{len(around.support):,} features"
        return f"Pass {around.passes + 1} of the {self.loss} loss, on {fitted}."

    @property
    def joint(self) -> bool:  # type: ignore[override]
        return self.loss == "logistic"

    # ---------------------------------------------------------------- the model

    @property
    def averages(self) -> Any:
        """The learned averages."""
        return self.state.averages if self.state.folds is None else self.state.folds

    @property
    def total(self) -> RunningAverages:
        """The averages of all rows, those of folds or half-lives together."""
        averages: Any = self.averages
        return averages if isinstance(averages, RunningAverages) else averages.total()

    @property
    def drift(self) -> list[int] | None:
        """Detected change points, as row numbers."""
        bank = None if self.state is None else self.averages
        return list(bank.drift_) if isinstance(bank, AveragesBank) else None

    @property
    def current_half_life(self) -> float | None:
        """Current half-life."""
        return self.averages.half_life_ if isinstance(self.averages, AveragesBank) else self.half_life

    @property
    def pairs(self) -> Pairs | None:
        """The products that are features, with `interactions`."""
        return None if self.state is None else self.averages.pairs

    @property
    def n_rows(self) -> int:
        return int(self.averages.n_samples_)

    @property
    def model(self) -> LinearModel:
        """The current model, extracted when first read."""
        if self._cache is None or self._cache[0] != self._as_of:
            with linalg.one_thread_if_narrow(self.p if self.pairs is None else self.pairs.n_features):
                self._cache = self._as_of, self._named(self._model())
        chosen: LinearModel = self._cache[1]
        return chosen

    @property
    def _as_of(self) -> Any:
        """What the model depends on."""
        return self.averages._changes, tuple(self.values.items())

    def _model(self) -> LinearModel:
        """The model of all rows, with errors according to `se`, `honest` and `stability`."""
        if self.needs_passes:
            chosen = self.state.around.support is not None
            model = reweighted.refit(self) if chosen else self.select(self.averages)
            return replace(model, stderr=None, tvalue=None, nu=None)  # errors exist for least squares only
        options = {"fit_intercept": self.fit_intercept, "random_state": 0}
        if self.honest is not None:
            return split(self.averages, self, select=self.honest, se=self.se, **options)
        if self.stability is not None:
            model = stability(self.averages, threshold=self.stability, method=self, **options)
        else:
            model = self.select(self.averages)
        if self.se == "classical" or model.stderr is None:
            return model
        return with_errors(model, self._error_source, self.se, self.fit_intercept)

    @property
    def _error_source(self) -> Any:
        """The averages for the standard errors."""
        return self.state.fourth if self.se == "hc1" else self.averages

    def select(self, averages: RunningAverages | FoldAverages | AveragesBank) -> LinearModel:
        """The model of any averages by this method, its choice of k and its parameters."""
        options = {"fit_intercept": self.fit_intercept, "standardize": self.standardize}
        if self._by_folds:
            if not isinstance(averages, FoldAverages):
                raise TypeError(
                    f"criterion={self.criterion!r} needs FoldAverages, got {type(averages).__name__}."
                )
            found = cross_validate(averages, self, refit=self.refit, **options)
            return found.best(one_stderr=self.criterion == "1se")
        if isinstance(averages, FoldAverages | AveragesBank):
            averages = averages.total()
        if self._automatic:
            return path(averages, self, refit=self.refit, **options).best(self.criterion)
        return self.extract(self.standardized(averages, **options))

    def standardized(
        self, averages: RunningAverages | Standardized, fit_intercept: bool = True, standardize: bool = True
    ) -> Standardized:
        """The averages that this method extracts models from, with its constraints built in."""
        names = self._all_names(self.p) if self.p else None
        return as_standardized(
            averages, fit_intercept, standardize, self.constraints, names, self.first_index
        )

    def _all_names(self, p: int) -> list[str] | None:
        """Names of all features, including products; None if they have none."""
        names = self.feature_names
        if names is None:
            return None
        named = list(map(str, names))[:p] + [str(j) for j in range(len(names), p)]
        return Pairs(p).names(named) if self.interactions else named

    def _named(self, model: LinearModel) -> LinearModel:
        names = self._all_names(self.p)
        return model if names is None else replace(model, feature_names=np.array(names, dtype=object))

    def weights(self) -> tuple[Array, Array]:
        model = self.model
        return np.atleast_2d(model.coef), np.atleast_1d(model.intercept)

    def scores(self, rows: Rows, coef: Array, intercept: Array) -> Array:
        rows, pairs = self._imputed(rows), self.pairs
        if pairs is not None:
            support = np.flatnonzero(coef.any(axis=0))
            rows, coef = Rows(pairs.expand(rows.to_array(), support)), coef[:, support]
        return super().scores(rows, coef, intercept)

    def _imputed(self, rows: Rows) -> Rows:
        """The rows with the means so far in place of missing values."""
        fills = self.fills()
        return rows if fills is None else rows.imputed(fills)

    def fills(self) -> Array | None:
        return self.total.mean_x_[: self.p] if self.missing == "mean" else None

    def linear_model(self) -> LinearModel:
        return self.model

    def extracted(self) -> Any:
        """The model, if it has been read since the last rows; reading it now would add buffered rows."""
        fresh = self._cache is not None and self._cache[0] == self._as_of
        return self._cache[1].to_plain() if fresh else None

    def set_extracted(self, model: Any) -> None:
        chosen, width = LinearModel.from_plain(model), self.p if self.pairs is None else self.pairs.n_features
        if np.shape(np.atleast_2d(chosen.coef)) != (self.q, width):
            raise ValueError(f"the model has weights of shape {np.shape(chosen.coef)}.")
        self._cache = self._as_of, chosen

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_cache": None}
