"""The site: every name has a page, every link leads somewhere, every code block prints what is shown."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import streamsieve
from docs import run_blocks
from docs.site_pages import api, commands, man, methods, support
from streamsieve.cli import VERBS, main
from streamsieve.methods import ESTIMATORS, METHODS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SLOW = ["guide/text.md", "guide/clicks.md"]  # seven seconds each
#: Pages that other programs write.
WRITTEN = {"_build", "methods", "api", "gallery", "results", "benchmarks", "commands", "support"}
PAGES = sorted(
    page
    for page in (ROOT / "README.md", *DOCS.rglob("*.md"))
    if not WRITTEN & {*page.relative_to(ROOT).with_suffix("").parts}
)


def page_name(page):
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).as_posix()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The sources of the site with the pages that are written from the code."""
    out = tmp_path_factory.mktemp("docs")
    hidden = shutil.ignore_patterns("_build", "methods", "api", "gallery", "commands.md", "support.md")
    shutil.copytree(DOCS, out, dirs_exist_ok=True, ignore=hidden)
    for pages in (methods, api, commands, support):
        pages.write(out)
    (out / "gallery").mkdir()
    (out / "gallery" / "index.rst").write_text("Gallery\n=======\n")
    return out


# -------------------------------------------------------------------- pages from the code


def test_every_public_name_has_a_page(written):
    names = [name for name in streamsieve.__all__ if name not in (*api.MODULES, "__version__")]
    names += [
        f"{head}.{name}" for head in api.MODULES for name in api.module_names(getattr(streamsieve, head))
    ]
    names += ["spark.fit", "spark.MicroBatches", "spark.Selector", "ray.fit", "mlflow.log_model"]
    index = (written / "api" / "index.md").read_text()
    for name in names:
        text = (written / "api" / f"{name}.rst").read_text()
        assert f"streamsieve.{name}" in text
        assert f"({name}.rst)" in index
        assert index.count(f"\n{name}\n") == 1  # in the table of contents


def test_every_public_name_has_a_docstring():
    for name in api.public_names():
        assert api.docstring(name).strip(), f"{name} has no docstring"


def test_every_method_says_when_to_use_it_and_names_its_paper_and_cost(written):
    known = methods.notes(DOCS)
    assert set(known) - {"papers", "families"} == set(METHODS)
    assert set(known["families"]) == {entry.family for entry in METHODS.values()}
    for name, entry in METHODS.items():
        assert all(known[name][part] for part in ("paper", "cost", "use", "avoid"))
        text = (written / "methods" / f"{name}.md").read_text()
        for param in entry.load().params:
            assert f"| `{param}` |" in text
        for kind in entry.estimators.values():
            assert kind in text


def test_the_table_of_what_is_supported_follows_the_code(written):
    text = (written / "support.md").read_text()
    for entry in METHODS.values():
        (line,) = (line for line in text.splitlines() if line.startswith(f"| [{entry.name}]("))
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert (cells[6] == "yes") == entry.load().merges
        assert (cells[7] == "yes") == bool({"half_life", "decay"} & entry.load().params.keys())
        assert (cells[1] == "no") == ("regression" not in entry.tasks)
    line = next(line for line in text.splitlines() if line.startswith("| [OBestSubset]"))
    assert "`keep`, `groups`, `penalty_factor`" in line
    assert "`bounds`" not in line  # it refuses them


def test_the_sidebar_groups_the_methods_and_begins_with_the_sieve(written):
    text = (written / "methods" / "index.md").read_text()
    captions = re.findall(r":caption: (.+)\n\n(\S+)", text)
    assert len(captions) == len({entry.family for entry in METHODS.values()})
    assert captions[0] == ("The default", "Sieve")


def test_a_method_is_found_by_the_name_of_its_paper(written):
    text = (written / "methods" / "BARDA.md").read_text()
    assert "Online Feature Selection by Adaptive Sub-gradient Methods" in text


def test_the_page_of_the_command_line_has_every_option(written):
    text = (written / "commands.md").read_text()
    for verb in VERBS:
        command = main.get_command(click.Context(main), verb)
        section = text[text.index(f"\n## {verb}\n") :].split("\n## ")[1]
        for param in command.params:
            if isinstance(param, click.Option):
                assert param.opts[-1] in section


