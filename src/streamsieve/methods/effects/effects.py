"""The sieve with shapes and pairs: what `Sieve` is with `effects` other than 'linear'."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...core import linalg
from ...core.method import Method
from ...core.params import ParamError, size_of
from ...core.rows import Array, Rows
from ...core.state import Deferred, State
from ...statistics import constraints
from ..sieve.sieve import Sieve
from .effect import Component
from .levels import FIRST, LEVELS, Levels, check_edges
from .read import Answer, Reader
from .tables import Tables, check_answer

_NOT_WITH = {"fit_intercept": True, "standardize": True, "half_life": None, "se": None}


class Effects(Sieve):
    """A sieve that also samples its rows as 8-bit levels, from which it reads lines, shapes or pairs.

    With effects='auto' the sieve and the sample share the memory. If lines predict as well as shapes and
    pairs, the model is that of the sieve.
    """

    name = "Sieve"
    #: Whether parts will be merged. The rows of a sieve cannot be merged, so that no sieve learns them then.
    merges: bool = False  # type: ignore[misc]

    def check(self) -> None:
        super().check()
        for name, value in _NOT_WITH.items():
            if getattr(self, name) != value:
                raise ParamError(
                    name, getattr(self, name), f"expected {value!r} with effects={self.effects!r}."
                )
        if self.criterion not in ("cv", "1se"):
            raise ParamError(
                "criterion", self.criterion, f"expected 'cv' or '1se' with effects={self.effects!r}."
            )
        if constraints.Constraints.of(self).given:
            raise ParamError("effects", self.effects, "expected 'linear' with keep, groups or positive.")
        if self.loss not in ("squared", "logistic"):
            raise ParamError("effects", self.effects, f"expected 'linear' with loss={self.loss!r}.")

    @property
    def nan_ok(self) -> bool:
        return bool(self.missing != "error")

    @property
    def missing_numbers(self) -> str:  # type: ignore[override]
        """Missing numbers of tables are left as they are: they have a level of their own."""
        return "keep" if self.nan_ok else "mean"

    # ---------------------------------------------------------------- state

    def start(self, p: int, q: int) -> State:
        if self.edges is not None:
            try:
                check_edges(self.edges, p)
            except ValueError as error:
                raise ParamError("edges", "...", str(error)) from None
        state = super().start(p, q)
        state.add_fields(levels=Levels.of(p, self.targets(q), self.edges))
        state.levels.alone = self.merges
        return state

    def begin(self, p: int, q: int) -> Self:
        """Start with as many features as there are edges: a part of sparse rows may have fewer."""
        return super().begin(max(p, len(self.edges)) if self.merges and self.edges is not None else p, q)

    def targets(self, q: int) -> int:
        return 1 if self.labels else q

    @property
    def by_sieve(self) -> bool:
        """Whether a sieve learns the rows too."""
        alone = self.merges if self.state is None else self.state.levels.alone
        return self.effects == "auto" and not alone

    @property
    def bytes(self) -> int:
        """Memory of the sieve, and as much for the sample."""
        return size_of(self.memory) // 2 if self.by_sieve else size_of(self.memory)

    def capacity(self, p: int) -> int:
        """Rows of the sample: p levels, the targets, a weight and a hash each."""
        return max(int(self.bytes // (p + 8 * self.targets(self.q) + 16)), LEVELS)

    def first_rows(self, p: int) -> int:
        """Rows that set the edges; with 8 bytes a value they fill at most an eighth of the memory."""
        return int(np.clip(self.bytes // (64 * max(p, 1)), 4 * LEVELS, FIRST))

    def resize(self, p: int) -> None:
        super().resize(p)
        self.state.levels = self.state.levels.widened(p)

    def check_state(self) -> None:
        super().check_state()
        levels = self.state.levels
        if not isinstance(levels, Levels):
            raise ValueError("the levels are missing.")
        sizes = self.first_rows(self.p), self.capacity(self.p)
        levels.check(self.p, self.targets(self.q), *sizes, self.limit, nan_ok=self.nan_ok)

    # ---------------------------------------------------------------- learning

    def update(self, rows: Rows, y: Array, w: Array | None = None) -> None:
        if not rows.sparse and rows.p < self.p:
            raise ValueError(f"Rows have {rows.p} features, and there are edges of {self.p}.")
        s, levels, step = self.state, self.state.levels, None
        if s.chosen is None:  # in the second pass of the sieve the levels are complete
            levels = levels if rows.p <= self.p else levels.widened(rows.p)
            code = (
                (y[:, :1] > 0).astype(np.float64) if self.q == 1 else y.argmax(axis=1)[:, None].astype(float)
            )
            sizes = self.first_rows(levels.p), self.capacity(levels.p)
            step = levels.step(rows, code if self.labels else y, w, *sizes, self.n_jobs)
        interrupts = Deferred()
        interrupts.begin()
        try:
            if self.by_sieve:
                super().update(rows, y, w)
            else:
                self.loss_function.check_targets(y)
                if rows.p > self.p:
                    self.resize(rows.p)
                s.rows += len(rows)
            if step is not None:
                levels.apply(step)
                s.levels = levels
            s._effects = None
        finally:
            interrupts.end()

    def next_pass(self) -> Any:
        again = super().next_pass()
        if again is not None:
            again.state.levels = self.state.levels
        return again

    def merge(
        self,
        other: Effects,
        where: Any = None,
        p: int | None = None,
        *,
        follows: bool = False,  # noqa: ARG002
    ) -> None:
        """Add another part of the stream, which has the same edges. Lines are then fitted to the levels."""
        if where is not None or p not in (None, self.p) or other.p != self.p:
            raise ValueError("The parts have different features; pass rows of the same columns.")
        s = self.state
        s.levels = s.levels.copy()
        s.levels.merge(other.state.levels, self.capacity(self.p))
        s.levels.alone, s.rows, s._effects = True, s.rows + other.state.rows, None
        s.store = s.H = s.h = s.yy = s.target_units = None

    # ---------------------------------------------------------------- reading

    @property
    def answer(self) -> Answer:
        """The model, cached until more rows are learned; without components if lines are as good."""
        s = self.state
        found: Answer | None = getattr(s, "_effects", None)
        if found is None:
            levels = self.levels
            if not len(levels):
                found = Answer.none(self.q, {})
            else:
                with linalg.limit_threads(1):  # most products are small: threads would wait for each other
                    found = Reader(self, levels).read(self.effects)
            s._effects = found
        return found

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """Whether the model is linear, and thus that of the sieve."""
        return self.by_sieve and self.answer.kind == "linear"

    def weights(self) -> tuple[Array, Array]:
        """Weights, or for each feature and output the deviation of all components that contain it."""
        if self.linear:
            return super().weights()
        found, out = self.answer, np.zeros((self.q, self.p))
        for features, variance in Tables.of(found, self.levels).variances().items():
            out[:, list(features)] += variance[:, None]
        out = np.sqrt(out)
        self.state._issued = out, found  # `scores` may be called with these weights after more rows
        return out, found.constant.copy()

    @property
    def tables(self) -> Tables:
        """The model as tables."""
        return Tables.of(self.answer, self.levels)

    def scores(self, rows: Rows, coef: Array, intercept: Array) -> Array:
        issued = getattr(self.state, "_issued", None)
        if issued is not None and issued[0] is coef:
            found: Answer = issued[1]
        elif self.linear:
            return super().scores(rows, coef, intercept)
        else:
            found = self.answer
        return Tables.of(found, self.levels).scores(rows)

    def fills(self) -> Array | None:
        return super().fills() if self.linear else None

    def limits(self, features: NDArray[np.integer[Any]]) -> tuple[Array, Array]:
        return super().limits(features) if self.linear else Method.limits(self, features)

    @property
    def levels(self) -> Levels:
        """The levels; before there are enough rows to set the edges, those of the rows so far."""
        found: Levels = self.state.levels.settled(self.capacity(self.p), self.n_jobs)
        return found

    @property
    def edges_(self) -> Array:
        edges = self.levels.edges
        if edges is None:
            raise AttributeError("There are no levels before the first rows.")
        return edges

    @property
    def effects_(self) -> str:
        return self.answer.kind

    @property
    def effect_losses(self) -> dict[str, float]:
        return dict(self.answer.losses)

    @property
    def terms(self) -> list[Component]:
        return self.tables.terms()

    # ---------------------------------------------------------------- files

    def extracted(self) -> Any:
        found: Answer | None = getattr(self.state, "_effects", None)
        return None if found is None else [*found, super().extracted()]

    def set_extracted(self, model: Any) -> None:
        *fields, linear = model
        found = Answer(*fields)
        check_answer(found, self.p, self.q)
        if linear is not None:
            super().set_extracted(linear)
        self.state._effects = found
