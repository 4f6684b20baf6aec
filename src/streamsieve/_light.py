"""What stands for scikit-learn's base classes in the process of the `streamsieve` command.

There nobody hands the estimators to scikit-learn, and importing it would take longer than most commands' work.
The command sets `wanted` before an estimator is loaded; everywhere else the base classes are scikit-learn's own.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from numpy.typing import NDArray

wanted = False


class BaseEstimator:
    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        return {f.name: getattr(self, f.name) for f in sorted(fields(self), key=lambda f: f.name)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Self:
        for name, value in params.items():
            setattr(self, name, value)
        return self


class SelectorMixin:
    def get_support(self, indices: bool = False) -> NDArray[Any]:
        mask: NDArray[Any] = self._get_support_mask()  # type: ignore[attr-defined]
        return mask.nonzero()[0] if indices else mask


class RegressorMixin:
    pass


class ClassifierMixin:
    pass
