"""The scikit-learn estimators, two for each method of `methods.py`, made when first used."""

from __future__ import annotations

from typing import Any

from ..methods import ESTIMATORS

__all__ = list(ESTIMATORS)


def __getattr__(name: str) -> Any:
    if name not in ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .make import make_estimator

    globals()[name] = kind = make_estimator(name)
    return kind


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
