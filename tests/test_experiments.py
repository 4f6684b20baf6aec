"""The papers' numbers, from the experiments that print them, and the machinery that runs those."""

import json
import types

import numpy as np
import pytest
from click.testing import CliRunner

from streamsieve.cli import main
from streamsieve.experiments import EXPERIMENTS, _run, data, detection, drift, module
from streamsieve.experiments._report import Cell, Figure, Outcomes, Panel, Table, printed

# ---------------------------------------------------------------- machinery


@pytest.fixture
def coin(monkeypatch, tmp_path):
    """An experiment that counts how often it is asked."""
    asked = []

    def measure(side, seed):
        asked.append((side, seed))
        if side == "edge":
            raise KeyboardInterrupt
        return {"landed": {"value": float(seed)}, "side": side}

    def report(outcomes):
        cells = [outcomes.where(side=s).cell("landed", "value", published=0.5) for s in ("heads", "tails")]
        panel = Panel("values", "x", "y", {"ours": ([1, 2], [3, 4]), "published ours": ([1, 2], [4, 5])})
        return [Table("Coins", ["", "heads", "tails"], [["value", *cells]]), Figure("coin", "Coin", [panel])]

    source = tmp_path / "coin.py"
    source.write_text("the module's text is part of its version")
    fake = types.SimpleNamespace(
        jobs=lambda runs, _: [{"side": s, "seed": r} for r in range(runs) for s in ("heads", "tails")],
        measure=measure,
        report=report,
        __file__=str(source),
        asked=asked,
    )
    monkeypatch.setattr(_run, "module", lambda _: fake)
    return fake


def test_what_is_done_is_not_done_again(coin, tmp_path):
    first = _run.run("coin", runs=2, out=tmp_path / "out", workers=1)
    assert len(coin.asked) == 4
    again = _run.run("coin", runs=3, out=tmp_path / "out", workers=1)
    assert coin.asked[4:] == [("heads", 2), ("tails", 2)]
    assert first[0].rows[0][1].values == [0.0, 1.0]
    assert again[0].rows[0][1].values == [0.0, 1.0, 2.0]
    _run.run("coin", runs=2, out=tmp_path / "out", workers=1, fresh=True)
    assert len(coin.asked) == 10


def test_an_interrupted_run_goes_on_where_it_stopped(coin, tmp_path):
    whole = coin.jobs
    coin.jobs = lambda runs, quick: [*whole(runs, quick)[:3], {"side": "edge", "seed": 0}]
    with pytest.raises(KeyboardInterrupt):
        _run.run("coin", runs=2, out=tmp_path / "out", workers=1)
    store = tmp_path / "out" / "outcomes.jsonl"
    store.write_text(store.read_text()[:-5])  # as if killed while writing the third
    coin.jobs = whole
    coin.asked.clear()
    parts = _run.run("coin", runs=2, out=tmp_path / "out", workers=1)
    assert coin.asked == [("heads", 1), ("tails", 1)]
    assert parts[0].rows[0][2].values == [0.0, 1.0]


def test_outcomes_of_another_version_do_not_count(coin, tmp_path):
    _run.run("coin", runs=1, out=tmp_path / "out", workers=1)
    (tmp_path / "coin.py").write_text("changed")
    _run.run("coin", runs=1, out=tmp_path / "out", workers=1)
    assert len(coin.asked) == 4


