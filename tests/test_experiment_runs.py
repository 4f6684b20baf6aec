"""Which outcomes of an experiment are made, kept, and made again."""

import json
import subprocess
import types

import pytest
from click.testing import CliRunner

from papers import check as check_module
from papers import run, store, workers
from papers.__main__ import main
from papers.check import cheapest, differences
from papers.experiments import EXPERIMENTS, Experiment, load_experiment
from papers.report import Figure, Panel, Table, pages


@pytest.fixture
def coin(monkeypatch):
    """An experiment that records its jobs; `values`: what methods give, or a side and a method."""
    measured, values = [], {"thrown": 0.0, "spun": 0.0}

    def measure(methods, side, seed):
        measured.extend((side, seed, method) for method in methods)
        if side == "edge":
            raise KeyboardInterrupt
        return {
            m: {"value": seed + values.get((side, m), values[m]), "seconds": len(measured)} for m in methods
        }

    def report(outcomes):
        cells = [outcomes.where(side=s).cell("thrown", "value", published=0.5) for s in ("heads", "tails")]
        panel = Panel("values", "x", "y", {"ours": ([1, 2], [3, 4]), "published ours": ([1, 2], [4, 5])})
        table = Table("Coins", ["", "heads", "tails"], [["value", *cells]])
        return [table, Figure("coin", "Coin", [panel])]

    fake = types.SimpleNamespace(
        jobs=lambda runs, _: [{"side": s, "seed": r} for r in range(runs) for s in ("heads", "tails")],
        methods=lambda **_: ["thrown", "spun"],
        measure=measure,
        report=report,
        measured=measured,
        values=values,
    )
    for module in (run, workers, pages):
        monkeypatch.setattr(module, "load_experiment", lambda _: fake)
    use_commit(monkeypatch, "0000001")
    return fake


def use_commit(monkeypatch, commit):
    for module in (check_module, workers):
        monkeypatch.setattr(module, "current_commit", lambda: commit)


def check(name, out):
    return check_module.check(out / "outcomes.jsonl", name, 1, lambda *_: None)


def outcomes_of(out):
    return store.read(out / "outcomes.jsonl").values()


def sources_of(out):
    return pages.write_page("coin", out, pictures=False)[-1]


def test_what_is_made_is_not_made_again(coin, tmp_path):
    first = run.run("coin", tmp_path / "out", runs=2, workers=1)
    assert len(coin.measured) == 8
    again = run.run("coin", tmp_path / "out", runs=3, workers=1)
    assert {(side, seed) for side, seed, _ in coin.measured[8:]} == {("heads", 2), ("tails", 2)}
    assert first[0].rows[0][1].values == [0.0, 1.0]
    assert again[0].rows[0][1].values == [0.0, 1.0, 2.0]
    run.run("coin", tmp_path / "out", runs=2, workers=1, fresh=True)
    assert len(coin.measured) == 20
    assert len(store.read(tmp_path / "out" / "outcomes.jsonl")) == 12  # a key has one outcome


def test_an_interrupted_run_goes_on_where_it_stopped(coin, tmp_path):
    whole = coin.jobs
    coin.jobs = lambda runs, quick: [*whole(runs, quick)[:3], {"side": "edge", "seed": 0}]
    with pytest.raises(KeyboardInterrupt):
        run.run("coin", tmp_path / "out", runs=2, workers=1)
    outcomes = tmp_path / "out" / "outcomes.jsonl"
    outcomes.write_text(outcomes.read_text()[:-5])  # as if killed while writing the last
    coin.jobs = whole
    coin.measured.clear()
    parts = run.run("coin", tmp_path / "out", runs=2, workers=1)
    assert coin.measured == [("heads", 1, "spun"), ("tails", 1, "thrown"), ("tails", 1, "spun")]
    assert parts[0].rows[0][2].values == [0.0, 1.0]


