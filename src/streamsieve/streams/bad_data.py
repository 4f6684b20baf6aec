"""`BadData`, raised where data cannot be read, and its messages."""

from __future__ import annotations

# One for each Fault of cpp/text/text.hpp, in its order; {text} is what stands there.
FAULTS = (
    "",
    "the label {text} is not a number",
    "several labels, {text}; streamsieve learns one target, so write one label a row",
    "expected index:value, found {text}",
    "index 0, but indices count from one; pass zero_based=True if they count from zero",
    "the index in {text} is beyond {width}",
    "an index occurs twice in the row of {text}",
    "{text} is not a number{hint}",
    "{text} is infinite or too large for a double",
    "a missing value, {text}; {missing}",
    "the row ends here, with fewer cells than the {columns} columns of the header",
    "the row goes on with {text}, with more cells than the {columns} columns of the header",
    "a quoted cell that is not closed, or goes on after its closing quote: {text}",
    "a NUL byte in {text}",
    "the weight {text} is negative",
)


class BadData(ValueError):
    """Data that cannot be read: which file, line and column, and the text that stands there."""

    def __init__(
        self,
        reason: str,
        file: str | None = None,
        line: int | None = None,
        column: str | int | None = None,
        text: str | None = None,
    ) -> None:
        self.reason, self.file, self.line, self.column, self.text = reason, file, line, column, text
        named = repr(column) if isinstance(column, str) else column
        where = [f"line {line}" if line else "", f"column {named}" if column is not None else ""]
        super().__init__(
            ": ".join(filter(None, [file, ", ".join(filter(None, where)), reason.rstrip(".")])) + "."
        )

    def __reduce__(self) -> tuple[type[BadData], tuple[object, ...]]:
        return type(self), (self.reason, self.file, self.line, self.column, self.text)
