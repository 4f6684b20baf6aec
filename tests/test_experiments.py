"""The papers' numbers, from the experiments that print them, and the machinery that runs those."""

import itertools
import json
import re
import subprocess
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

from papers import data, run, store, versions, workers
from papers.__main__ import main
from papers.baselines import fit_averages, fofs_params, lasso, omp
from papers.causes import CAUSES
from papers.experiments import (
    EXPERIMENTS,
    Experiment,
    attainable,
    bounds,
    detection,
    drift,
    exceptions,
    explained,
    inference,
    load_experiment,
    protocol,
    readings,
    recovery,
    regret,
    sfsa,
    susan,
    zhai,
)
from papers.published import parse_table
from papers.report import Cell, Figure, Outcomes, Panel, Table, pages
from papers.tuning import best_params, cross_validate, largest_model
from streamsieve import RunningAverages, simulate
from streamsieve.statistics.standardize import standardize

# ---------------------------------------------------------------- machinery


@pytest.fixture
def coin(monkeypatch, tmp_path):
    """An experiment that records its jobs."""
    measured = []

    def measure(side, seed):
        measured.append((side, seed))
        if side == "edge":
            raise KeyboardInterrupt
        return {"landed": {"value": float(seed)}, "side": side}

    def report(outcomes):
        cells = [outcomes.where(side=s).cell("landed", "value", published=0.5) for s in ("heads", "tails")]
        panel = Panel("values", "x", "y", {"ours": ([1, 2], [3, 4]), "published ours": ([1, 2], [4, 5])})
        table = Table("Coins", ["", "heads", "tails"], [["value", *cells]])
        return [table, Figure("coin", "Coin", [panel])]

    source = tmp_path / "coin.py"
    source.write_text("# the module's text is part of its version")
    fake = types.SimpleNamespace(
        jobs=lambda runs, _: [{"side": s, "seed": r} for r in range(runs) for s in ("heads", "tails")],
        measure=measure,
        report=report,
        __file__=str(source),
        measured=measured,
    )
    for module in (run, workers):
        monkeypatch.setattr(module, "load_experiment", lambda _: fake)
    monkeypatch.setattr(run, "CAUSES", dict.fromkeys(("coin", "penny"), ("Coins have no memory.",)))
    return fake


def test_what_is_done_is_not_done_again(coin, tmp_path):
    first = run.run("coin", tmp_path / "out", runs=2, workers=1)
    assert len(coin.measured) == 4
    again = run.run("coin", tmp_path / "out", runs=3, workers=1)
    assert coin.measured[4:] == [("heads", 2), ("tails", 2)]
    assert first[0].rows[0][1].values == [0.0, 1.0]
    assert again[0].rows[0][1].values == [0.0, 1.0, 2.0]
    run.run("coin", tmp_path / "out", runs=2, workers=1, fresh=True)
    assert len(coin.measured) == 10


def test_an_interrupted_run_goes_on_where_it_stopped(coin, tmp_path):
    whole = coin.jobs
    coin.jobs = lambda runs, quick: [*whole(runs, quick)[:3], {"side": "edge", "seed": 0}]
    with pytest.raises(KeyboardInterrupt):
        run.run("coin", tmp_path / "out", runs=2, workers=1)
    outcomes = tmp_path / "out" / "outcomes.jsonl"
    outcomes.write_text(outcomes.read_text()[:-5])  # as if killed while writing the third
    coin.jobs = whole
    coin.measured.clear()
    parts = run.run("coin", tmp_path / "out", runs=2, workers=1)
    assert coin.measured == [("heads", 1), ("tails", 1)]
    assert parts[0].rows[0][2].values == [0.0, 1.0]


def test_what_is_stored_is_reported_without_the_rest(coin, tmp_path):
    with pytest.raises(FileNotFoundError, match="no outcome of coin"):
        run.run("coin", tmp_path / "out", runs=2, workers=1, stored=True)
    run.run("coin", tmp_path / "out", runs=2, workers=1)
    parts = run.run("coin", tmp_path / "out", runs=3, workers=1, stored=True)
    assert len(coin.measured) == 4
    assert parts[0].rows[0][1].values == [0.0, 1.0]
    assert "2 of 6 jobs" in (tmp_path / "out" / "results.md").read_text()
    pages.rewrite_results("coin", tmp_path / "out")
    assert "2 of 6 jobs" in (tmp_path / "out" / "results.md").read_text()
    assert "jobs" not in run.run("coin", tmp_path / "out", runs=2, stored=True)[1].markdown()


def test_outcomes_of_another_experiment_source_do_not_count(coin, tmp_path):
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    (tmp_path / "coin.py").write_text("# changed")
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    assert len(coin.measured) == 4


def set_sources(monkeypatch, digest):
    """As if all files of the library had been changed."""
    monkeypatch.setattr(versions, "library_digest", lambda: digest)
    for module in (store, workers):
        monkeypatch.setattr(module, "used_digest", lambda _: digest)


def test_outcomes_of_other_library_sources_are_used_only_as_stale(coin, tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "current_commit", lambda: "commit 0123456")
    set_sources(monkeypatch, "aaaaaaaa")
    fresh = run.run("coin", tmp_path / "out", runs=1, workers=1)
    assert re.fullmatch(
        r"Made by streamsieve \S+, sources aaaaaaaa \(experiment \w{8}\), commit 0123456\. "
        r"The experiment's files have not changed since\. "
        r"The library's sources may have: `git diff 0123456 -- src cpp`\.\n",
        fresh[-1].markdown(),
    )
    set_sources(monkeypatch, "bbbbbbbb")
    stale = run.run("coin", tmp_path / "out", runs=2, workers=1, stale=True)
    assert coin.measured[2:] == [("heads", 1), ("tails", 1)]
    for sources in ("aaaaaaaa", "bbbbbbbb"):
        assert re.search(rf"2 of 4 outcomes made by streamsieve \S+, sources {sources}", stale[-1].markdown())
    assert stale[-1].markdown() in (tmp_path / "out" / "results.md").read_text()
    current = run.run("coin", tmp_path / "out", runs=2, workers=1)
    assert coin.measured[4:] == [("heads", 0), ("tails", 0)]
    assert "sources bbbbbbbb" in current[-1].markdown()
    set_sources(monkeypatch, "aaaaaaaa")  # undone, and found again
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    assert len(coin.measured) == 6


