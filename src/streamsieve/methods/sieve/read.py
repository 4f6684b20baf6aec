"""Reading a model: k columns, or as many as held-out rows want, under the ridge that these prefer.

Columns that do not vary, or are copies of others, are left out. Without the first fold, columns are
eliminated under a few ridges, and what is left at each size is refitted under a tenth, one and ten times the
ridge, with weak columns shrunk more. The three ridges that predict this fold best are compared on the other
folds too, and where few rows have to choose a size, on the folds of three partitions. The losses of the rows
that were left out choose the size, unless k is given, and at that size the scaling of the columns, the ridge
and the refit; with these all rows are fitted. Pseudocode: docs/how-it-works.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.params import ParamError
from ...core.rows import Array
from ...statistics import criteria
from ...statistics.folds import FOLDS, MANY
from .dual import Dual
from .solve import KEPT, Fit, Problem, Start, solve
from .store import Ints, Store
from .sums import EXACT, Sums

if TYPE_CHECKING:
    from .sieve import Sieve

#: Ridges of eliminations, per row, for columns of unit variance. Strong ones rank as correlations do, weak
#: ones as best subset does. One ridge alone (.01) costs 2.3 points of R2 at small k, two (.1, .001) 1.4.
RIDGES = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
#: Least ridge times rows, for labels: that of a normal prior with deviation .5 for weights of standardised
#: columns. Classes of few rows are separable: weaker ridges let weights explode, and win by chance. Of 80
#: rows "auto" gains 1.7 +- .6 points (8 sets), of 300 rows .5 +- .4; k given .0 +- .1 and .4 +- .3.
LEAST = 4.0
#: The model of the elimination itself, and adaptive refits under so many times its ridge. Against refits
#: under one ridge for all columns, three splits: R2 +.4 +- .4 (k given), +.8 +- .5 (auto), labels +.3 +- .2.
OWN, REFITS = 0.0, (0.0, 1.0, 10.0, 0.1)
#: The same for labels, whose ridges `LEAST` bounds: too strong for the few columns of classes that hardly
#: overlap. Against the factors of targets: log-loss .003 +- .002 less (k = 50, auto; 14 sets, two splits).
REFITS_OF_LABELS = (0.0, 1.0, 0.1, 0.01)
FAINT = 1e-6  # squared weights below this share of the typical one count as this: zero has no inverse
PATIENCE = 2  # ridges in a row that predict worse than the best one, after which no weaker one is tried
FINALISTS = 3  # ridges, of all scalings, that all folds compare; of two the log-loss is worse by .4 +- .3
EACH = 12  # sizes up to which all are tried, and above two in an octave: a coarser ladder is off by one
BEYOND = 2  # largest size, in rows: of tiny sets all columns predict best; labels +1.6 +- .8 against once
SPARSE = 0.1  # share of values that are not zero, below which columns are also compared in one unit: words
LATE = 1000  # rows above which kernels refit the chosen size alone: as good there, and a fifth of the time
#: Partitions into folds, for "auto" of at most so many rows: one partition chooses the size by luck. Against
#: one, not on the splits that chose the rule: log-loss -.014 +- .007 (11 small sets), -.014 +- .006 (12, cut
#: to 200 rows), -.002 +- .002 (9, 400 rows); R2 +.3 +- .8 (5), +2.9 +- 2.2 (5) and +.8 +- .5 (6); 2.7 times
#: the time. Five are not better, and a given k does not gain.
PARTITIONS, SMALL = 3, 400
FALLBACK = 10  # units, where k is to be chosen and no row can be left out
FLAT = 1e-6  # ridge of the fits that information criteria compare
COPIES = 8  # weight of equal rows that share a fold: more are data, not one row delivered again
CLEARLY = 1.53  # standard errors: 90% of Student's t with four degrees of freedom
EVIDENCE = 3.0  # least gain in log-likelihood: twentyfold odds, which noise has in one of twenty runs
TIE = 1e-5  # relative difference of losses that count as equal; the stronger ridge is taken
HUGE = 1e100  # loss of a model that overflows

Engine = Problem | Sums | Dual


class Reading(NamedTuple):
    """Features, weights (q, features), intercepts (q,), the ridge, and the size by each criterion."""

    features: Ints
    coef: Array
    intercept: Array
    ridge: float
    sizes: dict[str, int]


class Choice(NamedTuple):
    engine: Engine
    ridge: float
    size: int
    refit: float


def read(sieve: Sieve) -> Reading:
    """The model of what a sieve holds."""
    s, store = sieve.state, sieve.state.store
    engines, columns, folds = candidates(sieve)
    sizes = sizes_of(sieve, engines[0].problem, columns, folds)
    ridges = ridges_of(sieve)
    if len(sizes) > 1 and sieve.criterion in criteria.INFORMATION:
        sizes = [least_criterion(sieve, engines, columns, ridges, sizes)]
    refits = REFITS_OF_LABELS if sieve.labels else REFITS
    late = len(sizes) > 1 and isinstance(engines[0], Problem) and contents(store) > LATE
    early = (OWN,) if late else refits
    runs = [finalists(engines, columns, ridges, sizes, folds, early)]
    if len(sizes) > 1 and s.H is None and contents(store) <= SMALL:
        runs += [repeated(sieve, t, engines, runs[0], columns, sizes, early) for t in range(1, PARTITIONS)]
    if not runs[0] or not sizes[0]:
        choice, by_criterion = Choice(engines[0], ridges[0], sizes[0], OWN), {}
    elif len(sizes) > 1 and np.mean([better_than_constant(run, sieve.row_weight) for run in runs]) <= 0.5:
        choice, by_criterion = Choice(engines[0], ridges[0], 0, OWN), {"cv": 0, "1se": 0}
    else:
        best, s, r, by_criterion = choose(runs, sizes, sieve.criterion)
        factor = refits[best_refit(best, s, refits) if late else r]
        choice = Choice(best.engine, best.ridge, sizes[s], factor)
        by_criterion = by_criterion if len(sizes) > 1 else {}  # a size that was given is no choice of these
    fit, p = fit_all(choice, columns), choice.engine.problem
    coef = fit.B / p.scale[fit.columns] * p.spread[:, None]
    intercept = fit.b * p.spread + p.center - coef @ (p.mean[fit.columns] + store.shift[fit.columns])
    return Reading(store.columns[fit.columns], coef, intercept, choice.ridge, by_criterion)


def candidates(sieve: Sieve) -> tuple[list[Engine], Ints, list[int]]:
    """What fits, for each scaling of the columns; the columns; and the folds that can be left out."""
    engines, folds = engines_of(sieve)
    columns = np.flatnonzero(engines[0].problem.deviation > 0).astype(np.int32)
    return engines, engines[0].distinct(columns), folds


def engines_of(sieve: Sieve, partition: int = 0) -> tuple[list[Engine], list[int]]:
    """What fits, for each scaling of the columns, and the folds of this partition that can be left out."""
    s, (fold, part, folds) = sieve.state, folds_of(sieve, partition)
    sparse = s.values < SPARSE * s.rows * sieve.p and s.H is None
    scalings = (True, False) if sparse and sieve.standardize else (sieve.standardize,)
    engines: list[Engine] = [Problem(sieve, fold, part, own_units) for own_units in scalings]
    columns = np.flatnonzero(engines[0].problem.deviation > 0).astype(np.int32)
    if sieve.loss == "squared" and (s.H is not None or len(columns) <= EXACT):
        engines = [Sums(e.problem, columns) for e in engines]
    elif sieve.loss == "squared" and Dual.fits(engines[0].problem, len(columns)):
        engines = [Dual(e.problem) for e in engines]
    return engines, folds


def folds_of(sieve: Sieve, partition: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.uint8], list[int]]:
    """The fold of each row, the part in which its loss is summed, and the folds that can be left out."""
    s, store = sieve.state, sieve.state.store
    weight = store.weight[: store.n]
    number = deal(store.key[: store.n], weight, store.y[: store.n, 0] if sieve.labels else None)
    fold = (number + partition * (number // FOLDS)) % FOLDS  # lines of a square: two share one number
    by_fold = np.bincount(fold, weight, FOLDS)
    if sieve.loss == "squared" and s.H is not None:
        by_fold = by_fold + s.H[:, -1, -1]
    rest = by_fold.sum() if s.H is None or sieve.loss == "squared" else np.inf
    folds = [f for f in range(FOLDS) if 0 < by_fold[f] < rest]
    if (sieve.loss != "squared" or s.H is None) and contents(store) > MANY:
        return fold, number // FOLDS, folds[:1]
    return fold, fold, folds


def contents(store: Store) -> int:
    """Rows that differ: a row twice is one of twice the weight, and no rule may tell them apart."""
    return len(np.unique(store.key[: store.n]))


def deal(
    key: NDArray[np.uint32], weight: NDArray[np.float32], label: Array | None = None
) -> NDArray[np.uint8]:
    """Numbers below `FOLDS` squared of rows, by their content: equal rows have the same, up to `COPIES`.

    With labels, contents are dealt out class by class, so that every fold has its share of a rare one.
    """
    order = np.argsort(key, kind="stable").astype(np.int32)
    begins = np.flatnonzero(np.diff(key[order], prepend=~key[order[:1]]))  # of contents
    content = np.repeat(np.arange(len(begins), dtype=np.int32), np.diff(begins, append=len(key)))
    copy = np.zeros(len(key), dtype=np.int32)
    if len(begins) < len(key):
        before = np.cumsum(weight[order], dtype=np.float64) - weight[order]
        # weights may be of any size: what exceeds an int32 counts as one last group
        copy = np.minimum((before - before[begins][content]) // COPIES, 2**31 - 1).astype(np.int32)
    number = np.empty(len(key), dtype=np.uint8)
    if label is None:
        number[order] = (key[order] + copy.astype(np.uint32)) % FOLDS**2
        return number
    by_class = np.argsort(label[order[begins]][content], kind="stable")  # the class of a content's first row
    steps = np.diff(content[by_class], prepend=-1) + np.diff(copy[by_class], prepend=0)
    number[order[by_class]] = (np.cumsum(steps != 0) - 1) % FOLDS**2
    return number


def ridges_of(sieve: Sieve) -> tuple[float, ...]:
    """From the strongest on: for labels only those that few rows can bear, and after a retirement, unless the
    loss is squared, the one with which rows were summarised."""
    s = sieve.state
    if s.H is not None and sieve.loss != "squared":
        return (s.ridge / s.store.total,)
    weak = LEAST * sieve.row_weight / s.store.total if sieve.labels else 0.0
    return tuple(ridge for ridge in RIDGES if ridge >= min(weak, RIDGES[0]))


def sizes_of(sieve: Sieve, problem: Problem, columns: Ints, folds: list[int]) -> list[int]:
    """Numbers of units, decreasing: k, or all of a ladder up to twice as many as there are rows."""
    unit = problem.unit[columns]
    most, least = len(np.unique(unit)), len(np.unique(unit[problem.flags[columns] & KEPT > 0]))
    if sieve.k != "auto" and sieve.k < least:
        expected = f"expected at least {least}, the number of features or groups to keep."
        raise ParamError("k", sieve.k, expected)
    if sieve.k != "auto" or not folds:
        return [max(min(FALLBACK if sieve.k == "auto" else sieve.k, most), least)]
    rows = contents(problem.store) if problem.summary is None else most
    most = max(min(most, BEYOND * rows), least, 1)
    steps = np.rint(EACH * 2 ** np.arange(0, 40, 0.5))
    ladder = {*range(1, EACH), *steps.astype(int).tolist(), most}
    return sorted((size for size in ladder if max(least, 1) <= size <= most), reverse=True)


class Entry(NamedTuple):
    """An elimination in one scaling under one ridge: fits by fold and size, losses (sizes, refits, parts)."""

    engine: Engine
    ridge: float
    paths: dict[int, list[Fit]]
    losses: Array


def finalists(
    engines: Sequence[Engine],
    columns: Ints,
    ridges: Sequence[float],
    sizes: Sequence[int],
    folds: Sequence[int],
    refits: Sequence[float],
) -> list[Entry]:
    """Without the first fold all ridges are tried in the first scaling, and the best of them in the other;
    those that predict the fold best are compared on the other folds too."""
    tried: list[Entry] = []
    for engine in engines:  # the best ridge hardly depends on the scaling
        some = [entry.ridge for entry in best_of(tried, 1)] or ridges
        tried += first_fold(engine, columns, some, sizes, folds[:1], refits)
    best = best_of(tried, FINALISTS)
    return [e for engine in engines for e in other_folds(engine, columns, best, sizes, folds[1:], refits)]


def best_of(tried: Sequence[Entry], count: int) -> list[Entry]:
    """Those of the least losses, in the order in which they were tried; of equal ones the first."""
    order = sorted(range(len(tried)), key=lambda i: least(tried[i]) * (1 + TIE * i))[:count]
    return [tried[i] for i in sorted(order)]


def first_fold(
    engine: Engine,
    columns: Ints,
    ridges: Sequence[float],
    sizes: Sequence[int],
    folds: Sequence[int],
    refits: Sequence[float],
) -> Iterator[Entry]:
    """Entries that left the first fold out, from the strongest ridge on, while they become better."""
    start, best, worse = engine.problem.zero(columns), np.inf, 0
    together = ridges[: PATIENCE + 1] if folds else ()  # they are tried in any case, and share a walk
    while together and worse < PATIENCE:
        f, ridges = folds[0], ridges[len(together) :]
        paths = engine.eliminate([Start(start, ridge, f, [len(columns), *sizes]) for ridge in together])
        for ridge, (full, *path) in zip(together, paths):
            empty = Entry(engine, ridge, {f: path}, np.zeros((len(sizes), len(refits), FOLDS)))
            yield (entry := with_losses(empty, [f], refits))
            best, worse = (least(entry), 0) if least(entry) < best else (best, worse + 1)
            start = full
        together = ridges[:1]


def other_folds(
    engine: Engine,
    columns: Ints,
    entries: list[Entry],
    sizes: Sequence[int],
    folds: Sequence[int],
    refits: Sequence[float],
) -> list[Entry]:
    """The entries of this engine, with what they predict of the other folds."""
    own = [entry for entry in entries if entry.engine is engine]
    # from zero: the model without the first fold has learned the rows of the others, and where columns are
    # more than rows what it knows of them would stay in directions that the ridge alone determines
    zero = engine.problem.zero(columns)
    starts = [Start(zero, entry.ridge, f, sizes) for entry in own for f in folds]
    found = iter(engine.eliminate(starts))
    return [
        with_losses(e._replace(paths=e.paths | {f: next(found) for f in folds}), folds, refits) for e in own
    ]


def repeated(
    sieve: Sieve,
    partition: int,
    engines: Sequence[Engine],
    entries: list[Entry],
    columns: Ints,
    sizes: Sequence[int],
    refits: Sequence[float],
) -> list[Entry]:
    """The same entries, with what they predict of the folds of another partition."""
    found, (others, folds) = [], engines_of(sieve, partition)
    for engine, other in zip(engines, others):
        none = np.zeros((len(sizes), len(refits), FOLDS))
        own = [Entry(other, e.ridge, {}, none) for e in entries if e.engine is engine]
        found += other_folds(other, columns, own, sizes, folds, refits)
    return found


def with_losses(entry: Entry, folds: Sequence[int], refits: Sequence[float]) -> Entry:
    """The entry with the losses of these folds added, at each size and for each refit."""
    engine, ridge, paths, losses = entry
    at = [(s, r, f) for s in range(len(losses)) for r in range(len(refits)) for f in folds]
    again = [(s, r, f) for s, r, f in at if refits[r] != OWN]
    solved = solve(engine, [refit(engine, paths[f][s], refits[r] * ridge, f) for s, r, f in again])
    fits = {(s, r, f): paths[f][s] for s, r, f in at} | dict(zip(again, solved))
    losses = losses.copy()
    for (s, r, f), fit in fits.items():
        losses[s, r] += engine.loss(fit, f)
    return entry._replace(losses=np.fmin(losses, HUGE))


def refit(engine: Engine, fit: Fit, ridge: float, fold: int | None) -> Start:
    """The adaptive refit of a model: the ridge of a column is in inverse proportion to its squared weight.

    Where k is larger than what matters, columns of noise are shrunk to almost nothing. The ridge itself is
    that of a typical column: the mean square weighted by the squares. In their plain mean, columns of noise
    would count, and a larger size would mean a weaker ridge for those that matter.
    """
    _, unit = np.unique(engine.problem.unit[fit.columns], return_inverse=True)
    square = (fit.B**2).sum(axis=0)
    square = (np.bincount(unit, square) / np.bincount(unit))[unit]  # means of groups
    typical = float(square @ square) / max(float(square.sum()), np.finfo(float).tiny)
    factor = typical / np.maximum(square, FAINT * typical) if typical > 0 else 1.0
    return Start(fit, ridge, fold, factor=factor)


def least(entry: Entry) -> float:
    return float(entry.losses.sum(axis=-1).min())


def choose(
    runs: list[list[Entry]], sizes: Sequence[int], criterion: str
) -> tuple[Entry, int, int, dict[str, int]]:
    """What has the least loss at the size that the criterion chooses: entry, places of size and refit;
    and the size by each criterion. Losses are means over the partitions, of which each has a run."""
    losses = np.array([[entry.losses for entry in run] for run in runs])  # run, entry, size, refit, part
    total = losses.sum(axis=-1).mean(axis=0) * (1 + TIE * np.arange(len(runs[0])))[:, None, None]
    where = [np.unravel_index(total[:, s].argmin(), total[:, s].shape) for s in range(len(sizes))]
    curve = np.array([losses[:, i, s, r] for s, (i, r) in enumerate(where)])
    best = int(curve.sum(axis=(1, 2)).argmin())
    worse = curve - curve[best]
    error = (FOLDS * worse.var(axis=2, ddof=1).mean(axis=1)) ** 0.5  # of a sum over the parts of a run
    near = int(np.flatnonzero(worse.sum(axis=2).mean(axis=1) <= error)[-1])
    s = near if criterion == "1se" else best
    i, r = where[s]
    return runs[0][i], s, int(r), {"cv": sizes[best], "1se": sizes[near]}


def best_refit(entry: Entry, s: int, refits: Sequence[float]) -> int:
    """The place of the refit of least loss, at the size of this place alone."""
    paths = {f: [path[s]] for f, path in entry.paths.items()}
    at_size = entry._replace(paths=paths, losses=np.zeros((1, len(refits), FOLDS)))
    return int(with_losses(at_size, list(paths), refits).losses.sum(axis=-1).argmin())


def better_than(constant: Array, entries: list[Entry], row: float = 1.0) -> bool:
    """Whether models predict better than the constant, each chosen without the part on which it is judged.

    By `EVIDENCE` in the sum, where a row weighs `row`: shrunken models of noise differ from the constant by
    less. And by `CLEARLY` standard errors, or in all parts but one: of heavy tails one part may be wild.
    """
    losses = np.array([entry.losses for entry in entries]).reshape(-1, FOLDS)
    others = losses.sum(axis=1, keepdims=True) - losses
    gain = constant - losses[others.argmin(axis=0), np.arange(FOLDS)]
    clearly = gain.sum() > CLEARLY * gain.std(ddof=1) * FOLDS**0.5
    return bool(gain.sum() > EVIDENCE * row and (clearly or (gain > 0).sum() >= FOLDS - 1))


def better_than_constant(entries: list[Entry], row: float) -> bool:
    engine, folds = entries[0].engine, list(entries[0].paths)
    return better_than(constant(engine, folds), entries, row)


def constant(engine: Engine, folds: Sequence[int]) -> Array:
    """Losses of the model without columns."""
    none = engine.problem.zero(np.empty(0, dtype=np.int32))
    fits = solve(engine, [Start(none, 1.0, f) for f in folds], 1e-6)
    return np.sum([engine.loss(fit, f) for fit, f in zip(fits, folds)], axis=0)


def fit_all(choice: Choice, columns: Ints) -> Fit:
    """The model on all rows."""
    engine, ridge, size, factor = choice
    start = Start(engine.problem.zero(columns if size else columns[:0]), ridge, None, [size])
    fit = engine.eliminate([start])[0][0]
    again = Start(fit, ridge) if factor == OWN else refit(engine, fit, ridge * factor, None)
    return solve(engine, [again], 1e-6)[0]


def least_criterion(
    sieve: Sieve, engines: list[Engine], columns: Ints, ridges: Sequence[float], sizes: Sequence[int]
) -> int:
    """The size of the least information criterion, 0 included, along eliminations on all rows."""
    row, q = sieve.row_weight, sieve.q
    n, p = float(engines[0].problem.total / row), len(columns)

    def value(engine: Engine, fit: Fit, size: int) -> float:
        deviance = 2 * engine.loss(fit, None).sum() / row
        if sieve.loss == "squared":
            deviance = q * criteria.gaussian_deviance([deviance / (n * q)], n)
        return float(criteria.value(sieve.criterion, deviance, size * q, n, size, p))

    def measure(sizes: Sequence[int]) -> int:
        for engine in engines:
            starts = [Start(engine.problem.zero(columns), ridge, None, sizes) for ridge in ridges]
            for fits in engine.eliminate(starts) if sizes else ():
                flat = solve(engine, [Start(fit, FLAT) for fit in fits], 1e-4)
                for size, fit in zip(sizes, flat):
                    found[size] = min(found.get(size, np.inf), value(engine, fit, size))
        return min(found, key=lambda size: found[size])

    found = {0: value(engines[0], fit_all(Choice(engines[0], 1.0, 0, OWN), columns), 0)}
    best = measure([size for size in sizes if size < n / 3])  # more would fit any targets
    low = max((size for size in found if size < best), default=0)
    high = min((size for size in found if size > best), default=best + 1)
    return measure([size for size in range(high - 1, low, -1) if size != best])


def full_ridge(engine: Engine, columns: Ints, folds: Sequence[int]) -> float:
    """The ridge at which the model of all columns predicts the rows of a fold best."""
    tried = first_fold(engine, columns, RIDGES, [len(columns)], folds[:1], (OWN,))
    return min(((least(entry), entry.ridge) for entry in tried), default=(0.0, 1.0))[1]


def strengths(sieve: Sieve) -> tuple[Ints, Array]:
    """The candidates, and the norms of their standardised weights in a model of all of them."""
    engines, columns, folds = candidates(sieve)
    ridge = full_ridge(engines[0], columns, folds)
    fit = solve(engines[0], [Start(engines[0].problem.zero(columns), ridge)])[0]
    return sieve.state.store.columns[fit.columns], np.linalg.norm(fit.B, axis=0)
