"""A model of shapes and pairs as tables, for predictions and for drawing its components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.rows import Array, Rows
from ...core.state import State, array, check_array
from .effect import Component
from .levels import EDGES, LEVELS, Levels, check_edges
from .read import KINDS, Answer, Ints


class Tables(State):
    """A model of shapes and pairs, without the rows that it was read from.

    Attributes
    ----------
    features : int array (s,)
        The features of all components, ascending.
    edges, means : arrays (s, 63) and (s, 64)
        The edges of their levels, and the mean value in each level.
    rows : int64 array (s, 64)
        Rows of each level.
    model : list
        The fields of the `Answer`.
    """

    features: Ints
    edges: Array
    means: Array
    rows: NDArray[np.int64]
    model: list[Any]

    @classmethod
    def of(cls, found: Answer, levels: Levels) -> Tables:
        used = np.unique(np.concatenate([found.features, found.pairs.ravel()]))
        edges = np.zeros((0, EDGES)) if levels.edges is None else levels.edges
        return cls(
            features=array(used, "slot"), edges=array(edges[used], "slot", "fixed"),
            means=array(levels.means(used), "slot", "fixed"),
            rows=array(levels.rows[used], "slot", "fixed"), model=[*found],
        )  # fmt: skip

    @property
    def answer(self) -> Answer:
        return Answer(*self.model)

    def place(self, features: Any) -> Any:
        """Positions of features in the arrays."""
        return np.searchsorted(self.features, features)

    def scores(self, rows: Rows) -> Array:
        """The margins (n, q) of rows."""
        found, codes = self.answer, self._codes(rows)
        out = np.tile(found.constant, (len(rows), 1))
        for at, table in zip(self.place(found.features), found.tables):
            out += table[codes[:, at]]
        for (i, j), table in zip(self.place(found.pairs), found.pair_tables):
            out += table[codes[:, i], codes[:, j]]
        return out

    def _codes(self, rows: Rows) -> NDArray[np.uint8]:
        """The levels of the features."""
        m = len(self.features)
        codes = np.empty((len(rows), m), dtype=np.uint8)
        scratch = np.zeros((2, m, LEVELS), dtype=np.int64)
        ones = np.ones(m)
        for at, part in rows.columns(self.features).in_row_order():
            _core.effects_bin(part.kernel, self.edges, ones, ones, scratch[0], scratch[1], codes[at], 1)
        return codes

    def variances(self) -> dict[tuple[int, ...], Array]:
        """The variance (q,) of each component over its levels: main shapes by (j,), pairs by (i, j)."""
        found = self.answer
        share = self.rows / np.maximum(self.rows.sum(axis=1, keepdims=True), 1)
        out: dict[tuple[int, ...], Array] = {
            (int(j),): np.einsum("l,lq->q", share[self.place(j)], table**2)
            for j, table in zip(found.features, found.tables)
        }
        for (i, j), table in zip(found.pairs.tolist(), found.pair_tables):
            out[i, j] = np.einsum("l,m,lmq->q", share[self.place(i)], share[self.place(j)], table**2)
        return out

    def terms(self) -> list[Component]:
        """The components, the strongest first."""
        found = self.answer
        pvalue = dict(zip(map(tuple, found.pairs.tolist()), found.pvalues.tolist()))
        out = [
            Component(features, float(np.sqrt(variance.max())), pvalue.get(features))
            for features, variance in self.variances().items()
        ]
        return sorted(out, key=lambda c: (-c.deviation, c.features))

    def check(self, p: int, q: int) -> None:
        """Raise ValueError for tables from a file that do not fit together."""
        check_answer(self.answer, p, q)
        found = self.answer
        used = np.unique(np.concatenate([found.features, found.pairs.ravel()]))
        if not np.array_equal(self.features, used) or self.features.dtype != np.int64:
            raise ValueError("the features of the tables are not those of the components.")
        check_edges(self.edges, len(used))
        check_array("means", self.means, np.float64, (len(used), LEVELS))
        check_array("rows", self.rows, np.int64, (len(used), LEVELS))


def check_answer(found: Answer, p: int, q: int) -> None:
    """Raise ValueError for a model from a file that does not fit p features and q outputs."""
    k, m = len(found.features), len(found.pairs)
    for name, kind, shape in (
        ("features", np.int64, (k,)),
        ("tables", np.float64, (k, LEVELS, q)),
        ("errors", np.float64, (k, LEVELS, q)),
        ("pairs", np.int64, (m, 2)),
        ("pair_tables", np.float64, (m, LEVELS, LEVELS, q)),
        ("pvalues", np.float64, (m,)),
        ("constant", np.float64, (q,)),
    ):
        check_array(name, getattr(found, name), kind, shape)
    used, pvalues = np.concatenate([found.features, found.pairs.ravel()]), found.pvalues
    ascending = (np.diff(found.features) > 0).all() and (found.pairs[:, 0] < found.pairs[:, 1]).all()
    if found.kind not in KINDS or not ascending or (len(used) and not 0 <= used.min() <= used.max() < p):
        raise ValueError("the model does not fit the state.")
    if not ((pvalues >= 0) & (pvalues <= 1)).all() or not (found.errors >= 0).all():
        raise ValueError("the p-values or standard errors of the model are out of range.")
    if type(found.losses) is not dict or not all(
        kind in KINDS and type(value) is float for kind, value in found.losses.items()
    ):
        raise ValueError("the losses of the model are not numbers by kind.")
