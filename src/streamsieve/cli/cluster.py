"""`fit --scheduler` and `fit --workers`: the units of a source on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.words import counted
from ..distributed import dask
from ..distributed.fit import learn, prepare
from ..distributed.jobs import unit_task
from ..distributed.parts import finished_model
from ..distributed.plan import Plan
from ..training.model import Model
from .output import Console
from .progress import UnitMeter

_CONNECT = 30  # seconds


def fit_cluster(
    model: Model,
    units: Plan,
    folder: str | None,
    scheduler: str | None,
    workers: int | None,
    console: Console,
) -> Model:
    """The model of all units, learned by the workers of a scheduler, or of this machine."""
    like = prepare(model)
    with _client(scheduler, workers) as client, UnitMeter(like.method_name.lower(), console.quiet) as meter:
        console.note(f"{counted(len(units), 'unit')} for the workers of {client.scheduler.address}.")
        part, _ = learn(unit_task(units, like), dask.plan_run(client, units, folder, meter))
    found = finished_model(part)
    found.first_index = model.first_index
    return found


@contextmanager
def _client(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    distributed = dask.import_distributed()
    if scheduler is not None:
        with distributed.Client(scheduler, timeout=_CONNECT) as client:
            yield client
        return
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client
