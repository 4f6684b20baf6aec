"""The papers' numbers, from the experiments that print them, and the machinery that runs those."""

import json
import types

import numpy as np
import pytest
from click.testing import CliRunner

from streamsieve.cli import main
from streamsieve.experiments import (
    EXPERIMENTS,
    _run,
    data,
    detection,
    drift,
    module,
    readings,
    sfsa,
)
from streamsieve.experiments._baselines import lasso
from streamsieve.experiments._causes import CAUSES
from streamsieve.experiments._report import Cell, Figure, Outcomes, Panel, Table, printed
from streamsieve.experiments._tune import cross_validated, largest, tuned

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
        table = Table("Coins", ["", "heads", "tails"], [["value", *cells]])
        return [table, Figure("coin", "Coin", [panel])]

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
    monkeypatch.setattr(_run, "CAUSES", dict.fromkeys(("coin", "penny"), ("Coins have no memory.",)))
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
    assert "### Where it is worse than published, and why\n\n- Coins have no memory.\n" in text
    table, figure, note = json.loads((tmp_path / "results.json").read_text())
    assert table["rows"][0][1]["verdict"] == "equal"
    assert figure["panels"][0]["lines"]["ours"] == [[1, 2], [3, 4]]
    assert note["points"] == ["Coins have no memory."]
    assert (tmp_path / "coin.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("coin")
def test_all_that_a_folder_holds_is_gathered_on_one_page(tmp_path, monkeypatch):
    monkeypatch.setattr(_run, "EXPERIMENTS", ["coin", "cent", "penny"])
    for name in ("penny", "coin"):
        _run.run(name, runs=2, out=tmp_path / "all" / name, workers=1)
    page = _run.gather(tmp_path / "all")
    assert page == tmp_path / "all.md"
    text = page.read_text()
    assert text.startswith("# The papers' experiments\n")
    assert "| [coin](#coin) | 0 | 2 | 0 |\n| [penny](#penny) | 0 | 2 | 0 |\n" in text  # 0.5 is published
    assert text.index("## coin\n") < text.index("## penny\n")
    assert "![Coin](all/penny/coin.png)" in text
    assert text.count("Coins have no memory.") == 2
    again = text
    _run.gather(tmp_path / "all")
    assert page.read_text() == again


def test_what_is_tried_within_a_job_is_told():
    """From other processes too."""
    job = {"signal": "strong", "k": 10, "ns": [20], "seed": 0}  # searches 200 penalties for the Lasso
    for jobs, workers in (([job], 1), ([job, job | {"seed": 1}], 2)):
        heard = []
        list(_run._work("susan", jobs, workers, heard.append))
        assert any("seed 0: 3 of 200 tried" in words for words in heard)


def test_processes_give_what_one_gives():
    job = {"signal": "strong", "k": 10, "ns": [20], "seed": 0}
    other = job | {"seed": 1}
    alone = [_run.measured("susan", j)[0] for j in (job, other)]
    pooled = {j["seed"]: outcome for j, outcome, _ in _run._work("susan", [job, other], 2, print)}
    assert [pooled[0], pooled[1]] == alone


def test_a_cell_is_judged_by_its_error():
    assert Cell([1.0, 1.0, 1.0], 0.5).verdict == "better"
    assert Cell([1.0, 1.0, 1.0], 0.5, better="less").verdict == "worse"
    assert Cell([0.0, 1.0], 0.7).verdict == "equal"
    assert Cell([1.02, 1.02], 1.0, digits=1).verdict == "equal"  # to the digits shown
    assert Cell([0.9], 0.5).verdict == ""  # one run has no error
    assert Cell([1.0, 1.0], 0.5, better="").verdict == ""  # seconds are another machine's
    assert str(Cell([1.0, 1.0], 0.5, better="")) == "1.0 ± 0.0 (0.5)"
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


def test_the_best_of_what_is_tried_is_taken():
    words = []
    tried = [({"a": 1}, 2.0), ({"a": 2}, 1.0), ({"a": 2}, 1.5), ({"a": 3}, 2.5)]  # scores of a candidate add
    assert tuned(tried, 4, words.append) == {"a": 2}
    assert words == ["1 of 4 tried", "2 of 4 tried", "3 of 4 tried", "4 of 4 tried"]
    assert tuned([({"a": 1}, (1, 0)), ({"a": 2}, (1, 3)), ({"a": 3}, (0, 9))]) == {"a": 2}
    assert tuned([({"a": 1}, 1), ({"a": 2}, 1)]) == {"a": 1}
    sizes = [({"lam": 3}, 2), ({"lam": 2}, 5), ({"lam": 1}, 5), ({"lam": 0}, 6)]
    assert largest(sizes, 5) == {"lam": 1}


def test_cross_validation_takes_the_fewest_errors_then_the_fewest_features():
    class Model:
        def __init__(self, sign, features):
            self.sign, self.coef_ = sign, np.arange(features + 1)

        def predict(self, X):
            return self.sign * X[:, 0]

    def trials(_, __):
        for sign, features in ((-1, 1), (1, 4), (1, 2), (1, 3)):
            yield {"sign": sign, "features": features}, Model(sign, features)

    y = np.tile([-1.0, 1.0], 10)
    X = np.repeat(y[:, None], 4, axis=1)
    told = []
    assert cross_validated(trials, X, y, total=4, progress=told.append) == {"sign": 1, "features": 2}
    assert told[-1] == "20 of 20 tried"
    assert cross_validated(trials, X, y, most=0.3) == {"sign": -1, "features": 1}


def test_the_lasso_takes_the_most_features_up_to_k():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, :3] @ [3.0, 2.0, 1.0] + 0.1 * rng.normal(size=60)
    for k in (1, 2, 3):
        support, predict = lasso(X, y, k)
        assert support.tolist() == list(range(k))
    assert np.sqrt(np.mean((y - predict(X)) ** 2)) < 0.15


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_jobs_that_json_can_hold(name):
    quick, paper = module(name).jobs(1, True), module(name).jobs(2, False)
    for jobs in (quick, paper):
        keys = [json.dumps(job, sort_keys=True) for job in jobs]
        assert keys or (name == "real" and data.missing("dexter"))  # it has jobs for the data at hand
        assert len(set(keys)) == len(keys)