def test_outcomes_stay_while_the_files_that_they_used_do(coin, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "used_files", lambda: ("used.py",))
    hashes = {"other.py": "0", "used.py": "1"}
    monkeypatch.setattr(versions, "library_hashes", lambda: hashes)
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    hashes["other.py"] = "2"
    parts = run.run("coin", tmp_path / "out", runs=1, workers=1)
    assert len(coin.measured) == 2
    assert parts[-1].markdown().startswith("Made by")
    for changed in ({"used.py": "3"}, {"other.py": "0"}):
        monkeypatch.setattr(versions, "library_hashes", lambda changed=changed: changed)
        with pytest.raises(FileNotFoundError, match="no outcome of coin"):
            run.run("coin", tmp_path / "out", runs=1, workers=1, stored=True)


def test_a_learner_uses_its_module_and_its_kernel_but_no_other():
    code = (
        "from papers import versions; from streamsieve import SIHTRegressor;"
        "print(*versions.used_files(), sep='\\n')"
    )
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, cwd=versions.CHECKOUT, capture_output=True, text=True, check=True).stdout
    used = {name.removeprefix("src/streamsieve/") for name in shown.split()}  # of a checkout, or installed
    assert {"methods/learners/siht.py", "core/method.py"} <= used
    assert "methods/learners/barda.py" not in used
    module = versions.CHECKOUT / "src" / "streamsieve" / "methods" / "learners" / "siht.py"
    kernel = {file.relative_to(versions.CHECKOUT).as_posix() for file in versions.kernel_files([module])}
    assert {"cpp/learners/siht.hpp", "cpp/learners/siht.cpp", "cpp/core/simd.cpp", "CMakeLists.txt"} <= kernel
    assert not {"cpp/learners/barda.hpp", "cpp/text/csv.hpp"} & kernel


def test_a_function_of_unknown_source_uses_all_kernels(tmp_path):
    module = tmp_path / "module.py"
    module.write_text("_core.nowhere(rows)")
    assert len(versions.kernel_files([module])) > len(list(versions.CPP.rglob("*.cpp")))
    assert versions.CPP / "text" / "csv.hpp" in versions.kernel_files([module])


def test_outcomes_without_known_sources_are_stale(coin, tmp_path):
    (tmp_path / "out").mkdir()
    line = {
        "job": {"side": "heads", "seed": 0},
        "outcome": {"landed": {"value": 9.0}},
        "version": "0.1.0 0123456789ab",
    }
    (tmp_path / "out" / "outcomes.jsonl").write_text(json.dumps(line))
    parts = run.run("coin", tmp_path / "out", runs=1, workers=1, stale=True)
    assert coin.measured == [("tails", 0)]
    made = parts[-1].markdown()
    assert "1 of 2 outcomes made by streamsieve 0.1.0, sources unknown (experiment 01234567)" in made
    assert "have changed since 1 of them were made." in made
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    assert coin.measured == [("tails", 0), ("heads", 0)]


def test_the_digest_changes_with_the_content_and_the_name_of_a_file(tmp_path):
    files = [tmp_path / "a.py", tmp_path / "b.py"]
    for file in files:
        file.write_text(file.name)
    first = versions.digest(files, tmp_path)
    assert versions.digest(files[::-1], tmp_path) == first
    files[0].write_text("changed")
    changed = versions.digest(files, tmp_path)
    files[0].write_text("a.py")
    assert versions.digest([*files[1:], files[0].rename(tmp_path / "c.py")], tmp_path) != first != changed
    assert re.fullmatch(r"[0-9a-f]{8}", versions.library_digest())


def test_an_experiment_depends_on_what_it_imports_but_not_on_what_reports():
    experiments = versions.PAPERS / "experiments"
    names = {file.name for file in versions.imported_files(experiments / "wide.py")}
    assert {"wide.py", "detection.py", "baselines.py", "tuning.py"} <= names
    folders = {
        file.parent.name for file in versions.imported_files(versions.PAPERS / "experiments" / "ma.py")
    }
    assert folders == {"papers", "experiments"}


def test_fresh_and_stale_exclude_each_other():
    shown = CliRunner().invoke(main, ["zhai", "--fresh", "--stale"])
    assert shown.exit_code == 2
    assert "pass one of the two" in shown.stderr


@pytest.mark.usefixtures("coin")
def test_results_are_written_in_words_numbers_and_pictures(tmp_path):
    run.run("coin", tmp_path, runs=2, workers=1)
    text = (tmp_path / "results.md").read_text()
    assert "| value | 0.5 ± 0.5 (0.5 ?) |" in text.replace("\u00a0", " ")
    assert "![Coin](coin.png)" in text
    assert "`python -m papers coin --scale paper --runs 2`" in text
    assert "## Remarks\n\n- Coins have no memory.\n" in text  # nothing is worse
    table, figure, note, provenance = json.loads((tmp_path / "results.json").read_text())
    assert table["rows"][0][1]["verdict"] == "undecided"
    assert figure["panels"][0]["lines"]["ours"] == [[1, 2], [3, 4]]
    assert note["points"] == ["Coins have no memory."]
    assert provenance["outcomes"] == {provenance["version"]: 4}
    assert (tmp_path / "coin.png").read_bytes().startswith(b"\x89PNG")


def fake_experiments(monkeypatch, **runs):
    shown = {name: Experiment(f"Shows {name}", n, 0.1, 60.0 * n) for name, n in runs.items()}
    monkeypatch.setattr(pages, "EXPERIMENTS", shown)


@pytest.mark.usefixtures("coin")
def test_one_page_leads_to_all_that_a_folder_holds(tmp_path, monkeypatch):
    fake_experiments(monkeypatch, coin=2, cent=3, penny=4)
    for name in ("penny", "coin"):
        run.run(name, tmp_path / "all" / name, runs=2, workers=1)
    page = pages.write_overview(tmp_path / "all")
    assert page == tmp_path / "all.md"
    text = page.read_text()
    assert "python -m papers all --out all\n" in text
    coin, penny = (f"| [{name}](all/{name}/results.md) | Shows {name} | 2 |\n" for name in ("coin", "penny"))
    assert coin + penny in text
    assert "2 of 2 experiments take" in text
    assert "\nall/coin/results\nall/penny/results\n" in text
    assert "All judged figures, of every method: 4 undecided." in text
    pages.write_overview(tmp_path / "all")
    assert page.read_text() == text


