"""Local and remote files by name, glob or list: their unpacked bytes, and samples of their text."""

from __future__ import annotations

import bz2
import glob
import gzip
import hashlib
import io
import lzma
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable
from contextlib import closing
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple

from .bad_data import BadData
from .dialect import Recoded, wide_encoding

# ---------------------------------------------------------------- on this machine or, by fsspec, elsewhere

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
QUERIES = ("duckdb", "sqlite", "postgresql")  # schemes of query results, which are not files
_TAGS = ("ETag", "etag", "md5Hash", "content_md5", "md5")  # identifies a version of a file in a store


def is_remote(name: str) -> bool:
    """Whether a name is that of a remote file: it begins with a scheme and ``://``."""
    return _SCHEME.match(name) is not None


def is_query(name: str) -> bool:
    """Whether a name is a query, with or without a database."""
    scheme, colon, rest = name.partition(":")
    return bool(colon) and scheme in QUERIES and " " in rest.strip()


class Status(NamedTuple):
    """Properties of a file that are known without reading it."""

    size: int
    modified: Any
    record: list[Any]  # what changes with any of its properties: device, inode and time; else tag and time
    digest: str | None  # of the tag that a store gives each version


def status(path: str) -> Status:
    if not is_remote(path):
        now = os.stat(path)
        return Status(now.st_size, now.st_mtime_ns, [now.st_dev, now.st_ino, now.st_ctime_ns], None)
    info = _system(path).info(path)
    tag = next((str(info[name]) for name in _TAGS if info.get(name)), None)
    times = (
        str(info[name])
        for name in ("LastModified", "mtime", "updated", "last_modified", "created")
        if info.get(name)
    )
    modified = next(times, None)
    digest = None if tag is None else hashlib.sha256(tag.encode()).hexdigest()
    return Status(int(info["size"] or 0), modified, [tag, path, modified], digest)


def open_bytes(path: str) -> BinaryIO:
    """The bytes of a file: unbuffered if it is local, read ahead by 4 MB if it is remote."""
    if not is_remote(path):
        return open(path, "rb", buffering=0)
    opened: BinaryIO = _system(path).open(path, "rb", block_size=1 << 22)
    return opened


def for_arrow(path: str) -> Any:
    """The path, or an open remote file, for pyarrow."""
    return open_bytes(path) if is_remote(path) else path


def find_remote(name: str) -> list[tuple[str, int]]:
    """Names and sizes of the remote files that match a name or glob pattern."""
    system = _system(name)
    scheme = name[: name.index("://") + 3]
    names = [name]
    if any(letter in name for letter in "*[") or ("?" in name and not scheme.startswith("http")):
        names = [
            found if is_remote(found) else scheme + found.lstrip("/") for found in sorted(system.glob(name))
        ]
        if not names:
            raise FileNotFoundError(f"No file matches {name!r}.")
    out = []
    for one in names:
        try:
            info = system.info(one)
        except (FileNotFoundError, OSError) as error:
            raise FileNotFoundError(f"There is no file {one!r}: {error}") from error
        if info.get("type") == "directory":
            raise IsADirectoryError(
                f"{one!r} is a directory; pass its files, for instance {one.rstrip('/')}/*.csv."
            )
        if info.get("size") is None:
            raise ValueError(f"{one!r} has no known size, so that it cannot be split or read again.")
        out.append((one, int(info["size"])))
    return out


@lru_cache(16)
def _of_scheme(scheme: str) -> Any:
    try:
        import fsspec
    except ImportError:
        raise ImportError(f"Reading {scheme}:// needs fsspec: pip install 'streamsieve[remote]'.") from None
    try:
        return fsspec.filesystem(scheme)
    except ImportError as error:
        raise ImportError(f"Reading {scheme}:// needs another package: {error}") from None
    except ValueError as error:
        raise FileNotFoundError(f"fsspec cannot read {scheme}://: {error}") from None


def _system(name: str) -> Any:
    return _of_scheme(name[: name.index("://")].lower())


PACKINGS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
}
_DAMAGED = (EOFError, OSError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)  # by unpacking
_END, _PIECES, _PIECE = 1 << 16, 64, 1 << 12  # bytes of a file from which a change is detected


class File(NamedTuple):
    name: str  # as the user wrote it, or "standard input"
    path: str | None  # None: standard input
    size: int | None
    stop: int | None = None  # where a part of it ends: a byte of text, a row group of Parquet

    @property
    def fingerprint(self) -> dict[str, Any]:
        """Identity of a file for a position: name, size, modification time, and a digest of samples.

        `record` is device, inode and the time of the last change of any property, which cannot be set back.
        It may differ, because a renamed or copied file has another record.
        """
        found: dict[str, Any] = {"name": os.path.basename(self.name), "size": self.size}
        if self.path is not None and self.size is not None:
            now = status(self.path)
            found["modified"], found["record"] = now.modified, now.record
            found["digest"] = now.digest or _digest_of_samples(self.path, self.size, now.record[-1])
        return found


