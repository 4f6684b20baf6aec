"""What every worker is given: units of a plan, what to learn of them, and where finished ones are kept."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from ..persist import CheckpointError
from ..training.model import Model
from ..training.saved import read_plain, save
from .parts import Columns, Part, PartError, accumulate, is_mergeable, named, settings_digest
from .plan import Plan


@dataclass(frozen=True)
class Job:
    """What every worker is given: the units, what to learn of them, and where finished ones are kept.

    Attributes
    ----------
    plan : Plan
    like : Model
    folder : str or None
        Finished units are written there, and read instead of computed.
    columns : Columns or None
        The features to learn; None for all.
    """

    plan: Plan
    like: Model
    folder: str | None = None
    columns: Columns | None = None

    @property
    def digest(self) -> str:
        """Tells plan and settings."""
        return settings_digest(self.plan.digest, self.like, self.columns)

    def file(self, number: int) -> str | None:
        return None if self.folder is None else os.path.join(self.folder, f"unit-{number:06d}.sieve")

    def part(self, number: int) -> Part:
        """The part of a unit: from its file, or else accumulated and written to it."""
        file = self.file(number) if is_mergeable(self.like) else None  # votes are not kept
        found = None if file is None else self._kept(number, file)
        if found is not None:
            return found
        part = accumulate(self.plan[number], self.like, self.columns)
        if file is not None:
            with named(self.plan[number]):
                save(part.model, file, about={"part": describe_part(part, self.digest)})
        return part

    def _kept(self, number: int, file: str) -> Part | None:
        """The part in a file; None where there is none, or a damaged one."""
        if not os.path.exists(file):
            return None
        try:
            held = read_plain(file)
        except CheckpointError:
            return None
        part = part_of(held.object, held.about)
        if part is None or held.about["part"]["digest"] != self.digest or part.first != number:
            raise PartError(
                f"{file} is not unit {number} of this plan with these settings; empty the folder, or pass "
                "another."
            )
        return part


def describe_part(part: Part, digest: str, **more: Any) -> dict[str, Any]:
    """What a file says of the part it holds."""
    return {
        "digest": digest, "first": part.first, "last": part.last, "rows": part.rows,
        "rows_bad": part.rows_bad, **more,
    }  # fmt: skip


def part_of(model: Any, about: dict[str, Any]) -> Part | None:
    """The part that a file holds; None where it holds another thing."""
    note = about.get("part")
    if not isinstance(model, Model) or not isinstance(note, dict):
        return None
    model = replace(model, about={name: value for name, value in model.about.items() if name != "part"})
    return Part(model, int(note["first"]), int(note["last"]), int(note["rows"]), int(note["rows_bad"]))
