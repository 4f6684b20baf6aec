"""Parameters that a search of `ma` has found."""

from __future__ import annotations

from ..tuning import Params

# Found by `ma.search_params`, so that a quick run need not search.
STORED_PARAMS: dict[str, Params] = {
    "dexter, SGD, hinge": {"eta": "auto", "passes": 5},
    "dexter, SGD, logistic": {"eta": "auto", "passes": 10},
    "dexter, TruncatedGradient, hinge": {"eta": "auto", "alpha": 0.003, "passes": 50},
    "dexter, TruncatedGradient, logistic": {"eta": "auto", "alpha": 0.005, "passes": 40},
    "dexter, RDA, hinge": {"rho": 0.0, "alpha": 0.1, "passes": 5},
    "dexter, RDA, logistic": {"rho": 0.0, "alpha": 0.05, "passes": 60},
    "dexter, FOBOS, hinge": {"eta": "auto", "alpha": 5e-05, "passes": 40},
    "dexter, FOBOS, logistic": {"eta": "auto", "alpha": 0.001, "passes": 60},
    "dexter, StabilizedSGD, chosen, hinge": {"rejection_decay": -7.0, "threshold": 0.9},
    "dexter, StabilizedSGD, chosen, logistic": {"rejection_decay": 3.0, "threshold": 0.5},
    "dexter, TruncatedGradient, sparse, hinge": {"alpha": 1.0, "passes": 50},
    "dexter, TruncatedGradient, sparse, logistic": {"alpha": 0.5, "passes": 50},
    "dexter, StabilizedSGD, sparse, hinge": {
        "burst_size": "auto",
        "rejection": 0.9,
        "rejection_decay": 0.0,
        "threshold": 0.9,
    },
    "dexter, StabilizedSGD, sparse, logistic": {
        "burst_size": "auto",
        "rejection": 0.9,
        "rejection_decay": -7.0,
        "threshold": 0.9,
    },
    "arcene, SGD, hinge": {"eta": "auto", "passes": 30},
    "arcene, SGD, logistic": {"eta": "auto", "passes": 60},
    "arcene, TruncatedGradient, hinge": {"eta": "auto", "alpha": 0.01, "passes": 30},
    "arcene, TruncatedGradient, logistic": {"eta": "auto", "alpha": 0.001, "passes": 60},
    "arcene, RDA, hinge": {"rho": 0.0, "alpha": 0.001, "passes": 60},
    "arcene, RDA, logistic": {"rho": 0.0, "alpha": 0.01, "passes": 60},
    "arcene, FOBOS, hinge": {"eta": 1.0, "alpha": 0.01, "passes": 30},
    "arcene, FOBOS, logistic": {"eta": 1.0, "alpha": 0.0005, "passes": 10},
    "arcene, StabilizedSGD, chosen, hinge": {"rejection_decay": 3.0, "threshold": 0.5},
    "arcene, StabilizedSGD, chosen, logistic": {"rejection_decay": 1.0, "threshold": 0.5},
    "arcene, TruncatedGradient, sparse, hinge": {"alpha": 2.0, "passes": 10},
    "arcene, TruncatedGradient, sparse, logistic": {"alpha": 1.0, "passes": 10},
    "arcene, StabilizedSGD, sparse, hinge": {
        "burst_size": "auto",
        "rejection": 0.97,
        "rejection_decay": -7.0,
        "threshold": 0.97,
    },
    "arcene, StabilizedSGD, sparse, logistic": {
        "burst_size": 20,
        "rejection": 0.9,
        "rejection_decay": 0.0,
        "threshold": 0.9,
    },
}
