"""Tables and pages of the experiments: how figures are judged, kept and explained."""

import json

import pytest
from click.testing import CliRunner

from papers.__main__ import main
from papers.causes import Cause, read_causes, worse_figures
from papers.experiments import EXPERIMENTS, Experiment
from papers.report import Cell, Figure, Outcomes, Panel, Table, pages
from papers.report.earlier import UNKEPT, Earlier
from papers.store import CHECKOUT

RESULTS = CHECKOUT / "docs" / "results"


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


def test_pictures_are_drawn_from_what_is_stored(tmp_path):
    panels = [
        Panel("values", "x", "y", {"ours": ([200, 2_000], [3, 4])}, xlog=True, ylog=True, markers=False)
    ]
    figure = Figure("values", "Values", panels, columns=2)
    again = Figure.from_json(json.loads(json.dumps(figure.json())))
    assert again.json() == figure.json()
    assert again.draw(tmp_path).read_bytes() == figure.draw(tmp_path).read_bytes()


def test_outcomes_are_found_by_their_jobs():
    outcomes = Outcomes([({"s": [1, 2], "seed": r}, {"m": {"x": r}}) for r in range(3)])
    assert outcomes.where(s=(1, 2)).values("m", "x") == [0, 1, 2]
    assert not outcomes.where(s=3)
    assert outcomes.values("m", "y") == []
    assert outcomes.runs() == 3


def test_contests_are_counted_and_listed_by_outcome(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "EXPERIMENTS", {"coin": Experiment("Shows coin", 3, 0.1, 60.0)})
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
    made = {"made": [], "seconds": 0, "runs": 3}
    (out / "results.json").write_text(json.dumps([table.json(), made]))
    text = pages.write_overview(out.parent).read_text().replace("\u00a0", " ")
    assert (
        "Of 6 contests our best method is better than the best published figure of any method in 1, " in text
    )
    assert "equal in 1 and worse in 1; 1 are undecided, and 2 were run only once" in text
    assert "Our best methods in the contests that are better or equal: A 2." in text
    assert "| [coin](all/coin/results.md) | Shows coin | 1 to 3 | 1 | 1 | 1 | 1 | 2 | 0 |" in text
    lost, undecided = text.index("## Lost"), text.index("## Undecided")
    assert lost < text.index("| coin | Found | n = 3 | A | 9.1 ± 0.1 (20.0 ▼) | 3 |") < undecided
    assert undecided < text.index("| coin | Found | n = 4 | A | 5.0 ± 4.0 (5.0 ?) | 2 |")
    assert "| n = 5 | A | 3.0 (5.0 ?) | 1 |" in text  # run once, and behind
    assert "n = 6" not in text


def test_contests_by_earlier_figures_are_counted_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "EXPERIMENTS", {"coin": Experiment("Shows coin", 3, 0.1, 60.0)})
    now, then = Cell([9.0, 9.1, 9.2], 1.0), Cell([1.0, 1.1, 1.2], 9.0, earlier=True)
    best = Cell([99.0, 99.1, 99.2], 1.0, earlier=True)  # but not of now
    rows = [["1", now, best], ["2", then, Cell([], 2.0)]]
    table = Table("Found: Table 1", ["n", "A", "B"], rows, contest="row")
    assert [c.ours.earlier for c in table.contests()] == [False, True]
    out = tmp_path / "all" / "coin"
    out.mkdir(parents=True)
    (out / "results.json").write_text(json.dumps([table.json(), {"made": [], "seconds": 0, "runs": 3}]))
    text = pages.write_overview(out.parent).read_text().replace("\u00a0", " ")
    assert (
        "**Of 1 contests our best method is better than the best published figure of any method in 1" in text
    )
    assert "1 more contests are judged by earlier figures" in text
    assert "(1 worse)" in text
    assert "All judged figures, of every method: 1 better; of earlier ones: 1 better and 1 worse." in text
    assert "| Shows coin | 3 | 1 | 0 | 0 | 0 | 0 | 1 |" in text
    assert "| coin (earlier) | Found | n = 2 | A | 1.1 ± 0.1 (9.0 ▼) |" in text


