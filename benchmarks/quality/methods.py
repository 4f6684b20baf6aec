"""What a method is to the benchmark: a name, settings, and a function that fits."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Training rows, and how many features of them are wanted; task is "labels" or "targets"."""

    X: Any
    y: np.ndarray
    k: int
    task: str

    def n_classes(self) -> int:
        """Classes of labels, 0 for targets."""
        return len(np.unique(self.y)) if self.task == "labels" else 0


@dataclass(frozen=True)
class Fitted:
    """The selected columns, ascending, a function from rows to predictions, and for labels one from rows to
    probabilities (n, classes), where there is one."""

    columns: np.ndarray
    predict: Callable[[Any], np.ndarray]
    probabilities: Callable[[Any], np.ndarray] | None = None


@dataclass(frozen=True)
class Method:
    """`fit(problem, **settings)` returns a `Fitted`; `version` changes when its results may."""

    name: str
    fit: Callable[..., Fitted]
    version: str
    settings: dict[str, Any] = field(default_factory=dict)
    ours: bool = False
    takes_k: bool = True
    refuses: Callable[[Problem], str | None] = lambda _: None  # why it does not apply, or None
