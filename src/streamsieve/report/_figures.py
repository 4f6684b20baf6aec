"""The displays as SVG text for a page, in its fonts and colours, each line with its name."""

from __future__ import annotations

import io
import re
from typing import Any

from markupsafe import escape

from ..core.words import printable
from ..displays import CalibrationDisplay, EffectDisplay, PathDisplay, PrequentialDisplay
from ..displays.style import BLUE, FAINT, GREEN, INK, QUIET, RED

#: Colours of the displays, as variables of the page, which has two themes.
VARIABLES = {
    INK: "--ink", QUIET: "--quiet", FAINT: "--line", BLUE: "--blue", RED: "--red", GREEN: "--green",
    "#ffffff": "--card",
}  # fmt: skip
LINES = 150  # features drawn besides those of the best model


def path(walk: Any, names: list[str]) -> str:
    """Weights and criteria against the number of features; a hover names the line."""
    with _style():
        axes = _axes(2)
        display = PathDisplay(walk, max_lines=LINES, names=names).plot(axes)
        return _svg(display.figure_, "Weights and criteria against the number of features", display.features_)


def curve(points: list[dict[str, Any]], label: str) -> str | None:
    """Measures, selection and drift along a run; None where fewer than two points were measured."""
    display = PrequentialDisplay(points)
    if not display.panels or len(points) < 2:
        return None
    with _style():
        return _svg(display.plot(_axes(len(display.panels))).figure_, label)


def calibration(bins: list[list[float]], label: str) -> str:
    """Shares of a class against its predicted probability, in bins of probability."""
    with _style():
        display = CalibrationDisplay(bins, label=label).plot(_axes(1)[0])
        return _svg(display.figure_, "Observed share of the class against its predicted probability")


def drift(bank: Any) -> str:
    """The half-life along the stream, and where it changed."""
    with _style():
        return _svg(bank.plot(_axes(1)[0]).figure, "half-life along the stream, and where it changed")


def effects(terms: Any, names: list[str], curves: Any) -> str:
    """How much each shape and pair explains, and the curves of the strongest features."""
    with _style():
        axes = _axes(1 + len(curves))
        EffectDisplay(terms, names).plot(axes[0])
        for axis, (curve, name) in zip(axes[1:], curves):
            EffectDisplay(curve, [name]).plot(axis)
        return _svg(axes[0].figure, "Shapes and pairs: deviation of each, and the strongest curves")


def _style() -> Any:
    import matplotlib as mpl

    ink = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.labelcolor", "ytick.labelcolor"), INK
    )
    edges = dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), QUIET)
    return mpl.rc_context(
        {
            **ink, **edges, "svg.fonttype": "none", "svg.hashsalt": "streamsieve",
            "font.family": "sans-serif", "axes.facecolor": "none",
        }
    )  # fmt: skip


def _axes(columns: int) -> list[Any]:
    from matplotlib.figure import Figure  # no pyplot: no display, and nothing global

    width = min(4.7 * columns, 10.0)  # as wide as the page: letters keep their size
    figure = Figure(figsize=(width, 3.3), layout="constrained")
    return list(figure.subplots(1, columns, squeeze=False)[0])


def _svg(figure: Any, label: str, features: dict[int, str] | None = None) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", out.getvalue(), flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", _rounded, text)  # not the labels between the tags
    for colour, name in VARIABLES.items():
        text = re.sub(rf"(fill|stroke): {colour}", rf"\1: var({name})", text)
    for feature, name in (features or {}).items():
        text = text.replace(
            f'<g id="feature-{feature}">',
            f'<g class="line"><title>{escape(printable(name))}</title>',
        )
    width = figure.get_size_inches()[0] * 6.2  # letters as large as those of the page
    head = f'<svg role="img" aria-label="{label}" class="figure" style="max-width:{width:.0f}rem"'
    return text[text.index("<svg") :].replace("<svg", head, 1)


def _rounded(tag: re.Match[str]) -> str:
    """A tag with coordinates in hundredths of a point."""
    return re.sub(r"(\d\.\d{2})\d+", r"\1", tag[0])
