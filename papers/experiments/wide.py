"""[Sun] Table A.1, [Slides] p. 35, its second half: p = 10,000 features, 1,000 of them real.

As `detection`, with averages of 800 MB, some 3 GB with what the extractors need. Rows of 300,000 and more,
which would take most of a day, are left out.
"""

from __future__ import annotations

from typing import Any

from .detection import measure, methods, report, streams

__all__ = ["jobs", "measure", "methods", "report"]


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    return streams(10_000, 30_000 if quick else 100_000, range(runs))