@lru_cache(1024)  # units of a file are opened one after the other
def _digest_of_samples(path: str, size: int, changed: Any) -> str:  # noqa: ARG001 - a part of the key
    """SHA-256 over both ends of a file and pieces spread over it, or over all of a small file."""
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        if size <= 2 * _END + _PIECES * _PIECE:
            digest.update(file.read(size))
            return digest.hexdigest()
        digest.update(file.read(_END))
        for i in range(1, _PIECES + 1):
            file.seek(_END + (size - 2 * _END) * i // (_PIECES + 1))
            digest.update(file.read(_PIECE))
        file.seek(size - _END)
        digest.update(file.read(_END))
    return digest.hexdigest()


def has_grown(theirs: Any, ours: Any, files: list[File]) -> bool:
    """Whether files match earlier fingerprints, except that the last file may have grown."""
    if not (isinstance(theirs, list) and isinstance(ours, list) and 0 < len(theirs) <= len(ours)):
        return False
    same = ("name", "size", "digest")
    for then, now, file in zip(theirs, ours, files):
        if all(then.get(part) == now.get(part) for part in same):
            continue
        return then is theirs[-1] and then.get("name") == now.get("name") and _begins_as(file, then)
    return len(ours) > len(theirs)


def _begins_as(file: File, then: dict[str, Any]) -> bool:
    """Whether a plain file has grown and its earlier content ended with a complete line."""
    size = then.get("size")
    if file.path is None or file.size is None or type(size) is not int or not 0 < size < file.size:
        return False
    with open_bytes(file.path) as raw:
        start = raw.read(8)
        raw.seek(size - 1)
        ended = raw.read(1) == b"\n"
    packed = any(start.startswith(magic) for magic in PACKINGS) or wide_encoding(start) is not None
    now = status(file.path)
    if now.digest is not None or packed or not ended:  # the tag of a store is of the whole file
        return False
    return _digest_of_samples(file.path, size, now.record[-1]) == then.get("digest")


def find(source: str | os.PathLike[str] | Iterable[Any]) -> list[File]:
    """The files that match a name, a glob pattern or a list of both."""
    if not isinstance(source, str | os.PathLike):
        return [file for one in source for file in find(one)]
    name = os.fspath(source)
    if name == "-":
        return [File("standard input", None, None)]
    if is_query(name):
        return [File(name, name, None)]
    if is_remote(name):
        return [File(one, one, size) for one, size in find_remote(name)]
    names = [name]
    if glob.has_magic(name) and not os.path.exists(name):
        names = sorted(glob.glob(name, recursive=True))
        if not names:
            raise FileNotFoundError(f"No file matches {name!r}.")
    for one in names:
        if os.path.isdir(one):
            raise IsADirectoryError(
                f"{one!r} is a directory; pass its files, for instance {one.rstrip('/')}/*.csv."
            )
        if not os.path.exists(one):
            raise FileNotFoundError(f"There is no file {one!r}.")
    return [File(one, one, os.stat(one).st_size if os.path.isfile(one) else None) for one in names]


class Bytes:
    """The unpacked bytes of a file, UTF-16 converted to UTF-8, and the number of packed bytes read.

    Attributes
    ----------
    packing, encoding : str or None
        Compression and wide encoding of the file; None for plain bytes.
    """

    def __init__(self, file: File) -> None:
        self.file = file
        self._raw: Any = open_bytes(file.path) if file.path is not None else sys.stdin.buffer
        self._counted = _Counted(self._raw, file.stop)
        start = self._counted.peek(64)
        self.packing = next((name for magic, name in PACKINGS.items() if start.startswith(magic)), None)
        self._head = memoryview(b"")
        self._in: Any = self._counted
        if self.packing == "zip" and not self._raw.seekable():
            raise ValueError("a zip archive cannot be read from a pipe; pass the file, or unpack it first.")
        if self.packing is not None:
            try:
                unpacked = _unpacked(io.BufferedReader(self._counted, 1 << 20), self.packing, file.name)
                if unpacked is None:
                    self.packing = None
                    self._counted.seek(0)
                else:
                    self._in = io.BufferedReader(unpacked, 1 << 16)
                    start = self._in.peek(64)
            except _DAMAGED as error:
                self.close()
                raise self._damaged(error) from error
        self.encoding = wide_encoding(start)
        if self.encoding is not None:
            self._in = Recoded(self._in, self.encoding)

    @property
    def read(self) -> int:
        return self._counted.count

    def into(self, view: memoryview) -> int:
        """Fill the view; fewer bytes only at the end."""
        at = min(len(view), len(self._head))
        view[:at], self._head = self._head[:at], self._head[at:]
        try:
            while at < len(view):
                n = self._in.readinto(view[at:])
                if not n:
                    break
                at += n
        except _DAMAGED as error:
            raise self._damaged(error) from error
        return at

    def head(self, n: int) -> bytes:
        """The next n bytes, without moving the position."""
        buffer = bytearray(n)
        found = bytes(buffer[: self.into(memoryview(buffer))])
        self._head = memoryview(found)
        return found

    def _damaged(self, error: Exception) -> BadData:
        return BadData(
            f"the {self.packing or 'file'} is truncated or damaged after {self.read:,} bytes ({error})",
            self.file.name,
        )

    @property
    def plain(self) -> bool:
        """Whether the bytes are not compressed or converted."""
        return self.packing is None and self.encoding is None

    def start_at(self, offset: int, digest: Any = None) -> None:
        """Go to an offset in the unpacked bytes: directly in a plain file, otherwise by reading up to it.

        A digest, if given, is updated with all bytes before the offset.
        """
        if digest is None and self.plain and self.file.path is not None and self._raw.seekable():
            self._head = memoryview(b"")
            self._counted.seek(offset)
            return
        scratch = memoryview(bytearray(1 << 20))
        while offset:
            n = self.into(scratch[: min(offset, len(scratch))])
            if not n:
                raise ValueError(f"{self.file.name} ends {offset:,} bytes before the stored position.")
            if digest is not None:
                digest.update(scratch[:n])
            offset -= n

    def close(self) -> None:
        if self.file.path is not None:
            self._raw.close()


class _Counted(io.RawIOBase):
    """Raw bytes with a counter; the first bytes can be inspected before they are read."""

    def __init__(self, raw: BinaryIO, stop: int | None = None) -> None:
        self._raw: Any = raw
        self._start = b""
        self._stop = stop  # byte before which reading ends
        self.count = 0

    def readable(self) -> bool:
        return True

    def peek(self, n: int) -> bytes:
        while len(self._start) < n and (more := self._raw.read(n - len(self._start))):
            self._start += more
        return self._start

    def seekable(self) -> bool:
        return bool(self._raw.seekable())

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:  # of what was read, not of what was inspected
            offset, whence = offset + self.count, os.SEEK_SET
        self._start, self.count = b"", self._raw.seek(offset, whence)
        return self.count

    def readinto(self, view: Any) -> int:
        if self._stop is not None:
            view = view[: max(0, self._stop - self.count)]
        if self._start:
            n = min(len(view), len(self._start))
            view[:n], self._start = self._start[:n], self._start[n:]
        else:
            n = self._raw.readinto(view) or 0
        self.count += n
        return n


def _unpacked(raw: io.BufferedReader, packing: str, name: str) -> Any:
    if packing == "gzip":
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if packing == "bz2":
        return bz2.BZ2File(raw, "rb")
    if packing == "xz":
        return lzma.LZMAFile(raw, "rb")
    if packing == "zip":
        return _only_file(zipfile.ZipFile(raw))
    try:
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    except ImportError:
        raise ImportError(
            f"{name} is packed with zstd; reading it needs pyarrow: pip install 'streamsieve[io]'."
        ) from None


def _only_file(archive: zipfile.ZipFile) -> Any:
    """The file that an archive holds; None for workbooks, arrays and archives of several files."""
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    names = [name for name in names if not name.startswith("__MACOSX/")]  # as Macs add
    return archive.open(names[0]) if len(names) == 1 and not names[0].endswith(".npy") else None


# ---------------------------------------------------------------- text from all parts of some files

SIZE = 1 << 22  # bytes inspected
PIECES = 32  # places of a longer file that are inspected, in addition to its start
FILES = 64  # number of files inspected


class Piece(NamedTuple):
    """Some text of a file, from its start or from a given byte, and whether it reaches the end."""

    text: bytes
    start: bool
    end: bool


def sample_texts(source: Bytes, files: list[File]) -> tuple[list[Piece], str]:
    """Pieces of text, and whether they are the "whole" text, "spread" over all parts, or only the "head".

    `source` is the first file, at its start; its position is restored. Only plain files can be inspected in
    the middle.
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
    """The start of each file, of equal size; whole files if they are small."""
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
