"""Models out of files; those on running averages give any other model, without a row."""

from __future__ import annotations

import dataclasses
from typing import Any

import click
import numpy as np

from ..fitted import FittedModel
from ..methods import METHODS, method_class
from ..persist import CheckpointError, read_plain
from ..rows import Rows, from_scipy
from ..words import counted
from .method_choice import ERRORS, FIELDS, MethodChoice, method_entry
from .output import Console
from .shorthand import expand

AVERAGES = [name.lower() for name, entry in METHODS.items() if entry.family == "averages"]


def open_model(file: str) -> FittedModel:
    """A model out of a file that has learned some rows; CheckpointError for anything else."""
    return open_run(file)[0]


def open_run(file: str) -> tuple[FittedModel, dict[str, Any]]:
    """A model out of a file, and of a checkpoint what it holds of its run."""
    held = read_plain(file).object
    if not isinstance(held, FittedModel):
        raise CheckpointError(f"{file} holds {type(held).__name__}, not a model that was fitted.")
    if not held.started:
        raise CheckpointError(f"{file} holds a {held.name} that has not learned any rows.")
    return held, held.about.pop("run", None) or {}


def feature_table(model: FittedModel) -> tuple[list[str], list[list[Any]]]:
    """The selected features and their weights, the strongest first."""
    features = model.features()
    several = model.method.q > 1
    columns = ["feature"]
    columns += [f"weight {c}" for c in model.classes] if several and model.classes is not None else ["weight"]
    if not any(feature.stderr is not None for feature in features):
        return columns, [[f.name, *f.weights] for f in features]
    columns += ["stderr", "t", "p", "95% low", "95% high", "interval"]
    rows = []
    for f in features:
        low, high = f.interval or (None, None)
        kind = None if f.interval is None else "honest" if f.honest else "given the selection"
        rows.append([f.name, *f.weights, f.stderr, f.tvalue, f.pvalue, low, high, kind])
    return columns, rows


def note_unused_columns(model: FittedModel, console: Console) -> None:
    """Name the first columns that a model on averages cannot use."""
    linear = model.method.linear_model()
    if linear is None or not len(linear.dropped):
        return
    few = ", ".join(
        str(j + model.first_index if linear.feature_names is None else linear.feature_names[j])
        for j in linear.dropped[:5].tolist()
    )
    more = ", ..." if len(linear.dropped) > 5 else ""
    console.note(f"Not used, as they are constant or copies of others: {few}{more}.")


def averages_of(model: FittedModel, file: str) -> Any:
    """The running averages of all rows behind a model; CheckpointError where there are none."""
    if not hasattr(model.method, "averages"):
        raise CheckpointError(
            f"{file} holds a {model.name}, which keeps no averages; fit with ofsa or olsth."
        )
    averages = model.method.averages
    return averages.total() if hasattr(averages, "total") else averages


def select_from_file(file: str, options: dict[str, Any], console: Console) -> FittedModel:
    """The model of a file, or another one extracted from its averages."""
    model = open_model(file)
    expand(options, console, choose=False)
    if options["cluster"] is not None:
        raise click.UsageError(f"--cluster is for rows, and {file} is a model; pass it to `fit`.")
    choice = MethodChoice(**{name: options[name] for name in (*FIELDS, *ERRORS)}, console=console)
    choice.check_errors()
    errors = choice.error_values()
    if choice.k is None and choice.method == "auto" and not choice.settings and not errors:
        return model
    averages = averages_of(model, file)
    name = model.method_name.lower() if choice.method == "auto" else choice.method
    if choice.method == "auto":
        if choice.fdr is not None:
            name = "ols"
        elif choice.k == "auto" or not errors.keys() <= method_class(name).params.keys():
            name = choice.averages_method()
    if METHODS[method_entry(name).name].family != "averages":
        raise click.UsageError(
            f"--method {name} needs rows; from the averages of {file} come {', '.join(AVERAGES)}."
        )
    method = choice.make(name, model.task_name, like=model.method)
    method.adopt(model.method)  # type: ignore[attr-defined]
    rows = counted(int(averages.n_samples_), "row")
    console.note(f"Extracted from the averages of {rows}; none was read.")
    return dataclasses.replace(model, method=method)