def test_contests_are_counted_and_listed_by_outcome(tmp_path, monkeypatch):
    fake_experiments(monkeypatch, coin=3)
    cells = {
        "1": Cell([9.0, 9.1, 9.2], 1.0),
        "2": Cell([100.0] * 3, 100.0),
        "3": Cell([9.0, 9.1, 9.2], 20.0),
        "4": Cell([1.0, 9.0], 5.0),
        "5": Cell([3.0], 5.0),
        "6": Cell([7.0], 5.0),
    }
    table = Table("Found: Table 1", ["n", "A"], [[n, cell] for n, cell in cells.items()], contest="row")
    out = tmp_path / "all" / "coin"
    out.mkdir(parents=True)
    pages.write_results("coin", "python -m papers coin --runs 3", [table], out)
    text = pages.write_overview(out.parent).read_text().replace("\u00a0", " ")
    assert (
        "Of 6 contests our best method is better than the best published figure of any method in 1, " in text
    )
    assert "equal in 1 and worse in 1; 1 are undecided, and 2 were run only once" in text
    assert "| [coin](all/coin/results.md) | Shows coin | 3 | 1 | 1 | 1 | 1 | 2 |" in text
    lost, undecided = text.index("## Lost"), text.index("## Undecided")
    assert lost < text.index("| coin | Found | n = 3 | A | 9.1 ± 0.1 (20.0 ▼) |") < undecided
    assert undecided < text.index("| coin | Found | n = 4 | A | 5.0 ± 4.0 (5.0 ?) |")
    assert "| n = 5 | A | 3.0 (5.0 ?) |" in text  # run once, and behind
    assert "n = 6" not in text


def test_processes_give_what_one_gives_and_report_the_progress_within_a_job():
    job = {"signal": "strong", "k": 10, "ns": [20], "seed": 0}  # searches 200 penalties for the Lasso
    jobs, outcomes = [job, job | {"seed": 1}], []
    for n_workers in (1, 2):
        messages = []
        done = workers.run_jobs("susan", jobs, n_workers, messages.append)
        outcomes.append({j["seed"]: without_seconds(outcome.value) for j, outcome in done})
        assert any("seed 0: 3 of 200 tried" in message for message in messages)
    assert outcomes[0] == outcomes[1]
    assert list(outcomes[0]) == [0, 1]


def without_seconds(outcome):
    return {n: {m: by | {"seconds": 0.0} for m, by in methods.items()} for n, methods in outcome.items()}


def test_a_cell_is_judged_by_its_error():
    assert Cell([1.0, 1.01, 0.99], 0.5).verdict == "better"
    assert Cell([1.0, 1.01, 0.99], 0.5, better="less").verdict == "worse"
    assert Cell([0.0, 1.0], 0.7).verdict == "undecided"  # the interval holds anything
    assert Cell([0.99, 1.0, 1.01], 1.005, digits=3).verdict == "equal"
    assert Cell([0.98, 1.0, 1.02], 1.02, digits=3).verdict == "undecided"  # it may be 7% less
    assert Cell([95.0, 95.0, 98.0], 100.0).verdict == "undecided"
    assert Cell([0.9, 1.0, 1.1], 0.5, digits=3).verdict == "better"
    assert Cell([1.0199, 1.0201], 1.0, digits=1).verdict == "equal"  # to the digits shown
    assert Cell([0.9], 0.5).verdict == "undecided"  # one run has no error
    assert Cell([1.0, 1.0], 0.5, better="").verdict == ""  # seconds are another machine's
    assert str(Cell([1.0, 1.0], 0.5, better="")) == "1.0 ± 0.0 (0.5)"
    assert str(Cell([1234.5678, 1234.5678], digits=4)) == "1234.6 ± 0.0"
    assert str(Cell([], 97.0)) == "- (97.0)"
    assert str(Cell([])) == "-"


def test_equal_runs_are_not_certain():
    assert Cell([85.0, 85.0], 86.1).verdict == "undecided"
    assert Cell([80.0] * 3, 79.2).verdict == "undecided"
    assert Cell([80.0] * 3, 65.7).verdict == "better"
    assert Cell([2.0] * 3, 1.2).verdict == "undecided"  # two features of a hundred, and about one
    assert Cell([0.4] * 3, 98.5).verdict == "worse"
    assert Cell([100.0] * 3, 98.0).verdict == "better"
    assert Cell([100.0] * 3, 99.9).verdict == "equal"  # of 300 features none is missed, of 1,000 one
    assert Cell([6.86] * 10, 6.83, "less", 2).verdict == "undecided"
    assert Cell([9.71] * 10, 5.14, "less", 2).verdict == "worse"


def test_notes_are_short():
    note = "1 runs. a is not at hand: a.svm, from there. b is not at hand: b.1 ... b.9, from elsewhere."
    shown = Table("", ["x"], [], note).legend()
    assert shown.startswith("1 run. Not run, since the files are not at hand")
    assert shown.endswith(": a, b.")
    assert Table("", ["x"], [], "11 runs.").legend() == "11 runs."


def test_a_cell_read_from_a_file_is_the_same():
    for cell in (Cell([1.0, 1.5], 1.2, "less", 3), Cell([1.0], 2.0), Cell([], 97.0), Cell([1.0, 2.0])):
        again = Cell.from_json(json.loads(json.dumps(cell.json())))
        assert str(again) == str(cell)
        assert again.json() == cell.json()


def test_the_best_method_meets_the_best_published():
    def row(a, b, lasso):
        return [Cell(a, 0.5), Cell(b, 0.9), Cell(lasso, 0.7)]

    good, poor, top = [0.9, 0.91, 0.9], [0.5, 0.51, 0.5], [1.0, 1.0]
    table = Table("", ["n", "", "A", "B", "Lasso"], [["1", "x", *row(good, poor, top)]], contest="row")
    (contest,) = table.contests()
    assert (contest.setting, contest.method, contest.ours.published) == ("n = 1; x", "A", 0.9)
    assert contest.ours.verdict != "worse"
    (lost,) = Table("", ["n", "A", "B"], [["1", *row(poor, poor, top)[:2]]], contest="row").contests()
    assert lost.ours.verdict == "worse"
    rows = [["d", m, c] for m, c in zip(("A", "B", "Lasso"), row(poor, good, top))]
    by_rows = Table("", ["data", "method", "error"], [*rows, ["e", "A", Cell([1.0, 1.0])]], contest="error")
    assert [(c.setting, c.method) for c in by_rows.contests()] == [("d", "B")]  # nothing is published of e
    assert list(Table("", ["n", "A"], [["1", Cell(good, 0.9)]]).contests()) == []


