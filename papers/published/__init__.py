"""Numbers as the papers print them, one module a paper's experiment.

They stand beside the outcomes and do not change them: correcting one voids no outcome.
"""

from __future__ import annotations

from typing import Any


def parse_table(text: str) -> list[list[list[Any]]]:
    """Rows of a printed table.

    A row is a line, or several of which all but the last end in "|"; "|" separates its groups of numbers, and
    "-" is None.
    """
    lines = text.replace("|\n", "|").strip().splitlines()
    rows = [[group.split() for group in line.split("|")] for line in lines]
    return [[[None if word == "-" else float(word) for word in group] for group in row] for row in rows]
