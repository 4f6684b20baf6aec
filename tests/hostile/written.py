"""One table written in many ways, as spreadsheets, typesetters and accountants do: each reads the same."""

import warnings

import numpy as np

import streamsieve
from streamsieve.sources.cells import as_days

from .rules import Failure

CURRENCIES = ["", "$", "€", "£ ", "¥", "₹ "]


def number(rng, x, style):
    """A number as a style writes it."""
    whole, _, fraction = f"{abs(x):.{style['digits']}f}".partition(".")
    parts = [whole[max(0, end - 3) : end] for end in range(len(whole), 0, -3)][::-1]
    text = (style["group"].join(parts) if style["group"] else whole) + (
        style["point"] + fraction if fraction else ""
    )
    text = style["currency"] + text + style["after"]
    if x < 0:
        text = f"({text})" if style["brackets"] else style["minus"] + text
    return text if rng.random() < 0.9 else f" {text} "


def style_of(rng):
    comma = rng.random() < 0.4
    return {
        # 1,234 alone may be either, and is read as more than a thousand
        "digits": int(rng.choice([1, 2, 4] if comma else [1, 2, 3, 4])),
        "point": "," if comma else ".",
        "group": str(rng.choice(["", "", "." if comma else ",", "\u202f", "\u00a0", "'", "’"])),
        "minus": str(rng.choice(["-", "-", "\u2212", "\u2013"])),
        "currency": str(rng.choice(CURRENCIES)),
        "after": str(rng.choice(["", "", " %", "%", " €"])),
        "brackets": bool(rng.random() < 0.2),
    }


def run(number_of_case, seed, folder):
    rng = np.random.default_rng([seed, number_of_case])
    X = (rng.normal(size=(60, 3)) * 10.0 ** rng.integers(0, 6, size=3)).round(4)
    style = style_of(rng)
    X = np.array([[float(f"{x:.{style['digits']}f}") for x in row] for row in X])
    delimiter = str(
        rng.choice([";", "\t", "|"] if style["point"] == "," or style["group"] == "," else [",", ";"])
    )
    lines = [delimiter.join(number(rng, x, style) for x in row) for row in X]
    lines.insert(0, delimiter.join(["a", "b", "y"]))
    before = str(rng.choice(["", "", "# exported yesterday\n", f"sep={delimiter}\n", "\n"]))
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    end = str(rng.choice(["\n", "\r\n"]))
    text = (before + "\n".join(lines) + "\n").replace("\n", end)
    try:
        raw = text.encode(encoding)
    except UnicodeEncodeError:  # a rupee is not in cp1252
        encoding, raw = "utf-8", text.encode()
    file = folder / "written.csv"
    file.write_bytes(raw)
    blocks = list(streamsieve.read(file, target="y", columns=["a", "b"]))
    found = np.column_stack([np.vstack([b.X for b in blocks]), np.concatenate([b.y for b in blocks])])
    if found.shape != X.shape or not np.array_equal(found, X):
        at = np.argwhere(found != X)[0] if found.shape == X.shape else None
        where = "" if at is None else f"; {lines[at[0] + 1]!r} became {found[at[0]]}"
        raise Failure(f"{style} in {encoding}, delimiter {delimiter!r}, {before!r} is misread{where}")
    dates(rng)


def dates(rng):
    """Dates with times and zones: each is read the same whatever the other cells are, without a warning."""
    cells, days = [], rng.integers(-9000, 30000, size=9)
    for day in days:
        text = str(np.datetime64(int(day), "D"))
        if rng.random() < 0.7:
            zone = str(rng.choice(["", "Z", "+02:00", "-0530", " UTC"]))
            text += f"{rng.choice(['T', ' '])}12:00{rng.choice(['', ':00', ':00.000'])}{zone}"
        cells.append(text)
    odd = [str(rng.choice(["?", "2020-13-41", "soon"]))] if rng.random() < 0.5 else []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = as_days([*cells, *odd], "year-month-day")[: len(days)]
    wanted = days + np.array([0.5 * (len(cell) > 10) for cell in cells])
    if not np.array_equal(found, wanted):
        raise Failure(f"the dates {cells} and {odd} are misread: {found - wanted} days off")
