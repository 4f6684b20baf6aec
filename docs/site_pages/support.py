"""What each method supports, read from its parameters and traits."""

from pathlib import Path
from typing import Any

from streamsieve.core.params import ParamError
from streamsieve.methods import METHODS, Entry

HEAD = [
    "method",
    "targets",
    "labels",
    '`k="auto"`',
    "constraints",
    "errors",
    "merges",
    "forgets",
    "several machines",
]
NO = "-"
CONSTRAINTS = ("keep", "groups", "positive", "bounds", "penalty_factor")
TEXT = """# What each method supports

This page is generated from the code. Every method accepts dense and sparse rows, frames, sample weights,
several targets or classes (with the same selected features), and tables with words, dates and missing values.

{tables}

- **targets**, **labels**: the losses, the default first. "no": there is no such estimator.
- **`k="auto"`**: chooses the number of features; "in `fit`": only with all rows in one call.
- **constraints**: `keep` features in the model, `groups` that enter together, `positive` weights, `bounds`,
  or a `penalty_factor` for each feature ([guide](guide/constraints.md)).
- **errors**: standard errors and intervals; "honest": they can stay valid after selection
  ([guide](guide/inference.md)).
- **merges**: models of separate rows can be merged to the model of all rows, up to rounding
  ([scaling](scaling.md)).
- **forgets**: the weight of old rows can decrease ([drift](guide/drift.md)).
- **several machines**: *exact*: every machine learns its own rows, and the results are merged. *votes*:
  machines first vote for the columns to keep; then one model learns these. *in turn*: one machine after
  another learns its rows.
"""


def write(here: Path) -> None:
    file, text = here / "support.md", page(here)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def page(here: Path) -> str:
    from .methods import notes

    tables = []
    for family, about in notes(here)["families"].items():
        rows = [row(entry) for entry in METHODS.values() if entry.family == family]
        lines = [HEAD, ["---"] * len(HEAD), *rows]
        tables.append(
            f"## {about['title']}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
        )
    return TEXT.format(tables="\n".join(tables))


def row(entry: Entry) -> list[str]:
    method = entry.load()
    return [
        f"[{entry.name}](methods/{entry.name}.md)",
        *(losses(entry, method, task) for task in ("regression", "classification")),
        auto(method),
        constraints(method),
        errors(method),
        "yes" if method.merges else NO,
        "yes" if {"half_life", "decay"} & method.params.keys() else NO,
        "exact" if method.merges else "votes" if method.screens else "in turn",
    ]


def losses(entry: Entry, method: Any, task: str) -> str:
    return ", ".join(method.losses.get(task, ())) if task in entry.tasks else "no"


def auto(method: Any) -> str:
    if "k" not in method.params:
        return NO
    try:
        method.params["k"].check("k", "auto")
    except ParamError:
        return NO
    return "yes" if method.extracts else "in `fit`"


def constraints(method: Any) -> str:
    refused = getattr(method, "refused", {})
    taken = [name for name in CONSTRAINTS if name in method.params and name not in refused]
    return "all" if len(taken) == len(CONSTRAINTS) else ", ".join(f"`{name}`" for name in taken) or NO


def errors(method: Any) -> str:
    if "se" not in method.params:
        return NO
    return "yes, honest" if "honest" in method.params else "yes"
