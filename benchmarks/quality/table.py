"""Answers from results: Markdown tables and a picture."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal

import numpy as np

from .cells import OK, Cell, Result

Results = list[tuple[Cell, Result]]
Where = tuple[str, int]  # set and k

DEFAULT = "Sieve"  # what a user gets who names no method
MARGIN = 0.03  # below the best of all peers
NEAR = 0.05  # of a learner's own best
TASKS = {"labels": "accuracy", "targets": "R²"}


@dataclass(frozen=True)
class Entry:
    """A method on a set at k, over its splits; a fit that failed scores as the best constant."""

    role: Literal["peer", "ours", "reference"]  # a reference takes no k: it uses all features
    results: list[Result]

    @property
    def scores(self) -> dict[int, float]:
        return {r.split: r.chance if r.status != OK else max(r.score, r.chance - 1) for r in self.results}

    @property
    def mean(self) -> float:
        return fmean(self.scores.values())

    def mean_on(self, splits: Iterable[int]) -> float | None:
        """The mean over these splits, None where one is missing."""
        scores = self.scores
        return fmean(scores[s] for s in splits) if all(s in scores for s in splits) else None

    @property
    def failed(self) -> bool:
        return any(r.status != OK for r in self.results)

    def error(self, other: "Entry") -> float:
        """Standard error of the difference to another method on the same splits."""
        a, b = self.scores, other.scores
        shared = a.keys() & b.keys()
        if len(shared) > 1:
            return float(np.std([a[s] - b[s] for s in shared], ddof=1) / np.sqrt(len(shared)))
        share = min(max(other.mean, 0), 1)
        return float(np.sqrt(share * (1 - share) / other.results[0].n_test))


Entries = dict[Where, dict[str, Entry]]


def line(r: Result) -> str:
    """One result, as it comes."""
    score = r.status if r.score is None else f"{r.score:.3f}"
    found = "" if r.detection is None else f", found {r.detection:.0%}"
    cost = "" if r.seconds is None else f"  {r.seconds:.1f} s, {r.memory:.0f} MB"
    return f"{r.set}#{r.split} k={r.k} {r.method} {r.settings or ''}: {score}{found}{cost}"


def markdown(results: Results, parts: list[str]) -> str:
    """The tables of these parts, of `bench_quality.PARTS`."""
    text = [real(results, task) for task in TASKS] if "real" in parts else []
    tables = {"variant": variants, "design": designs, "grid": grid}
    text += [table(results) for part, table in tables.items() if part in parts]
    return "\n".join(t for t in text if t)


def entries(results: Results, kind: str, task: str | None = None) -> Entries:
    """Methods by default, by set and k; those that do not apply are left out."""
    cells: dict[Where, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    roles: dict[str, Any] = {}
    for cell, result in results:
        tuned = cell.method.ours and cell.method.settings
        other = cell.set.kind != kind or task not in (None, cell.set.task)
        if tuned or other or result.status.startswith("refused"):
            continue
        own = "ours" if cell.method.takes_k else "reference"
        roles[cell.method.name] = own if cell.method.ours else "peer"
        same = cells[cell.set.name, cell.k][cell.method.name]
        if all(r.split != cell.split for r in same):  # the grid's default is a cell of the table too
            same.append(result)
    return {w: {m: Entry(roles[m], rs) for m, rs in by.items()} for w, by in cells.items()}


def best(row: dict[str, Entry], role: str, splits: Iterable[int]) -> tuple[str, float] | None:
    """The method of the largest mean over these splits, and that mean."""
    means = [(m, e.mean_on(splits)) for m, e in row.items() if e.role == role]
    return max(((m, v) for m, v in means if v is not None), key=lambda mv: mv[1], default=None)


def below(row: dict[str, Entry], method: str) -> bool:
    """Whether it is below the best of all peers by more than the margin and more than a standard error."""
    entry = row[method]
    peer = best(row, role="peer", splits=entry.scores)
    return peer is not None and peer[1] - entry.mean > max(MARGIN, entry.error(row[peer[0]]))


def real(results: Results, task: str) -> str:
    cells = entries(results, "real", task)
    if not cells:
        return ""
    text = [f"## Real data, {task}: {TASKS[task]} in percent\n", cell_table(cells)]
    text += ["\n### Means over all cells\n", mean_table(cells), "\n" + bars(cells), "\n### All cells\n"]
    text += [f"\nk = {k}\n\n{method_table(cells, k)}" for k in sorted({k for _, k in cells})]
    return "\n".join(text) + "\n"


def cell_table(cells: Entries) -> str:
    """The best peer and our best in every cell, and the default where there is one; over splits all have."""
    heads = ["set", "k", "best peer", "", "best of ours", ""]
    heads += [DEFAULT] if DEFAULT in methods_of(cells) else []
    rows = []
    for (name, k), row in cells.items():
        splits = sorted(set.intersection(*(set(e.scores) for e in row.values())))
        line = [name, str(k)]
        for role in ("peer", "ours"):
            found = best(row, role, splits) if splits else None
            line += [found[0], percent(found[1])] if found else ["", ""]
        if DEFAULT in heads:
            line.append(percent(row[DEFAULT].mean_on(splits)) if DEFAULT in row and splits else "")
        rows.append(line)
    return format_table(heads, rows)


def mean_table(cells: Entries) -> str:
    """Each method's mean beside that of the best single peer over the same cells."""
    rows = []
    for method in methods_of(cells):
        mine = {w: row for w, row in cells.items() if method in row}
        mean = fmean(row[method].mean for row in mine.values())
        peer = best_single_peer(mine, method)
        beside = [peer[0], percent(peer[1]), f"{100 * (mean - peer[1]):+.1f}"] if peer else ["", "", ""]
        fits = [r for row in mine.values() for r in row[method].results]
        seconds = [r.seconds for r in fits if r.seconds is not None]
        memory = [r.memory for r in fits if r.memory is not None]
        rows.append(
            [
                method,
                percent(mean),
                *beside,
                str(len(mine)),
                str(sum(below(row, method) for row in mine.values())),
                str(sum(r.status != OK for r in fits)),
                f"{median(seconds):.2f}" if seconds else "",
                f"{max(memory):.0f}" if memory else "",
            ]
        )
    rows.sort(key=lambda row: float(row[1]), reverse=True)
    heads = ["method", "mean", "best other peer", "its mean", "difference", "cells", "below the best"]
    return format_table([*heads, "failed fits", "median s", "peak MB"], rows)


