"""Online feature selection: the k features that matter, in one pass over a stream too large to hold.

The public names are loaded when first used, so that the command line starts at once.
"""

from importlib import import_module
from typing import Any

from .methods import ESTIMATORS

_PUBLIC = {
    "sources": ["read"],
    "statistics.running": ["RunningAverages"],
    "statistics.linear_model": ["LinearModel"],
    "methods.averages.path": ["Path", "path"],
    "statistics.fold_averages": ["FoldAverages"],
    "statistics.bank": ["AveragesBank"],
    "statistics.fourth": ["FourthMoments"],
    "methods.averages.crossval": ["CrossValidation", "cross_validate"],
    "estimators": list(ESTIMATORS),
    "training.evaluate": ["Prequential", "prequential"],
    "displays": [
        "EffectDisplay",
        "PathDisplay",
        "SelectionDisplay",
        "PrequentialDisplay",
        "StabilityDisplay",
        "CalibrationDisplay",
        "ConfusionDisplay",
    ],
    "training.saved": ["save", "Checkpoint"],
    "estimators.saved": ["load", "read_checkpoint"],
    "persist": ["CheckpointError"],
}
_WHERE = {name: module for module, names in _PUBLIC.items() for name in names}
_MODULES = {
    "extract": "methods.averages.extract",
    "dask": "dask",
    "distributed": "distributed",
    "export": "export",
    "inference": "methods.inference",
    "metrics": "metrics",
    "simulate": "simulate",
}

__version__ = "0.1.0"
__all__ = ["__version__", *_WHERE, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module 'streamsieve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
