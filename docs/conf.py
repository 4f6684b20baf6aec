"""The site: `python -m sphinx -W docs docs/_build`. Nothing is fetched from a network."""

import re
import sys
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

from docutils import nodes

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import streamsieve  # noqa: E402
from benchmarks import publish  # noqa: E402
from site_pages import api, commands, docstrings, methods, support  # noqa: E402

project = "streamsieve"
author = "the streamsieve developers"
copyright = "the streamsieve developers, BSD 3-Clause"
html_context = {"default_mode": "auto"}
version = release = streamsieve.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "benchmarks/*"]
suppress_warnings = ["config.cache"]  # the scrapers of the gallery cannot be pickled
default_role = "literal"
smartquotes = False  # which would make a dash of the -- of options
myst_enable_extensions = ["deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings name the types
autodoc_mock_imports = [name for name in ("mlflow", "pyarrow", "pyspark", "ray") if find_spec(name) is None]
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # the contents on the right name methods, not their class again
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

#: Pages of wide tables have no contents on the right.
WIDE = [f"results/{page.parent.name}/results" for page in (HERE / "results").glob("*/results.md")]
html_theme = "pydata_sphinx_theme"
html_title = "streamsieve"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # each would be a request, which a site that is read from files cannot make
html_search_scorer = str(HERE / "search_scorer.js")
html_theme_options = {
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "header_links_before_dropdown": 5,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"]} | {page: [] for page in (*WIDE, "index", "support")},
    "logo": {"text": "streamsieve", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
}
#: Pages without others beside them need no navigation on the left.
ALONE = "index install start choosing support evidence how-it-works commands benchmarks changelog citing"
html_sidebars = {name: [] for name in ALONE.split()}


def house_style(_, __):
    """Every figure of the gallery in the colours of the displays, with letters that a thumbnail can show."""
    import matplotlib as mpl
    from cycler import cycler

    from streamsieve.displays.style import BLUE, FAINT, GREEN, INK, QUIET, RED

    colours = [BLUE, RED, GREEN, "#c98a1b", "#6a4c93", QUIET]
    mpl.rcParams |= {
        "axes.prop_cycle": cycler(color=colours),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.titlelocation": "left",
        "axes.titlesize": 13,
        "font.size": 13,
        "lines.linewidth": 2,
    }


sphinx_gallery_conf = {
    "reset_modules": ("matplotlib", "seaborn", house_style),
    "thumbnail_size": (520, 340),
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "matplotlib_animations": False,
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),
    "remove_config_comments": True,
    "plot_gallery": "True",
    "min_reported_time": 1_000_000,
    "show_memory": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

for pages in (methods, api, commands, support):
    pages.write(HERE)


def add_age(_, name, source):
    if name == "benchmarks":
        source[0] = publish.add_age(source[0])


def quiet(app, error):
    """Remove the theme's messages: the console of a browser stays empty."""
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for file in (*(static / "scripts").glob("*.js"), Path(app.outdir) / "search.html"):
        text = file.read_text(encoding="utf-8")
        silent = re.sub(r"console\.log\(([`'\"])\[PST\]:?[^`'\"]*\1\)", "0", text)
        if silent != text:
            file.write_text(silent, encoding="utf-8")
    (static / "webpack-macros.html").unlink(missing_ok=True)  # a template, whose links lead nowhere


def align_columns(_, doctree):
    """Show the tables that commands print, whose cells are separated by tabs, with columns of equal width."""
    for block in doctree.findall(nodes.literal_block):
        lines = [line.split("\t") for line in block.astext().splitlines()]
        if block.get("language") == "text" and any(len(cells) > 1 for cells in lines):
            columns = zip_longest(*(cells for cells in lines if len(cells) > 1), fillvalue="")
            widths = [max(map(len, column)) + 2 for column in columns]
            text = "\n".join(
                "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip()
                if len(cells) > 1
                else cells[0]
                for cells in lines
            )
            block.rawsource = text
            block.children = [nodes.Text(text)]
            if max(map(len, text.splitlines())) <= 100:
                block["classes"].append("printed-table")


def setup(app):
    app.connect("build-finished", quiet)
    app.connect("source-read", add_age)
    app.connect("doctree-read", align_columns)
    app.connect("autodoc-process-docstring", docstrings.escape, priority=900)  # after numpydoc
