"""The outcomes of an experiment's jobs, selected by the settings of the jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .tables import Cell


@dataclass(frozen=True)
class Outcomes:
    """Jobs and what came of them."""

    pairs: list[tuple[dict[str, Any], Any]] = field(default_factory=list)

    def where(self, **match: Any) -> Outcomes:
        """Those whose job has these values."""
        want = {name: list(v) if isinstance(v, tuple) else v for name, v in match.items()}
        return Outcomes([(j, o) for j, o in self.pairs if all(j.get(n) == v for n, v in want.items())])

    def values(self, *at: Any) -> list[Any]:
        """outcome[at[0]][at[1]]... of each; those that lack it are left out."""
        found = []
        for _, outcome in self.pairs:
            for name in at:
                outcome = outcome.get(str(name)) if isinstance(outcome, dict) else None
            if outcome is not None:
                found.append(outcome)
        return found

    def cell(
        self,
        *at: Any,
        published: float | None = None,
        better: str = "more",
        digits: int = 1,
    ) -> Cell:
        return Cell(self.values(*at), published, better, digits)

    def runs(self) -> int:
        """The most jobs that differ in nothing but their seed, or runs within a job."""
        counts: dict[str, int] = {}
        for job, _ in self.pairs:
            key = repr({name: value for name, value in job.items() if name != "seed"})
            counts[key] = counts.get(key, 0) + job.get("runs", 1)
        return max(counts.values(), default=0)

    def describe_runs(self, published: int | str, **fewer: int) -> str:
        """How many seeds there were, of which lengths `ns` fewer, and what else had `fewer`."""

        def count(n: int | None = None) -> int:
            return len({job["seed"] for job, _ in self.pairs if n is None or n in job.get("ns", ())})

        lengths = sorted({n for job, _ in self.pairs for n in job.get("ns", ())})
        by = {f"n = {n:,}": count(n) for n in lengths} | fewer
        runs = [f"{count()} runs", *(f"{what}: {n}" for what, n in by.items() if 0 < n < count())]
        return f"{', '.join(runs)}; published: {published}."

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Any]]:
        return iter(self.pairs)
