"""Laws of the type stubs: as the list of methods has it, and what mypy and pyright make of them."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import streamsieve
from streamsieve.methods import ESTIMATORS
from stubs import stubs

ROOT = Path(__file__).resolve().parents[1]
GOOD = """
from streamsieve import SieveClassifier, SieveRegressor, TSGDRegressor, metrics, path, read

model = SieveClassifier(5, missing="mean", class_weight="balanced").fit([[1.0], [2.0]], [0, 1])
model.predict_proba([[1.0]])
k: int | str = model.k
ridge: float = SieveRegressor("auto").ridge_
TSGDRegressor(k=3).start_from(model, [[1.0]], [1.0]).predict([[1.0]])
read("a.csv", target="y")
"""
BAD = """
from streamsieve import SieveClassifier, Sieves

SieveClassifier(kk=5)
SieveClassifier(k="five")
SieveClassifier(5, 6)
SieveClassifier(criterion="cvv")
"""


def test_stubs_are_as_the_list_of_methods_has_it():
    for file, text in stubs().items():
        assert file.read_text() == text, "run `python tests/stubs.py`"


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_type_checkers_find_arguments_that_no_estimator_has(checker, tmp_path):
    pytest.importorskip(checker, reason=f"{checker} is not installed (extra dev)")
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(GOOD)
    bad.write_text(BAD)
    python = [] if checker == "mypy" else ["--pythonpath", sys.executable]
    done = subprocess.run(
        [sys.executable, "-m", checker, *python, str(good), str(bad)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    found = set(re.findall(r"([\w/]+\.pyi?):(\d+).*error", done.stdout))
    assert {(Path(file).name, line) for file, line in found} == {
        ("bad.py", str(line)) for line in (2, 4, 5, 6, 7)
    }, done.stdout


def test_signatures_and_completion():
    assert set(ESTIMATORS) <= set(dir(streamsieve))
    for name in ESTIMATORS:
        signature = inspect.signature(getattr(streamsieve, name))
        assert all(p.kind is p.KEYWORD_ONLY or p.name == "k" for p in signature.parameters.values())
    assert "criterion" in inspect.signature(streamsieve.SieveClassifier).parameters
