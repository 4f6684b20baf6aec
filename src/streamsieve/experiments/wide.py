"""[Sun] Table A.1, [Slides] p. 35, its second half: p = 10,000 features, 1,000 of them real.

As `detection`, with averages of 800 MB, some 3 GB with what the extractors need. One run, whatever is asked.
"""

from __future__ import annotations

from typing import Any

from . import detection
from .detection import measure, report

__all__ = ["jobs", "measure", "report"]


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:  # noqa: ARG001
    return detection.jobs(1, quick, p=10_000)
