"""Models as JSON; `reader.py`, a file of 35 lines without dependencies, predicts with them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from .formula import Formula, Term, formula_of

VERSION = 1


def to_json(model: Any) -> str:
    """A fitted estimator or model as JSON.

    An object with `format` ("streamsieve formula"), `version`, `link`, `classes`, `intercept` and `terms`, as
    described by `Formula` and `Term`; fields with default values are left out. The JSON schema
    `streamsieve/export/formula.schema.json` defines it. `streamsieve/export/reader.py` shows how to predict
    with it, and may be copied.
    """
    formula = formula_of(model)
    return json.dumps(
        {
            "format": "streamsieve formula",
            "version": VERSION,
            "link": formula.link,
            "classes": list(formula.classes),
            "intercept": list(formula.intercept),
            "terms": [_plain(term, formula) for term in formula.terms],
        },
        indent=1,
        ensure_ascii=False,
        allow_nan=False,
    )


def _plain(term: Term, formula: Formula) -> dict[str, Any]:
    default = asdict(Term("", "", "", (0.0,) * len(formula.intercept)))
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(term).items()
        if value != default[name] and not (name in ("low", "high") and np.isinf(value))
    }
