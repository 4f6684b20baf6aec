"""What the documentation shows is what happens."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import streamsieve

MODULES = [
    m.name for m in pkgutil.walk_packages(streamsieve.__path__, "streamsieve.") if "._core" not in m.name
]
ROOT = Path(__file__).resolve().parents[1]
PROSE = ("src/**/*.py", "src/**/*.html", "docs/*.md", "docs/*.jinja", "docs/*.toml", "docs/guide/*.md",
         "docs/coming-from/*.md", "docs/site_pages/*.py", "README.md")  # fmt: skip
#: Phrases that readers had to read twice, each with a plain alternative.
UNCLEAR = {
    r"\b(what|that|which) (is|are) none\b": "invalid, or: other input",
    r"(?<!there )\bare no [a-z]+s\b": "are not ...",
    r"\bis of no\b": "has no",
    r"\bare no chance\b": "z-score above which the mean counts as non-zero",
    r"\brows that wait\b": "buffered rows",
    r"\bworth their noise\b": "chosen by cross-validation",
    r"\bflatter what\b": "overestimate",
    r"\bstream was another one\b": "detected change points",
    r"\bas of now\b": "current",
    r"\bin brackets stands\b": "the number in brackets is",
    r"\bwithout a word\b": "by default",
    r"\btakes their place\b": "replaced by",
    r"\bbegin anew\b": "start again",
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(str(error))  # an engine that is not installed
    assert doctest.testmod(module).failed == 0


def test_every_public_name_is_there():
    assert streamsieve.OFSARegressor is importlib.import_module("streamsieve.estimators").OFSARegressor
    for name in streamsieve.__all__:
        assert getattr(streamsieve, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Lasso'"):
        _ = streamsieve.Lasso


@pytest.mark.parametrize("phrase", UNCLEAR)
def test_pages_docstrings_and_messages_are_in_plain_english(phrase):
    found = []
    for file in {file for pattern in PROSE for file in ROOT.glob(pattern)}:
        text = re.sub(r"\s+(# )?", " ", file.read_text(encoding="utf-8"))  # phrases across lines too
        found += [f"{file.relative_to(ROOT)}: {m[0]}" for m in re.finditer(phrase, text, re.IGNORECASE)]
    assert not found, f"write {UNCLEAR[phrase]!r}"