def test_a_method_that_has_changed_costs_its_own_outcomes_and_no_others(coin, tmp_path, monkeypatch):
    run.run("coin", tmp_path, runs=3, workers=1)
    use_commit(monkeypatch, "0000002")
    coin.measured.clear()
    coin.values["spun"] = 0.25
    found = check("coin", tmp_path)
    assert coin.measured == [
        ("heads", 0, "thrown"),
        ("heads", 0, "spun"),
        ("tails", 0, "thrown"),
        ("tails", 0, "spun"),
    ]
    assert [(each.record.method, each.moved) for each in found] == [
        ("thrown", []),
        ("spun", ["value: 0 -> 0.25"]),
    ] * 2
    assert {r.checked for r in outcomes_of(tmp_path) if r.method == "thrown"} == {"", "0000002"}
    spun = [r for r in outcomes_of(tmp_path) if r.method == "spun"]
    assert sorted((r.job["seed"], r.commit, r.stale) for r in spun if r.job["side"] == "heads") == [
        (0, "0000002", ""),
        (1, "0000001", "0000002"),
        (2, "0000001", "0000002"),
    ]
    coin.measured.clear()
    run.run("coin", tmp_path, runs=3, workers=1)  # which has nothing left to check
    assert sorted(coin.measured) == [(side, seed, "spun") for side in ("heads", "tails") for seed in (1, 2)]
    assert not any(r.stale for r in outcomes_of(tmp_path))


def test_outcomes_of_another_setting_are_not_stale(coin, tmp_path, monkeypatch):
    run.run("coin", tmp_path, runs=2, workers=1)
    use_commit(monkeypatch, "0000002")
    coin.values["tails", "thrown"] = 1e-4
    check("coin", tmp_path)
    stale = [(r.job["side"], r.job["seed"], r.method) for r in outcomes_of(tmp_path) if r.stale]
    assert stale == [("tails", 1, "thrown")]


def test_rounding_is_no_change(coin, tmp_path, monkeypatch):
    run.run("coin", tmp_path, runs=2, workers=1)
    use_commit(monkeypatch, "0000002")
    coin.values |= {"thrown": 1e-10, "spun": -1e-10}
    assert not any(each.moved for each in check("coin", tmp_path))
    assert list(differences({"a": [1.0, None]}, {"a": [1 + 1e-7, None]})) == []
    assert list(differences({"a": [1.0, 2.0]}, {"a": [1 + 1e-5, 2.0]})) == ["a[0]: 1 -> 1.00001"]
    assert list(differences({"a": [1.0]}, {"a": [1.0, 2.0]})) == ["a: [1.0] -> [1.0, 2.0]"]
    assert list(differences({"a": 1.0, "seconds": 1.0}, {"b": "x", "seconds": 2.0})) == [
        "a: 1.0 -> None",
        "b: None -> x",
    ]
    assert list(differences(float("nan"), float("nan"))) == []


@pytest.mark.usefixtures("coin")
def test_what_this_commit_has_checked_is_not_checked_again(tmp_path, monkeypatch):
    run.run("coin", tmp_path, runs=2, workers=1)
    assert check("coin", tmp_path) == []
    use_commit(monkeypatch, "0000002")
    assert len(check("coin", tmp_path)) == 4
    assert check("coin", tmp_path) == []
    use_commit(monkeypatch, "0000002+")  # edited: it may be another code every time
    assert len(check("coin", tmp_path)) == len(check("coin", tmp_path)) == 4


def test_a_run_checks_what_is_stored_unless_told_not_to(coin, tmp_path, monkeypatch):
    run.run("coin", tmp_path, runs=2, workers=1)
    use_commit(monkeypatch, "0000002")
    coin.measured.clear()
    coin.values["thrown"] = 3.0
    parts = run.run("coin", tmp_path, runs=2, workers=1, unchecked=True)
    assert coin.measured == []
    assert parts[0].rows[0][1].values == [0.0, 1.0]
    parts = run.run("coin", tmp_path, runs=2, workers=1)
    assert parts[0].rows[0][1].values == [3.0, 4.0]


