"""Imports point one way: core, statistics, methods, persist and sources, training, facades."""

import ast
from pathlib import Path

import pytest

import streamsieve

ROOT = Path(streamsieve.__file__).parent

#: Packages and modules, the lowest layer first; those of one layer do not import each other.
LAYERS = (
    ("core",),
    ("statistics", "metrics"),
    ("methods",),
    ("persist", "sources"),
    ("training",),
    ("estimators", "displays", "simulate", "export"),
    ("distributed", "report"),
    ("dask", "mlflow", "ray", "spark"),
    ("cli",),
)


def module_of(file):
    parts = file.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def is_module(parts):
    path = ROOT.joinpath(*parts)
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def imported(file):
    """Modules of the package that a file imports, at its top or inside a function."""
    package, tree = file.relative_to(ROOT).parts[:-1], ast.parse(file.read_text())
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and getattr(block.test, "id", "") == "TYPE_CHECKING"
        for node in block.body
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level or id(node) in for_types:
            continue
        base = package[: len(package) - node.level + 1] + tuple((node.module or "").split("."))
        base = tuple(part for part in base if part)
        for name in node.names:
            found = (*base, name.name) if is_module((*base, name.name)) else base
            if found and is_module(found):
                yield from (found[:n] for n in range(1, len(found) + 1))  # packages on the way run first


def edges():
    for file in ROOT.rglob("*.py"):
        module = module_of(file)
        for found in imported(file):
            if module and found != module:
                yield module, found


def layer(module):
    return next((i for i, names in enumerate(LAYERS) if module[0] in names), None)


def test_every_module_has_a_layer():
    modules = {module_of(file) for file in ROOT.rglob("*.py")} - {(), ("__main__",)}
    assert {module for module in modules if layer(module) is None} == set()


def test_no_import_points_back():
    back = {
        f"{'.'.join(a)} -> {'.'.join(b)}"
        for a, b in edges()
        if a[0] not in ("__main__",) and layer(a) is not None and layer(b) is not None
        if layer(b) > layer(a) or (layer(a) == layer(b) and a[0] != b[0])
    }
    assert back == set()


def test_no_modules_import_each_other():
    graph = {}
    for a, b in edges():
        graph.setdefault(a, set()).add(b)
    done, path = set(), []

    def visit(module):
        if module in path:
            pytest.fail(
                "a circle: " + " -> ".join(".".join(m) for m in [*path[path.index(module) :], module])
            )
        if module not in done:
            path.append(module)
            for other in sorted(graph.get(module, ())):
                if other != module[: len(other)]:  # a package's own __init__ comes with each of its modules
                    visit(other)
            path.pop()
            done.add(module)

    for module in sorted(graph):
        visit(module)
    assert len(done) > 100
