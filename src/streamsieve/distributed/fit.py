"""Fit a plan unit by unit: on this machine, as one shard of many, or (dask.py) on a cluster."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.params import ParamError
from ..core.tasks import Classification, Regression
from ..sources.schema import Schema
from ..training.model import Model
from ..training.source import as_labels
from .parts import (
    Columns,
    Job,
    Part,
    check_mergeable,
    merge_in_order,
    named,
)
from .plan import Plan, plan
from .tasks import learn_next

_FIRST_ROWS = 10_000  # looked at to find the labels


def prepare(estimator: Any, source: Plan | None = None, classes: Any = None, *, dense: bool = False) -> Model:
    """What is to be learned, for `accumulate`: the method of an estimator, and its task.

    Parameters
    ----------
    estimator : estimator or Model
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
    if not isinstance(estimator, Model):
        if getattr(estimator, "class_weight", None) is not None:
            raise ParamError(
                "class_weight",
                estimator.class_weight,
                "expected None where units are learned by workers: put the weights of the classes into the "
                "units' "
                "own weights.",
            )
        model = type(estimator)(**estimator.get_params(deep=False))._to_model()
    method: Any = model.method.with_values()
    if "grow" in method.params and not dense:
        method.grow = True  # units bring features that those before have not met
    if model.task_name == "regression":
        if classes is not None:
            raise ParamError("classes", classes, "expected for classifiers only.")
        return Model(method, "regression", model.task or Regression())
    if classes is None and model.task is not None:
        return Model(method, "classification", model.task)
    if classes is None:
        if source is None:
            raise ParamError("classes", None, "expected all labels.")
        classes = _first_labels(source)
    return Model(method, "classification", Classification.of(classes))


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


def fit(
    estimator: Any,
    source: Any,
    *,
    unit: int | str = "256MB",
    classes: Any = None,
    candidates: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Any:
    """Fit an estimator unit by unit, on this machine.

    The result is, to the last bit, that of `streamsieve.dask.fit` with the same plan and any workers.

    Parameters
    ----------
    estimator : estimator
        On running averages, or `Sieve`; it is not changed.
    source : path, glob, list of them, or Plan
    unit : int or str, default="256MB"
        As of `plan`.
    classes : sequence or None
        All labels, where the first 10,000 rows do not show them.
    candidates : int or None
        As of `streamsieve.dask.fit`.
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
    like, folder = prepare(estimator, units, classes), make_folder(folder)

    def run(like: Model, columns: Columns | None) -> Part:
        job = Job(units, like, folder, columns)
        return merge_in_order(parts(job, range(len(units)), progress))

    def run_serially(like: Model) -> Part:
        part = None
        for number in range(len(units)):
            part = learn_next(Job(units, like), part, number)
            if progress is not None:
                progress(number + 1, len(units))
        assert part is not None
        return part

    return fitted(estimator, *learn(like, run, run_serially, candidates, table_width(units)))


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


def table_width(units: Plan) -> int | None:
    """How many features a table has, where that is known before a row is read."""
    table = units.layout.table
    return len(Schema.from_plain(table["schema"]).feature_names) if table else None


def learn(
    like: Model,
    run: Callable[[Model, Columns | None], Part],
    run_serially: Callable[[Model], Part],
    candidates: int | None = None,
    width: int | None = None,
) -> tuple[Part, Columns | None]:
    """Learn a source in one pass, in two, or serially, as the method needs it.

    Parameters
    ----------
    like : Model
    run : callable
        Learns all units with a method whose parts merge: some columns, or all (None).
    run_serially : callable
        Learns all units in turn.
    candidates : int or None
        Columns of which averages are made.
    width : int or None
        Features of the source, where known.

    Returns
    -------
    Part, Columns or None
        What was learned; the candidates that the averages are of.
    """
    is_sieve = like.method.screens
    if candidates is not None and not is_sieve and not like.method.merges:
        raise ParamError("candidates", candidates, f"expected None: {like.name} needs no p^2 averages.")
    if not is_sieve and candidates is None:
        if not like.method.merges:
            return run_serially(like), None
        check_mergeable(like)
        return run(like, None), None
    from ..methods.sieve.sieve import Sieve
    from .votes import Votes, folded_averages, most_candidates, sieve_of_averages

    method: Any = like.method
    sieve = method if is_sieve else Sieve(loss="squared", missing=method.missing)
    assert like.task is not None
    if is_sieve and sieve.missing == "mean":
        raise ParamError("missing", "mean", "expected 'error': units have no means of the rows before them.")
    most = most_candidates(sieve, like.task.q) if candidates is None else candidates
    averaged = replace(like, method=folded_averages()) if is_sieve else like
    check_mergeable(averaged)
    columns: Columns | None = None
    p = 0
    if width is None or width > most:
        screening: Any = Votes(sieve, most)
        voted = run(replace(like, method=screening), None)
        votes: Any = voted.model.method
        names, p = voted.model.feature_names, voted.model.p
        if is_sieve and sieve.loss != "squared":
            return _learn_second(like, votes, names, run_serially), None
        chosen = votes.elected(most)
        columns = Columns(chosen, None if names is None else [names[j] for j in chosen])
    elif is_sieve and sieve.loss != "squared":
        return run_serially(like), None
    part = run(averaged, columns)
    if not is_sieve:
        return part, columns
    averages: Any = part.model.method.state.folds
    chosen = np.arange(averages.n_features_in_, dtype=np.int32) if columns is None else columns.numbers
    if columns is None:
        names, p = part.model.feature_names, averages.n_features_in_
    made = sieve_of_averages(sieve, averages, chosen, p)
    return replace(part, model=replace(part.model, method=made, feature_names=names)), None


def _learn_second(like: Model, votes: Any, names: Any, run_serially: Any) -> Part:
    """The second pass of a sieve whose loss has no sums: all rows of the candidates, in turn."""
    sieve: Any = like.method.with_values().begin(votes.p, votes.q)
    sieve.state.chosen = votes.elected(max(votes.most_columns(), sieve.least_width))
    part: Part = run_serially(replace(like, method=sieve, feature_names=names))
    return part


def finished_model(part: Part, like: Model | None = None) -> Model:
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


def fitted(estimator: Any, part: Part, columns: Columns | None = None) -> Any:
    """An estimator of the same parameters, fitted; of some columns, it has their numbers in `candidates_`."""
    out = type(estimator)(**estimator.get_params(deep=False))
    model = finished_model(part, out._to_model())
    names = model.feature_names
    model.method.feature_names = names
    out._adopt(replace(model, n_columns=len(names or [])))
    if columns is not None:
        out.candidates_ = columns.numbers
    return out
