"""Figures: panels of lines, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Panel:
    """Lines by name: their x and their y. Names that start with "published" are drawn dashed."""

    title: str
    xlabel: str
    ylabel: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    xlog: bool = False
    ylog: bool = False
    markers: bool = True


@dataclass(frozen=True)
class Figure:
    """Panels side by side, saved as `name`.png."""

    name: str
    title: str
    panels: Sequence[Panel]
    note: str = ""
    columns: int = 3

    def markdown(self) -> str:
        return f"## {self.title}\n\n![{self.title}]({self.name}.png)\n\n{self.note}".rstrip() + "\n"

    def json(self) -> dict[str, Any]:
        panels = [
            {
                "title": p.title,
                "x": p.xlabel,
                "y": p.ylabel,
                "lines": {k: list(v) for k, v in p.lines.items()},
                "xlog": p.xlog,
                "ylog": p.ylog,
                "markers": p.markers,
            }
            for p in self.panels
        ]
        shown = {"name": self.name, "title": self.title, "panels": panels, "note": self.note}
        return shown | {"columns": self.columns}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Figure:
        axes = ("xlog", "ylog", "markers")
        panels = [
            Panel(p["title"], p["x"], p["y"], p["lines"], **{name: p[name] for name in axes if name in p})
            for p in stored["panels"]
        ]
        return cls(stored["name"], stored["title"], panels, stored["note"], stored.get("columns", 3))

    def draw(self, folder: Path) -> Path:
        """Save the picture; needs matplotlib."""
        from matplotlib.figure import Figure as Canvas

        wide = min(self.columns, len(self.panels))
        tall = -(-len(self.panels) // wide)
        canvas = Canvas(figsize=(4.4 * wide, 3.4 * tall + 0.5), layout="constrained")
        axes = canvas.subplots(tall, wide, squeeze=False).ravel()
        names = list(dict.fromkeys(name for panel in self.panels for name in panel.lines))
        colour = {name: f"C{i % 10}" for i, name in enumerate(n for n in names if not _published(n))}
        for ax, panel in zip(axes, self.panels):
            for i, name in enumerate(names):
                if name not in panel.lines:
                    continue
                own = name.removeprefix("published ")
                x, y = panel.lines[name]
                ax.plot(
                    x,
                    y,
                    color=colour.get(own, "0.4"),
                    linestyle="--" if _published(name) else "-",
                    marker="osD^vP*X<>"[i % 10] if panel.markers and not _published(name) else None,
                    markersize=4,
                    linewidth=1.4,
                    label=name,
                )
            ax.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
            if panel.xlog:
                ax.set_xscale("log")
                _label_decades(ax.xaxis)
            if panel.ylog:
                ax.set_yscale("log")
                _label_decades(ax.yaxis)
            ax.grid(alpha=0.3)
        for ax in axes[len(self.panels) :]:
            ax.set_axis_off()
        handles: dict[str, Any] = {}
        for ax in axes:
            for handle, label in zip(*ax.get_legend_handles_labels()):
                handles.setdefault(label, handle)
        if len(handles) > 1:
            canvas.legend(
                handles.values(),
                handles.keys(),
                loc="outside lower center",
                ncols=min(6, len(handles)),
                fontsize=8,
            )
        file = folder / f"{self.name}.png"
        canvas.savefig(file, dpi=130)
        return file


def _label_decades(axis: Any) -> None:
    """Ticks at 1, 2, 5, 10 ... where the values span less than two decades, with labels written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    axis.set_minor_formatter(NullFormatter())
    if low >= 3e-4 and high <= 3e5:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _published(name: str) -> bool:
    return name.startswith("published ")
