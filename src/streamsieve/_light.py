"""What the `streamsieve` command does without, in its own process: scikit-learn, and scipy's sparse matrices.

Importing them takes longer than most commands' work, and there nobody hands the estimators to scikit-learn
nor asks of rows more than their arrays. The command sets `wanted` before an estimator is loaded; everywhere
else base classes are scikit-learn's own, and blocks scipy's.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
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


@dataclass
class Csr:
    """Rows of a CSR matrix, of which only the arrays are used."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]

    def __getitem__(self, rows: slice) -> Csr:
        indptr = self.indptr[rows.start or 0 : None if rows.stop is None else rows.stop + 1]
        held = slice(indptr[0], indptr[-1])
        return Csr(self.data[held], self.indices[held], indptr - indptr[0], (len(indptr) - 1, self.shape[1]))
