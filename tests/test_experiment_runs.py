"""Which outcomes of an experiment are made, kept, and made again."""

import json
import subprocess
import sys
import types

import pytest
from click.testing import CliRunner

from papers import run, store, versions, workers
from papers.__main__ import main
from papers.experiments import EXPERIMENTS, Experiment, load_experiment
from papers.report import Figure, Panel, Sources, Table, pages


@pytest.fixture
def coin(monkeypatch, tmp_path):
    """An experiment that records its jobs, in a file of its own."""
    measured = []

    def measure(methods, side, seed):
        measured.extend((side, seed, method) for method in methods)
        if side == "edge":
            raise KeyboardInterrupt
        return {method: {"value": float(seed)} for method in methods}

    def report(outcomes):
        cells = [outcomes.where(side=s).cell("thrown", "value", published=0.5) for s in ("heads", "tails")]
        panel = Panel("values", "x", "y", {"ours": ([1, 2], [3, 4]), "published ours": ([1, 2], [4, 5])})
        table = Table("Coins", ["", "heads", "tails"], [["value", *cells]])
        return [table, Figure("coin", "Coin", [panel])]

    source = tmp_path / "coin.py"
    source.write_text("def measure():\n    return FACES\n\nFACES = 2\n")
    fake = types.SimpleNamespace(
        jobs=lambda runs, _: [{"side": s, "seed": r} for r in range(runs) for s in ("heads", "tails")],
        methods=lambda **_: {"thrown": ("SFSA",), "spun": ("TSGD",)},
        measure=measure,
        report=report,
        __file__=str(source),
        measured=measured,
    )
    for module in (run, workers, pages):
        monkeypatch.setattr(module, "load_experiment", lambda _: fake)
    monkeypatch.setattr(versions, "experiment_hashes", versions.experiment_hashes.__wrapped__)
    monkeypatch.setattr(versions, "_top_level", versions._top_level.__wrapped__)
    monkeypatch.setattr(versions, "_text", versions._text.__wrapped__)
    return fake


@pytest.fixture
def sources(monkeypatch):
    """The hashes of the library's files, to be changed."""
    hashes = dict(versions.library_hashes())
    monkeypatch.setattr(versions, "library_hashes", lambda: hashes)
    return hashes


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


def test_a_mended_method_costs_its_own_outcomes(coin, tmp_path, sources):
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    coin.measured.clear()
    name = next(name for name in sources if name.endswith("learners/tsgd.py"))
    sources[name] = "changed"
    (current, changed) = sources_of(tmp_path / "out").made
    assert (current.labels, current.count, list(current.changed)) == (["thrown"], 2, [])
    assert (changed.labels, changed.count, list(changed.changed)) == (["spun"], 2, [name])
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    assert coin.measured == [("heads", 0, "spun"), ("tails", 0, "spun")]


def test_a_change_of_what_all_use_costs_all_unless_stale(coin, tmp_path, sources):
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    name = next(name for name in sources if name.endswith("core/method.py"))
    sources[name] = "changed"
    parts = run.run("coin", tmp_path / "out", runs=2, workers=1, stale=True)
    assert len(coin.measured) == 8
    page = (tmp_path / "out" / "results.md").read_text()
    assert "4 of 8 outcomes depended on files that had changed after they were made" in page
    assert f"| `{name}` |" in page
    assert parts[-1].summary() == "4 of 8 outcomes are made by the sources of now."
    run.run("coin", tmp_path / "out", runs=2, workers=1)
    assert len(coin.measured) == 12


def test_outcomes_depend_on_what_measures_and_not_on_what_reports(coin, tmp_path):
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    source = tmp_path / "coin.py"
    measuring = source.read_text()
    source.write_text(f'"""Coins."""\n\n{measuring}\n\ndef report(outcomes):\n    return []\n')
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    assert len(coin.measured) == 4
    source.write_text(measuring.replace("FACES = 2", "FACES = 3"))
    run.run("coin", tmp_path / "out", runs=1, workers=1)
    assert len(coin.measured) == 8


def test_an_experiment_depends_on_the_functions_that_it_reaches():
    experiments = versions.PAPERS / "experiments"
    wide = versions._reached(experiments / "wide.py", "measure")
    names = {(file.name, name) for file, name in wide}
    assert {("detection.py", "measure"), ("baselines.py", "lasso"), ("tuning.py", "largest_model")} <= names
    assert not {("detection.py", "report"), ("detection.py", "streams"), ("baselines.py", "omp")} & names
    for name in EXPERIMENTS:
        found = versions.experiment_hashes(versions.Path(load_experiment(name).__file__))
        assert not any("/report/" in file for file in found)


def test_docstrings_do_not_count(tmp_path):
    file = tmp_path / "a.py"
    hashes = []
    for text in ('"""Says."""', '"""Says it better."""', "pass"):
        file.write_text(f"def measure():\n    {text}\n    return 1\n")
        versions._text.cache_clear()
        versions._top_level.cache_clear()
        versions.experiment_hashes.cache_clear()
        hashes.append(versions.experiment_hashes(file))
    assert hashes[0] == hashes[1] != hashes[2]


