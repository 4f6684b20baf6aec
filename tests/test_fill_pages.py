"""Pages with figures: they are what the stored results give, and a figure that is not there is an error."""

import json

import pytest

from benchmarks import publish
from docs import fill_pages
from docs.fill_pages import UnknownFigure


@pytest.fixture
def stored(tmp_path):
    """Results of one experiment and the output of one benchmark, and what fills a template with them."""
    cell = {"published": None, "better": "more", "digits": 1}
    rows = [
        ["1", "5,000", "found %", cell | {"mean": 60.04}, cell | {"mean": 91.0}],
        ["", "", "seconds", cell | {"mean": 0.2}, cell],
    ]
    table = {"title": "Found: Table 1", "columns": ["signal", "n", "", "SFSA", "OPG"], "rows": rows}
    folder = tmp_path / "results" / "small"
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps([table, {"title": "Found: a note"}]))
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "set.txt").write_text(
        "$ python x\n\n| method | mean |\n|---|---|\n| a b | 1.5 |\n\nset   rows\nwine  1,000\n"
    )

    def fill(text):
        (tmp_path / "page.md.jinja").write_text(text)
        return fill_pages.fill(tmp_path / "page.md.jinja", tmp_path)

    return fill


@pytest.mark.parametrize("page", ["index.md", "choosing.md", "evidence.md", "README.md"])
def test_pages_show_the_stored_results(page):
    ((path, text),) = (item for item in fill_pages.pages().items() if item[0].name == page)
    assert path.read_text(encoding="utf-8") == text, "run `python docs/fill_pages.py`"


def test_the_page_of_benchmarks_shows_what_they_printed():
    page = fill_pages.DOCS / "benchmarks.md"
    assert page.read_text(encoding="utf-8") == publish.page(), "run `python benchmarks/publish.py --page`"


def test_tables_that_a_benchmark_prints_are_shown_as_tables():
    printed = "$ python x\n1/2 done\n## All\n\n| a |\n|---|\n| 1 |\n\n### More\n"
    shown = "```text\n$ python x\n```\n\n### All\n\n| a |\n|---|\n| 1 |\n\n#### More\n"
    assert publish.output(printed) == shown
    assert publish.output("$ python x\n## 1\n") == "```text\n$ python x\n## 1\n```\n"


def test_long_output_is_folded():
    few, many = ("| a |\n|---|\n" + "\n".join(["| 1 |"] * n) for n in (3, 40))
    folded = f"<details><summary>All figures</summary>\n\n{many}\n\n</details>"
    shown = f"```text\n$ python x\n```\n\n### All\n\n{few}\n\n{folded}\n"
    assert publish.output(f"$ python x\n1/2 done\n## All\n\n{few}\n\n{many}\n") == shown
    assert publish.output("$ python x\n" + "1\n" * 20).startswith("<details><summary>What it prints")


def test_stored_output_begins_with_the_command_that_prints_it():
    for stored in publish.OUT.glob("*.txt"):
        command = stored.read_text(encoding="utf-8").splitlines()[0]
        assert command == f"$ {publish.command(stored.stem)}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{{ results("small", "Found").row("1", "5,000", "found %").SFSA }}', "60.0"),
        ('{{ results("small", "Found").row("1", "5,000", "seconds")["SFSA"] }}', "0.2"),
        ('{{ results("small", "Found").row("1", "5,000", "found %").OPG | whole }}', "91"),
        (
            '{{ results("small", "Found").row("1", "5,000", "found %") | listing("SFSA OPG") }}',
            "`FOBOS` 91.0, `SFSA` 60.0",
        ),
        ('{{ results("small", "Found").row("1", "5,000", "found %") | leaders("SFSA OPG", 2) }}', "`FOBOS`"),
        (
            '{{ results("small", "Found").row("1", "5,000", "found %") | listing("SFSA OPG", least=True) }}',
            "`SFSA` 60.0, `FOBOS` 91.0",
        ),
        (
            '{{ results("small", "Found").kind("seconds") | grid(["signal", "n"], "SFSA OPG", 1) }}',
            "| signal | n | SFSA | FOBOS |\n| --: | --: | --: | --: |\n| 1 | 5,000 | 0.2 | - |",
        ),
        ('{{ results("small", "Found").across("1", "5,000", "SFSA")["seconds"] }}', "0.2"),
        (
            '{{ results("small", "Found").row("1", "5,000", "found %") | listing }}',
            "`FOBOS` 91.0, `SFSA` 60.0",
        ),
        ('{{ results("small", "Found").values("OPG") | max }}', "91.0"),
        ('{{ printed("set", "method").row("a b").mean }}', "1.5"),
        ('{{ printed("set", "set").row("wine").rows }}', "1,000"),
    ],
)
def test_a_figure_is_named_by_table_row_and_column(stored, text, shown):
    assert stored(text) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{{ results("large", "Found") }}', "docs/results/large, 'Found': 0 tables"),
        ('{{ results("small", "Lost") }}', "0 tables; there are Found: Table 1"),
        ('{{ results("small", "Found").row("2", "5,000", "found %") }}', "0 rows '2, 5,000, found %'"),
        ('{{ results("small", "Found").row("1", "5,000", "found %").TSGD }}', "no column 'TSGD'"),
        (
            '{{ results("small", "Found").row("1", "5,000", "found %") | listing("TSGD") }}',
            "no column 'TSGD'",
        ),
        ('{{ results("small", "Found").row("1", "5,000", "seconds").OPG }}', "was not run"),
        ('{{ results("small", "Found").kind("bytes") }}', "no rows of 'bytes'"),
        ('{{ results("small", "Found").across("2", "SFSA") }}', "no rows begin with '2'"),
        ('{{ printed("set", "method", "median") }}', "no table with the columns method, median"),
        ('{{ printed("set", "method").row("c") }}', "0 rows 'c'"),
    ],
)
def test_an_unknown_figure_is_an_error(stored, text, message):
    with pytest.raises(UnknownFigure, match=message.replace("(", r"\(")):
        stored(text)


def test_words_of_a_grid_go_without_the_number_of_features():
    row = fill_pages.Row("here", ("1,000, 0.1", "1,000"), {"SFSA": fill_pages.Figure(0.24, 2)})
    assert fill_pages.grid([row], ["signal", "n"], "SFSA", 1, "1,000").endswith("\n| 0.1 | 1,000 | 0.2 |")


def test_only_what_is_between_the_marks_is_replaced():
    page = "a\n<!-- quality: begin -->\nold\n<!-- quality: end -->\nb\n"
    assert fill_pages.replace_part(page, "new\n") == page.replace("old", "new")
    with pytest.raises(ValueError, match="expected <!-- quality: begin -->"):
        fill_pages.replace_part("a\n", "new\n")


def test_pages_name_the_age_of_their_figures(monkeypatch):
    line = "*growth: commit abc1234, 2026-01-01.*"
    for count, words in (
        ("0", ""),
        ("7", " **7 commits have changed the library since.**"),
        ("", " **This commit is not in the history: the figures may be out of date.**"),
    ):
        monkeypatch.setattr(publish, "git", lambda *_, count=count: count)
        assert publish.add_age(line) == line + words
