"""Fit a plan unit by unit: on this machine, as one shard of many, or (dask.py) on a cluster."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..fitted import FittedModel
from ..params import ParamError
from ..persist import CheckpointError, read_plain, save
from ..runs.source import as_labels
from ..tasks import Classification, Regression
from .parts import (
    Part,
    PartError,
    accumulate,
    check_mergeable,
    merge_in_order,
    named,
    settings_digest,
)
from .plan import Plan, plan

_FIRST_ROWS = 10_000  # looked at to find the labels


def prepare(
    estimator: Any, source: Plan | None = None, classes: Any = None, *, dense: bool = False
) -> FittedModel:
    """What is to be learned, for `accumulate`: the method of an estimator, and its task.

    Parameters
    ----------
    estimator : estimator or FittedModel
        What it has learned is left out.
    source : Plan or None
        Where the labels of a classifier are found: in the first 10,000 rows.
    classes : sequence or None
        All labels, where the first rows do not show them.
    dense : bool, default=False
        Whether all units have the same columns, so that other ones are an error.
    """
    dense = dense or (source is not None and source.layout.format == "npy")
    model = estimator
    if not isinstance(estimator, FittedModel):
        model = type(estimator)(**estimator.get_params(deep=False))._to_fitted()
    method: Any = type(model.method)(**model.method.values)
    if "grow" in method.params and not dense:
        method.grow = True  # units bring features that those before have not met
    if model.task_name == "regression":
        if classes is not None:
            raise ParamError("classes", classes, "expected for classifiers only.")
        return FittedModel(method, "regression", model.task or Regression())
    if classes is None and model.task is not None:
        return FittedModel(method, "classification", model.task)
    if classes is None:
        if source is None:
            raise ParamError("classes", None, "expected all labels.")
        classes = _first_labels(source)
    return FittedModel(method, "classification", Classification.of(classes))


def _first_labels(source: Plan) -> Any:
    targets, rows = [], 0
    for unit in source:
        with named(unit):
            for examples in unit.open(n_jobs=1).blocks():
                targets.append(as_labels(examples.y))
                rows += examples.n
                if rows >= _FIRST_ROWS:
                    return np.concatenate(targets)
    return np.concatenate(targets)


@dataclass(frozen=True)
class Job:
    """What every worker is given: the units, what to learn of them, and where finished ones are kept.

    Attributes
    ----------
    plan : Plan
    like : FittedModel
    folder : str or None
        Finished units are written there, and read instead of computed.
    """

    plan: Plan
    like: FittedModel
    folder: str | None = None

    @property
    def digest(self) -> str:
        """Tells plan and settings."""
        return settings_digest(self.plan.digest, self.like)

    def file(self, number: int) -> str | None:
        return None if self.folder is None else os.path.join(self.folder, f"unit-{number:06d}.sieve")

    def part(self, number: int) -> Part:
        """The part of a unit: from its file, or else accumulated and written to it."""
        file = self.file(number)
        found = None if file is None else self._kept(number, file)
        if found is not None:
            return found
        part = accumulate(self.plan[number], self.like)
        if file is not None:
            with named(self.plan[number]):
                save(part.model, file, about={"part": describe_part(part, self.digest)})
        return part

    def _kept(self, number: int, file: str) -> Part | None:
        """The part in a file; None where there is none, or a damaged one."""
        if not os.path.exists(file):
            return None
        try:
            held = read_plain(file)
        except CheckpointError:
            return None
        part = part_of(held.object, held.about)
        if part is None or held.about["part"]["digest"] != self.digest or part.first != number:
            raise PartError(
                f"{file} is not unit {number} of this plan with these settings; empty the folder, or pass "
                "another."
            )
        return part


def describe_part(part: Part, digest: str, **more: Any) -> dict[str, Any]:
    """What a file says of the part it holds."""
    return {
        "digest": digest, "first": part.first, "last": part.last, "rows": part.rows,
        "rows_bad": part.rows_bad, **more,
    }  # fmt: skip


def part_of(model: Any, about: dict[str, Any]) -> Part | None:
    """The part that a file holds; None where it holds another thing."""
    note = about.get("part")
    if not isinstance(model, FittedModel) or not isinstance(note, dict):
        return None
    model = replace(model, about={name: value for name, value in model.about.items() if name != "part"})
    return Part(model, int(note["first"]), int(note["last"]), int(note["rows"]), int(note["rows_bad"]))


def fit(
    estimator: Any,
    source: Any,
    *,
    unit: int | str = "256MB",
    classes: Any = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Any:
    """Fit an estimator on running averages unit by unit, on this machine.

    The result is, to the last bit, that of `streamsieve.dask.fit` with the same plan and any workers.

    Parameters
    ----------
    estimator : estimator
        On running averages; it is not changed.
    source : path, glob, list of them, or Plan
    unit : int or str, default="256MB"
        As of `plan`.
    classes : sequence or None
        All labels, where the first 10,000 rows do not show them.
    folder : path or None
        Finished units are kept there as files; the same call skips them when it is started again.
    progress : callable or None
        Called with the number of finished units and that of all, after each.
    **options
        Of `plan`: target, format, ...

    Returns
    -------
    estimator
        Fitted.
    """
    units = as_plan(source, unit, options)
    like = prepare(estimator, units, classes)
    check_mergeable(like)
    job = Job(units, like, make_folder(folder))
    return fitted(estimator, merge_in_order(parts(job, range(len(units)), progress)))


def as_plan(source: Any, unit: int | str, options: dict[str, Any]) -> Plan:
    """A plan, or one of the files."""
    if not isinstance(source, Plan):
        return plan(source, unit, **options)
    if options:
        raise ParamError(min(options), options[min(options)], "expected by plan, which has been called.")
    return source


def make_folder(folder: str | os.PathLike[str] | None) -> str | None:
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
    return None if folder is None else os.path.abspath(folder)


def parts(
    job: Job, numbers: Iterable[int], progress: Callable[[int, int], None] | None = None
) -> Iterator[Part]:
    """The parts of some units, one after the other."""
    numbers = list(numbers)
    for done, number in enumerate(numbers, 1):
        yield job.part(number)
        if progress is not None:
            progress(done, len(numbers))


def finished_model(part: Part, like: FittedModel | None = None) -> FittedModel:
    """The model of a part, ready to be read, with the parameters that the user gave."""
    method: Any = copy.copy(part.model.method)
    if hasattr(method, "averages"):
        method.averages.unpack()
    if like is not None and "grow" in method.params:
        method.grow = like.method.grow  # type: ignore[attr-defined]
    if part.rows == 0:
        raise ValueError("There is not a single row in all units.")
    about = {**part.model.about, "rows": part.rows, "rows_bad": part.rows_bad}
    return replace(part.model, method=method, about=about)


def fitted(estimator: Any, part: Part, n_columns: int | None = None) -> Any:
    """An estimator of the same parameters, fitted."""
    out = type(estimator)(**estimator.get_params(deep=False))
    model = finished_model(part, out._to_fitted())
    names = model.feature_names
    columns = len(names or []) if n_columns is None else n_columns
    model.method.feature_names = names
    out._adopt(replace(model, n_columns=columns))
    return out
