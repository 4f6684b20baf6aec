"""`BadData`, raised if data cannot be read, and its messages."""

from __future__ import annotations

from ..core.params import Advice

# One for each Fault of cpp/text/text.hpp, in its order; {text} is the text at this place.
FAULTS = (
    "",
    "the label {text} is not a number",
    "several labels, {text}; streamsieve learns one target, so write one label a row",
    "expected index:value, found {text}",
    "index 0, but indices count from one",
    "the index in {text} is beyond {width}",
    "an index occurs twice in the row of {text}",
    "{text} is not a number{as_before}",
    "{text} is infinite or too large for a double",
    "a missing value, {text}",
    "the row ends here, with fewer cells than the {columns} columns of the header",
    "the row continues with {text}: more cells than the {columns} columns of the header",
    "a quoted cell that is not closed, or goes on after its closing quote: {text}",
    "a NUL byte in {text}",
    "the weight {text} is negative",
    "no target",
)

INDEX_ZERO, NOT_A_NUMBER, INFINITE, MISSING_VALUE = 4, 7, 8, 9  # faults with advice

#: What to do about infinite numbers in a column of a table.
NO_INFINITY = Advice("correct it, leave the column out ({}), or pass {}", "drop", ("on_bad_row", "skip"))


class BadData(ValueError):
    """Data that cannot be read: file, line and column, the text at this place, and what to do."""

    def __init__(
        self,
        reason: str,
        file: str | None = None,
        line: int | None = None,
        column: str | int | None = None,
        text: str | None = None,
        advice: Advice | None = None,
    ) -> None:
        self.reason, self.file, self.line, self.column, self.text = reason, file, line, column, text
        self.advice = advice
        super().__init__(self.message("" if advice is None else str(advice)))

    def message(self, advice: str) -> str:
        """Place and problem, with advice in terms of the caller's options."""
        column = repr(shortened(self.column)) if isinstance(self.column, str) else self.column
        where = [f"line {self.line}" if self.line else "", "" if column is None else f"column {column}"]
        said = "; ".join(filter(None, [self.reason.rstrip("."), advice]))
        return ": ".join(filter(None, [self.file, ", ".join(filter(None, where)), said])) + "."

    def __reduce__(self) -> tuple[type[BadData], tuple[object, ...]]:
        return type(self), (self.reason, self.file, self.line, self.column, self.text, self.advice)


def shortened(text: str, most: int = 80) -> str:
    """A name or cell, shortened for messages."""
    return text if len(text) <= most else text[:most] + "..."
