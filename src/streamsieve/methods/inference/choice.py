"""Arguments that several functions share: a method that selects, and folds to select on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...statistics.fold_averages import FoldAverages
from ..averages.path import as_method

if TYPE_CHECKING:
    from ..averages.method import AveragesMethod


def selector(method: str | AveragesMethod, k: Any, options: dict[str, Any]) -> AveragesMethod:
    """The selecting method: a name with k and options, or a method object with its own parameters."""
    if not isinstance(method, str):
        if k is not None or options:
            raise ValueError(f"{type(method).__name__} already has parameters; do not pass k or options.")
        return method
    kind = type(as_method(method, options))
    return kind(**options, **({} if k is None else {"k": k}))


def filled_folds(folds: Any, least: int, what: str) -> NDArray[np.int64]:
    """The folds that have rows; raise ValueError if there are too few."""
    if not isinstance(folds, FoldAverages):
        raise TypeError(f"{what} needs FoldAverages, got {type(folds).__name__}.")
    filled = np.flatnonzero([fold.n_samples_ for fold in folds.folds_])
    if len(filled) < least:
        raise ValueError(f"{what} needs rows in {least} folds, but {len(filled)} have rows; add more rows.")
    return filled


def check_share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise ValueError(f"{name}={value!r} must be between 0 and 1.")
    return float(value)


def check_count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name}={value!r} must be an int >= 1.")
    return int(value)


def refuse_forgetting(averages: Any, what: str) -> None:
    """Raise ValueError for averages in which old rows lose weight."""
    if getattr(averages, "forgets", False):
        raise ValueError(
            f"{what} needs rows of equal weight, but these averages forget; keep a second set without decay "
            "and half_life."
        )
