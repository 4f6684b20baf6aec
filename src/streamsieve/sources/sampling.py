"""Text from all parts of some files, from which a schema is made."""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from .files import Bytes, File
from .storage import open_bytes

SIZE = 1 << 22  # bytes looked at
PIECES = 32  # places of a longer file that are looked at, beside its first half of them
FILES = 64  # files looked at, of several


class Piece(NamedTuple):
    """Some text of a file: from its start, or from any byte on; and whether it is all that is left."""

    text: bytes
    start: bool
    end: bool


def sample_texts(source: Bytes, files: list[File]) -> tuple[list[Piece], str]:
    """Pieces of text, and whether they are "whole", "spread" over all parts, or the "head" alone.

    `source` is the first file, at its start, and will be read again. Only plain files can be looked at in the
    middle.
    """
    if len(files) > 1:
        return _of_files(source, files)
    head = source.head(SIZE)
    ended = len(head) < SIZE
    file = source.file
    if ended:
        return [Piece(head, True, True)], "whole"
    if not source.plain or file.path is None or file.size is None:
        return [Piece(head, True, False)], "head"
    pieces = [Piece(head[: SIZE // 2], True, False)]
    step = SIZE // 2 // PIECES
    with open_bytes(file.path) as raw:
        for i in range(1, PIECES + 1):
            raw.seek(SIZE // 2 + (file.size - SIZE // 2 - step) * i // PIECES)
            text = raw.read(step)
            pieces.append(Piece(text[text.find(b"\n") + 1 :], False, i == PIECES))
    return pieces, "spread"


def _of_files(source: Bytes, files: list[File]) -> tuple[list[Piece], str]:
    """The start of each file, of the same size; all of them where they are small."""
    total = sum(file.size or SIZE for file in files)
    small = source.plain and total <= SIZE
    some = files if small or len(files) <= FILES else [files[i * len(files) // FILES] for i in range(FILES)]
    each = SIZE if small else SIZE // len(some)
    head = source.head(each)
    pieces = [Piece(head, True, len(head) < each)]
    for file in some[1:]:
        with closing(Bytes(file)) as other:
            text = other.head(each)
            pieces.append(Piece(text, True, len(text) < each))
    whole = len(some) == len(files) and all(piece.end for piece in pieces)
    return pieces, "whole" if whole else "spread"