def test_a_report_is_judged_anew_without_computing(coin, tmp_path, monkeypatch):
    run.run("coin", tmp_path / "all" / "coin", runs=2, workers=1)
    before = (tmp_path / "all" / "coin" / "results.md").read_text()
    monkeypatch.setattr(pages, "CAUSES", {"coin": ("Coins have edges.",)})
    measured = len(coin.measured)
    pages.rewrite_results("coin", tmp_path / "all" / "coin")
    after = (tmp_path / "all" / "coin" / "results.md").read_text()
    assert len(coin.measured) == measured
    since = " The experiment's files have not changed since."  # which are not among the library's
    assert after == before.replace("Coins have no memory.", "Coins have edges.").replace(since, "")


def test_a_report_says_whether_the_sources_of_now_made_it(tmp_path, monkeypatch):
    now = versions.experiment_digest(versions.PAPERS / "experiments" / "wide.py")
    for sources, experiment, said in (
        ("aaaaaaaa", now, "made by the library's sources of now. The experiment's files have not"),
        ("bbbbbbbb", now, "made by other sources of the library than those of now. The experiment's"),
        (
            "aaaaaaaa",
            "0" * 8,
            "made by the library's sources of now. The experiment's files, its report",
        ),
    ):
        made = f"streamsieve 0.1.0, sources {sources} (experiment {experiment})"
        record = {"version": made, "outcomes": {made: 3}}
        (tmp_path / "results.json").write_text(json.dumps([record]))
        (tmp_path / "results.md").write_text("`python -m papers wide --runs 1`")
        monkeypatch.setattr(pages, "checkout_digest", lambda: "aaaaaaaa")
        assert pages.rewrite_results("wide", tmp_path).startswith(said)
        assert "`python -m papers wide --runs 1`" in (tmp_path / "results.md").read_text()


def test_pictures_are_drawn_from_what_is_stored(tmp_path):
    panels = [
        Panel("values", "x", "y", {"ours": ([200, 2_000], [3, 4])}, xlog=True, ylog=True, markers=False)
    ]
    figure = Figure("values", "Values", panels, columns=2)
    again = Figure.from_json(json.loads(json.dumps(figure.json())))
    assert again.json() == figure.json()
    assert again.draw(tmp_path).read_bytes() == figure.draw(tmp_path).read_bytes()


RESULTS = sorted((versions.CHECKOUT / "docs" / "results").glob("*/results.json"))


# What a cause may be limited to, beside n and the signal: of each kind that it names one must hold.
LIMITS = (
    ("dexter", "dorothea", "arcene"),
    ("hinge", "logistic"),
    ("RMSE", "AUC", "test error", "non-zeros", "found"),
    ("strong", "varied", "weak"),
    ("sparse rows",),
)


def worse_cells(parts):
    """The method of each figure that is worse than published, and all words of its table, column and row."""
    for table in (Table.from_json(part) for part in parts if "rows" in part):
        by_row = table.columns.index("method") if table.contest not in ("", "row") else None
        above = []
        for row in table.rows:
            words = [w or old for w, old in itertools.zip_longest(map(word, row), above, fillvalue="")]
            above = words
            for column, cell in zip(table.columns, row):
                if isinstance(cell, Cell) and cell.verdict == "worse":
                    method = column if by_row is None else words[by_row]
                    yield method, " | ".join((table.title, column, *filter(None, words)))


def word(entry):
    return entry if isinstance(entry, str) else ""


