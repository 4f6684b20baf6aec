"""The pictures of the site, as SVG in the colours of the page: `python docs/site_pages/draw.py`."""

from pathlib import Path

OUT = Path(__file__).parent.parent / "pictures"
INK, LINE, BLUE = "var(--pst-color-text-base)", "var(--pst-color-border)", "var(--pst-color-primary)"
SOFT = "var(--pst-color-surface)"


class Picture:
    def __init__(self, width: int, height: int, label: str) -> None:
        self.parts = [
            f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}" '
            f'style="width:100%;max-width:{width}px;height:auto;font:14px system-ui,sans-serif" '
            'xmlns="http://www.w3.org/2000/svg">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" style="fill:{INK}"/></marker></defs>',
        ]

    def box(self, x: float, y: float, w: float, h: float, lines: list[str], *, strong: bool = False) -> None:
        edge = BLUE if strong else LINE
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="7" '
            f'style="fill:{SOFT};stroke:{edge};stroke-width:{2 if strong else 1.2}"/>'
        )
        first = y + h / 2 - 9 * (len(lines) - 1) + 5
        for i, line in enumerate(lines):
            weight = "600" if i == 0 and strong else "400"
            self.text(x + w / 2, first + 18 * i, line, weight=weight)

    def text(self, x: float, y: float, text: str, *, anchor: str = "middle", weight: str = "400") -> None:
        self.parts.append(
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" '
            f'style="fill:{INK};font-weight:{weight}">{text}</text>'
        )

    def arrow(self, *points: tuple[float, float]) -> None:
        path = "M" + "L".join(f"{x} {y}" for x, y in points)
        self.parts.append(
            f'<path d="{path}" marker-end="url(#tip)" style="fill:none;stroke:{INK};stroke-width:1.3"/>'
        )

    def bar(self, x: float, y: float, w: float, h: float, colour: str, opacity: float = 1.0) -> None:
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" style="fill:{colour};opacity:{opacity}"/>'
        )

    def save(self, name: str) -> None:
        (OUT / name).write_text("\n".join([*self.parts, "</svg>"]) + "\n", encoding="utf-8")


def families() -> None:
    picture = Picture(
        760,
        250,
        "A stream of rows goes to running averages, row-wise learners or the sieve; each gives a model",
    )
    for i in range(6):
        picture.bar(20, 62 + 22 * i, 110, 14, BLUE, 0.25 + 0.12 * i)
    picture.text(75, 50, "rows", weight="600")
    picture.text(75, 212, "each seen once")
    for y, lines in (
        (10, ["Running averages", "p² numbers; any model later"]),
        (95, ["Sieve", "rows of the candidates"]),
        (180, ["Row-wise learners", "one weight per feature"]),
    ):
        picture.box(230, y, 250, 60, lines, strong=True)
        picture.arrow((140, 125), (180, 125), (180, y + 30), (228, y + 30))
        picture.arrow((480, y + 30), (535, y + 30), (535, 125), (583, 125))
    picture.box(585, 85, 165, 80, ["LinearModel", "k features,", "their weights"], strong=True)
    picture.save("families.svg")


def sieve() -> None:
    picture = Picture(760, 230, "The sieve removes columns while it reads rows, so that memory stays limited")
    stages = [
        (24, "all candidates"),
        (12, "memory full:", "the weaker half is removed"),
        (6, "and again"),
        (3, "model: k columns"),
    ]
    x = 20.0
    for i, (columns, *lines) in enumerate(stages):
        rows = 24 * 5 // columns if i < 3 else 12
        rows = min(rows, 20)
        for c in range(columns):
            picture.bar(x + 6.2 * c, 20, 4.2, 6.2 * rows, BLUE, 0.85 if c % (columns // 3) == 0 else 0.35)
        for j, line in enumerate(lines):
            picture.text(x + 75, 180 + 18 * j, line)
        if i < 3:
            picture.arrow((x + 158, 60), (x + 186, 60))
        x += 192
    picture.save("sieve.svg")


def rows() -> None:
    picture = Picture(
        760,
        110,
        "A row goes from a file to Rows, to a method, to a kernel that updates the state, to a model",
    )
    stops = [("file, frame, array", "parsed"), ("Rows", "checked once"), ("method.learn", "all rows or none"),
             ("kernel", "C++, no state"), ("state", "plain arrays"), ("weights()", "the model")]  # fmt: skip
    for i, stop in enumerate(stops):
        x = 6 + 126 * i
        picture.box(x, 25, 108, 60, list(stop))
        if i + 1 < len(stops):
            picture.arrow((x + 108, 55), (x + 125, 55))
    picture.save("rows.svg")


def hero() -> None:
    """A wide stream of columns passes a sieve; few columns are left, with their weights and intervals."""
    picture = Picture(
        460, 250, "Many columns enter a sieve; five leave it, each with a weight and an interval"
    )
    kept = {3: 0.9, 9: -0.6, 14: 0.45, 20: 0.75, 24: -0.35}
    for j in range(28):
        x = 18 + 15.2 * j
        for i in range(4):
            colour, opacity = (BLUE, 0.95) if j in kept else (INK, 0.13 + 0.09 * ((j * 7 + i * 5) % 4))
            picture.bar(x, 12 + 17 * i, 10, 13, colour, opacity)
    picture.parts.append(
        f'<path d="M10 92H450L300 142H160Z" style="fill:{SOFT};stroke:{BLUE};stroke-width:1.6"/>'
    )
    for i in range(9):
        picture.parts.append(
            f'<circle cx="{110 + 30 * i}" cy="107" r="2.6" style="fill:{BLUE};opacity:0.7"/>'
        )
    picture.text(230, 132, "sieve", weight="600")
    picture.parts.append(f'<path d="M230 154V246" style="stroke:{LINE};stroke-width:1.4"/>')
    for i, weight in enumerate(kept.values()):
        y, end = 164 + 18 * i, 230 + 130 * weight
        picture.bar(min(230, end), y - 4, abs(end - 230), 8, BLUE, 0.85)
        picture.parts.append(f'<path d="M{end - 16} {y}H{end + 16}" style="stroke:{INK};stroke-width:1.4"/>')
    picture.save("hero.svg")


if __name__ == "__main__":
    for draw in (families, sieve, rows, hero):
        draw()
