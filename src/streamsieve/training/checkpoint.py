"""When a run writes its checkpoint, and the settings that a resumed run must match."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from ..core.params import ParamError
from ..persist import CheckpointError, is_checkpoint
from .model import Model
from .saved import read_plain, save
from .trace import Trace


@dataclass
class CheckpointPolicy:
    """File and interval of checkpoints, and whether a run continues from one.

    Attributes
    ----------
    file : str or None
        None: no checkpoints.
    seconds, rows : float, int or None
        Write after this number of rows, or otherwise after this number of seconds.
    resume : bool
        Continue from the file, if it exists.
    settings : dict
        Plain data that identifies the run: a resumed run must have the same.
    describe : callable or None
        Called before the model is written, to update its notes.
    trace : Trace or None
        Records of the run: written with the checkpoint, and continued by `read`.
    """

    file: str | None = None
    seconds: float = 60.0
    rows: int | None = None
    resume: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    describe: Callable[[], None] | None = None
    trace: Trace | None = None
    _time: float = field(default_factory=monotonic)
    _rows: int = 0
    _passed: int = 0  # rows learned again since the last one

    def check(self) -> None:
        """Raise ParamError for a file that must not be replaced."""
        if self.resume and self.file is None:
            raise ParamError("resume", True, "expected a checkpoint, the file to continue from.")
        if self.file is None or not _holds_something(self.file) or self.resume:
            return
        if not is_checkpoint(self.file):
            raise ParamError(
                "checkpoint", self.file, "the file exists and is not a checkpoint; it is not replaced."
            )
        run = read_plain(self.file).about.get("run")
        if run is None:
            raise ParamError(
                "checkpoint", self.file, "the file is a model, not a checkpoint; it is not replaced."
            )
        if not run["done"]:
            raise ParamError(
                "checkpoint", self.file, "its run was not finished; resume it, or delete the file."
            )

    def begin(self, rows: int) -> None:
        """Start counting at this number of rows."""
        self._time, self._rows, self._passed = monotonic(), rows, 0

    def due(self, rows: int) -> bool:
        """Whether to write a checkpoint after this number of rows."""
        if self.file is None:
            return False
        if self.rows is not None:
            return rows - self._rows >= self.rows
        return monotonic() - self._time >= self.seconds

    def due_after_pass(self, rows: int) -> bool:
        """Whether to write a checkpoint after another pass over this number of rows."""
        if self.file is not None and self.rows is not None:
            self._passed += rows
            return self._passed >= self.rows
        return self.due(rows)

    def write(self, model: Model, rows: int, position: Any, *, done: bool = False) -> None:
        assert self.file is not None
        if self.describe is not None:
            self.describe()
        run = {"position": position, "done": done, "settings": self.settings}
        if self.trace is not None:
            run["trace"] = self.trace.to_plain()
        save(model, self.file, about={**model.about, "rows": rows, "run": run})
        self.begin(rows)

    def read(self) -> tuple[Model, Any, bool] | None:
        """Model, position in its source and whether all rows were learned; None without a checkpoint.

        CheckpointError for that of another run.
        """
        if not self.resume or self.file is None or not os.path.exists(self.file):
            return None
        held = read_plain(self.file)
        run = held.about.pop("run", None)
        if run is None or not isinstance(held.object, Model):
            raise CheckpointError(
                f"{self.file} is a model, not a checkpoint: it has no position in a stream."
            )
        then, now = run["settings"], self.settings
        changed = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
        before, files = then.get("files"), now.get("files")
        if run["done"] and files and files[: len(before or ())] == before:  # more of them may follow
            changed = [name for name in changed if name != "files"]
        if changed:
            differences = ", ".join(f"{name} {then.get(name)!r}, not {now.get(name)!r}" for name in changed)
            raise CheckpointError(
                f"{self.file} is from another run: {differences}; use the same options, or do not resume."
            )
        if self.trace is not None:
            self.trace = Trace.from_plain(run.get("trace"))
        return held.object, run["position"], bool(run["done"])


def _holds_something(file: str) -> bool:
    return os.path.exists(file) and (not os.path.isfile(file) or os.path.getsize(file) > 0)