def holds(phrase, text):
    """Whether the text has these words, not as parts of others."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.I) is not None


def named(label, methods):
    """The methods that a label names, the longest names first: "SFSA-AG" does not name "SFSA"."""
    names = {name for method in methods for name in (method, method.split(",")[0])}
    found = set()
    for name in sorted(names, key=len, reverse=True):
        if holds(name, label):
            found.add(name)
            label = label.replace(name, "")
    return found


def covers(label, method, words, methods):
    """Whether a label, what is bold in a cause up to its colon, speaks of this method at this setting."""
    about = named(label, methods)
    if about and not about & {method, method.split(",")[0]}:
        return False
    limits = [[phrase for phrase in kind if holds(phrase, label)] for kind in LIMITS]
    limits += [re.findall(r"n = ([\d,]*\d)", label), re.findall(r"signal ([\d.]*\d)", label, re.I)]
    known = [kind for kind in limits if kind]
    return bool(about or known) and all(any(holds(phrase, words) for phrase in kind) for kind in known)


def uncovered(causes, parts):
    labels = [
        "".join(found) for cause in causes for found in re.findall(r"\*\*(.+?)\*\*([^:]{0,60}:)?", cause)
    ]
    worse = list(worse_cells(parts))
    methods = {method for method, _ in worse}
    return [cell for cell in worse if not any(covers(label, *cell, methods) for label in labels)]


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.parent.name)
def test_whatever_is_worse_than_published_has_a_cause_for_its_method_and_setting(file):
    assert not uncovered(CAUSES.get(file.parent.name, ()), json.loads(file.read_text()))


def test_a_cause_of_another_method_or_setting_does_not_count():
    poor, good = Cell([1.0, 1.1, 1.2], 9.0), Cell([1.0, 1.1, 1.2])
    rows = [["0.1", "1,000", poor, good], ["0.1", "3,000", good, poor]]
    parts = [Table("Found", ["signal", "n", "SFSA", "SFSA-AG"], rows).json()]
    sfsa, ag = uncovered((), parts)
    assert (sfsa[0], ag[0]) == ("SFSA", "SFSA-AG")
    assert uncovered(("**SFSA**: x.",), parts) == [ag]
    assert uncovered(("SFSA: x.", "**SFSA-AG** has it.", "**Others**: SFSA."), parts) == [sfsa]
    assert uncovered(("**SFSA**, n = 3,000: x.", "**SFSA-AG at n = 3,000** x."), parts) == [sfsa]
    assert uncovered(("**SFSA and SFSA-AG**: x.",), parts) == []
    assert uncovered(("**SFSA and SFSA-AG**, RMSE: x.",), parts) == [sfsa, ag]
    assert uncovered(("**Signal 0.1**: all of them.",), parts) == []


def test_the_published_results_are_what_their_files_hold(tmp_path):
    results = versions.CHECKOUT / "docs" / "results"
    copy = tmp_path / "results"
    for file in results.glob("*/results.*"):
        (copy / file.parent.name).mkdir(parents=True, exist_ok=True)
        (copy / file.parent.name / file.name).write_bytes(file.read_bytes())
    (tmp_path / "docs").mkdir()
    copy = copy.rename(tmp_path / "docs" / "results")
    assert CliRunner().invoke(main, ["report", "--out", str(copy)]).exit_code == 0
    for file in (*copy.glob("*/results.*"), copy.with_suffix(".md")):
        kept = results.parent / file.relative_to(copy.parent)
        assert file.read_text() == kept.read_text(), "run `python -m papers report --out docs/results`"


def test_outcomes_are_found_by_their_jobs():
    outcomes = Outcomes([({"s": [1, 2], "seed": r}, {"m": {"x": r}}) for r in range(3)])
    assert outcomes.where(s=(1, 2)).values("m", "x") == [0, 1, 2]
    assert not outcomes.where(s=3)
    assert outcomes.values("m", "y") == []
    assert outcomes.runs() == 3


def test_printed_numbers_are_read():
    assert parse_table("1 2 | 3 -\n4 5 |\n  6 7") == [[[1, 2], [3, None]], [[4, 5], [6, 7]]]


def test_the_best_of_what_is_tried_is_taken():
    messages = []
    tried = [({"a": 1}, 2.0), ({"a": 2}, 1.0), ({"a": 2}, 1.5), ({"a": 3}, 2.5)]  # scores of a candidate add
    assert best_params(tried, 4, messages.append) == {"a": 2}
    assert messages == ["1 of 4 tried", "2 of 4 tried", "3 of 4 tried", "4 of 4 tried"]
    assert best_params([({"a": 1}, (1, 0)), ({"a": 2}, (1, 3)), ({"a": 3}, (0, 9))]) == {"a": 2}
    assert best_params([({"a": 1}, 1), ({"a": 2}, 1)]) == {"a": 1}
    sizes = [({"lam": 3}, 2), ({"lam": 2}, 5), ({"lam": 1}, 5), ({"lam": 0}, 6)]
    assert largest_model(sizes, 5) == {"lam": 1}


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
    messages = []
    assert cross_validate(trials, X, y, total=4, progress=messages.append) == {"sign": 1, "features": 2}
    assert messages[-1] == "20 of 20 tried"
    assert cross_validate(trials, X, y, max_share=0.3) == {"sign": -1, "features": 1}


def test_the_lasso_takes_the_most_features_up_to_k():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, :3] @ [3.0, 2.0, 1.0] + 0.1 * rng.normal(size=60)
    for k in (1, 2, 3):
        support, predict = lasso(X, y, k)
        assert support.tolist() == list(range(k))
    assert np.sqrt(np.mean((y - predict(X)) ** 2)) < 0.15


def test_averages_are_as_good_as_rows_to_the_lasso_and_to_pursuit():
    X, y = simulate.correlated(None, p=40, k=4, signal=0.3).take(500)
    s = standardize(RunningAverages().update(X, y))
    for name, fit in (("Lasso", lasso), ("OMP", omp)):
        support, predict = fit(X, y, 6)
        again, predict_again = fit_averages(name, s, 6)
        assert again.tolist() == support.tolist()
        np.testing.assert_allclose(predict_again(X), predict(X), rtol=1e-8)


def test_the_step_of_fofs_is_that_of_rows_of_norm_one():
    X = np.array([[3.0, 4.0], [0.0, 5.0]])
    assert fofs_params(X) == fofs_params(sp.csr_array(X)) == {"eta": 0.2 / 25}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_jobs_that_json_can_hold(name):
    quick, paper = (load_experiment(name).jobs(*scale) for scale in ((1, True), (2, False)))
    for jobs in (quick, paper):
        keys = [json.dumps(job, sort_keys=True) for job in jobs]
        assert keys or (name == "real" and data.missing_files("dexter"))  # it has jobs for the data at hand
        assert len(set(keys)) == len(keys)


def test_causes_are_of_experiments():
    assert CAUSES.keys() <= EXPERIMENTS.keys()


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


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.parent.name)
def test_results_are_what_the_command_for_all_writes(file):
    name = file.parent.name
    text = file.with_suffix(".md").read_text()
    assert f"`python -m papers {name} --scale paper --runs {EXPERIMENTS[name].runs}`" in text


def test_an_experiment_has_its_own_number_of_runs(coin, tmp_path, monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "coin", Experiment("Coins", 3, 0.1, None))
    run.run("coin", tmp_path, workers=1)
    assert len(coin.measured) == 6
    run.run("coin", tmp_path, workers=1, quick=True, fresh=True)
    assert len(coin.measured) == 8
    assert "--scale quick --runs 1`" in (tmp_path / "results.md").read_text()


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
    page = (tmp_path / "all.md").read_text()
    assert re.findall(r"^\| \[(\w+)\]", page, re.M) == [name for name in EXPERIMENTS if name != "zhai"]
    assert CliRunner().invoke(main, ["zhai", "--out", str(tmp_path)]).exit_code == 1


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
        job = {"task": task, "signal": 1.0, "ns": [5_000, 10_000], "ladders": True, "seed": 0}
        outcome = sfsa.measure(**job)
        for methods in outcome.values():
            assert {*sfsa.METHODS[task]} <= methods.keys()
            assert min(of["seconds"] for of in methods.values()) > 0
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


def test_runs_of_sfsa_that_are_fewer_are_named():
    jobs = sfsa.jobs(3, quick=False)
    outcomes = Outcomes([(job, {}) for job in jobs])
    tables = sfsa.report(outcomes)
    for table in tables[:2]:
        assert "3 runs, n = 100,000: 2, n = 300,000: 2, OPG and RDA: 1; published: 20." in table.note
    assert "3 runs, OPG and RDA: 1; published: 20." in tables[2].note
    job = {"p": 500, "k": 5, "nnz": 20, "n": 2_000, "seed": 0}
    whole, less = ({*sfsa.measure(**job, ladders=ladders)["2000"]} for ladders in (True, False))
    assert whole - less == {"OPG", "RDA"}
    assert {*sfsa.measure(**job, sieve=True)["2000"]} == {"Sieve"}


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
    assert drift.last_rmse(agree["0.001 a row"]["rmse"]) <= 1.05
    assert drift.last_rmse(agree["none"]["rmse"]) > 2
    assert np.shape(agree["truth"]) == np.shape(agree["none"]["coef"])


def test_all_rows_of_susans_table_are_run():
    lengths = {(signal, k): ns for signal, k, ns in susan.settings()}
    assert sum(len(ns) for (signal, _), ns in lengths.items() if "," not in signal) == 22
    assert lengths["weak, 0.01", 100] == lengths["weak", 100] == [1_000, 10_000, 100_000, 300_000, 1_000_000]
    first, second = (
        {n for job in susan.jobs(2, False) if job["seed"] == seed for n in job["ns"]} for seed in (0, 1)
    )
    assert max(first) == 1_000_000
    assert max(second) == susan.ALL_ROWS


@pytest.mark.parametrize("method", ["B-ARDA", "B-AMD"])
def test_regret_is_below_its_bound(method):
    outcome = bounds.measure(what="regret", method=method, delta="as needed", n=300, seed=0)
    assert 0 < outcome["regret"] < outcome["bound"]
    assert outcome["truncation"] > 0


def test_bounds_are_reported_beside_what_is_measured():
    jobs = [job for job in bounds.jobs(2, quick=True) if job.get("n", 0) <= 10_000]
    outcomes = Outcomes([(job, bounds.measure(**job)) for job in jobs if job["what"] in ("ofsa", "sfsa")])
    found = outcomes.where(what="ofsa", p=20, n=10_000)
    assert found.values("at 1") == [1.0, 1.0]
    assert min(found.values("needed")) > max(found.values("steps"))  # the steps as printed are too few
    for p in bounds.WIDTHS:
        assert all(
            by["bound"] > 1 for _, by_ratio in outcomes.where(p=p, what="sfsa") for by in by_ratio.values()
        )


def test_the_regret_of_least_squares_is_below_the_bound_of_its_proof():
    jobs = [
        job | {"n": 4_000}
        for job in bounds.jobs(2, quick=True)
        if job["what"] == "olsth" and job["n"] == 1_000
    ]
    outcomes = [(job, bounds.measure(**job)) for job in jobs]
    assert {job["weights"] for job in jobs} == {
        "[Sun] (3.28)",
        "a tenth of (3.28)",
    }  # n_0 of the other is 2,764
    for job, outcome in outcomes:
        assert 0 < outcome["regret"] < outcome["bound"]
        early = outcome["right"] <= bounds.first_rows(4_000, job["weights"])
        assert early == (job["weights"] == "[Sun] (3.28)")
    table = bounds._olsth_table(Outcomes(outcomes))
    assert [row[4] for row in table.rows] == ["100%", "0%"]


def test_signs_depend_on_the_row_and_the_response_before():
    X, y = bounds.draw_signs(10, 20_000, 0.1, 0)
    assert set(np.unique(X)) == {-1.0, 1.0}
    assert (X[1:] * X[:-1]).mean() == pytest.approx(bounds.KEEPS, abs=0.02)
    assert (X[1:] * np.sign(y[:-1])[:, None]).mean() > bounds.FOLLOWS / 2
    assert bounds.corollary_3(X)["ratio"] < 1.26


def test_the_share_that_normal_errors_find_is_what_least_squares_find(monkeypatch):
    monkeypatch.setattr(recovery, "P", 200)
    found = {5: [], 100: []}
    for k, shares in found.items():
        for seed in range(4 if k == 100 else 20):
            stream = simulate.correlated(400, 200, k, signal=0.2, spacing=1, random_state=seed)
            support = recovery.METHODS["OLSth, no ridge"](
                standardize(RunningAverages().update(*stream.take(400))), k
            ).support
            shares.append(100 * np.isin(support, stream.support).mean())
    few, many = (recovery.expected_share(k, 400, 0.2) for k in found)
    assert many > few + 10
    assert np.mean(found[5]) == pytest.approx(few, abs=12)
    assert np.mean(found[100]) == pytest.approx(many, abs=4)


def test_a_rate_depends_on_k_where_the_interval_of_its_rise_leaves_out_zero():
    verdicts = [recovery._verdict(Cell(values)) for values in ([9.0, 10.0, 11.0], [0.1, 0.2], [-20.0, 30.0])]
    assert verdicts == ["does not hold", "holds", "undecided"]


def test_schedules_are_drawn_from_all_features_to_k():
    figure = recovery._annealing_figure()
    for x, left in figure.panels[0].lines.values():
        assert (len(x), left[-1]) == (500, 10)
        assert left == sorted(left, reverse=True)


def test_what_is_said_of_regret_is_judged_by_the_slopes_of_its_curves(monkeypatch):
    monkeypatch.setattr(regret, "SHOWN", (100, 200, 400, 800))
    falling = {n: 1000 / n for n in regret.SHOWN}
    late = dict(zip(regret.SHOWN, (10.0, 9.0, 8.0, 4.0)))
    early = dict(zip(regret.SHOWN, (10.0, 5.0, 4.0, 4.0)))
    curves = dict.fromkeys(regret.EXTRACTORS, falling) | dict.fromkeys([*regret.LEARNERS][:5], early)
    curves |= {"TSGD, cut when read": late, "SADMM": falling, regret.OWN: falling | {800: -1.0}}
    outcome = {str(n): {m: curve[n] for m, curve in curves.items()} for n in regret.SHOWN}
    shorter = {n: by for n, by in outcome.items() if n != "800"}
    job = {"setting": "Sun, signal 1", "n": 800, "seed": 0}
    figure, claims, numbers = regret.report(Outcomes([(job, outcome), (job | {"seed": 1}, shorter)]))
    assert "runs: 2, from n = 800 on: 1" in figure.note
    assert {row[1]: row[2].rpartition(": ")[2] for row in claims.rows} == dict.fromkeys(
        regret.EXTRACTORS, "holds"
    ) | {
        "TSGD": "does not hold",
        "TSGD, fading steps": "does not hold",
        regret.OWN: "does not hold",
        "TSGD, cut when read": "holds",
        "SADMM": "does not hold",
        "SADMM, rho = 1, fading steps": "holds",
    }
    assert claims.rows[0][2] == "-1.00, then -1.00: holds"
    assert claims.rows[6][2] == "-1.00, then below 0: does not hold"
    assert len(numbers.rows) == len(curves) - 1


def test_regret_is_that_of_all_methods(monkeypatch):
    monkeypatch.setattr(regret, "P", 120)
    figure, _, *rest = regret.SETTINGS["Sun, signal 1"]
    monkeypatch.setitem(regret.SETTINGS, "Sun, signal 1", (figure, 12, *rest))
    monkeypatch.setattr(regret, "SHOWN", (500, 1_000))
    monkeypatch.setattr(regret, "SADMM_ROWS", 500)
    outcome = regret.measure("Sun, signal 1", 1_000, 0)
    lost = {m for m in regret.LEARNERS if m.startswith("SADMM")}
    assert outcome["500"].keys() - outcome["1000"].keys() == lost
    assert outcome["500"][regret.OWN] < outcome["500"]["TSGD"]
    assert all(value > 0 for value in outcome["1000"].values())


def test_a_models_error_is_read_from_the_averages():
    X, y = simulate.correlated(None, p=30, k=3).take(200)
    coef = np.linspace(-1, 1, 30)
    error = regret.model_error(RunningAverages().update(X + 2, y), coef, 0.5)
    assert error == pytest.approx(np.mean((y - (X + 2) @ coef - 0.5) ** 2))


def test_claims_of_l1_are_read_from_the_stored_tables(tmp_path):
    def cells(values):
        return [Cell([v]) for v in values]

    columns = ["data", "method", *map(str, zhai.BUDGETS), "parameters"]
    budgeted = [["dexter", m, *cells([a] * 8), ""] for m, a in (("B-ARDA", 85.0), ("B-AMD", 70.0))]
    rows = [["dexter", "l1-ARDA", size, *cells([a]), ""] for size, a in (("5", 99), ("20", 80), ("90", 90))]
    rows += [["dexter", "Ada-FOBOS", "50", *cells([60.0]), ""]]
    budgets = Table(zhai.BUDGET_TITLE, columns, budgeted)
    penalties = Table(zhai.PENALTY_TITLE, ["data", "method", "features", "accuracy", "parameters"], rows)
    (tmp_path / "results.json").write_text(json.dumps([budgets.json(), penalties.json()]))
    for _ in range(2):  # it replaces what was there
        zhai.write_l1_claims(tmp_path)
    _, claims, _ = json.loads((tmp_path / "results.json").read_text())
    assert dict(claims["rows"]) == {
        "B-ARDA is better than l1-ARDA": "1 of 2, not at 90 (85.0 and 90.0)",
        "B-AMD is better than Ada-FOBOS": "1 of 1",
        "B-ARDA is better than B-AMD": "5 of 5",
        "B-ARDA is better than Ada-FOBOS": "1 of 1",
        "l1-ARDA is better than B-AMD": "2 of 2",
        "l1-ARDA is better than Ada-FOBOS": "1 of 1",
    }


def test_drift_is_judged_over_the_last_few_hundred_steps():
    curve = {"rmse": [2.0] * 70 + [1.0] * 20 + [3.0] * 10, "coef": [[0.0]] * 100}
    outcome = dict.fromkeys(drift.RATES, curve) | {
        "steps": [*range(100)],
        "truth": [[0.0]] * 100,
        "support": [9],
    }
    table, *_ = drift.report(Outcomes([({"design": "period 1,750", "seed": s}, outcome) for s in (0, 1)]))
    (_, _, judged, *_), (_, _, few, *_) = table.rows
    assert (judged.published, few.published) == (1.028, None)
    assert judged.mean == pytest.approx(np.sqrt((20 * 1 + 10 * 9) / 30))
    assert few.mean == pytest.approx(3.0)


def test_causes_are_shown_at_work(monkeypatch):
    for name, value in {"P": 100, "K": 10, "STEP_ROWS": 3_000, "AVERAGED": 50}.items():
        monkeypatch.setattr(explained.learners, name, value)
    outcome = explained.measure("fofs", 0)
    step = {name: outcome["1.0"][name]["last"]["auc"] for name in ("as given", "derived")}
    assert step["derived"] > step["as given"]
    jobs = [{"what": "fofs", "seed": 0}, {"what": "fofs", "seed": 1}]
    (table,) = explained.report(Outcomes([(job, outcome) for job in jobs]))
    assert [row[1] for row in table.rows[:2]] == ["0.2", "0.2"]
    assert [row[2] for row in table.rows[:2]] == ["the last row's", "average of 1,000 rows"]


def test_a_small_rho_finds_and_a_large_one_does_not(monkeypatch):
    for name, value in {"P": 100, "K": 10, "SADMM": {1_000: 0.0}}.items():
        monkeypatch.setattr(explained.learners, name, value)
    rates = explained.measure("sadmm", 0)["1000"]
    assert rates["constant, 1"] < rates["constant, 0.001"] <= rates["default"]


def test_the_gamma_that_finds_depends_on_the_signal(monkeypatch):
    settings = {(200, 1.0, 200): (None, None), (200, 0.02, 2000): (None, None)}
    monkeypatch.setattr(explained.averages, "SIGNALS", settings)
    outcome = explained.measure("gamma", 0)
    strong, weak = outcome["200, 1"], outcome["200, 0.02"]
    assert strong["3"]["rmse"] <= strong["10"]["rmse"]
    assert weak["3"]["rmse"] > weak["10"]["rmse"]


def test_every_part_of_the_causes_has_a_table():
    jobs = explained.jobs(1, quick=False)
    assert {job["what"] for job in jobs} == set(explained.PARTS)
    assert not {job["what"] for job in explained.jobs(1, quick=True)} & set(explained.LONG)
    assert explained.report(Outcomes([])) == []


# ---------------------------------------------------------------- what inference promises


def test_simulations_of_inference_are_reported():
    jobs = inference.jobs(1, quick=True)
    assert {job["part"] for job in jobs} == {"coverage", "fdr", "anytime", "stability"}
    assert sum(job["part"] == "fdr" for job in jobs) == 9
    some = [
        next(job for job in jobs if job["part"] == part and job.get("noise") != "plain")
        for part in ("coverage", "fdr", "stability")
    ]
    outcomes = Outcomes([(job, inference.measure(**job | {"repeats": 2})) for job in some])
    coverage, fdr, stability = inference.report(outcomes)
    assert [row[1] for row in coverage.rows] == ["naive", "split", "splits"]
    assert [row[2] for row in fdr.rows] == ["0.1", "0.2"]
    assert len(stability.rows) == 3
    shares = [float(row[3].split()[0]) for row in coverage.rows]
    assert shares[0] < 50 < 80 <= shares[1]


def test_clusters_and_sizes_of_rows_are_in_the_noise():
    rng = np.random.default_rng(0)
    X, e, cluster = inference.rows_with_noise(rng, "equal", "clusters", 5000, 3)
    pairs = e.reshape(-1, 5)
    assert np.corrcoef(pairs[:, 0], pairs[:, 1])[0, 1] == pytest.approx(0.5, abs=0.1)
    assert np.corrcoef(X[:, 0], X[:, 1])[0, 1] == pytest.approx(0.5, abs=0.1)
    assert (np.bincount(cluster) == 5).all()
    X, e, _ = inference.rows_with_noise(rng, "independent", "rows", 5000, 3)
    assert (e**2).mean() == pytest.approx(1, abs=0.15)
    assert ((X[:, 0] * e) ** 2).mean() > 1.4 * (X[:, 0] ** 2).mean() * (e**2).mean()


def test_what_can_be_found_is_what_is_found():
    """The rates that the distribution of least squares gives are those of streams."""
    expected = attainable.expected_rates(100_000, 0)
    assert 0.25 < expected["by size"] < expected["with known signs"] < 0.45
    found = []
    for seed in range(5):
        X, y = simulate.correlated(
            3000, 200, 10, signal=0.058, spacing=1, unit_variance=True, random_state=seed
        ).take(3000)
        weights = np.linalg.lstsq(X, y)[0]
        found.append(np.mean(np.argsort(-np.abs(weights))[:10] < 10))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attainable, "P", 200)
        patch.setattr(attainable, "SIGNAL", 0.058)
        assert abs(attainable.expected_rates(3000, 0)["by size"] - np.mean(found)) < 0.15


def test_attainable_errors_and_rates_have_rows(monkeypatch):
    for name, value in {"P": 200, "RUN_ROWS": 1000, "ROWS": 400, "MANY_ROWS": 1000, "DRAWS": 50}.items():
        monkeypatch.setattr(attainable, name, value)
    monkeypatch.setattr(attainable, "WEAK", {1000: 23.51})
    jobs = attainable.jobs(2, quick=True)
    tables = attainable.report(Outcomes([(job, attainable.measure(**job)) for job in jobs]))
    assert [len(table.rows) for table in tables] == [3, 2]
    strong, weak = (row[2].mean for row in tables[1].rows)
    assert strong > 1.15 > weak


def test_a_choice_by_the_test_is_made_over_all_orders_and_among_the_sparse():
    errors = {"a": [10.0, 30.0], "b": [15.0, 17.0], "c": [18.0, 16.0]}  # a is best in one order only
    shares = {"a": 50.0, "b": 40.0, "c": 5.0}
    pairs = [
        (
            {"what": "choice", "data": data, "loss": "logistic", "method": exceptions.ma.PRINTED}
            | {"quick": False, "seed": seed},
            {name: {"error": errors[name][seed], "share": shares[name]} for name in errors},
        )
        for data in ("arcene", "dorothea")  # of which at most 6 and 3 % count as sparse
        for seed in range(2)
    ]
    (table,) = exceptions.report(Outcomes(pairs))
    assert [(row[0], row[4], row[5].mean, row[-1]) for row in table.rows] == [
        ("arcene", "3", 16.0, "b"),
        ("arcene", "1", 17.0, "c"),
        ("dorothea", "3", 16.0, "b"),
    ]


def test_shared_features_are_those_of_both_parts(monkeypatch):
    """Features that one part lacks are dropped, and a stored zero is not a value."""
    train = sp.csr_array(np.array([[1.0, 2.0, 0.0, 5.0], [3.0, 0.0, 0.0, 4.0]]))
    train.data[train.data == 5.0] = 0.0
    test = sp.csr_array(np.array([[2.0, 0.0, 7.0, 1.0], [6.0, 0.0, 1.0, 0.0]]))
    parts = {"train": (train, np.array([1.0, -1.0])), "test": (test, np.array([-1.0, 1.0]))}
    monkeypatch.setattr(data, "load", lambda _, part: parts[part])
    assert protocol.measure_features("dorothea") == {"training": 75.0, "both": 50.0}
    X, _, X_test, _ = protocol.read_rows("dorothea", protocol.UNSCALED)
    assert X.toarray().tolist() == [[1, 0, 0, 0], [3, 0, 0, 4]]
    assert X_test.toarray().tolist() == [[2, 0, 0, 1], [6, 0, 0, 0]]


def test_parameters_of_the_protocol_are_chosen_by_all_orders():
    figures = {"a": [(9.0, 50.0), (3.0, 50.0)], "b": [(5.0, 7.0), (5.0, 9.0)]}  # a is best in one order only
    job = {"what": "stabilized", "data": "dorothea", "loss": "hinge", "rows": protocol.UNSCALED}
    pairs = [
        (
            job | {"quick": False, "seed": seed},
            {name: {"error": some[seed][0], "share": some[seed][1]} for name, some in figures.items()},
        )
        for seed in range(2)
    ]
    (table,) = protocol.report(Outcomes(pairs))
    ((*_, error, share, params),) = table.rows
    assert (error.mean, error.published, share.mean, share.published, params) == (5.0, 5.14, 8.0, 6.68, "b")


def test_more_runs_are_judged_against_the_best_published(monkeypatch):
    monkeypatch.setattr(exceptions, "P", 1000)
    monkeypatch.setattr(exceptions, "QUICK_N", 500)
    jobs = [job for job in exceptions.jobs(2, quick=True) if job["what"] == "runs"]
    (table,) = exceptions.report(Outcomes([(job, exceptions.measure(**job)) for job in jobs]))
    ((name, found, deviation, published),) = table.rows
    assert (name, found.published, published) == ("TSGD", 86.1, "84.2")
    assert float(deviation) == pytest.approx(np.std(found.values, ddof=1), abs=0.01)
    assert all(10 < value < 100 for value in found.values)


def test_other_halves_have_as_many_of_each_class():
    labels = np.array([1, -1, 1, -1, -1, 1, -1, 1])
    (_, first), *others = attainable._halves(labels, 4, 0)
    assert first.tolist() == [0, 1, 2, 3]
    assert len(others) == attainable.SPLITS
    for kind, rows in others:
        assert kind == "random"
        assert labels[rows].sum() == 0
        assert len(np.unique(rows)) == 4
