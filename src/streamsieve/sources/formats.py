"""The list of formats, and how a file's format is detected."""

from __future__ import annotations

import os
import re
import sys
import zlib
from typing import Any

from ..core.params import ParamError
from .dialect import wide_encoding
from .files import PACKINGS, Bytes, File
from .readers import arrays, bed, csv, frames, json, svmlight

FORMATS = {
    format.name: format for module in (svmlight, csv, json, frames, arrays, bed) for format in module.FORMATS
}
_BY_ENDING = {ending: format.name for format in FORMATS.values() for ending in format.endings}
_BY_MAGIC = {format.magic: format.name for format in FORMATS.values() if format.magic}
_PACKED = ("gz", "bz2", "zst", "zstd", "gzip", "xz")


def detect_format(file: File) -> str:
    """The format of a file from its ending, or else from what it begins with."""
    endings = os.path.basename(file.name).lower().split(".")[1:] if file.path is not None else []
    if endings and endings[-1] in _PACKED:
        endings.pop()
    if endings and endings[-1] in _BY_ENDING:
        return _BY_ENDING[endings[-1]]
    if file.path is None:
        start = _stdin_start()
    elif file.size is None:  # what is read of a pipe to tell is gone
        raise ParamError("format", "auto", f"the format of {file.name}, a pipe, cannot be detected; name it.")
    else:
        bytes_ = Bytes(file)
        buffer = bytearray(4096)
        start = bytes(buffer[: bytes_.into(memoryview(buffer))])
        bytes_.close()
    return _from_start(start, file.name)


def _stdin_start() -> bytes:
    stdin: Any = sys.stdin.buffer
    start: bytes = stdin.peek(4096)[:4096]
    packing = next((name for magic, name in PACKINGS.items() if start.startswith(magic)), None)
    if packing == "gzip":
        return zlib.decompressobj(31).decompress(start, 4096)
    if packing is not None:
        raise ParamError(
            "format", "auto", f"the format of {packing} data on standard input cannot be detected; name it."
        )
    return start


def _from_start(start: bytes, name: str) -> str:
    for magic, known in _BY_MAGIC.items():
        if start.startswith(magic):
            return known
    wide = wide_encoding(start)
    if wide is not None:
        start = start.decode(wide, "ignore").encode("utf-8", "ignore")
    if start.lstrip().startswith(b'{"'):
        return "jsonl"
    for raw in start.removeprefix(b"\xef\xbb\xbf").splitlines():
        line = raw.split(b"#")[0].strip()
        if not line:
            continue
        label, *tokens = line.split()
        pairs = all(re.match(rb"(qid|\d+):", token) for token in tokens[:-1])
        if re.fullmatch(rb"[-+0-9.eE,]+", label) and pairs and (tokens or b"," not in line):
            return "svmlight"
        return "tsv" if b"\t" in line else "csv"
    raise ParamError(
        "format",
        "auto",
        f"the format of {name!r} cannot be detected from its name or first bytes; pass one of "
        f"{', '.join(FORMATS)}.",
    )
