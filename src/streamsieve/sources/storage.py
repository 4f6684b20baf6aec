"""Where files are: on this machine or, by fsspec, elsewhere (``s3://``, ``gs://``, ``https://``, ...)."""

from __future__ import annotations

import hashlib
import os
import re
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_TAGS = ("ETag", "etag", "md5Hash", "content_md5", "md5")  # by which a store knows a version of a file


def is_remote(name: str) -> bool:
    """Whether a name is that of a file elsewhere: it begins with a scheme and ``://``."""
    return _SCHEME.match(name) is not None


class Status(NamedTuple):
    """What is known of a file without reading it."""

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
    """The bytes of a file, unbuffered where it is on this machine; others are read ahead, 4 MB at a time."""
    if not is_remote(path):
        return open(path, "rb", buffering=0)
    opened: BinaryIO = _system(path).open(path, "rb", block_size=1 << 22)
    return opened


def for_arrow(path: str) -> Any:
    """What pyarrow opens: the path, or a file elsewhere."""
    return open_bytes(path) if is_remote(path) else path


def find_remote(name: str) -> list[tuple[str, int]]:
    """Names and sizes of the files that a name or glob pattern elsewhere stands for."""
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
            raise ValueError(f"{one!r} does not tell its size, without which it cannot be cut or read again.")
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
