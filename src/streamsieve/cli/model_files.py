"""Load models; from those on running averages, other models can be extracted without reading rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import reduce
from typing import Any

import click
import numpy as np

from ..core.rows import Rows
from ..core.words import counted
from ..methods import METHODS, method_class
from ..persist import CheckpointError
from ..sources.schema import Schema
from ..training.features import feature_namer, selected_features
from ..training.model import Model
from ..training.saved import read_plain
from .method_choice import ERRORS, FIELDS, MethodChoice, expand, method_entry
from .output import Console

NAMED = 8  # features that a note names: one line or two
AVERAGES = [name.lower() for name, entry in METHODS.items() if entry.family == "averages"]


def open_model(file: str) -> Model:
    """Load a model that has learned rows; raise CheckpointError for anything else."""
    return open_run(file)[0]


def open_run(file: str) -> tuple[Model, dict[str, Any]]:
    """Load a model and, from a checkpoint, the record of its run."""
    held = read_plain(file).object
    if not isinstance(held, Model):
        raise CheckpointError(f"{file} holds {type(held).__name__}, not a model that was fitted.")
    if not held.started:
        raise CheckpointError(f"{file} holds a {held.name} that has not learned any rows.")
    return held, held.about.pop("run", None) or {}


def schema_of_model(file: str) -> Schema:
    """The schema with which the model of a file read its table; raise UsageError if there is none."""
    about = open_model(file).about
    if "schema" not in about:
        raise click.UsageError(f"--like {file}: the model was not learned from a table.")
    return stored_schema(about, file)


def stored_schema(about: dict[str, Any], file: str) -> Schema:
    """The schema in the notes of a model; raise CheckpointError if it is damaged."""
    try:
        return Schema.from_plain(about["schema"])
    except ValueError as error:
        raise CheckpointError(f"{file}: {error}") from None


def feature_table(model: Model) -> tuple[list[str], list[list[Any]]]:
    """The selected features, the strongest first: effects, weights and their uncertainty.

    An effect is a weight times the standard deviation of its feature, which does not depend on units. If
    several categories of a column are selected, `column effect` is that of all of them. A model of shapes and
    pairs has a row for each of these.
    """
    if not model.method.linear:
        return component_table(model)
    features = selected_features(model)
    labels = [str(c) for c in model.classes] if model.q > 1 and model.classes is not None else []
    columns, rows = ["feature"], [[f.name] for f in features]

    def add(names: list[str], values: Callable[[Any], list[Any]]) -> None:
        columns.extend(names)
        for row, feature in zip(rows, features):
            row += values(feature)

    outputs = [f" {label}" for label in labels] if labels else [""] * model.q
    if any(f.effects is not None for f in features):
        add([f"effect{o}" for o in outputs], lambda f: f.effects or [None] * model.q)
    add([f"weight{o}" for o in outputs], lambda f: f.weights)
    if any(f.group is not None for f in features):
        add(["column effect"], lambda f: [f.group_effect])
    if any(f.stderr is not None for f in features):
        add(["stderr", "t", "p"], lambda f: [f.stderr, f.tvalue, f.pvalue])
        if any(f.group_test is not None for f in features):
            add(["column F", "column p"], lambda f: list(f.group_test or (None, None)))
        add(["95% low", "95% high"], lambda f: list(f.interval or (None, None)))
        kinds = {True: "honest", False: "given the selection"}
        add(["interval"], lambda f: [None if f.interval is None else kinds[f.honest]])
    return columns, rows


def component_table(model: Model) -> tuple[list[str], list[list[Any]]]:
    """Shapes and pairs of a model, the strongest first; p-values of pairs account for all pairs."""
    name = feature_namer(model)
    rows = []
    for term in model.attribute("terms"):
        first, *other = map(name, term.features)
        rows.append([first, other[0] if other else None, term.deviation, term.pvalue])
    return ["feature", "with", "effect", "p"], rows


def level_table(model: Model) -> tuple[list[str], list[list[Any]]]:
    """The curves of a model of shapes or pairs: each feature, level by level."""
    from ..methods.effects.effect import curve_of

    name, rows = feature_namer(model), []
    method: Any = model.method
    tables: Any = None if method.linear else method.tables
    for j in [] if tables is None else tables.answer.features.tolist():
        curve = curve_of(tables, j)
        effects, errors = (a.reshape(len(a), -1).tolist() for a in (curve.effect, curve.error))
        for value, effect, error, n in zip(curve.values.tolist(), effects, errors, curve.rows.tolist()):
            rows.append([name(j), value, *effect, *error, n])
    outputs = (
        [""]
        if model.q == 1
        else [f" {c}" for c in (range(model.q) if model.classes is None else model.classes)]
    )
    return [
        "feature",
        "value",
        *(f"effect{o}" for o in outputs),
        *(f"error{o}" for o in outputs),
        "rows",
    ], rows


def note_unused_columns(model: Model, console: Console) -> None:
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


def note_names(model: Model, console: Console) -> None:
    """Print the names of the strongest features."""
    if console.quiet or not len(model.support):
        return
    features = selected_features(model)
    names = ", ".join(feature.name for feature in features[:NAMED])
    more = f" and {len(features) - NAMED:,} others" if len(features) > NAMED else ""
    console.note(f"Selected: {names}{more}.")


def note_selection(model: Model, console: Console) -> None:
    """Say what signs mean or that nothing is selected, what another criterion selects, what is unused."""
    if not len(model.support):
        console.note(
            "No feature was selected: on these rows, no feature predicts the target better than a constant."
        )
    elif model.classes is not None and model.method.q == 1:
        console.note(f"Positive effects and weights make {model.classes[-1]} more likely.")
    console.note(model.method.note)
    note_unused_columns(model, console)


def averages_of(model: Model, file: str) -> Any:
    """The running averages of all rows of a model; raise CheckpointError if it has none."""
    method: Any = model.method
    if not (model.started and method.on_averages):
        raise CheckpointError(
            f"{file} holds a {model.name}, which keeps no averages; fit with ofsa or olsth."
        )
    return method.total


def select_from_file(file: str, options: dict[str, Any], console: Console) -> Model:
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
            f"--method {name} needs rows; the averages of {file} are enough only for {', '.join(AVERAGES)}."
        )
    method = choice.make(name, model.task_name, like=model.method)
    method.adopt(model.method)  # type: ignore[attr-defined]
    rows = counted(int(averages.n_samples_), "row")
    console.note(f"Extracted from the averages of {rows}; no row was read again.")
    return dataclasses.replace(model, method=method)


def merge_shards(files: tuple[str, ...]) -> Model | None:
    """The model of all shards of one plan; None if no file is a shard.

    CheckpointError names a shard that is missing, repeated or from another plan.
    """
    from ..distributed.parts import finished_model

    notes: dict[str, Any] = {file: _part_note(file) for file in files}
    if not any(notes.values()):
        return None
    by_shard: dict[int, str] = {}
    first = next(file for file in files if notes[file])
    for file in files:
        note, expected = notes[file], notes[first]
        if not note or "shard" not in note:
            raise CheckpointError(f"{file} is not a shard, but {first} is; merge only shards with shards.")
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

    return finished_model(_merged([by_shard[index] for index in sorted(by_shard)]))


def _part_note(file: str) -> dict[str, Any]:
    """The description of a shard in its file, without the model; {} for other files."""
    note = read_plain(file).about.get("part") or {}
    return {name: value for name, value in note.items() if name != "learned"}


def _merged(files: list[str]) -> Any:
    """The merged part of all shards, in order; files are read one after the other."""
    from ..distributed.jobs import part_of
    from ..distributed.partial import Task, merge_in_order
    from ..distributed.parts import merge_parts
    from ..distributed.sieves import shard_task, sieve_of_shards

    first = read_plain(files[0])
    if "learned" not in first.about["part"]:
        return reduce(merge_parts, (part_of(held.object, held.about) for held in map(read_plain, files)))
    about = {name: value for name, value in first.object.about.items() if name != "part"}
    like = dataclasses.replace(first.object, method=first.object.method.with_values(), about=about)
    task = shard_task(Task(like, p=first.about["part"]["width"] or None))
    learned = (read_plain(file).about["part"]["learned"].tobytes() for file in files)
    return sieve_of_shards(merge_in_order(map(task.from_bytes, learned)).whole(), like.method)


def merge_files(files: tuple[str, ...]) -> Model:
    """One model on the merged averages; raise CheckpointError if they are of different kinds."""
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


def _check_same_kind(model: Model, other: Model, file: str) -> None:
    averages_of(other, file)
    if model.name != other.name:
        raise CheckpointError(f"{file} holds a {other.name}, the first file a {model.name}.")
    if (model.feature_names is None) != (other.feature_names is None):
        raise CheckpointError(f"Only one of {file} and the first file has feature names.")
    if model.classes is not None and not np.array_equal(model.classes, other.classes):  # type: ignore[arg-type]
        theirs, ours = (", ".join(map(str, m.classes)) for m in (other, model))  # type: ignore[arg-type]
        raise CheckpointError(
            f"{file} has the labels {theirs}, the first file {ours}; fit both with the same --classes."
        )
    _check_same_schema(model, other, file)
    for name in ("interactions", "decay", "half_life", "dtype", "missing"):
        then, now = getattr(model.method, name), getattr(other.method, name)
        if then != now:
            raise CheckpointError(f"{file} has {name}={now!r}, the first file {then!r}.")


def _check_same_schema(model: Model, other: Model, file: str) -> None:
    """Raise CheckpointError if two tables encode categories, dates or words as different features."""
    if "schema" not in model.about or "schema" not in other.about:
        return
    ours, theirs = (stored_schema(m.about, file).coding() for m in (model, other))
    for one, two in zip(ours, theirs):
        if one != two:
            name = one[0] if one[0] == two[0] else f"{one[0]} or {two[0]}"
            raise CheckpointError(
                f"{file} encodes the column {name} differently from the first file, so that their features "
                "differ; fit it again with --like and the first file."
            )
    if len(ours) != len(theirs):
        raise CheckpointError(f"{file} has other columns than the first file; fit it with --like that.")


def select_columns(rows: Rows, features: np.ndarray[Any, Any] | None, p: int) -> Rows:
    """Place the columns of rows at `features` (None: the first) among p columns; the others are 0."""
    if features is None:
        return rows
    sparse = rows.to_sparse().tight()
    indices = features[sparse.indices].astype(sparse.indices.dtype)
    return Rows(p=p, csr=(sparse.indptr, indices, sparse.data))
