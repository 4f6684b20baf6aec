"""Models as a C function without dependencies."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .formula import Formula, Term, formula_of


def to_c(model: Any, name: str = "predict") -> str:
    """A fitted estimator or model as C99 source.

    The file declares ``void NAME(const struct NAME_row *row, double *scores)``. The struct has a member for
    each column: a double (NaN if missing), or a ``const char *`` for a category (NULL if missing). Two
    classes have one score, positive for the second class; more classes have one score each, and the largest
    score determines the class.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError(f"name={name!r} is not a C identifier.")
    formula = formula_of(model)
    for term in formula.terms:
        if term.kind not in ("number", "missing", "category"):
            raise ValueError(f"The model reads {term.column!r} as a date, which to_c cannot compute.")
    members = _members(formula)
    words = {term.column for term in formula.terms if term.kind == "category" and not term.numeric}
    types = {column: "const char *" if column in words else "double " for column in members}
    lines = [
        "#include <math.h>", "#include <string.h>", "",
        f"/* {len(formula.terms)} features of {len(members)} columns; {_outcome(formula)} */",
        f"struct {name}_row {{",
        *(f"    {types[c]}{member}; /* {_comment(c)} */" for c, member in members.items()),
        *(["    char unused;"] if not members else []),
        "};", "",
        f"void {name}(const struct {name}_row *row, double *scores) {{",
        "    double x;",
        *(f"    scores[{i}] = {_number(b)};" for i, b in enumerate(formula.intercept)),
    ]  # fmt: skip
    for term in formula.terms:
        lines.append(f"    {_value(term, 'row->' + members[term.column])} /* {_comment(term.feature)} */")
        lines += [f"    scores[{i}] += {_number(w)} * x;" for i, w in enumerate(term.weight) if w]
    lines += [
        f"    scores[{i}] = exp(scores[{i}]);" for i in range(len(formula.intercept)) if formula.link == "exp"
    ]
    return "\n".join([*lines, "    (void)x, (void)row;", "}", ""])


def _outcome(formula: Formula) -> str:
    if not formula.classes:
        return "scores are predictions"
    return "classes " + ", ".join(_comment(str(label)) for label in formula.classes)


def _members(formula: Formula) -> dict[str, str]:
    """A C identifier for each column."""
    names: dict[str, str] = {}
    for column in formula.columns:
        stem = re.sub(r"\W", "_", column, flags=re.ASCII)
        stem, again = (stem if re.match(r"[A-Za-z_]", stem) else f"c_{stem}"), 1
        name = stem = f"{stem}_" if stem in KEYWORDS else stem
        while name in names.values():
            again += 1
            name = f"{stem}_{again}"
        names[column] = name
    return names


def _value(term: Term, member: str) -> str:
    if term.kind == "missing":
        return f"x = isnan({member});"
    if term.kind == "number":
        out = f"x = {member};"
        if term.fill is not None:
            out += f" if (isnan(x)) x = {_number(term.fill)};"
        if np.isfinite(term.low):
            out += f" if (x < {_number(term.low)}) x = {_number(term.low)};"
        if np.isfinite(term.high):
            out += f" if (x > {_number(term.high)}) x = {_number(term.high)};"
        return out
    if term.numeric:
        gone, equal = f"isnan({member})", [f"{member} == {float(level)!r}" for level in term.levels]
    else:
        gone, equal = f"!{member}", [f"!strcmp({member}, {_string(level)})" for level in term.levels]
    hit = " || ".join(equal) or "0"
    return f"x = {gone} ? {int(term.missing)} : {f'!({hit})' if term.others else f'({hit})'};"


def _string(text: str) -> str:
    """A C string: every byte that is not plain as an octal escape, which cannot run on."""
    plain = {ord(c) for c in " !#$%&'()*+,-./:;<=>@[]^_`{|}~"}
    return '"' + "".join(
        chr(b) if b in plain or (chr(b).isalnum() and b < 128) else f"\\{b:03o}" for b in text.encode()
    ) + '"'  # fmt: skip


def _comment(text: str) -> str:
    return re.sub(r"[^ -~]", "?", text).replace("*/", "* /").replace("\\", "/").replace("??", "? ?")


def _number(x: float) -> str:
    return repr(float(x))


KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while""".split()  # noqa: SIM905
)
