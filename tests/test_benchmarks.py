"""Every benchmark can be imported: what it uses of the library is there."""

import importlib
from pathlib import Path

import pytest

import streamsieve

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
NAMES = sorted(path.stem for path in BENCHMARKS.glob("bench_*.py"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of packages that benchmarks compare with
@pytest.mark.parametrize("name", NAMES or [pytest.param("", marks=pytest.mark.skip("no benchmarks/ here"))])
def test_it_can_be_imported(name, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    try:
        assert importlib.import_module(name).__doc__
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing == streamsieve.__name__ or (BENCHMARKS / f"{missing}.py").exists():
            raise
        pytest.skip(f"{missing} is not installed")
