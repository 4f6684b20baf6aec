"""Which sources made an outcome: a hash of each file of the library and of the experiment that it depends on.

Of the library an outcome depends on the files that its job had loaded, and on the C++ files of the kernels
that these name; an outcome of one method depends on no other method's file, and none on modules that only
read, show or send what was learned; an experiment on files depends on those that read. Of `papers/` it
depends on the functions that the experiment's `measure` reaches. Comments and docstrings do not count: a
better sentence or table must not cost hours.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import streamsieve
from streamsieve.methods import method_class

PAPERS = Path(__file__).resolve().parent
CHECKOUT = PAPERS.parent
PACKAGE = Path(streamsieve.__file__).resolve().parent
CPP = CHECKOUT / "cpp"
BUILD = CHECKOUT / "CMakeLists.txt"
METHODS = PACKAGE / "methods"
REPORTING = PAPERS / "report"  # changes no outcome
READING = {"sources"}  # modules of the library that decide on the rows of experiments on files, by `DATA`
DATA = "papers/data.py"
#: Modules of the library that decide on no outcome: a measurement learns arrays, in one process.
APART = {"cli", "dask", "displays", "distributed", "export", "mlflow", "ray", "report", "spark"}

Hashes = dict[str, str]  # by the name of a file, below the checkout or below the installed package


@cache
def current_commit() -> str:
    """The commit that is checked out, with "+" where its sources were edited; "" outside of a repository."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(CHECKOUT), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        edited = git("status", "--porcelain", "--", "src", "cpp", "papers", "CMakeLists.txt")
        return git("rev-parse", "--short=7", "HEAD") + ("+" if edited else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


@cache
def is_known(commit: str) -> bool:
    """Whether the repository has a commit; outside of a repository nobody knows, and it is taken to."""
    if not current_commit():
        return True
    command = ["git", "-C", str(CHECKOUT), "cat-file", "-e", f"{commit.rstrip('+')}^{{commit}}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@cache
def library_hashes() -> Hashes:
    """Hashes of all files of the library, as they were when this was first called.

    Of its Python and C++ sources where it is imported from this checkout, else of the installed Python files
    and the compiled module.
    """
    compiled = [*_cpp_files(), BUILD] if _from_checkout() else _compiled()
    return {
        _name(file): hash_source(file.name, file.read_bytes())
        for file in sorted([*PACKAGE.rglob("*.py"), *compiled])
    }


def used_hashes(experiment: Path, methods: Iterable[str] | None = None) -> Hashes:
    """Hashes of all that an outcome of this process depends on.

    `experiment` is the file of the experiment, `methods` the names of the library's methods that were run:
    files of others are left out. None is that it is not known which were run.
    """
    modules = [sys.modules[method_class(name).__module__] for name in methods or ()]
    loaded = [getattr(module, "__file__", None) for name, module in sys.modules.items() if _is_ours(name)]
    files = {Path(file).resolve() for file in loaded if file and file.endswith(".py")}
    if methods is not None:
        own = _closure([Path(str(module.__file__)) for module in modules], _package_imports)
        files = {f for f in files if not f.is_relative_to(METHODS) or f in own or f.name == "__init__.py"}
    apart = _apart(experiment)
    files = {file for file in files if _part(_name(file)) not in apart}
    files |= kernel_files(files) if _from_checkout() else set(_compiled())
    hashes = library_hashes()
    return {name: hashes[name] for name in sorted(map(_name, files))} | experiment_hashes(experiment)


def changed_files(made: Mapping[str, str], experiment: Path) -> list[str]:
    """The files, of those that made an outcome, that have changed since or are gone."""
    now, apart = library_hashes() | experiment_hashes(experiment), _apart(experiment)
    return [name for name, hashed in made.items() if now.get(name) != hashed and _part(name) not in apart]


def _apart(experiment: Path) -> set[str]:
    """The parts of the library on which no outcome of an experiment depends."""
    return APART if DATA in experiment_hashes(experiment) else APART | READING


def _part(name: str) -> str:
    """The module or folder of the library that a file belongs to, or the name of another file."""
    return name.removeprefix("src/streamsieve/").partition("/")[0].removesuffix(".py")


def kernel_files(modules: Iterable[Path]) -> set[Path]:
    """The C++ sources of the functions that modules call as `_core.NAME`, with what they include.

    All of them where the source of a function is not found.
    """
    names = {name for file in modules for name in re.findall(r"\b_core\.(\w+)", _text(file))}
    sources = {file: set(re.findall(r'"(\w+)"(?!_a)', _text(file))) for file in CPP.rglob("*.cpp")}
    if not names <= set().union(*sources.values()):
        return {*_cpp_files(), BUILD}
    named = [file for file, defined in sources.items() if names & defined]
    return _closure([*named, CPP / "module.cpp"], _included) | {BUILD}


@cache
def experiment_hashes(experiment: Path) -> Hashes:
    """By file of papers/, a hash of the functions, classes and constants that `measure` reaches."""
    reached = _reached(experiment.resolve(), "measure")
    files = sorted({file for file, _ in reached})
    return {_paper(file): _hash(_sources(file, {n for f, n in reached if f == file})) for file in files}


def _reached(file: Path, entry: str) -> set[tuple[Path, str]]:
    """The top-level names of papers/ that an entry of a file refers to, directly or not, with their files."""
    found: set[tuple[Path, str]] = set()
    pending = [(file, entry)]
    while pending:
        file, name = pending.pop()
        definitions, imports = _top_level(file)
        if (file, name) in found:
            continue
        if name in imports:
            module, original = imports[name]
            if module.is_relative_to(REPORTING):
                continue
            pending += [(module, n) for n in ([original] if original else _top_level(module)[0])]
        elif name in definitions:
            found.add((file, name))
            pending += [
                (file, n.id) for n in ast.walk(definitions[name]) if isinstance(n, ast.Name) and n.id != name
            ]
    return found


@cache
def _top_level(file: Path) -> tuple[dict[str, ast.stmt], dict[str, tuple[Path, str]]]:
    """What a file defines, and what it imports from papers/: the file and the name, "" for a whole module."""
    definitions: dict[str, ast.stmt] = {}
    imports: dict[str, tuple[Path, str]] = {}
    for node in ast.parse(_text(file)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
            definitions |= dict.fromkeys(names, node)
        elif isinstance(node, ast.ImportFrom) and node.level:
            folder = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                module = _module_file(folder / alias.name)
                imports[alias.asname or alias.name] = (
                    (module, "") if module else (_module_file(folder) or file, alias.name)
                )
    return definitions, imports


def _module_file(path: Path) -> Path | None:
    choices = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in choices if file.is_file()), None)


def _sources(file: Path, names: set[str]) -> bytes:
    """The definitions without their docstrings, in the order of the file."""
    definitions, _ = _top_level(file)
    nodes = dict.fromkeys(node for name, node in definitions.items() if name in names)
    return _code(ast.parse("\n".join(map(ast.unparse, nodes))))


def _code(module: ast.Module) -> bytes:
    """The text of a module without comments and docstrings."""
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(module).encode()  # which Python versions agree on, as they do not on a dump


def _package_imports(file: Path) -> Iterator[Path]:
    """The modules of the library that a module of it imports, anywhere in its text."""
    for node in ast.walk(ast.parse(_text(file))):
        if isinstance(node, ast.ImportFrom):
            base = file.parents[node.level - 1] if node.level else PACKAGE.parent
            folder = base.joinpath(*(node.module or "").split("."))
            found = [_module_file(folder), *(_module_file(folder / alias.name) for alias in node.names)]
            yield from (f for f in found if f and f.is_relative_to(PACKAGE) and f.name != "__init__.py")


def _included(file: Path) -> Iterator[Path]:
    """The headers that a C++ file includes, each with the source of its name."""
    for name in re.findall(r'#include "(.+)"', _text(file)):
        for header in (CPP / name, file.parent / name):
            if header.is_file():
                yield header
                source = header.with_suffix(".cpp")
                if source.is_file():
                    yield source


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


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == "streamsieve"


def _from_checkout() -> bool:
    return PACKAGE == CHECKOUT / "src" / "streamsieve"


def _name(file: Path) -> str:
    return file.relative_to(CHECKOUT if _from_checkout() else PACKAGE).as_posix()


def _paper(file: Path) -> str:
    return file.relative_to(CHECKOUT).as_posix() if file.is_relative_to(CHECKOUT) else file.name


def _cpp_files() -> list[Path]:
    return [file for file in CPP.rglob("*") if file.is_file()]


def _compiled() -> list[Path]:
    return [*PACKAGE.rglob("*.so"), *PACKAGE.rglob("*.pyd")]


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def hash_source(name: str, content: bytes) -> str:
    """Hash of a file; of a Python or C++ file without comments, docstrings and the breaking of lines."""
    if name.endswith(".py"):
        content = _code(ast.parse(content))
    elif name.endswith((".cpp", ".hpp")):
        content = _cpp_code(content)
    return _hash(content)


#: A comment of C++, or what may hold the signs of one: numbers with separators, strings, characters.
CPP_TOKEN = re.compile(
    rb"""//[^\n]*|/\*.*?\*/|(\b\d[\w.']*|R"(?P<end>\w*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""",
    re.DOTALL,
)


def _cpp_code(content: bytes) -> bytes:
    """The text of a C++ file without comments, its words one blank apart."""
    return b" ".join(CPP_TOKEN.sub(lambda token: token[1] or b" ", content).split())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]
