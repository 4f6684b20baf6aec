"""Written by `python tests/stubs.py` from the list of methods."""

from typing import Any, Literal, Self

from numpy.typing import NDArray

from .classifier import Classifier
from .regressor import Regressor

__all__: list[str]

class SieveRegressor(Regressor):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    memory: Any
    fit_intercept: bool
    standardize: bool
    clip: bool
    keep: Any
    groups: Any
    group_categories: bool
    positive: Any
    missing: Literal['auto', 'error', 'mean']
    half_life: float | None
    grow: bool
    n_jobs: int
    se: Literal['classical', 'folds'] | None
    effects: Literal['linear', 'shapes', 'pairs', 'auto']
    edges: Any
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        memory: Any = '256MB',
        fit_intercept: bool = True,
        standardize: bool = True,
        clip: bool = True,
        keep: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        positive: Any = False,
        missing: Literal['auto', 'error', 'mean'] = 'auto',
        half_life: float | None = None,
        grow: bool = False,
        n_jobs: int = -1,
        se: Literal['classical', 'folds'] | None = None,
        effects: Literal['linear', 'shapes', 'pairs', 'auto'] = 'linear',
        edges: Any = None,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def ridge_(self) -> float: ...
    @property
    def n_candidates_(self) -> int: ...
    @property
    def sizes_(self) -> Any: ...
    @property
    def n_clipped_(self) -> int: ...
    @property
    def effects_(self) -> Any: ...
    @property
    def effect_losses_(self) -> Any: ...
    @property
    def terms_(self) -> Any: ...
    @property
    def edges_(self) -> NDArray[Any]: ...
    @property
    def model_(self) -> Any: ...
    def effect(self, feature: Any, other: Any = None) -> Self: ...

