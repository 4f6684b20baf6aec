"""`fit` unit by unit: one shard of many, or on the workers of a Dask cluster."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import click
import numpy as np

from ..distributed.fit import make_folder, parts, prepare
from ..distributed.jobs import Job, describe_part, unit_task
from ..distributed.partial import merge_in_order
from ..distributed.parts import check_mergeable, finished_model
from ..distributed.plan import Plan, plan
from ..distributed.sieves import shard_task, sieve_of_shards
from ..training.model import Model
from ..training.source import Source, SourceRun, input_files
from .learning import method_choice, read_source
from .output import Console, check_outputs
from .progress import UnitMeter

_UNIT, _SMALLEST = 256 << 20, 1 << 16
_PER_SHARD = 4  # units, so that shards are about equally long

#: Options of `fit` that need the whole source in one process.
ONE_PROCESS = {"checkpoint": None, "resume": False}


def fit_units(
    files: tuple[str, ...],
    options: dict[str, Any],
    output: str,
    quiet: bool,
    *,
    shard: tuple[int, int] | None,
    scheduler: str | None,
    workers: int | None,
    unit: int | None,
    folder: str | None,
) -> tuple[Model, dict[str, Any]]:
    """The model of a shard or of all units, and what its file says of it."""
    if sum(option is not None for option in (shard, scheduler, workers)) > 1:
        raise click.UsageError("--shard, --scheduler and --workers exclude each other; pass one of them.")
    for name, default in ONE_PROCESS.items():
        if options.pop(name) != default:
            raise click.UsageError(f"--{name} is for one process; --unit-folder keeps finished units.")
    options.pop("every")
    console = Console(quiet)
    choice = method_choice(options, console)
    source = read_source(files, options)
    choice.check()
    check_outputs(input_files(files), models={"--output": output})
    units = plan(list(files), _unit_size(files, unit, shard), schema=source.schema, **source.options)
    run = SourceRun(source, choice)
    run.begin()  # the first rows determine task and labels, the same for all shards
    run.blocks.close()
    run.model.first_index = int(run.format == "svmlight" and not source.options.get("zero_based", False))
    folder = make_folder(folder)
    if scheduler is None and workers is None:
        return _fit_shard(run.model, units, shard, source, folder, quiet)
    from .cluster import fit_cluster

    model = fit_cluster(run.model, units, folder, scheduler, workers, console)
    _note_source(model, source, units)
    return model, {}


def _note_source(model: Model, source: Source, units: Plan) -> None:
    """The files that the model learned, and the schema used to read them."""
    model.about["source"] = source.describe()
    if "schema" in units.layout.table:
        model.about["schema"] = units.layout.table["schema"]


def _unit_size(files: tuple[str, ...], unit: int | None, shard: tuple[int, int] | None) -> int:
    if unit is not None:
        return unit
    total = sum(os.path.getsize(file) for file in input_files(files) if os.path.isfile(file))
    most = total if shard is None else total // (_PER_SHARD * shard[1])
    return max(_SMALLEST, min(_UNIT, most))


def _fit_shard(
    model: Model,
    units: Plan,
    shard: tuple[int, int] | None,
    source: Source,
    folder: str | None,
    quiet: bool,
) -> tuple[Model, dict[str, Any]]:
    """The units of a shard, or all of them, one after the other."""
    index, of = shard or (1, 1)
    like = prepare(model)
    made = replace(unit_task(units, like), leaf=0)
    try:
        if like.method.screens:
            made = shard_task(made)
        else:
            check_mergeable(like)
    except ValueError as error:
        raise click.UsageError(f"--method {like.method_name.lower()}: {error}") from None
    if of > len(units):
        raise click.UsageError(
            f"--shard {index}/{of}: the source has only {len(units)} units; pass at most as many shards, or "
            "a smaller --unit."
        )
    job = Job(units, made, folder)
    with UnitMeter(like.method_name.lower(), quiet) as meter:
        learned = merge_in_order(parts(job, units.shard(index - 1, of), meter))
    part = learned.whole()
    found = finished_model(sieve_of_shards(part, like.method) if like.method.screens else part)
    found.first_index = model.first_index
    _note_source(found, source, units)
    if shard is None:
        return found, {}
    note = describe_part(part, job.digest, shard=index, of=of)
    if like.method.screens:  # the model shows what the shard alone selects; `merge` reads what it has learned
        note["learned"] = np.frombuffer(learned.to_bytes(), dtype=np.uint8)
        note["width"] = len(made.names or ())
    return found, {"part": note}