def best_single_peer(cells: Entries, method: str) -> tuple[str, float] | None:
    """The other peer of the largest mean over the method's cells and splits, of those that have them all."""
    means = {}
    for peer in methods_of(cells):
        if peer != method and all(row[peer].role == "peer" for row in cells.values() if peer in row):
            scores = [peer in row and row[peer].mean_on(row[method].scores) for row in cells.values()]
            if all(s is not None and s is not False for s in scores):
                means[peer] = fmean(scores)
    return max(means.items(), key=lambda pm: pm[1], default=None)


def bars(cells: Entries) -> str:
    """The default, or our best method, beside the best single peer, and the cells where it is behind."""
    ours: dict[str, list[Entry]] = defaultdict(list)
    for row in cells.values():
        for method, entry in row.items():
            if entry.role == "ours":
                ours[method].append(entry)
    if not ours:
        return ""
    widest = max(map(len, ours.values()))
    means = {m: fmean(e.mean for e in own) for m, own in ours.items() if len(own) == widest}
    method = DEFAULT if DEFAULT in means else max(means, key=lambda m: means[m])
    mine = {w: row for w, row in cells.items() if method in row}
    text = [f"{method}: {percent(means[method])} over {len(mine)} cells."]
    if peer := best_single_peer(mine, method):
        gain = f"{100 * (means[method] - peer[1]):+.1f} points"
        text.append(f"Best single peer: {peer[0]}, {percent(peer[1])}; {method} minus that: {gain}.")
    behind = {w: row for w, row in mine.items() if below(row, method)}
    text.append(
        f"More than {100 * MARGIN:g} points and a standard error below the best of all peers: "
        f"{len(behind)} cells."
    )
    for (name, k), row in behind.items():
        other = best(row, role="peer", splits=row[method].scores)
        text.append(f"- {name}, k = {k}: {percent(row[method].mean)}; {other[0]} {percent(other[1])}")
    return "\n".join(text)


