"""The quality benchmark: a tiny run, and what its tables conclude from results."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def bench(tmp_path, *options):
    command = [sys.executable, str(BENCHMARKS / "bench_quality.py"), "--cache", str(tmp_path / "cache.jsonl")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


@pytest.fixture
def quality(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return pytest.importorskip("quality.table", reason="benchmarks/ is not beside tests/")


def test_a_second_run_computes_nothing_and_prints_the_same_table(tmp_path):
    cells = ("--sets", "wine", "--k", "5", "--splits", "1", "--methods", "F + logistic;OFSA")
    first = bench(tmp_path, *cells, "--out", str(tmp_path / "out"))
    assert "2 cells, 2 to compute" in first
    assert "| OFSA " in first
    again = bench(tmp_path, *cells)
    assert "2 cells, 0 to compute" in again
    table = first[first.index("## Real") :]
    assert again.endswith(table)
    assert (tmp_path / "out" / "quality.md").read_text() == table.removesuffix("\n")
    assert (tmp_path / "out" / "quality.png").stat().st_size > 0


@pytest.mark.parametrize(
    ("fit", "status"), [("np.ones(2**28)", "memory"), ("[0 for _ in iter(int, 1)]", "time")]
)
def test_a_fit_beyond_its_limits_is_reported_not_raised(fit, status):
    script = f"""
import numpy as np
from quality import cells, datasets, methods
wine = datasets.sets()["wine"]
method = methods.Method("greedy", lambda problem: {fit}, "1")
print(cells.compute(cells.Cell(wine, 0, 5, method), wine.load(0), limit=1, memory=1_000).status)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == status


@pytest.mark.usefixtures("quality")
@pytest.mark.parametrize(
    ("status", "again"), [("ValueError: no", True), ("ok", False), ("refused: no", False)]
)
def test_retry_forgets_errors_alone(tmp_path, status, again):
    from quality.cells import Cache, Result

    path = tmp_path / "cache.jsonl"
    Cache(path).add(Result("key", "set", 0, 10, "m", {}, status, 120, 0.5, 100))
    assert "key" in Cache(path).results
    assert ("key" in Cache(path, retry=True).results) is not again


@pytest.mark.usefixtures("quality")
def test_every_public_method_is_run_in_both_ways():
    import streamsieve
    from quality import ours

    found = {m.name for m in ours.ours()}
    for name in streamsieve.__all__:
        if name.endswith(("Regressor", "Classifier")):
            stem = name.removesuffix("Regressor").removesuffix("Classifier")
            assert {stem, f"{stem}, fit"} <= found


@pytest.mark.usefixtures("quality")
def test_the_grid_varies_step_and_penalty_around_the_default():
    from quality import ours

    tsgd = next(m for m in ours.ours() if m.name == "TSGD")
    settings = [m.settings for m in ours.grid(tsgd)]
    assert settings[0] == {}
    assert {"eta": 0.1} in settings
    assert any(len(s) == 2 for s in settings)
    assert len({str(s) for s in settings}) == len(settings)


@pytest.mark.usefixtures("quality")
def test_the_grid_leaves_the_penalties_of_a_ladder_to_the_ladder():
    from quality import ours

    rda = next(m for m in ours.ours() if m.name == "RDA")
    assert {name for m in ours.grid(rda) for name in m.settings} == {"eta"}


@pytest.mark.usefixtures("quality")
def test_a_learner_of_its_own_leaves_the_results_of_others_valid(monkeypatch):
    from quality import ours

    def digests():
        ours.source_digest.cache_clear()
        return {name: ours.source_digest(name) for name in ("RDA", "SIHT", "OLSTThenTSGD", "Sieve")}

    before, read = digests(), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda f: read(f) + b"#" * (f.stem == "siht"))
    after = digests()
    ours.source_digest.cache_clear()
    assert {name for name in before if before[name] != after[name]} == {"SIHT", "OLSTThenTSGD"}


def grid_results(name, **scores):
    """Of a method M on splits of a set, by setting; `default` for none."""
    from quality.cells import Cell, Result
    from quality.datasets import Set
    from quality.methods import Method

    small = Set(name, "real", "labels", 100, 2, len)
    for setting, by_split in scores.items():
        settings = {} if setting == "default" else {setting: 0.1}
        method = Method("M, fit", len, "1", settings, ours=True)
        for split, score in enumerate(by_split):
            result = Result("", name, split, 10, "M, fit", settings, "ok", 120, 0.5, 100, score)
            yield Cell(small, split, 10, method), result


def test_the_grid_judges_the_best_setting_on_a_split_that_did_not_choose_it(quality):
    # eta is best on each split in turn by chance, and chosen on one it fails on the other
    lucky = grid_results("lucky", default=(0.7, 0.7), eta=(1.0, 0.6))
    better = grid_results("better", default=(0.6, 0.6), eta=(0.8, 0.7))
    text = quality.grid([*lucky, *better])
    assert (
        "| M, fit | 1 of 2             | 0 of 2     | 70.0, 65.0, 80.0 (2) | 60.0, 75.0, 75.0 (2) |" in text
    )
    below, by_chance = text.split("More than 5 points below")[1:]
    assert "- M, fit on better, 10: 15.0 points (eta=0.1)" in below
    assert "lucky" not in below
    assert "- M, fit on lucky, 10: 10.0 points (eta=0.1)" in by_chance


def test_of_settings_that_are_equally_good_elsewhere_the_grid_takes_the_mean(quality):
    found = quality.tunings([*grid_results("set", default=(0.8, 0.5), eta=(0.8, 0.9), alpha=(0.2, 0.3))])
    assert found["M, fit"]["set, 10"] == quality.Tuning(0.65, pytest.approx(0.75), 0.85, "eta=0.1", 2)


def test_a_grid_that_was_stopped_is_left_out(quality):
    whole = grid_results("whole", default=(0.6,), eta=(0.7,), alpha=(0.5,))
    found = quality.tunings([*whole, *grid_results("stopped", default=(0.6,), eta=(0.7,))])
    assert [*found["M, fit"]] == ["whole, 10"]


def test_one_split_compares_with_the_largest_and_splits_that_a_setting_lacks_do_not_count(quality):
    found = quality.tunings([*grid_results("set", default=(0.6, 0.1), eta=(0.7,))])
    assert found["M, fit"]["set, 10"] == quality.Tuning(0.6, 0.7, 0.7, "eta=0.1", 1)


@pytest.mark.parametrize(("score", "behind"), [(0.80, True), (0.88, False), (0.95, False)])
def test_a_cell_below_the_best_peer_is_counted(quality, score, behind):
    row = {
        "peer": entry(quality, "peer", 0.9),
        "other": entry(quality, "peer", 0.5),
        "A": entry(quality, "ours", score),
    }
    assert quality.below(row, "A") is behind
    text = quality.mean_table({("set", 10): row})
    assert f"| {100 * (score - 0.9):+.1f} " in text


def test_a_failed_fit_counts_as_the_best_constant(quality):
    assert entry(quality, "ours", None, chance=0.6).mean == 0.6


def entry(quality, role, score, chance=0.5):
    from quality.cells import Result

    status = "time" if score is None else "ok"
    results = [
        Result("", "set", split, 10, "m", {}, status, 120, chance, 100, score, seconds=1.0, memory=1.0)
        for split in range(5)
    ]
    return quality.Entry(role, results)