class SieveClassifier(Classifier):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    memory: Any
    fit_intercept: bool
    standardize: bool
    clip: bool
    keep: Any
    groups: Any
    group_categories: bool
    positive: Any
    missing: Literal['auto', 'error', 'mean']
    half_life: float | None
    grow: bool
    n_jobs: int
    se: Literal['classical', 'folds'] | None
    effects: Literal['linear', 'shapes', 'pairs', 'auto']
    edges: Any
    loss: Literal['logistic', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        memory: Any = '256MB',
        fit_intercept: bool = True,
        standardize: bool = True,
        clip: bool = True,
        keep: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        positive: Any = False,
        missing: Literal['auto', 'error', 'mean'] = 'auto',
        half_life: float | None = None,
        grow: bool = False,
        n_jobs: int = -1,
        se: Literal['classical', 'folds'] | None = None,
        effects: Literal['linear', 'shapes', 'pairs', 'auto'] = 'linear',
        edges: Any = None,
        loss: Literal['logistic', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def ridge_(self) -> float: ...
    @property
    def n_candidates_(self) -> int: ...
    @property
    def sizes_(self) -> Any: ...
    @property
    def n_clipped_(self) -> int: ...
    @property
    def effects_(self) -> Any: ...
    @property
    def effect_losses_(self) -> Any: ...
    @property
    def terms_(self) -> Any: ...
    @property
    def edges_(self) -> NDArray[Any]: ...
    @property
    def model_(self) -> Any: ...
    def effect(self, feature: Any, other: Any = None) -> Self: ...

class OLSRegressor(Regressor):
    ridge: Literal['auto'] | float
    fdr: float | None
    n_folds: Literal['auto'] | int
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        *,
        ridge: Literal['auto'] | float = 'auto',
        fdr: float | None = None,
        n_folds: Literal['auto'] | int = 'auto',
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OLSClassifier(Classifier):
    ridge: Literal['auto'] | float
    fdr: float | None
    n_folds: Literal['auto'] | int
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        *,
        ridge: Literal['auto'] | float = 'auto',
        fdr: float | None = None,
        n_folds: Literal['auto'] | int = 'auto',
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OLSthRegressor(Regressor):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    honest: float | None
    stability: float | None
    ridge: Literal['auto'] | float
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        honest: float | None = None,
        stability: float | None = None,
        ridge: Literal['auto'] | float = 'auto',
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OLSthClassifier(Classifier):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    honest: float | None
    stability: float | None
    ridge: Literal['auto'] | float
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        honest: float | None = None,
        stability: float | None = None,
        ridge: Literal['auto'] | float = 'auto',
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OFSARegressor(Regressor):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    honest: float | None
    stability: float | None
    maturity: int
    annealing: float
    warmup: float
    eta: Literal['auto'] | float
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        honest: float | None = None,
        stability: float | None = None,
        maturity: int = 500,
        annealing: float = 1.0,
        warmup: float = 0.1,
        eta: Literal['auto'] | float = 'auto',
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OFSAClassifier(Classifier):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    honest: float | None
    stability: float | None
    maturity: int
    annealing: float
    warmup: float
    eta: Literal['auto'] | float
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        honest: float | None = None,
        stability: float | None = None,
        maturity: int = 500,
        annealing: float = 1.0,
        warmup: float = 0.1,
        eta: Literal['auto'] | float = 'auto',
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OLassoRegressor(Regressor):
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OLassoClassifier(Classifier):
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OElasticNetRegressor(Regressor):
    l1_ratio: float
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        l1_ratio: float = 0.999,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OElasticNetClassifier(Classifier):
    l1_ratio: float
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        l1_ratio: float = 0.999,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OAdaptiveLassoRegressor(Regressor):
    gamma: float
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        gamma: float = 1.0,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OAdaptiveLassoClassifier(Classifier):
    gamma: float
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        gamma: float = 1.0,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OMCPRegressor(Regressor):
    gamma: float
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        gamma: float = 3.0,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OMCPClassifier(Classifier):
    gamma: float
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        gamma: float = 3.0,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OSCADRegressor(Regressor):
    gamma: float
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        gamma: float = 3.7,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OSCADClassifier(Classifier):
    gamma: float
    k: Literal['auto'] | int
    alpha: float | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    refit: bool
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        gamma: float = 3.7,
        alpha: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        refit: bool = True,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OBestSubsetRegressor(Regressor):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    max_exchange: int
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'huber', 'quantile', 'poisson']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        max_exchange: int = 5,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'huber', 'quantile', 'poisson'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class OBestSubsetClassifier(Classifier):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    n_folds: Literal['auto'] | int
    max_exchange: int
    honest: float | None
    stability: float | None
    decay: Any
    half_life: Literal['auto'] | float | None
    missing: Literal['error', 'mean']
    interactions: bool
    dtype: Literal['float64', 'float32']
    grow: bool
    fit_intercept: bool
    standardize: bool
    se: Literal['classical', 'folds', 'cluster', 'hc1']
    keep: Any
    penalty_factor: Any
    positive: Any
    bounds: Any
    groups: Any
    group_categories: bool
    loss: Literal['squared', 'logistic']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 'auto',
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'bic',
        n_folds: Literal['auto'] | int = 'auto',
        max_exchange: int = 5,
        honest: float | None = None,
        stability: float | None = None,
        decay: Any = None,
        half_life: Literal['auto'] | float | None = None,
        missing: Literal['error', 'mean'] = 'error',
        interactions: bool = False,
        dtype: Literal['float64', 'float32'] = 'float64',
        grow: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        se: Literal['classical', 'folds', 'cluster', 'hc1'] = 'classical',
        keep: Any = None,
        penalty_factor: Any = None,
        positive: Any = False,
        bounds: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        loss: Literal['squared', 'logistic'] = 'squared',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def model_(self) -> Any: ...
    @property
    def averages_(self) -> Any: ...
    @property
    def drift_(self) -> Any: ...
    @property
    def current_half_life_(self) -> float: ...

class SGDRegressor(Regressor):
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        *,
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class SGDClassifier(Classifier):
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        *,
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class SFSARegressor(Regressor):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    maturity: Literal['auto'] | int
    ladder: bool
    annealing: float
    warmup: float
    exact_schedule: bool
    batch_size: int
    variant: Literal['plain', 'momentum', 'nesterov', 'adam']
    restart: bool
    refit: bool
    standardize: Literal['ranks'] | bool
    fit_intercept: bool
    grow: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        maturity: Literal['auto'] | int = 'auto',
        ladder: bool = True,
        annealing: float = 10.0,
        warmup: float = 0.5,
        exact_schedule: bool = False,
        batch_size: int = 25,
        variant: Literal['plain', 'momentum', 'nesterov', 'adam'] = 'plain',
        restart: bool = False,
        refit: bool = True,
        standardize: Literal['ranks'] | bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def current_maturity_(self) -> int: ...
    @property
    def n_restarts_(self) -> int: ...
    @property
    def n_far_(self) -> int: ...

class SFSAClassifier(Classifier):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    maturity: Literal['auto'] | int
    ladder: bool
    annealing: float
    warmup: float
    exact_schedule: bool
    batch_size: int
    variant: Literal['plain', 'momentum', 'nesterov', 'adam']
    restart: bool
    refit: bool
    standardize: Literal['ranks'] | bool
    fit_intercept: bool
    grow: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        maturity: Literal['auto'] | int = 'auto',
        ladder: bool = True,
        annealing: float = 10.0,
        warmup: float = 0.5,
        exact_schedule: bool = False,
        batch_size: int = 25,
        variant: Literal['plain', 'momentum', 'nesterov', 'adam'] = 'plain',
        restart: bool = False,
        refit: bool = True,
        standardize: Literal['ranks'] | bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def current_maturity_(self) -> int: ...
    @property
    def n_restarts_(self) -> int: ...
    @property
    def n_far_(self) -> int: ...

class TSGDRegressor(Regressor):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    keep: Any
    groups: Any
    group_categories: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        keep: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        refit: bool = True,
        max_iter: int = 5,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...
    def start_from(self, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> Self: ...

class TSGDClassifier(Classifier):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    keep: Any
    groups: Any
    group_categories: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        keep: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        refit: bool = True,
        max_iter: int = 5,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...
    def start_from(self, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> Self: ...

class SIHTRegressor(Regressor):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    init: Literal['gradient', 'zero']
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        init: Literal['gradient', 'zero'] = 'gradient',
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...
    def start_from(self, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> Self: ...

class SIHTClassifier(Classifier):
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    init: Literal['gradient', 'zero']
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        init: Literal['gradient', 'zero'] = 'gradient',
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...
    def start_from(self, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> Self: ...

class OLSTRegressor(Regressor):
    k: int
    ridge: Literal['auto'] | float
    standardize: bool
    fit_intercept: bool
    grow: bool
    verbose: bool
    def __init__(
        self,
        k: int = 10,
        *,
        ridge: Literal['auto'] | float = 'auto',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        verbose: bool = False,
    ) -> None: ...
    @property
    def current_ridge_(self) -> float: ...

class OLSTClassifier(Classifier):
    k: int
    ridge: Literal['auto'] | float
    standardize: bool
    fit_intercept: bool
    grow: bool
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: int = 10,
        *,
        ridge: Literal['auto'] | float = 'auto',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def current_ridge_(self) -> float: ...

class OLSTThenTSGDRegressor(Regressor):
    C: int
    ridge: Literal['auto'] | float
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        C: int = 500,
        ridge: Literal['auto'] | float = 'auto',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def olst_(self) -> Any: ...
    @property
    def n_far_(self) -> int: ...
    def start_from(self, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> Self: ...

class OLSTThenTSGDClassifier(Classifier):
    C: int
    ridge: Literal['auto'] | float
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    alpha: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        C: int = 500,
        ridge: Literal['auto'] | float = 'auto',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        alpha: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def olst_(self) -> Any: ...
    @property
    def n_far_(self) -> int: ...
    def start_from(self, model: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> Self: ...

class FTRLProximalRegressor(Regressor):
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    l1_ratio: float
    eta: Literal['auto'] | float
    beta: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    keep: Any
    groups: Any
    group_categories: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.1,
        l1_ratio: float = 1.0,
        eta: Literal['auto'] | float = 'auto',
        beta: float = 1.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        keep: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class FTRLProximalClassifier(Classifier):
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    l1_ratio: float
    eta: Literal['auto'] | float
    beta: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    keep: Any
    groups: Any
    group_categories: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.1,
        l1_ratio: float = 1.0,
        eta: Literal['auto'] | float = 'auto',
        beta: float = 1.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        keep: Any = None,
        groups: Any = None,
        group_categories: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class BARDARegressor(Regressor):
    eta: Literal['auto'] | float
    alpha: float
    delta: float
    groups: Any
    group_categories: bool
    truncation: Literal['weighted', 'naive']
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        eta: Literal['auto'] | float = 'auto',
        alpha: float = 0.0001,
        delta: float = 0.01,
        groups: Any = None,
        group_categories: bool = False,
        truncation: Literal['weighted', 'naive'] = 'weighted',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class BARDAClassifier(Classifier):
    eta: Literal['auto'] | float
    alpha: float
    delta: float
    groups: Any
    group_categories: bool
    truncation: Literal['weighted', 'naive']
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared_hinge', 'logistic', 'hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        eta: Literal['auto'] | float = 'auto',
        alpha: float = 0.0001,
        delta: float = 0.01,
        groups: Any = None,
        group_categories: bool = False,
        truncation: Literal['weighted', 'naive'] = 'weighted',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared_hinge', 'logistic', 'hinge', 'squared'] = 'squared_hinge',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class BAMDRegressor(Regressor):
    eta: Literal['auto'] | float
    alpha: float
    delta: float
    groups: Any
    group_categories: bool
    init: Literal['gradient', 'zero']
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        eta: Literal['auto'] | float = 'auto',
        alpha: float = 0.0001,
        delta: float = 0.01,
        groups: Any = None,
        group_categories: bool = False,
        init: Literal['gradient', 'zero'] = 'gradient',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class BAMDClassifier(Classifier):
    eta: Literal['auto'] | float
    alpha: float
    delta: float
    groups: Any
    group_categories: bool
    init: Literal['gradient', 'zero']
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared_hinge', 'logistic', 'hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        eta: Literal['auto'] | float = 'auto',
        alpha: float = 0.0001,
        delta: float = 0.01,
        groups: Any = None,
        group_categories: bool = False,
        init: Literal['gradient', 'zero'] = 'gradient',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared_hinge', 'logistic', 'hinge', 'squared'] = 'squared_hinge',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class OFSClassifier(Classifier):
    eta: float
    alpha: float
    init: Literal['gradient', 'zero']
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        eta: float = 0.2,
        alpha: float = 0.01,
        init: Literal['gradient', 'zero'] = 'gradient',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class SOFSClassifier(Classifier):
    k: int
    gamma: float
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: int = 10,
        *,
        gamma: float = 0.1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class PassiveAggressiveRegressor(Regressor):
    C: float
    variant: Literal['PA-I', 'PA-II']
    epsilon: float
    init: Literal['gradient', 'zero']
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        C: float = 1.0,
        variant: Literal['PA-I', 'PA-II'] = 'PA-I',
        epsilon: float = 0.1,
        init: Literal['gradient', 'zero'] = 'gradient',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class PassiveAggressiveClassifier(Classifier):
    C: float
    variant: Literal['PA-I', 'PA-II']
    epsilon: float
    init: Literal['gradient', 'zero']
    k: Literal['auto'] | int
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int = 10,
        *,
        C: float = 1.0,
        variant: Literal['PA-I', 'PA-II'] = 'PA-I',
        epsilon: float = 0.1,
        init: Literal['gradient', 'zero'] = 'gradient',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def n_far_(self) -> int: ...

class TruncatedGradientRegressor(Regressor):
    schedule: Literal['constant', 'sqrt', 'doubling']
    K: int
    theta: float | None
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        K: int = 10,
        theta: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class TruncatedGradientClassifier(Classifier):
    schedule: Literal['constant', 'sqrt', 'doubling']
    K: int
    theta: float | None
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        K: int = 10,
        theta: float | None = None,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class FOBOSRegressor(Regressor):
    l1_ratio: float
    schedule: Literal['constant', 'sqrt', 'doubling']
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        l1_ratio: float = 1.0,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'sqrt',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class FOBOSClassifier(Classifier):
    l1_ratio: float
    schedule: Literal['constant', 'sqrt', 'doubling']
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        l1_ratio: float = 1.0,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'sqrt',
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class RDARegressor(Regressor):
    l1_ratio: float
    schedule: Literal['constant', 'sqrt', 'doubling']
    rho: float
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        l1_ratio: float = 1.0,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'sqrt',
        rho: float = 0.0,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class RDAClassifier(Classifier):
    l1_ratio: float
    schedule: Literal['constant', 'sqrt', 'doubling']
    rho: float
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        l1_ratio: float = 1.0,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'sqrt',
        rho: float = 0.0,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class L1ARDARegressor(Regressor):
    schedule: Literal['constant', 'sqrt', 'doubling']
    delta: float
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        delta: float = 0.01,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class L1ARDAClassifier(Classifier):
    schedule: Literal['constant', 'sqrt', 'doubling']
    delta: float
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        delta: float = 0.01,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class AdaFOBOSRegressor(Regressor):
    schedule: Literal['constant', 'sqrt', 'doubling']
    delta: float
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        delta: float = 0.01,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class AdaFOBOSClassifier(Classifier):
    schedule: Literal['constant', 'sqrt', 'doubling']
    delta: float
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        delta: float = 0.01,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        max_iter: int = 100,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class SADMMRegressor(Regressor):
    schedule: Literal['constant', 'sqrt', 'doubling']
    rho: float
    form: Literal['opg', 'rda']
    max_iter: int
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        rho: float = 0.001,
        form: Literal['opg', 'rda'] = 'opg',
        max_iter: int = 10,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class SADMMClassifier(Classifier):
    schedule: Literal['constant', 'sqrt', 'doubling']
    rho: float
    form: Literal['opg', 'rda']
    max_iter: int
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    alpha: float
    eta: Literal['auto'] | float
    n_penalties: int
    n_jobs: int
    standardize: bool
    fit_intercept: bool
    grow: bool
    refit: bool
    tol: float
    shuffle: bool
    random_state: int
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        rho: float = 0.001,
        form: Literal['opg', 'rda'] = 'opg',
        max_iter: int = 10,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        alpha: float = 0.001,
        eta: Literal['auto'] | float = 'auto',
        n_penalties: int = 20,
        n_jobs: int = 1,
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        refit: bool = True,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def penalty_(self) -> NDArray[Any]: ...
    @property
    def n_far_(self) -> int: ...

class StabilizedSGDRegressor(Regressor):
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    n_paths: int
    burst_size: Literal['auto'] | int
    burst_growth: float
    n_bursts: int
    truncation: Literal['informative', 'universal']
    gravity: Literal['auto'] | float
    rejection: float
    rejection_spared: int
    rejection_decay: float
    threshold: float
    min_bursts: float
    block_size: int
    n_jobs: int
    refit: bool
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    standardize: bool
    fit_intercept: bool
    grow: bool
    loss: Literal['squared', 'huber', 'quantile']
    quantile: float
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        max_iter: int = 60,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        n_paths: int = 16,
        burst_size: Literal['auto'] | int = 'auto',
        burst_growth: float = 0.3,
        n_bursts: int = 5,
        truncation: Literal['informative', 'universal'] = 'informative',
        gravity: Literal['auto'] | float = 'auto',
        rejection: float = 0.9,
        rejection_spared: int = 5,
        rejection_decay: float = 0.0,
        threshold: float = 0.9,
        min_bursts: float = 5.0,
        block_size: int = 1024,
        n_jobs: int = -1,
        refit: bool = True,
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        loss: Literal['squared', 'huber', 'quantile'] = 'squared',
        quantile: float = 0.5,
        verbose: bool = False,
    ) -> None: ...
    @property
    def selection_probabilities_(self) -> NDArray[Any]: ...
    @property
    def n_stable_(self) -> int: ...
    @property
    def current_gravity_(self) -> float: ...
    @property
    def current_rejection_(self) -> float: ...
    @property
    def first_burst_(self) -> int: ...
    @property
    def history_(self) -> Any: ...
    @property
    def n_far_(self) -> int: ...
    @classmethod
    def as_printed(cls, algorithm: int, **params: Any) -> Self: ...

class StabilizedSGDClassifier(Classifier):
    k: Literal['auto'] | int | None
    criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic']
    max_iter: int
    tol: float
    shuffle: bool
    random_state: int
    n_paths: int
    burst_size: Literal['auto'] | int
    burst_growth: float
    n_bursts: int
    truncation: Literal['informative', 'universal']
    gravity: Literal['auto'] | float
    rejection: float
    rejection_spared: int
    rejection_decay: float
    threshold: float
    min_bursts: float
    block_size: int
    n_jobs: int
    refit: bool
    eta: Literal['auto'] | float
    schedule: Literal['constant', 'sqrt', 'doubling']
    standardize: bool
    fit_intercept: bool
    grow: bool
    loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared']
    class_weight: Any
    verbose: bool
    def __init__(
        self,
        k: Literal['auto'] | int | None = None,
        *,
        criterion: Literal['cv', '1se', 'ebic', 'bic', 'aic'] = 'cv',
        max_iter: int = 60,
        tol: float = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        n_paths: int = 16,
        burst_size: Literal['auto'] | int = 'auto',
        burst_growth: float = 0.3,
        n_bursts: int = 5,
        truncation: Literal['informative', 'universal'] = 'informative',
        gravity: Literal['auto'] | float = 'auto',
        rejection: float = 0.9,
        rejection_spared: int = 5,
        rejection_decay: float = 0.0,
        threshold: float = 0.9,
        min_bursts: float = 5.0,
        block_size: int = 1024,
        n_jobs: int = -1,
        refit: bool = True,
        eta: Literal['auto'] | float = 'auto',
        schedule: Literal['constant', 'sqrt', 'doubling'] = 'constant',
        standardize: bool = True,
        fit_intercept: bool = True,
        grow: bool = False,
        loss: Literal['logistic', 'hinge', 'squared_hinge', 'squared'] = 'logistic',
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None: ...
    @property
    def selection_probabilities_(self) -> NDArray[Any]: ...
    @property
    def n_stable_(self) -> int: ...
    @property
    def current_gravity_(self) -> float: ...
    @property
    def current_rejection_(self) -> float: ...
    @property
    def first_burst_(self) -> int: ...
    @property
    def history_(self) -> Any: ...
    @property
    def n_far_(self) -> int: ...
    @classmethod
    def as_printed(cls, algorithm: int, **params: Any) -> Self: ...
