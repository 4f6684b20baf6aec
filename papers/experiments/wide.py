"""[Sun] Table A.1, [Slides] p. 35, its second half: p = 10,000 features, 1,000 of them true.

As `detection`. The averages take 800 MB, with the extractors about 3 GB. Streams of 300,000 rows and more
would take most of a day and are left out.
"""

from __future__ import annotations

from typing import Any

from .detection import measure, methods, report, streams

__all__ = ["jobs", "measure", "methods", "report"]


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    return streams(10_000, 30_000 if quick else 100_000, range(runs))