@pytest.mark.usefixtures("coin")
def test_results_are_written_in_words_numbers_and_pictures(tmp_path):
    _run.run("coin", runs=2, out=tmp_path, workers=1)
    text = (tmp_path / "results.md").read_text()
    assert "| value | 0.5 ± 0.5 (0.5 ≈) |" in text
    assert "![Coin](coin.png)" in text
    assert "`streamsieve experiment coin --scale paper --runs 2`" in text
    table, figure = json.loads((tmp_path / "results.json").read_text())
    assert table["rows"][0][1]["verdict"] == "equal"
    assert figure["panels"][0]["lines"]["ours"] == [[1, 2], [3, 4]]
    assert (tmp_path / "coin.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("coin")
def test_all_results_are_gathered_on_one_page(tmp_path):
    for name in ("coin", "penny"):
        _run.run(name, runs=1, out=tmp_path / "all" / name, workers=1)
    page = _run.gather(tmp_path / "all", ["coin", "penny"])
    assert page == tmp_path / "all.md"
    assert "![Coin](all/penny/coin.png)" in page.read_text()


def test_processes_give_what_one_gives():
    job = {"signal": "strong", "k": 10, "ns": [20], "seed": 0}
    other = job | {"seed": 1}
    alone = [_run.measured("susan", j)[0] for j in (job, other)]
    pooled = {j["seed"]: outcome for j, outcome, _ in _run._work("susan", [job, other], 2)}
    assert [pooled[0], pooled[1]] == alone


def test_a_cell_is_judged_by_its_error():
    assert Cell([1.0, 1.0, 1.0], 0.5).verdict == "better"
    assert Cell([1.0, 1.0, 1.0], 0.5, better="less").verdict == "worse"
    assert Cell([0.0, 1.0], 0.7).verdict == "equal"
    assert Cell([1.02, 1.02], 1.0, digits=1).verdict == "equal"  # to the digits shown
    assert Cell([0.9], 0.5).verdict == ""  # one run has no error
    assert str(Cell([], 97.0)) == "- (97.0)"
    assert str(Cell([])) == "-"


def test_outcomes_are_found_by_their_jobs():
    outcomes = Outcomes([({"s": [1, 2], "seed": r}, {"m": {"x": r}}) for r in range(3)])
    assert outcomes.where(s=(1, 2)).values("m", "x") == [0, 1, 2]
    assert not outcomes.where(s=3)
    assert outcomes.values("m", "y") == []
    assert outcomes.runs() == 3


def test_printed_numbers_are_read():
    assert printed("1 2 | 3 -\n4 5 |\n  6 7") == [[[1, 2], [3, None]], [[4, 5], [6, 7]]]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_jobs_that_json_can_hold(name):
    quick, paper = module(name).jobs(1, True), module(name).jobs(2, False)
    for jobs in (quick, paper):
        keys = [json.dumps(job, sort_keys=True) for job in jobs]
        assert keys or (name == "real" and data.missing("dexter"))  # it has jobs for the data at hand
        assert len(set(keys)) == len(keys)


def test_the_list_names_every_experiment():
    shown = CliRunner().invoke(main, ["experiment", "list"])
    assert shown.exit_code == 0
    assert [line.split("\t")[0] for line in shown.output.splitlines()] == list(EXPERIMENTS)


def test_all_goes_on_where_data_are_missing(monkeypatch, tmp_path):
    def run(name, out, **_):
        if name == "zhai":
            raise FileNotFoundError("zhai.svm is not at hand")
        out.mkdir(parents=True)
        (out / "results.md").write_text(f"## {name}\n")
        return []

    monkeypatch.setattr(_run, "run", run)
    shown = CliRunner().invoke(main, ["experiment", "all", "--out", str(tmp_path / "all")])
    assert shown.exit_code == 0
    assert "zhai.svm is not at hand" in shown.stderr
    page = (tmp_path / "all.md").read_text()
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == [
        name for name in EXPERIMENTS if name != "zhai"
    ]
    assert CliRunner().invoke(main, ["experiment", "zhai", "--out", str(tmp_path)]).exit_code == 1


# ---------------------------------------------------------------- numbers

# At least so many percent of the true features: signal, n.
LEAST = {
    (1.0, 1_000): {"OLSth": 99, "OFSA": 99, "OLasso": 31, "OElnet": 31, "OALa": 81, "OMCP": 91},
    (1.0, 3_000): {"OLSth": 100, "OFSA": 100, "OLasso": 45, "OElnet": 45, "OALa": 100, "OMCP": 99},
    (0.1, 3_000): {"OLSth": 95, "OFSA": 98, "OLasso": 43, "OElnet": 43, "OALa": 95, "OMCP": 95},
    (0.01, 100_000): {"OLSth": 79, "OFSA": 85, "OLasso": 80, "OElnet": 80, "OALa": 79, "OMCP": 84},
}


def test_one_run_reports_every_method():
    outcome = detection.measure(1_000, 1.0, [1_000], seed=7)["1000"]
    assert outcome["OFSA"]["found"] >= 97
    assert outcome["OFSA"]["rmse"] < 1.3
    assert outcome.keys() == {"RAVE", *detection.METHODS}
    report = detection.report(Outcomes([({"p": 1_000, "signal": 1.0, "seed": 7}, {"1000": outcome})]))
    assert [len(table.rows) for table in report] == [1, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("signal", [1.0, 0.1, 0.01])
def test_detection_rates(signal):
    ns = [n for s, n in LEAST if s == signal]
    runs = [detection.measure(1_000, signal, ns, seed) for seed in range(5)]
    short = {}
    for n in ns:
        for method, least in LEAST[signal, n].items():
            cell = Cell([run[str(n)][method]["found"] for run in runs], least)
            if cell.verdict == "worse":
                short[n, method] = str(cell)
    assert not short


@pytest.mark.slow
def test_drift_is_followed():
    agree = drift.measure("phases agree", 0)
    assert agree["0.001 a row"]["last"] <= 1.05
    assert agree["none"]["last"] > 2
    assert np.shape(agree["truth"]) == np.shape(agree["none"]["coef"])