def test_a_page_says_what_was_checked_and_shows_stale_figures_as_earlier_ones(coin, tmp_path, monkeypatch):
    run.run("coin", tmp_path, runs=2, workers=1)
    use_commit(monkeypatch, "0000002")
    coin.values["heads", "thrown"] = 3.0
    check("coin", tmp_path)
    sources = sources_of(tmp_path)
    assert sources.summary() == "8 outcomes, 3 checked and equal, 1 stale."
    page = (tmp_path / "results.md").read_text()
    assert "| spun, thrown | 6 | 0000001 | 3 equal at 0000002 |" in page
    assert "| thrown | 1 | 0000001 | stale: 0000002 gives other figures |" in page
    assert "| thrown | 1 | 0000002 | not yet |" in page
    heads, tails = pages.write_page("coin", tmp_path, pictures=False)[0].rows[0][1:]
    assert (heads.values, heads.earlier, tails.values) == ([3.0], False, [0.0, 1.0])
    file = tmp_path / "outcomes.jsonl"  # the outcome of now is lost
    store.rewrite(file, [r for r in outcomes_of(tmp_path) if r.commit == "0000001"])
    heads, tails = pages.write_page("coin", tmp_path, pictures=False)[0].rows[0][1:]
    assert (heads.values, heads.earlier, tails.earlier) == ([1.0], True, False)


def test_the_cheapest_outcome_of_every_setting_is_checked():
    def record(seconds, method="A", commit="0000001", **job):
        return store.Record(job, method, 1.0, seconds, commit)

    cheap = [record(1.0, design="a", seed=1), record(2.0, design="b", seed=0, n=10), record(3.0, method="B")]
    costly = [record(3.0, design="a", seed=0, ns=[9]), record(9.0, design="b", seed=0, n=100)]
    assert cheapest([*costly, *cheap], "0000002") == cheap
    new = record(9.0, design="a", seed=2, commit="0000002")
    assert cheapest([*costly, *cheap, new], "0000002") == cheap[1:]


def test_methods_are_named_on_their_own_in_a_job():
    for name in EXPERIMENTS:
        for _, methods in run.cells_of(load_experiment(name), 1, True):
            assert len(set(methods)) == len(methods)


def test_options_that_do_not_apply_are_refused():
    for words, message in (
        (["zhai", "--fresh", "--unchecked"], "nothing to check"),
        (["zhai", "detection"], "Only `check`"),
        (["zhai", "--pictures"], "for `report`"),
    ):
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 2
        assert message in shown.stderr