def test_comments_and_docstrings_of_the_library_do_not_count():
    code = b'"""Says."""\n\ndef f():\n    """Does."""\n    return 1  # one\n'
    hashed = versions.hash_source("a.py", code)
    assert versions.hash_source("a.py", code.replace(b"Does", b"Is").replace(b"# one", b"")) == hashed
    assert versions.hash_source("a.py", code.replace(b"1", b"2")) != hashed
    kernel = b"// one\nint f(double x) { /* two */ return x > 1'000 ? 2 : 3; }  // it's three\n"
    hashed = versions.hash_source("a.hpp", kernel)
    for words in (b"one", b"two", b"it's three"):
        assert versions.hash_source("a.hpp", kernel.replace(words, b'an "other')) == hashed
    assert (
        versions.hash_source("a.hpp", kernel.replace(b"; }", b";\n}")) == hashed
    )  # as a formatter breaks it
    for code in (b"1'000", b"2 :", b"x >"):
        assert versions.hash_source("a.hpp", kernel.replace(code, b"x" + code)) != hashed
    text = b'const char* s = "// one", c = \'"\'; // two'
    assert versions.hash_source("a.cpp", text) != versions.hash_source("a.cpp", text.replace(b"one", b"1"))
    assert versions.hash_source("a.cpp", text) == versions.hash_source("a.cpp", text.replace(b"two", b"2"))


def test_what_only_reads_or_shows_makes_no_outcome_stale():
    file = versions.PAPERS / "experiments" / "susan.py"
    names = (
        "sources/read.py",
        "cli/fit.py",
        "distributed/plan.py",
        "ray.py",
        "report/page.py",
        "core/rows.py",
    )
    made = dict.fromkeys((f"src/streamsieve/{name}" for name in names), "of another version")
    assert versions.changed_files(made, file) == ["src/streamsieve/core/rows.py"]
    on_files = versions.PAPERS / "experiments" / "ma.py"
    assert "src/streamsieve/sources/read.py" in versions.changed_files(made, on_files)


def test_a_commit_that_git_does_not_have_is_unknown():
    assert versions.is_known(versions.current_commit())
    if versions.current_commit():
        assert not versions.is_known("0000000")


def test_a_learner_uses_its_module_and_its_kernel_but_no_other():
    code = (
        "from papers import versions; from streamsieve import SIHTRegressor, BARDAClassifier;"
        "file = versions.PAPERS / 'experiments' / 'susan.py';"
        "print(*versions.used_hashes(file, ('SIHT',)), sep='\\n')"
    )
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, cwd=versions.CHECKOUT, capture_output=True, text=True, check=True).stdout
    used = {name.removeprefix("src/streamsieve/") for name in shown.split()}  # of a checkout, or installed
    assert {"methods/learners/siht.py", "core/method.py", "papers/experiments/susan.py"} <= used
    assert "methods/learners/barda.py" not in used
    assert not [name for name in used if name.startswith(("sources/", "cli/", "distributed/", "export/"))]
    module = versions.CHECKOUT / "src" / "streamsieve" / "methods" / "learners" / "siht.py"
    kernel = {file.relative_to(versions.CHECKOUT).as_posix() for file in versions.kernel_files([module])}
    assert {"cpp/learners/siht.hpp", "cpp/learners/siht.cpp", "cpp/core/simd.cpp", "CMakeLists.txt"} <= kernel
    assert not {"cpp/learners/barda.hpp", "cpp/text/csv.hpp"} & kernel


def test_a_function_of_unknown_source_uses_all_kernels(tmp_path):
    module = tmp_path / "module.py"
    module.write_text("_core.nowhere(rows)")
    assert len(versions.kernel_files([module])) > len(list(versions.CPP.rglob("*.cpp")))
    assert versions.CPP / "text" / "csv.hpp" in versions.kernel_files([module])


def test_methods_that_are_named_are_those_of_the_library():
    for name in EXPERIMENTS:
        experiment = load_experiment(name)
        for _, methods in run.cells_of(experiment, 1, True):
            for uses in methods.values():
                assert all(versions.method_class(method) for method in uses)


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
    assert "`python -m papers coin`" in text
    table, figure, made = json.loads((tmp_path / "results.json").read_text())
    assert table["rows"][0][1]["verdict"] == "undecided"
    assert figure["panels"][0]["lines"]["ours"] == [[1, 2], [3, 4]]
    assert made["runs"] == 2
    (commit,) = made["made"]
    assert (commit["labels"], commit["outcomes"]) == (["thrown", "spun"], 8)
    assert commit["commit"] == versions.current_commit()
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
    jobs = [(job | {"seed": seed}, {"Lasso": ()}) for seed in (0, 1)]
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


def test_sources_name_a_few_files_and_count_the_others():
    changed = [f"{name}.py" for name in "abcdef"]
    made = [
        pages.Made(["A"], 2, "0123456", changed),
        pages.Made(["B"], 1, "89abcde"),
        pages.Made(["C"], 0, "f"),
    ]
    text = Sources(made, now="7777777").markdown()
    assert "(7777777), 2 of 3 outcomes depended on files that had changed" in text
    assert "| A | 2 | 0123456 | `a.py`, `b.py`, `c.py`, `d.py` and 2 more |" in text
    assert "| B | 1 | 89abcde | nothing |" in text
    assert "| C | - | f | not known: made before outcomes were kept |" in text
