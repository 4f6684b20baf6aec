"""`streamsieve inspect --anytime`: tests of features that were named before the data were seen."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from ..methods.inference import anytime
from ..persist import CheckpointError
from ..training.features import feature_namer
from ..training.model import Model
from .model_files import averages_of, open_model
from .output import Console, emit


def test_features(file: str, names: list[str], since: str | None, as_json: bool, quiet: bool) -> None:
    """Print any-time valid tests of features from the averages of a model, without the rows of a snapshot."""
    model = open_model(file)
    averages = averages_of(model, file)
    places = [_place(model, name, file) for name in names]
    if since is not None:
        averages = _without(averages, model, since, file)
    else:
        Console(quiet).note(
            f"The tests hold if {', '.join(names)} had been named before the first row. For features that "
            "these rows selected, pass --since an earlier model."
        )
    tests = anytime(averages, places)
    shape = (-1, len(names))
    coef, p, log_e = (np.reshape(a, shape) for a in (tests.coef, tests.pvalue, tests.log_e))
    inside = tests.conf_int().reshape(-1, len(names), 2)
    outputs: list[Any] = (
        [None] if len(coef) == 1 else list(model.classes if model.classes is not None else [])
    )
    outputs = outputs or list(range(len(coef)))
    several = len(coef) > 1
    columns = ["feature", *(["target"] if several else []), "weight", "95% low", "95% high", "p", "log e"]
    rows = []
    for t, output in enumerate(outputs):
        for i, name in enumerate(names):
            low, high = inside[t, i].tolist()
            numbers = [float(coef[t, i]), low, high, float(p[t, i]), float(log_e[t, i])]
            rows.append([name, *([str(output)] if several else []), *numbers])
    about = {"rows": int(averages.n_samples_), "since": since, "interval": "valid at any time"}
    emit(columns, rows, as_json=as_json, title="Any-time tests", about=about)


def _place(model: Model, name: str, file: str) -> int:
    called = feature_namer(model)
    pairs = model.method.pairs
    width = model.p if pairs is None else pairs.n_features
    for j in range(width):
        if called(j) == name:
            return j
    some = ", ".join(called(j) for j in range(min(width, 5)))
    raise click.UsageError(f"--anytime {name}: {file} has no such feature; it has {some}, ...")


def _without(averages: Any, model: Model, since: str, file: str) -> Any:
    """The averages of the rows since a snapshot."""
    before = open_model(since)
    held = averages_of(before, since).copy()
    for one, other in ((model.name, before.name), (model.first_index, before.first_index)):
        if one != other:
            raise CheckpointError(f"{since} holds {other}, and {file} {one}; pass an earlier state of it.")
    if model.feature_names is not None:
        known = list(map(str, before.feature_names or []))
        if known != list(map(str, model.feature_names))[: len(known)]:
            raise CheckpointError(f"{since} has other features than {file}; pass an earlier state of it.")
    try:
        later = averages - held.widen(model.p)
    except ValueError as error:
        raise CheckpointError(f"{since} is not an earlier state of {file}: {error}") from None
    if later.n_samples_ == 0:
        raise CheckpointError(f"{file} has no rows that {since} does not have.")
    return later
