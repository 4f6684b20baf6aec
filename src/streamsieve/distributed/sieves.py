"""The passes of a sieve, and of averages of candidates, over partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.params import ParamError
from ..methods.effects.effects import Effects
from ..methods.sieve.sieve import Sieve
from .kept import KeptRows, sieve_of_rows
from .look import FirstLook
from .partial import Partial, Task
from .parts import Columns, Part, PartError, check_mergeable, fitted
from .votes import Votes, folded_averages, most_candidates, sieve_of_averages

Run = Callable[[Task], Partial]


def _with(made: Task, method: Any, columns: Columns | None = None) -> Task:
    return replace(made, like=replace(made.like, method=method), columns=columns)


def _vote(made: Task, run: Run, sieve: Any, most: int) -> Part:
    """A pass in which every partition votes for candidates."""
    return run(_with(made, Votes(sieve, most))).whole()


def _columns(voted: Part, most: int) -> Columns:
    votes: Any = voted.model.method
    chosen, names = votes.elected(most), voted.model.feature_names
    return Columns(chosen, None if names is None else [names[j] for j in chosen])


def learn_averages(made: Task, run: Run, most: Any) -> tuple[Part, Columns | None]:
    """Averages of candidates."""
    check_mergeable(made.like)
    method: Any = made.like.method
    columns = None
    if made.width is None or made.width > most:
        columns = _columns(_vote(made, run, Sieve(loss="squared", missing=method.missing), most), most)
    return run(replace(made, columns=columns)).whole(), columns


def learn_sieve(made: Task, run: Run, candidates: int | None) -> Part:
    """A sieve: of sums where its loss is squared, else of the rows that its memory holds."""
    sieve: Any = made.like.method
    assert made.like.task is not None
    if isinstance(sieve, Effects):
        return learn_effects(made, run, sieve)
    _check(sieve)
    most = most_candidates(sieve, made.like.task.q) if candidates is None else candidates
    if sieve.loss != "squared":
        return _learn_rows(made, run, sieve, most)
    columns, voted = None, None
    if made.width is None or made.width > most:
        voted = _vote(made, run, sieve, most)
        columns = _columns(voted, most)
    averaged = _with(made, folded_averages(), columns)
    check_mergeable(averaged.like)
    part = run(averaged).whole()
    if voted is None or columns is None:
        return sieve_of_shards(part, sieve)
    return _sieve_of_sums(part, sieve, columns.numbers, voted.model)


def _sieve_of_sums(part: Part, sieve: Any, chosen: Any, like: Any) -> Part:
    """A sieve of the averages of some columns; `like` knows the names and the number of all features."""
    summed: Any = part.model.method.state
    limits = summed.low, summed.high
    return _with_method(
        part, sieve_of_averages(sieve, summed.folds, chosen, like.p, limits), like.feature_names
    )


def _averages_suffice(made: Task) -> bool:
    """Whether a sieve follows from averages of all features, and has room for them."""
    sieve: Any = made.like.method
    assert made.like.task is not None
    few = made.width is not None and made.width <= most_candidates(sieve, made.like.task.q)
    return few and sieve.loss == "squared"


def shard_task(made: Task) -> Task:
    """What each shard of a sieve learns in one pass: averages where all features have them, else its rows."""
    sieve: Any = made.like.method
    if isinstance(sieve, Effects):
        raise ParamError("effects", sieve.effects, "expected 'linear': shards learn before levels are known.")
    _check(sieve)
    return _with(made, folded_averages() if _averages_suffice(made) else KeptRows(sieve))


def stream_task(made: Task) -> Task | None:
    """What the batches of a stream learn, to be merged; None where their rows have to be learned in turn."""
    made = replace(made, estimator=None)  # as in `fit_task`
    method: Any = made.like.method
    try:
        if not method.screens:
            check_mergeable(made.like)
            return made
        _check(method)
    except ValueError:
        return None
    linear = not isinstance(method, Effects)
    return _with(made, folded_averages()) if linear and _averages_suffice(made) else None


def stream_model(made: Task, part: Partial) -> Any:
    """The estimator of the batches of a stream so far: what `stream_task` has learned, or `made` in turn."""
    found, method = part.copy().whole(), made.like.method
    if method.screens and not isinstance(found.model.method, Sieve):
        found = sieve_of_shards(found, method)
    return fitted(made.estimator, found, schema=(made.table or {}).get("schema"))


def sieve_of_shards(part: Part, sieve: Any) -> Part:
    """The sieve of what the tasks of `shard_task` have learned."""
    method: Any = part.model.method
    if not isinstance(method, KeptRows):
        return _sieve_of_sums(part, sieve, np.arange(part.model.p, dtype=np.int32), part.model)
    if method.state.full:
        raise PartError(
            f"The {part.rows:,} rows of {part} take more than memory={sieve.memory!r}; pass a larger memory "
            "for all shards, or --workers, which reads the source twice."
        )
    return _with_method(part, sieve_of_rows(method), part.model.feature_names)


def _check(sieve: Any) -> None:
    if sieve.missing == "mean":
        raise ParamError("missing", "mean", "expected 'error': units have no means of the rows before them.")
    if sieve.half_life is not None:
        raise ParamError(
            "half_life", sieve.half_life, "expected None: a unit does not know the age of its rows."
        )


def learn_effects(made: Task, run: Run, method: Effects) -> Part:
    """Shapes and pairs: a first look at some rows sets the levels, then all parts have the same."""
    edges = method.edges
    if edges is None:
        look: Any = run(_with(made, FirstLook(method))).whole().model.method
        edges = look.edges()
    again = method.with_values(edges=edges)
    again.merges = True
    part = run(_with(made, again)).whole()
    learned: Any = part.model.method
    learned.edges = method.edges  # as the user gave them: those that were found are in the state
    return part


def _with_method(part: Part, method: Any, names: Any) -> Part:
    return replace(part, model=replace(part.model, method=method, feature_names=names))


def _learn_rows(made: Task, run: Run, sieve: Any, most: int) -> Part:
    """Rows of all features where the memory holds them, else of the candidates; else all rows in turn."""
    part = run(_with(made, KeptRows(sieve))).whole()
    kept: Any = part.model.method
    names = part.model.feature_names
    if kept.state.full:
        if made.width is not None and made.width <= most:
            return run(made).whole()
        voted = _vote(made, run, sieve, most)
        votes: Any = voted.model.method
        fits = votes.most_columns()
        chosen, names = votes.elected(max(fits, sieve.least_width)), voted.model.feature_names
        if fits >= sieve.least_width:
            part = run(_with(made, KeptRows(sieve, chosen))).whole()
            kept = part.model.method
        if kept.state.full:  # more rows than the memory holds: they are summarised in their order
            second = sieve.with_values().begin(votes.p, votes.q)
            second.state.chosen = chosen
            return run(replace(made, like=replace(made.like, method=second, feature_names=names))).whole()
    return _with_method(part, sieve_of_rows(kept), names)