def test_causes_are_of_experiments():
    assert CAUSES.keys() <= EXPERIMENTS.keys()


def test_the_list_names_every_experiment():
    shown = CliRunner().invoke(main, ["experiment", "list"])
    assert shown.exit_code == 0
    header, *rows = [line.split("\t") for line in shown.output.splitlines()]
    assert header == ["name", "reproduces", "quick, 1 run", "paper, 5 runs"]
    assert [row[0] for row in rows] == list(EXPERIMENTS)
    assert all(float(row[2]) > 0 for row in rows)
    assert [row[0] for row in rows if row[3] == "-"] == ["ma"]  # whose search was not timed


def test_all_goes_on_where_data_are_missing(monkeypatch, tmp_path):
    def run(name, out, **_):
        if name == "zhai":
            raise FileNotFoundError("zhai.svm is not at hand")
        out.mkdir(parents=True)
        (out / "results.md").write_text(f"## {name}\n")
        (out / "results.json").write_text("[]")
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
    assert [len(table.rows) for table in report] == [1, 1, 1, 1]


def test_sfsa_is_reported_beside_all_competitors(monkeypatch):
    monkeypatch.setattr(sfsa, "P", 400)
    monkeypatch.setattr(sfsa, "K", 10)
    pairs = []
    for task in ("regression", "classification"):
        job = {"task": task, "signal": 1.0, "ns": [5_000, 10_000], "seed": 0}
        outcome = sfsa.measure(**job)
        for told in outcome.values():
            assert {*sfsa.METHODS[task]} <= told.keys()
            assert min(of["seconds"] for of in told.values()) > 0
        assert outcome["10000"]["TSGD"]["seconds"] > outcome["5000"]["TSGD"]["seconds"]
        assert min(outcome["10000"][m]["found"] for m in ("SFSA", "TSGD")) == 100
        pairs.append((job, outcome))
    regression, classification, sparse = sfsa.report(Outcomes(pairs))
    assert [row[:3] for row in regression.rows[:3]] == [
        ["1", "5,000", "found %"],
        ["", "", "test RMSE"],
        ["", "", "seconds"],
    ]
    assert regression.rows[0][5].published == 98.05  # TSGD
    assert regression.rows[2][5].verdict == ""
    assert [len(t.rows) for t in (regression, classification, sparse)] == [6, 3, 0]


def test_x1_is_read_in_every_way():
    outcome = readings.measure(True, 2_000, 0)
    assert outcome["as given"].keys() == outcome["batches"].keys() | {"SOFS"} == readings.PUBLISHED.keys()
    assert outcome["batches"]["FOFS"]["found"] > 20  # chance is 1
    (table,) = readings.report(Outcomes([({"always": True, "n": 2_000, "seed": 0}, outcome)]))
    assert [row[1:3] for row in table.rows[:2]] == [["as given", "found %"], ["as given", "test AUC"]]
    assert table.rows[4][4] == "-"  # SOFS has no batches


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