def method_table(cells: Entries, k: int) -> str:
    chosen = {name: row for (name, at), row in cells.items() if at == k}
    names = methods_of({(name, k): row for name, row in chosen.items()})
    return format_table(
        ["method", *chosen],
        [[m, *(score_of(row.get(m)) for row in chosen.values())] for m in names],
    )


def score_of(entry: Entry | None) -> str:
    return "" if entry is None else percent(entry.mean) + ("*" if entry.failed else "")


def variants(results: Results) -> str:
    """The score on a variant minus that on the set as it is."""
    cells = entries(results, "variant")
    plain = entries(results, "real") | entries(results, "design")
    gains: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (name, k), row in cells.items():
        base, how = name.rsplit(", ", 1)
        for method, entry in row.items():
            if before := plain.get((base, k), {}).get(method):
                gains[method][how].append(entry.mean - before.mean)
    if not gains:
        return ""
    hows = list(dict.fromkeys(how for by in gains.values() for how in by))
    rows = [[m, *(f"{100 * fmean(by[h]):+.1f}" if h in by else "" for h in hows)] for m, by in gains.items()]
    sets = ", ".join(dict.fromkeys(name.rsplit(", ", 1)[0] for name, _ in cells))
    moved = [m for m, by in gains.items() if any(abs(g) > 0.01 for g in by.get("shifted", []))]
    bar = f"More than a point apart on a shifted set: {', '.join(moved) or 'none'}."
    title = f"## Variants minus the set as it is, points, mean over {sets}"
    return f"{title}\n\n{format_table(['method', *hows], rows)}\n\n{bar}\n"


def designs(results: Results) -> str:
    """True features found, percent."""
    cells = entries(results, "design")
    if not cells:
        return ""
    rows = []
    for method in methods_of(cells):
        found = [
            [r.detection or 0 for r in row[method].results] if method in row else [] for row in cells.values()
        ]
        rows.append([method, *(percent(fmean(f)) if f else "" for f in found)])
    heads = ["method", *(name for name, _ in cells)]
    return f"## Simulated designs: true features found, percent\n\n{format_table(heads, rows)}\n"


def grid(results: Results) -> str:
    """Every learner by default beside itself with a chosen step and penalty; on how many sets it is near."""
    found = tunings(results)
    if not found:
        return ""
    sets = list(dict.fromkeys(name for by in found.values() for name in by))
    rows, below, by_chance = [], [], []
    for method, by in found.items():
        near = {name for name, t in by.items() if within(t.default, t.chosen)}
        near_largest = {name for name, t in by.items() if within(t.default, t.largest)}
        shown = {name: t.shown() for name, t in by.items()}
        counts = [f"{len(n)} of {len(by)}" for n in (near, near_largest)]
        rows.append([method, *counts, *(shown.get(s, "") for s in sets)])
        for name, t in by.items():
            other, where = (t.largest, by_chance) if name in near else (t.chosen, below)
            if not within(t.default, other):
                where.append(f"- {method} on {name}: {100 * (other - t.default):.1f} points ({t.best})")
    points = f"{100 * NEAR:g} points"
    return "\n".join(
        [
            "## Learners by default and with chosen steps and penalties: accuracy in percent",
            "",
            "Three figures: by default; with the setting that is best on the other splits; the largest mean",
            "of all settings, which on few test rows is partly chance. In brackets the number of splits, of",
            "which one makes the last two equal.",
            "",
            format_table(["method", f"within {100 * NEAR:g} of chosen", "of largest", *sets], rows),
            "",
            f"More than {points} below the chosen setting, and where the mean is largest:",
            "",
            *(below or ["none"]),
            "",
            f"More than {points} below the largest mean, but not the chosen setting:",
            "",
            *(by_chance or ["none"]),
            "",
        ]
    )