def test_earlier_rows_and_columns_stay_until_they_are_made_again(tmp_path):
    def table(rows):
        return Table("Found: Table 1", ["n", "", "A", "B"], rows)

    old = Cell([1.0, 2.0], 9.0)
    stored = table([["1", "x", old, old], ["", "y", old, old], ["2", "x", old, old]])
    picture = Figure("a", "A", [])
    Earlier("0123456", 2, [stored, picture]).write(tmp_path / "earlier.json")
    earlier = Earlier.read(tmp_path / "earlier.json")
    new, none = Cell([5.0, 6.0], 9.0), Cell([], 8.0)
    live = table([["1", "x", new, none], ["", "y", new, new]])
    rest = earlier.without([live])
    assert [row[:2] for row in rest.parts[0].rows] == [["1", "x"], ["2", "x"]]  # 1, y is replaced
    filled, columns = rest.fill(live)
    assert columns == ["B"]
    assert (filled.rows[0][2].mean, filled.rows[0][3].mean) == (5.5, 1.5)
    assert filled.rows[0][3].published == 8.0
    assert [cell.earlier for cell in filled.rows[0][2:]] == [False, True]
    left, figure = rest.left([filled])
    assert [row[:2] for row in left.rows] == [["2", "x"]]
    assert left.note == UNKEPT
    assert all(cell.earlier for cell in left.rows[0][2:])
    assert figure.name == "a"
    whole = table([["1", "x", new, new], ["", "y", new, new], ["2", "x", new, new]])
    assert rest.without([whole, picture]).parts == []
    words = Table("Table 2", ["n", "A"], [["1", "0.5"], ["2", "0.6"]])
    of_words = Earlier("0123456", 2, [words])
    assert of_words.without([Table("Table 2", ["n", "A"], [["1", "0.4"]])]).parts == []
    assert of_words.without([whole]).parts == [words]
    rest.without([whole, picture]).write(tmp_path / "earlier.json")
    assert not (tmp_path / "earlier.json").exists()
    assert Earlier.read(tmp_path / "earlier.json") == Earlier()


@pytest.mark.parametrize("name", [file.parent.name for file in sorted(RESULTS.glob("*/results.json"))])
def test_whatever_is_worse_than_published_has_a_cause_for_its_method_and_setting(name):
    causes = [cause for cause in read_causes() if cause.experiment == name]
    stored = json.loads((RESULTS / name / "results.json").read_text())
    tables = [Table.from_json(part) for part in stored if "rows" in part]
    worse = [figure for table in tables for figure in worse_figures(table)]
    assert not [figure for figure in worse if not any(cause.covers(*figure) for cause in causes)]


def test_causes_are_of_experiments_and_of_methods_on_their_pages():
    for cause in read_causes():
        assert cause.experiment in EXPERIMENTS
        page = (RESULTS / cause.experiment / "results.md").read_text()
        assert all(method in page for method in cause.methods), cause


def test_a_cause_of_another_method_or_setting_does_not_count():
    poor, good = Cell([1.0, 1.1, 1.2], 9.0), Cell([1.0, 1.1, 1.2])
    rows = [["0.1", "1,000", poor, good], ["", "3,000", good, poor]]
    sfsa, ag = worse_figures(Table("Found", ["signal", "n", "SFSA", "SFSA-AG"], rows))
    assert (sfsa[0], ag[0]) == ("SFSA", "SFSA-AG")

    def covered(*methods, where=()):
        cause = Cause("coin", "x", methods, where)
        return [cause.covers(*sfsa), cause.covers(*ag)]

    assert covered("SFSA") == [True, False]
    assert covered("SFSA-AG") == [False, True]
    assert covered("SFSA", "SFSA-AG", where=["n = 3,000"]) == [False, True]
    assert covered("SFSA", "SFSA-AG", where=["signal = 0.1", ["n = 1,000", "n = 10,000"]]) == [True, False]
    assert covered(where=["signal = 0.1"]) == [True, True]
    assert covered(where=["signal = 0.15"]) == [False, False]
    assert covered("SFSA", where=["RMSE"]) == [False, False]
    assert covered() == [False, False]  # a remark


def test_a_cause_is_shown_with_its_methods_and_setting():
    cause = Cause("coin", "They roll.", ["A", "B"], ["n = 1", ["RMSE", "AUC"]])
    assert cause.markdown() == "**A and B, n = 1, RMSE or AUC**: They roll."
    assert Cause("coin", "They roll.").markdown() == "They roll."


def test_the_published_pages_are_what_their_outcomes_give(tmp_path):
    copy = tmp_path / "docs" / "results"
    for file in RESULTS.glob("*/*.json*"):
        (copy / file.parent.name).mkdir(parents=True, exist_ok=True)
        (copy / file.parent.name / file.name).write_bytes(file.read_bytes())
    assert CliRunner().invoke(main, ["report", "--out", str(copy)]).exit_code == 0
    for file in (*copy.glob("*/results.*"), *copy.glob("*/earlier.json"), copy.with_suffix(".md")):
        kept = RESULTS.parent / file.relative_to(copy.parent)
        assert file.read_text() == kept.read_text(), "run `python -m papers report --out docs/results`"
