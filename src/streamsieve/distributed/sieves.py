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
from .parts import Columns, Part, check_mergeable
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


def learn_averages(made: Task, run: Run, most: Any, width: int | None) -> tuple[Part, Columns | None]:
    """Averages of candidates."""
    check_mergeable(made.like)
    method: Any = made.like.method
    columns = None
    if width is None or width > most:
        columns = _columns(_vote(made, run, Sieve(loss="squared", missing=method.missing), most), most)
    return run(replace(made, columns=columns)).whole(), columns


def learn_sieve(made: Task, run: Run, candidates: int | None, width: int | None) -> Part:
    """A sieve: of sums where its loss is squared, else of the rows that its memory holds."""
    sieve: Any = made.like.method
    assert made.like.task is not None
    if isinstance(sieve, Effects):
        return learn_effects(made, run, sieve)
    if sieve.missing == "mean":
        raise ParamError("missing", "mean", "expected 'error': units have no means of the rows before them.")
    most = most_candidates(sieve, made.like.task.q) if candidates is None else candidates
    if sieve.loss != "squared":
        return _learn_rows(made, run, sieve, most, width)
    columns, voted = None, None
    if width is None or width > most:
        voted = _vote(made, run, sieve, most)
        columns = _columns(voted, most)
    averaged = _with(made, folded_averages(), columns)
    check_mergeable(averaged.like)
    part = run(averaged).whole()
    summed: Any = part.model.method.state
    averages = summed.folds
    names, p = part.model.feature_names, averages.n_features_in_
    chosen = np.arange(p, dtype=np.int32)
    if voted is not None and columns is not None:
        names, p, chosen = voted.model.feature_names, voted.model.p, columns.numbers
    return _with_method(part, sieve_of_averages(sieve, averages, chosen, p, (summed.low, summed.high)), names)


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


def _learn_rows(made: Task, run: Run, sieve: Any, most: int, width: int | None) -> Part:
    """Rows of all features where the memory holds them, else of the candidates; else all rows in turn."""
    part = run(_with(made, KeptRows(sieve))).whole()
    kept: Any = part.model.method
    names = part.model.feature_names
    if kept.state.full:
        if width is not None and width <= most:
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
