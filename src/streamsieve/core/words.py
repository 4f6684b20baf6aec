"""Numbers, sizes and other people's text as messages show them."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def counted(n: int, noun: str) -> str:
    """1 row, 2,000 rows."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def printable(text: str, *, newlines: bool = False) -> str:
    """Text without control characters, which would act on a terminal: they are written as escapes."""

    def escape(match: re.Match[str]) -> str:
        if newlines and match[0] == "\n":
            return "\n"
        return match[0].encode("unicode_escape").decode()

    return _CONTROL.sub(escape, text)


def format_bytes(n: float) -> str:
    """Bytes for a reader: 3.2 MB."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if n < 1000 or unit == "TB":
            return f"{n:,.0f} {unit}" if unit == "bytes" or n >= 100 else f"{n:.3g} {unit}"
        n /= 1000
    raise AssertionError  # pragma: no cover
