"""Files that are written atomically, and tensors in the safetensors format.

The tensors are written here, not by the safetensors package, so that a p^2 state is never copied and the
checksum covers the header too. The package reads the files.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

FORMAT, VERSION = "streamsieve", 1
STATE = (
    "state.json"  # the tensor that holds the JSON: a header is limited to 100 MB, names of features are not
)
_LONGEST_HEADER = 100 << 20
_NO_SUM = "0" * 64

Tensor = np.ndarray[Any, Any]
DTYPES = {
    **{f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
    **{f"I{8 * size}": np.dtype(f"<i{size}") for size in (1, 2, 4, 8)},
    **{f"U{8 * size}": np.dtype(f"<u{size}") for size in (1, 2, 4, 8)},
    "BOOL": np.dtype(bool),
}
CODES = {dtype: code for code, dtype in DTYPES.items()}


class CheckpointError(ValueError):
    """A file that is damaged, inconsistent, from another version, or not written by streamsieve."""


# ---------------------------------------------------------------- whole files or none


@contextmanager
def replacing(file: str | os.PathLike[str], what: str = "file") -> Iterator[BinaryIO]:
    """A stream that replaces the file when the block ends; after an error the old file is unchanged.

    It is written under another name in the same folder, synced to disk and renamed, with the permissions of
    the old file. A pipe or device is written to directly. Links are followed.
    """
    if _special(Path(file)):  # by its own name: the link /dev/stdout leads to no path
        with open(file, "wb") as stream:
            yield stream
        return
    path = Path(os.path.realpath(file))
    remove_abandoned(path)
    part = path.with_name(f"{_part_prefix(path)}{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        # readable by others as any new file is, and never one that exists
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as stream:
            yield stream
            stream.flush()
            if path.exists() and hasattr(os, "fchmod"):  # what was private stays so
                os.fchmod(stream.fileno(), stat.S_IMODE(path.stat().st_mode))
            os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException as error:
        with suppress(OSError):  # a folder that cannot be written to
            part.unlink(missing_ok=True)
        if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
            raise
        old = "; the old file is unchanged" if path.exists() else ""
        raise OSError(error.errno, f"Cannot write the {what} ({error.strerror}){old}", str(path)) from error
    _sync_folder(path.parent)


def _part_prefix(path: Path) -> str:
    """How the names begin under which a file is written; file systems take names of 255 bytes."""
    name = os.fsencode(path.name)
    return f".{path.name}." if len(name) < 200 else f".{hashlib.sha256(name).hexdigest()[:32]}."


def _special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _sync_folder(folder: Path) -> None:
    """The new name is on the disk once the folder is; of a folder that may only be written to, who knows."""
    if hasattr(os, "O_DIRECTORY"):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except PermissionError:
            return
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_abandoned(path: Path) -> None:
    """Remove incomplete files of killed processes."""
    prefix = _part_prefix(path)
    try:
        parts = [
            name for name in os.listdir(path.parent) if name.startswith(prefix) and name.endswith(".part")
        ]
    except OSError:
        return
    for name in parts:
        try:
            os.kill(int(name.removeprefix(prefix).split("-")[0]), 0)
        except ProcessLookupError:
            with suppress(OSError):  # another user's, in a folder for all
                (path.parent / name).unlink(missing_ok=True)
        except (ValueError, OSError):
            continue


# ---------------------------------------------------------------- tensors


def write_tensors(
    file: str | os.PathLike[str], tensors: list[tuple[str, Tensor]], kind: str, library: str
) -> None:
    """Write named tensors; `kind` and `library` are for readers of the header."""
    parts = tensor_bytes(tensors, kind, library)
    with replacing(file, "checkpoint") as stream:
        for part in parts:
            stream.write(part)


def tensor_bytes(tensors: list[tuple[str, Tensor]], kind: str, library: str) -> list[Any]:
    """Content of a file of named tensors: the header, and the tensors."""
    about = {"format": FORMAT, "version": str(VERSION), "class": kind, "library": library}
    header: dict[str, Any] = {"__metadata__": {**about, "sha256": _NO_SUM}}
    at = 0
    for name, a in tensors:
        header[name] = {"dtype": CODES[a.dtype], "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    sha = hashlib.sha256(len(head).to_bytes(8, "little") + head)
    for _, a in tensors:
        sha.update(_bytes(a))
    head = head.replace(_NO_SUM.encode(), sha.hexdigest().encode(), 1)
    return [len(head).to_bytes(8, "little") + head, *(_bytes(a) for _, a in tensors)]


def read_tensors(stream: BinaryIO, size: int) -> dict[str, Tensor]:
    """All tensors, each in its own memory, after the checksum has been verified."""
    first = stream.read(8)
    length = int.from_bytes(first, "little")
    if len(first) < 8 or length > min(size - 8, _LONGEST_HEADER):
        raise CheckpointError("it is not a checkpoint, or only the beginning of one")
    head = stream.read(length)
    header, checksum = _read_header(head)
    sha = hashlib.sha256(first + head.replace(checksum.encode(), _NO_SUM.encode(), 1))
    tensors, at = {}, 0
    for name, entry in header.items():
        dtype, shape = DTYPES.get(entry["dtype"]), entry["shape"]
        if dtype is None or not all(type(n) is int and n >= 0 for n in shape):
            raise CheckpointError(f"its tensor {name} has type {entry['dtype']} and shape {shape}")
        end = at + math.prod(shape) * dtype.itemsize
        if entry["data_offsets"] != [at, end]:
            raise CheckpointError(f"its tensor {name} is at a wrong position")
        if end > size - 8 - length:
            raise CheckpointError(
                f"it is cut short: it has {size:,} bytes instead of at least {8 + length + end:,}"
            )
        a = np.empty(shape, dtype=dtype)
        stream.readinto(_bytes(a))  # type: ignore[attr-defined]
        sha.update(_bytes(a))
        tensors[name], at = a, end
    if at != size - 8 - length:
        raise CheckpointError(f"{size - 8 - length - at:,} bytes follow after its end")
    if sha.hexdigest() != checksum:
        raise CheckpointError("it is damaged: its bytes are not those that were written (SHA-256)")
    return tensors


def _read_header(head: bytes) -> tuple[dict[str, Any], str]:
    """The tensors by name and the checksum; CheckpointError if the file is foreign or of another version."""
    try:
        header = json.loads(head)
        about = header.pop("__metadata__")
        ours = about["format"] == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CheckpointError("it is not a checkpoint, or its header is damaged") from None
    if not ours:
        raise CheckpointError(f"its format is {about['format']!r}, not {FORMAT!r}")
    version, checksum = str(about.get("version")), str(about.get("sha256"))
    if version.isdecimal() and int(version) > VERSION:
        raise CheckpointError(
            f"it was written in format {version} by streamsieve {about.get('library')}, newer than format "
            f"{VERSION} of this one; update streamsieve"
        )
    if version != str(VERSION) or not re.fullmatch(r"[0-9a-f]{64}", checksum):
        raise CheckpointError("its header is damaged")
    return header, checksum


def is_checkpoint(file: str | os.PathLike[str]) -> bool:
    """Whether a file has our header; it may still be damaged."""
    if not os.path.isfile(file):  # bytes read from a pipe would be lost to its reader
        return False
    try:
        with open(file, "rb") as stream:
            return f'"{FORMAT}"'.encode() in stream.read(8 + 256)
    except OSError:
        return False


def _bytes(a: Tensor) -> memoryview:
    return a.reshape(-1).view(np.uint8).data