def within(score: float, other: float) -> bool:
    """Whether it is at most `NEAR` below."""
    return round(other - score, 9) <= NEAR


@dataclass(frozen=True)
class Tuning:
    """A learner on a set: its mean by default, with the setting chosen on other splits, and the largest."""

    default: float
    chosen: float
    largest: float
    best: str  # the setting of the largest
    n_splits: int

    def shown(self) -> str:
        return f"{', '.join(map(percent, (self.default, self.chosen, self.largest)))} ({self.n_splits})"


def tunings(results: Results) -> dict[str, dict[str, Tuning]]:
    """By method and set, where all settings of the method have been run on a split."""
    Scores = dict[tuple, dict[int, float]]
    scores: dict[str, dict[str, Scores]] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    gridded = {(c.method.name, c.set.name, c.k) for c, _ in results if c.method.ours and c.method.settings}
    for cell, result in results:
        if (cell.method.name, cell.set.name, cell.k) in gridded and not result.status.startswith("refused"):
            point = tuple(sorted(cell.method.settings.items()))
            score = Entry("ours", [result]).mean
            scores[cell.method.name][f"{cell.set.name}, {cell.k}"][point][cell.split] = score
    found: dict[str, dict[str, Tuning]] = defaultdict(dict)
    for method, by in scores.items():
        whole = max(map(len, by.values()))  # a run that was stopped has fewer
        for name, points in by.items():
            splits = sorted(set.intersection(*map(set, points.values())))
            if () in points and splits and len(points) == whole:
                found[method][name] = tuning(points, splits)
    return found


def tuning(points: dict[tuple, dict[int, float]], splits: list[int]) -> Tuning:
    """Of the scores by setting and split. Settings that are equally good elsewhere count by their mean."""

    def mean(point: tuple, some: list[int]) -> float:
        return round(fmean(points[point][s] for s in some), 9)  # equal scores in another order are equal

    chosen = []
    for left_out in splits:
        others = [s for s in splits if s != left_out] or splits
        most = max(mean(point, others) for point in points)
        chosen.append(fmean(points[p][left_out] for p in points if mean(p, others) == most))
    best = max(points, key=lambda point: mean(point, splits))
    settings = ", ".join(f"{p}={v:g}" for p, v in best) or "the default"
    return Tuning(mean((), splits), fmean(chosen), mean(best, splits), settings, len(splits))


def draw(results: Results, path: Path) -> None:
    """Every cell of real labels as a dot: a method's accuracy minus that of the best peer."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cells = entries(results, "real", "labels")
    gaps: dict[str, list[float]] = defaultdict(list)
    for row in cells.values():
        for method, entry in row.items():
            if peer := best(row, role="peer", splits=entry.scores):
                gaps[method].append(100 * (entry.mean - peer[1]))
    order = sorted(gaps, key=lambda m: fmean(gaps[m]))
    own = {m for row in cells.values() for m, e in row.items() if e.role != "peer"}
    figure, axes = plt.subplots(figsize=(7, 1 + 0.2 * len(order)), layout="constrained")
    for i, method in enumerate(order):
        colour = "tab:blue" if method in own else "tab:orange"
        axes.plot(gaps[method], np.full(len(gaps[method]), i), ".", color=colour, alpha=0.5)
        axes.plot(fmean(gaps[method]), i, "|", color="black", markersize=9)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(range(len(order)), order, fontsize=8)
    axes.set_xlabel(
        "accuracy minus that of the best peer in the cell, points; ours blue, peers orange, mean |"
    )
    figure.savefig(path, dpi=120)
    plt.close(figure)


def methods_of(cells: Entries) -> list[str]:
    return list(dict.fromkeys(m for row in cells.values() for m in row))


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def format_table(heads: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table with columns of one width, so that it reads as text too."""
    table = [heads, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in table]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
