"""Which code made an outcome: digests of the library's sources and of the experiment's.

An outcome depends on the learners as much as on the experiment, so that a change in either voids it. What
only reports (`report/`, `published/`, `causes.py`) is in neither: a better sentence must not cost hours.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamsieve

PAPERS = Path(__file__).resolve().parent
CHECKOUT = PAPERS.parent
REPORTING = ("report", "published")  # folders of papers/ that change no outcome


@dataclass(frozen=True)
class Version:
    """The library's version, the digest of its sources, and that of the experiment's."""

    streamsieve: str
    sources: str
    experiment: str

    def __str__(self) -> str:
        return f"streamsieve {self.streamsieve}, sources {self.sources} (experiment {self.experiment})"

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Version:
        """The version stored with an outcome; records without the library's sources have them "unknown"."""
        if "sources" in record:
            return cls(record["streamsieve"], record["sources"], record["experiment"])
        library, _, experiment = str(record.get("version", "unknown")).partition(" ")
        return cls(library, "unknown", experiment[:8] or "unknown")


def current_version(experiment: Path) -> Version:
    """The version of outcomes that the experiment in this file makes now."""
    return Version(streamsieve.__version__, library_digest(), digest(imported_files(experiment), PAPERS))


@cache
def library_digest() -> str:
    """Digest of the library that is imported.

    Of its Python and C++ sources where it is imported from this checkout, else of the installed Python files
    and the compiled module.
    """
    package = Path(streamsieve.__file__).resolve().parent
    if package != CHECKOUT / "src" / "streamsieve":
        return digest([*package.rglob("*.py"), *package.rglob("*.so"), *package.rglob("*.pyd")], package)
    compiled = [file for file in (CHECKOUT / "cpp").rglob("*") if file.is_file()]
    return digest([*package.rglob("*.py"), *compiled, CHECKOUT / "CMakeLists.txt"], CHECKOUT)


def digest(files: Iterable[Path], root: Path) -> str:
    """Eight hexadecimal digits of the names, below `root`, and contents of the files."""
    whole = hashlib.sha256()
    for file in sorted(files):
        name = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
        whole.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()[:8]


def imported_files(module: Path) -> set[Path]:
    """The module and what it imports from papers/, directly or not, but not what only reports."""
    found: set[Path] = set()
    pending = [module.resolve()]
    while pending:
        file = pending.pop()
        if file not in found:
            found.add(file)
            pending += _relative_imports(file)
    return found


def _relative_imports(file: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        folder = file.parents[node.level - 1]
        names = [node.module] if node.module else [alias.name for alias in node.names]
        for name in names:
            top, *_ = name.split(".")
            target = folder.joinpath(*name.split(".")).with_suffix(".py")
            if top not in REPORTING and target.is_file():
                yield target
