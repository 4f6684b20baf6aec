"""Learners that keep O(p) weights and update them row by row. Each is loaded when first used."""

from importlib import import_module
from typing import Any

_FILES = {
    "SFSA": "sfsa",
    "BARDA": "barda",
    "BAMD": "bamd",
    "TruncatedGradient": "truncated_gradient",
    "FOBOS": "fobos",
    "RDA": "rda",
    "L1ARDA": "l1arda",
    "AdaFOBOS": "adafobos",
    "SADMM": "sadmm",
    "StabilizedSGD": "stabilized",
}
_LABELLERS = {"OFS": "ofs", "SOFS": "sofs"}  # these classify only
_WHERE = {f"{name}{kind}": file for name, file in _FILES.items() for kind in ("Regressor", "Classifier")}
_WHERE |= {f"{name}Classifier": file for name, file in _LABELLERS.items()}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