def merge_shards(files: tuple[str, ...]) -> FittedModel | None:
    """The model of all shards of one plan; None if no file is a shard.

    CheckpointError names a part that is missing, double or of another plan.
    """
    from ..distributed.fit import finished_model, part_of
    from ..distributed.parts import merge_in_order

    notes: dict[str, Any] = {file: read_plain(file).about.get("part") for file in files}
    if not any(notes.values()):
        return None
    by_shard: dict[int, str] = {}
    first = next(file for file in files if notes[file])
    for file in files:
        note, expected = notes[file], notes[first]
        if not note or "shard" not in note:
            raise CheckpointError(f"{file} is no shard, as {first} is; merge shards with shards only.")
        if (note["digest"], note["of"]) != (expected["digest"], expected["of"]):
            raise CheckpointError(
                f"{file} is a shard of another plan than {first}: other files, options, method or number of "
                "shards."
            )
        if note["shard"] in by_shard:
            raise CheckpointError(
                f"{file} and {by_shard[note['shard']]} are both shard {note['shard']}/{note['of']}; pass one."
            )
        by_shard[note["shard"]] = file
    of = notes[first]["of"]
    missing = [f"{i}/{of}" for i in range(1, of + 1) if i not in by_shard]
    if missing:
        more = ", ..." if len(missing) > 8 else ""
        raise CheckpointError(f"{counted(len(missing), 'shard')} missing: {', '.join(missing[:8])}{more}.")

    def read_parts() -> Any:
        for index in sorted(by_shard):
            held = read_plain(by_shard[index])
            part = part_of(held.object, held.about)
            assert part is not None
            if hasattr(part.model.method, "averages"):
                part.model.method.averages.pack()
            yield part

    return finished_model(merge_in_order(read_parts()))


def merge_files(files: tuple[str, ...]) -> FittedModel:
    """One model on the averages of all; CheckpointError where they are not of the same kind."""
    shards = merge_shards(files)
    if shards is not None:
        return shards
    whole = open_model(files[0])
    averages_of(whole, files[0])
    source = whole.about.get("source")
    sources = list(source["files"]) if source else []
    for file in files[1:]:
        part = open_model(file)
        _check_same_kind(whole, part, file)
        where, width = None, max(whole.p, part.p)
        if whole.feature_names is not None and part.feature_names is not None:
            at = {name: j for j, name in enumerate(whole.feature_names)}
            where = np.array([at.setdefault(name, len(at)) for name in part.feature_names], dtype=np.int64)
            whole.feature_names, width = list(at), len(at)
        try:
            whole.method.merge(part.method, where, width)  # type: ignore[attr-defined]
        except ValueError as error:
            raise CheckpointError(f"{file} cannot be merged with {files[0]}: {error}") from None
        for name in ("rows", "rows_bad"):
            whole.about[name] = whole.about.get(name, 0) + part.about.get(name, 0)
        sources += (part.about.get("source") or {}).get("files", [])
    whole.about["rows"] = whole.method.n_rows
    if source:
        whole.about["source"] = {**source, "files": sources}
    return whole


def _check_same_kind(model: FittedModel, other: FittedModel, file: str) -> None:
    averages_of(other, file)
    if model.name != other.name:
        raise CheckpointError(f"{file} holds a {other.name}, the first file a {model.name}.")
    if (model.feature_names is None) != (other.feature_names is None):
        raise CheckpointError(f"{file} names its features, or the first file does, but not both.")
    if model.classes is not None and not np.array_equal(model.classes, other.classes):  # type: ignore[arg-type]
        theirs, ours = (", ".join(map(str, m.classes)) for m in (other, model))  # type: ignore[arg-type]
        raise CheckpointError(
            f"{file} has the labels {theirs}, the first file {ours}; fit both with the same --classes."
        )
    for name in ("interactions", "decay", "half_life", "dtype", "missing"):
        then, now = getattr(model.method, name), getattr(other.method, name)
        if then != now:
            raise CheckpointError(f"{file} has {name}={now!r}, the first file {then!r}.")


def select_columns(rows: Rows, features: np.ndarray[Any, Any] | None, p: int) -> Rows:
    """Rows of some features (None: the first ones) in the p columns that a model knows; the rest is 0."""
    if features is None:
        return rows
    sparse = (rows if rows.sparse else from_scipy(rows.to_scipy())).tight()
    indices = features[sparse.indices].astype(sparse.indices.dtype)
    return Rows(p=p, csr=(sparse.indptr, indices, sparse.data))