def test_the_manual_page_has_every_option_and_is_valid_roff():
    text = man.page()
    for verb in VERBS:
        for param in main.get_command(click.Context(main), verb).params:
            if isinstance(param, click.Option):
                assert param.opts[-1].replace("-", "\\-") in text
    if shutil.which("groff"):
        words = ["groff", "-man", "-Tutf8", "-ww"]
        done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
        assert not done.stderr
        assert "streamsieve fit [OPTIONS] SOURCE..." in re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


# -------------------------------------------------------------------- links


def anchors(page):
    """The anchors of the headings of a Markdown page, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    heads = re.findall(r"^#+ (.+)$", text, re.M)
    plain = [re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", head) for head in heads]
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in plain}


def broken_links(page, root):
    text = re.sub(r"^```(?!\{).*?^```$", "", page.read_text(), flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"(?<!\\)\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        aim = (page.parent / file).resolve() if file else page
        if not aim.exists() or not aim.is_relative_to(root):
            yield f"{target}: there is no such file"
        elif anchor and aim.suffix == ".md" and anchor not in anchors(aim):
            yield f"{target}: there is no such heading"


def test_links_and_anchors_of_the_site_lead_somewhere(written):
    pages = list(written.rglob("*.md"))
    assert len(pages) > len(METHODS) + 20
    broken = {page.name: found for page in pages if (found := list(broken_links(page, written)))}
    assert not broken


def test_links_of_the_readme_lead_somewhere():
    assert not list(broken_links(ROOT / "README.md", ROOT))


def test_the_readme_is_short_and_has_its_test_command():
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") <= 120
    assert re.search(r"<!-- test command -->\n```\npip install .*pytest", text)


def test_a_broken_link_is_noticed(tmp_path):
    page = tmp_path / "a.md"
    page.write_text("# A head\n[x](#a-head) [y](#other) [z](b.md) [w](https://example.org)\n")
    assert list(broken_links(page, tmp_path)) == [
        "#other: there is no such heading",
        "b.md: there is no such file",
    ]


# -------------------------------------------------------------------- code blocks


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=page_name(p), marks=[pytest.mark.slow] * (page_name(p) in SLOW)) for p in PAGES],
)
def test_code_blocks_run_and_print_what_is_shown(page):
    try:
        assert run_blocks.run_page(page) == []
    except run_blocks.DataMissing as error:
        pytest.skip(f"as shown up to a block without its data: {error}")


def test_blocks_that_print_something_else_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    blocks = (("python", "print('a', 1.0)"), ("text", "a 1.01"), ("shell", "echo b"), ("text", "c"))
    page.write_text("\n".join(f"```{kind}\n{text}\n```\n" for kind, text in blocks))
    (difference,) = run_blocks.run_page(page)
    assert "but the block prints\nb" in difference
    run_blocks.run_page(page, write=True)
    assert run_blocks.run_page(page) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_block_for_a_terminal_prints_a_table_for_readers(tmp_path):
    page = tmp_path / "page.md"
    block = "<!-- terminal -->\n```shell\n{}\n```\n\n```text\n{}\n```\n"
    rows = "seq 1 6 | sed 's/.*/&,&3/' > t.csv; "
    page.write_text(
        block.format("test -t 1 && echo yes", "yes")
        + block.format(rows + "streamsieve path t.csv --target 1 -q | head -n 1", "x")
    )
    (difference,) = run_blocks.run_page(page)
    assert "k\trss" in difference  # of a pipe
    page.write_text(block.format("exit 3", ""))
    with pytest.raises(AssertionError, match="exit code 3"):
        run_blocks.run_page(page)


def test_blocks_before_missing_data_are_compared(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint(1)\n```\n\n```text\n1\n```\n\n<!-- data: none.csv -->\n```shell\nfalse\n```\n"
    )
    with pytest.raises(run_blocks.DataMissing, match=r"none.csv is not in ../shared/tables"):
        run_blocks.run_page(page)
    page.write_text(page.read_text().replace("text\n1", "text\n2"))
    assert len(run_blocks.run_page(page)) == 1


def test_every_block_that_is_left_out_says_why():
    for page in PAGES:
        for block in run_blocks.blocks(page.read_text()):
            assert block.kind in (*run_blocks.RUNS, "text"), f"{page}:{block.line}: {block.kind}"
            if "skip" in block.note:
                assert re.search(r"skip: \S+ \S+", block.note)


# -------------------------------------------------------------------- the whole


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    for needed in ("sphinx", "myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx_gallery"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed (the extra 'docs')")
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "searchindex.js").exists()
    for kind in ESTIMATORS:
        assert (tmp_path / "api" / f"{kind}.html").exists()
