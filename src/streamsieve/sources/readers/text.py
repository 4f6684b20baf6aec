"""Shared by readers of text: files one after another, chunks of complete lines, messages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.params import Advice
from ..bad_data import FAULTS, INDEX_ZERO, MISSING_VALUE, BadData
from ..files import Bytes, File
from .base import Batch, Reader

Text = NDArray[np.uint8]
PADDING = 64  # of cpp/text/number.hpp
LONGEST = 1 << 25  # bytes of a row; what is longer is not data
#: Missing values in svmlight files, which have no schema and therefore no means.
MISSING = {"error": 0, "mean": 0, "indicator": 0, "keep": 1, "zero": 2}


class Chunk(NamedTuple):
    text: Text
    n: int  # bytes of whole rows
    offset: int  # of the first byte in the unpacked file
    line: int  # of the first row, counted from 1
    lines: int
    bad: int  # rows before it that were too long
    read: int  # packed bytes read so far
    digest: str | None  # of the file up to the end of the chunk, where its fingerprint has none

    @property
    def place(self) -> dict[str, Any]:
        """Its start and, if the fingerprint of the file has no digest, the digest of the text before it."""
        place = {"offset": self.offset, "line": self.line}
        return place if self.digest is None else {**place, "bytes": self.n, "digest": self.digest}


def chunks(
    source: Bytes,
    at: dict[str, Any],
    size: int,
    skip_bad: bool,
    whole: Callable[[Text, int], int],
) -> Generator[Chunk]:
    """The text from a place on, in pieces of complete rows; `whole` finds the end of the last row.

    ValueError if a pipe has other content than when the position was stored.
    """
    offset, line = at.get("offset", 0), at.get("line", 1)
    known: str | None = at.get("digest")
    digest = hashlib.sha256() if source.file.size is None else None
    text = np.empty(max(size, at.get("bytes", 0)) + PADDING + 1, dtype=np.uint8)
    have = bad = 0
    if offset:
        source.start_at(offset, digest)
    elif (have := source.into(memoryview(text.data)[:3])) == 3 and text[:3].tobytes() == b"\xef\xbb\xbf":
        have, offset = 0, 3  # skip a byte order mark
        _digest(digest, text[:3])
    ended = False
    while not ended:
        room = len(text) - PADDING - 1
        n = have + source.into(memoryview(text.data)[have:room])
        ended = n < room
        if line == 1 and not (text[:n] == 10).any() and (text[: max(n - 1, 0)] == 13).any():
            raise BadData(
                "the lines end in a carriage return alone, as on old Macs; save the file with line feeds, "
                "as by tr '\\r' '\\n' < OLD > NEW",
                source.file.name,
            )
        if ended and n and text[n - 1] != 10:
            text[n] = 10
            n += 1
        if ended and source.file.stop is not None and whole(text, n) != n:
            raise BadData(
                f"the part that ends at byte {source.file.stop:,} ends inside a quoted cell; plan the file "
                "with scan=True",
                source.file.name,
            )
        stop = n if ended else whole(text, n)
        if known is not None:
            _compare(source.file, digest, text[: min(n, at["bytes"])], known)
            known = None
        if stop:
            rest = np.empty(max(size, 2 * (n - stop)) + PADDING + 1, dtype=np.uint8)
            rest[: n - stop] = text[stop:n]
            lines = _core.lines(text, stop)
            yield Chunk(text, stop, offset, line, lines, bad, source.read, _digest(digest, text[:stop]))
            line, offset, have, bad, text = line + lines, offset + stop, n - stop, 0, rest
        elif n >= LONGEST:
            error = BadData(
                f"a row of more than {LONGEST >> 20} MB, which begins with {quoted(text, 0)}; a quote that "
                "is not closed, or not text",
                source.file.name,
                line,
            )
            if not skip_bad or (text[:n] == 10).any():
                raise error
            _digest(digest, text[:n])
            while (got := source.into(memoryview(text.data)[:room])) and not (text[:got] == 10).any():
                _digest(digest, text[:got])
                offset += got
            end = int(np.argmax(text[:got] == 10)) + 1 if got else 0
            _digest(digest, text[:end])
            text[: got - end] = text[end:got].copy()
            offset, have, bad, line = offset + n + end, got - end, bad + 1, line + 1
        elif not ended:
            have = n
            text = np.concatenate([text, np.empty(len(text), dtype=np.uint8)])
    if bad:  # the last row was too long: nothing is left to report it with
        yield Chunk(text, 0, offset, line, 0, bad, source.read, _digest(digest, text[:0]))


def _digest(digest: Any, text: Text) -> str | None:
    """The digest, updated with some text, if there is one."""
    if digest is None:
        return None
    digest.update(text)
    return str(digest.hexdigest())


def _compare(file: File, digest: Any, text: Text, known: str) -> None:
    """Raise ValueError unless the text has the known digest."""
    if digest is None or _digest(digest.copy(), text) != known:
        raise ValueError(
            f"{file.name} does not begin with the rows that were learned from it. Pass the same rows, "
            "perhaps followed by new ones, or delete the checkpoint to start again."
        )


def newline_before(text: Text, n: int) -> int:
    """The end of the last complete line in the first n bytes; 0 if there is none."""
    back = 1 << 12
    while True:
        start = max(0, n - back)
        at = np.flatnonzero(text[start:n] == 10)
        if len(at) or start == 0:
            return start + int(at[-1]) + 1 if len(at) else 0
        back *= 8


def quoted(text: Text, at: int, ends: bytes = b" \t\r\n") -> str:
    """The word at a place of the text, for errors."""
    raw = text[at : at + 60].tobytes()
    end = next((i for i, byte in enumerate(raw) if byte in ends), len(raw))
    word = raw[: min(end, 40)].decode("utf-8", "backslashreplace")
    return repr(word + ("..." if end > 40 else ""))


def bad_text(
    file: File,
    chunk: Chunk,
    fault: int,
    at: int,
    *,
    column: str | int | None = None,
    ends: bytes = b" \t\r\n",
    advice: Advice | None = None,
    **words: Any,
) -> BadData:
    before = np.flatnonzero(chunk.text[:at] == 10)
    if column is None:
        column = at - (int(before[-1]) + 1 if len(before) else 0) + 1
    text = quoted(chunk.text, at, ends)
    reason = FAULTS[fault].format(text=text, **{"as_before": "", **words})
    return BadData(reason, file.name, chunk.line + len(before), column, text, advice or _ADVICE.get(fault))


_ADVICE = {
    INDEX_ZERO: Advice("pass {} if they count from zero", ("zero_based", True)),
    MISSING_VALUE: Advice(
        "pass {} or {} where features may be missing", ("missing", "mean"), ("missing", "zero")
    ),
}


@dataclass
class Files(Reader):
    """A reader of several files in order; `file` of a place is the number of the file."""

    files: list[File]
    from_stdin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.from_stdin and any(file.path is None for file in self.files):
            raise ValueError(f"{self.options.format} cannot be read from standard input; pass a file.")
        self.again = all(file.path is not None and file.size is not None for file in self.files)

    def fingerprint(self) -> Any:
        return [file.fingerprint for file in self.files]

    def title(self) -> str:
        return ", ".join(file.name for file in self.files[:3]) + (", ..." if len(self.files) > 3 else "")

    def bytes_total(self) -> int | None:
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def batches(self, at: dict[str, Any]) -> Iterator[Batch]:
        first = at.get("file", 0)
        done = sum(file.size or 0 for file in self.files[:first])
        for number, file in enumerate(self.files[first:], first):
            within = {key: value for key, value in at.items() if key != "file"} if number == first else {}
            for batch in self.read_file(file, within):
                yield batch._replace(at={"file": number, **batch.at}, read=done + batch.read)
            done += file.size or 0

    def read_file(self, file: File, at: dict[str, Any]) -> Iterator[Batch]:
        raise NotImplementedError

    def chunks(
        self, source: Bytes, at: dict[str, Any], whole: Callable[[Text, int], int]
    ) -> Generator[Chunk]:
        """The text of a file from a place on; the file is closed at the end."""
        with closing(source):
            yield from chunks(source, at, self.options.chunk, self.options.skip_bad, whole)