@pytest.mark.usefixtures("coin")
def test_results_are_written_in_words_numbers_and_pictures(tmp_path):
    run.run("coin", tmp_path, runs=2, workers=1)
    text = (tmp_path / "results.md").read_text()
    assert "| value | 0.5 ± 0.5 (0.5 ?) |" in text.replace("\u00a0", " ")
    assert "![Coin](coin.png)" in text
    assert "`python -m papers coin`" in text
    table, figure, made = json.loads((tmp_path / "results.json").read_text())
    assert table["rows"][0][1]["verdict"] == "undecided"
    assert figure["panels"][0]["lines"]["ours"] == [[1, 2], [3, 4]]
    assert made["runs"] == 2
    (commit,) = made["made"]
    assert (commit["labels"], commit["outcomes"]) == (["thrown", "spun"], 8)
    assert commit["commit"] == "0000001"
    assert (tmp_path / "coin.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("coin")
def test_one_page_leads_to_all_that_a_folder_holds(tmp_path, monkeypatch):
    shown = {name: Experiment(f"Shows {name}", 2, 0.1, 60.0) for name in ("coin", "cent", "penny")}
    monkeypatch.setattr(pages, "EXPERIMENTS", shown)
    for name in ("penny", "coin"):
        run.run(name, tmp_path / "all" / name, runs=2, workers=1)
    page = pages.write_overview(tmp_path / "all")
    assert page == tmp_path / "all.md"
    text = page.read_text()
    assert "python -m papers all --out all\n" in text
    coin, penny = (f"| [{name}](all/{name}/results.md) | Shows {name} | 2 |\n" for name in ("coin", "penny"))
    assert coin + penny in text
    assert "\nall/coin/results\nall/penny/results\n" in text
    assert "All judged figures, of every method: 4 undecided." in text
    pages.write_overview(tmp_path / "all")
    assert page.read_text() == text


def test_an_experiment_has_its_own_number_of_runs(coin, tmp_path, monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "coin", Experiment("Coins", 3, 0.1, None))
    run.run("coin", tmp_path, workers=1)
    assert len(coin.measured) == 12
    run.run("coin", tmp_path, workers=1, quick=True, fresh=True)
    assert len(coin.measured) == 16


def test_all_goes_on_where_data_are_missing(monkeypatch, tmp_path):
    def fake_run(name, out, **_):
        if name == "zhai":
            raise FileNotFoundError("zhai.svm is not at hand")
        out.mkdir(parents=True)
        (out / "results.md").write_text(f"# {name}\n")
        (out / "results.json").write_text("[]")
        return []

    monkeypatch.setattr(run, "run", fake_run)
    shown = CliRunner().invoke(main, ["all", "--out", str(tmp_path / "all")])
    assert shown.exit_code == 0
    assert "zhai.svm is not at hand" in shown.stderr
    names = [
        line.split("[")[1].split("]")[0]
        for line in (tmp_path / "all.md").read_text().splitlines()
        if line.startswith("| [")
    ]
    assert names == [name for name in EXPERIMENTS if name != "zhai"]
    assert CliRunner().invoke(main, ["zhai", "--out", str(tmp_path)]).exit_code == 1


def test_processes_give_what_one_gives_and_report_the_progress_within_a_job():
    job = {"signal": "strong", "k": 10, "ns": [20], "seed": 0}  # searches 200 penalties for the Lasso
    jobs = [(job | {"seed": seed}, ["Lasso"]) for seed in (0, 1)]
    outcomes = []
    for n_workers in (1, 2):
        messages = []
        done = [
            record
            for records in workers.run_jobs("susan", jobs, n_workers, messages.append)
            for record in records
        ]
        outcomes.append({record.job["seed"]: record.value["20"] | {"seconds": 0.0} for record in done})
        assert any("seed 0: 3 of 200 tried" in message for message in messages)
        assert {record.method for record in done} == {"Lasso"}
    assert outcomes[0] == outcomes[1]
    assert sorted(outcomes[0]) == [0, 1]


def test_the_list_names_every_experiment():
    shown = CliRunner().invoke(main, ["list"])
    assert shown.exit_code == 0
    header, *rows = [line.split("\t") for line in shown.output.splitlines()]
    assert header == ["name", "shows", "runs", "quick, 1 run", "paper, all runs"]
    assert [row[0] for row in rows] == list(EXPERIMENTS)
    assert all(int(row[2]) > 0 < float(row[3]) for row in rows)
    assert [row[0] for row in rows if row[4] == "-"] == [
        name for name, experiment in EXPERIMENTS.items() if experiment.paper_minutes is None
    ]


def test_the_commits_on_the_pages_are_in_the_repository():
    def git(*words):
        command = ["git", "-C", str(store.CHECKOUT), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history is not here")
    files = sorted(store.CHECKOUT.glob("docs/results/*/outcomes.jsonl"))
    records = [record for file in files for record in store.read(file).values()]
    commits = {commit for r in records for commit in (r.commit, r.checked, r.stale)} - {""}
    assert not [c for c in commits if git("cat-file", "-e", f"{c.rstrip('+')}^{{commit}}").returncode]
