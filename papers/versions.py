"""Which code made an outcome: digests of the library's sources and of the experiment's.

An outcome depends on the learners as much as on the experiment, so that a change in either voids it: of the
library a change in a file that the job has loaded, of `papers/` one in what the experiment imports. What only
reports (`report/`, `published/`, `causes.py`) is in neither: a better sentence must not cost hours.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import streamsieve

PAPERS = Path(__file__).resolve().parent
CHECKOUT = PAPERS.parent
PACKAGE = Path(streamsieve.__file__).resolve().parent
CPP = CHECKOUT / "cpp"
REPORTING = ("report", "published")  # folders of papers/ that change no outcome


@dataclass(frozen=True)
class Version:
    """The library's version, digests of its sources and of the experiment's, and the commit checked out."""

    streamsieve: str
    sources: str
    experiment: str
    commit: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"streamsieve {self.streamsieve}, sources {self.sources} (experiment {self.experiment})"

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Version:
        """The version stored with an outcome; records without the library's sources have them "unknown"."""
        if "sources" in record:
            commit = record.get("commit", "")
            return cls(record["streamsieve"], record["sources"], record["experiment"], commit)
        library, _, experiment = str(record.get("version", "unknown")).partition(" ")
        return cls(library, "unknown", experiment[:8] or "unknown")


def current_version(experiment: Path) -> Version:
    """The version of outcomes that the experiment in this file makes now."""
    return Version(streamsieve.__version__, library_digest(), experiment_digest(experiment), current_commit())


def experiment_digest(experiment: Path) -> str:
    """Digest of the experiment in this file with what it imports from papers/."""
    return digest(imported_files(experiment), PAPERS)


@cache
def current_commit() -> str:
    """The commit that is checked out, and whether the sources differ from it; "" outside of a repository."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(CHECKOUT), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "src", "cpp", "papers", "CMakeLists.txt")
        return f"commit {git('rev-parse', '--short', 'HEAD')}{' with changes' if changed else ''}"
    except (OSError, subprocess.CalledProcessError):
        return ""


@cache
def library_hashes() -> dict[str, str]:
    """Hashes of all files of the library by name, as they were when this was first called.

    Of its Python and C++ sources where it is imported from this checkout, else of the installed Python files
    and the compiled module.
    """
    compiled = [*_cpp_files(), CHECKOUT / "CMakeLists.txt"] if _from_checkout() else _compiled()
    return {_name(file): _hash(file) for file in sorted([*PACKAGE.rglob("*.py"), *compiled])}


def library_digest() -> str:
    """Digest of the library that is imported."""
    return _combine(library_hashes())


def checkout_digest() -> str:
    """Digest of the library's sources in this checkout, whichever is imported."""
    files = [*(CHECKOUT / "src" / "streamsieve").rglob("*.py"), *_cpp_files(), CHECKOUT / "CMakeLists.txt"]
    return digest(files, CHECKOUT)


def used_files() -> tuple[str, ...]:
    """The library's files that this process has loaded so far: modules, and the kernels that they name."""
    loaded = [getattr(module, "__file__", None) for name, module in sys.modules.items() if _is_ours(name)]
    modules = [Path(file).resolve() for file in loaded if file and file.endswith(".py")]
    compiled = kernel_files(modules) if _from_checkout() else set(_compiled())
    return tuple(sorted(_name(file) for file in {*modules, *compiled}))


def used_digest(files: tuple[str, ...]) -> str:
    """Digest of `used_files`; "missing" where one is gone."""
    hashes = library_hashes()
    return _combine({name: hashes[name] for name in files}) if hashes.keys() >= set(files) else "missing"


def kernel_files(modules: Iterable[Path]) -> set[Path]:
    """The C++ sources of the functions that modules call as `_core.NAME`, with what they include.

    All of them where the source of a function is not found.
    """
    names = {name for file in modules for name in re.findall(r"\b_core\.(\w+)", _text(file))}
    sources = {file: set(re.findall(r'"(\w+)"(?!_a)', _text(file))) for file in CPP.rglob("*.cpp")}
    build = CHECKOUT / "CMakeLists.txt"
    if not names <= set().union(*sources.values()):
        return {*_cpp_files(), build}
    named = [file for file, defined in sources.items() if names & defined]
    return _closure([*named, CPP / "module.cpp"], _included) | {build}


def _included(file: Path) -> Iterator[Path]:
    """The headers that a C++ file includes, each with the source of its name."""
    for name in re.findall(r'#include "(.+)"', _text(file)):
        for header in (CPP / name, file.parent / name):
            if header.is_file():
                yield header
                source = header.with_suffix(".cpp")
                if source.is_file():
                    yield source


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == "streamsieve"


def _from_checkout() -> bool:
    return PACKAGE == CHECKOUT / "src" / "streamsieve"


def _name(file: Path) -> str:
    return file.relative_to(CHECKOUT if _from_checkout() else PACKAGE).as_posix()


def _cpp_files() -> list[Path]:
    return [file for file in CPP.rglob("*") if file.is_file()]


def _compiled() -> list[Path]:
    return [*PACKAGE.rglob("*.so"), *PACKAGE.rglob("*.pyd")]


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _closure(files: Iterable[Path], follow: Callable[[Path], Iterable[Path]]) -> set[Path]:
    """The files and what they lead to, directly or not."""
    found: set[Path] = set()
    pending = [file.resolve() for file in files]
    while pending:
        file = pending.pop()
        if file not in found:
            found.add(file)
            pending += follow(file)
    return found


def digest(files: Iterable[Path], root: Path) -> str:
    """Eight hexadecimal digits of the names, below `root`, and contents of the files."""

    def name(file: Path) -> str:
        return file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name

    return _combine({name(file): _hash(file) for file in sorted(files)})


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _combine(hashes: dict[str, str]) -> str:
    whole = hashlib.sha256()
    for name, each in hashes.items():
        whole.update(f"{name}\0{each}\n".encode())
    return whole.hexdigest()[:8]


def imported_files(module: Path) -> set[Path]:
    """The module and what it imports from papers/, directly or not, but not what only reports."""
    return _closure([module], _relative_imports)


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
