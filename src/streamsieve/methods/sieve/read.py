"""Reads a model from a sieve: k columns, or as many as cross-validation chooses, and their ridge.

The functions follow the pseudocode of docs/how-it-works.md, in its order:

- `prepare`: columns that vary and are not copies; the folds (`folds_of`); the scalings;
- `finalists`: step 1 (`try_ridges`, on the first fold) and step 2 (`try_folds`, on the others);
- `better_than_constant` and `choose`: steps 3 and 4;
- `fit_all`: step 5.

A `Trial` is one elimination: its scaling (the engine), its ridge, its fits, and the losses of held-out rows.
The engines compute fits and losses: `Sums` and `Dual` for squared loss, `Problem` for any loss.
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

#: Ridges of eliminations, per row, for columns of unit variance. Strong ridges rank columns as correlations
#: do, weak ones as best subset does. One ridge (.01) costs 2.3 points of R2 at small k, two (.1, .001) 1.4.
RIDGES = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
#: Least ridge for labels, times the number of rows: that of a normal prior with deviation .5 for the weights
#: of standardised columns. Few rows are often separable; under weaker ridges their weights diverge, and such
#: models can win by chance. With 80 rows "auto" gains 1.7 +- .6 points (8 sets), with 300 rows .5 +- .4; a
#: given k gains .0 +- .1 and .4 +- .3.
LEAST_TOTAL = 4.0
#: Factors of the ridge in adaptive refits; 0 is no refit, the model of the elimination itself. Against refits
#: with one ridge for all columns, three splits: R2 +.4 +- .4 (k given), +.8 +- .5 (auto), labels +.3 +- .2.
NO_REFIT, FACTORS = 0.0, (0.0, 1.0, 10.0, 0.1)
#: The same for labels. The lower bound of their ridges is too strong for a few columns that separate the
#: classes well. Against the factors of targets: log-loss -.003 +- .002 (k = 50, auto; 14 sets, two splits).
FACTORS_OF_LABELS = (0.0, 1.0, 0.1, 0.01)
LEAST_SQUARE = 1e-6  # share of a typical squared weight that smaller ones are raised to: zero has no inverse
PATIENCE = 2  # ridges in a row that are not better than the best so far, after which no weaker one is tried
FINALISTS = 3  # trials that are compared on all folds; with two the log-loss is worse by .4 +- .3
ALL_SIZES = 12  # every size up to here is tried, larger ones by factors of 2^.5: a coarser grid is off by one
SIZES_PER_ROW = 2  # largest size, times rows: tiny sets need all columns; labels +1.6 +- .8 against 1
SPARSE = 0.1  # share of non-zero values below which columns are also compared in one common unit: words
MANY_FITS = 1000  # rows above which kernels refit only the chosen size: as good, in a fifth of the time
#: Partitions into folds, for "auto" with at most so many rows: with one partition, luck chooses the size.
#: Against one, on splits that did not choose the rule: log-loss -.014 +- .007 (11 small sets), -.014 +- .006
#: (12, cut to 200 rows), -.002 +- .002 (9, 400 rows); R2 +.3 +- .8 (5), +2.9 +- 2.2 (5) and +.8 +- .5 (6); it
#: takes 2.7 times as long. Five are not better, and a given k does not gain.
PARTITIONS, FEW_ROWS = 3, 400
DEFAULT_SIZE = 10  # columns or groups selected by "auto" if no row can be left out
CRITERION_RIDGE = 1e-6  # of the fits that information criteria compare
COPIES = 8  # total weight up to which equal rows share a fold: more are data, not one row delivered again
STUDENT_T = 1.53  # 90 % quantile of Student's t with four degrees of freedom: standard errors of five parts
LEAST_GAIN = 3.0  # in log-likelihood, over the constant: odds of 20 to 1; noise reaches it in 1 of 20 runs
TIE = 1e-5  # relative difference below which losses are equal; the earlier trial is chosen
LARGEST_LOSS = 1e100  # stands for the loss of a model that overflows

Engine = Problem | Sums | Dual


class Reading(NamedTuple):
    """Features, weights (q, features), intercepts (q,), ridge, and the size that each criterion chooses."""

    features: Ints
    coef: Array
    intercept: Array
    ridge: float
    sizes: dict[str, int]


class Choice(NamedTuple):
    """What step 5 fits to all rows."""

    engine: Engine
    ridge: float
    size: int
    factor: float  # of the ridge in the refit


def read(sieve: Sieve) -> Reading:
    """The model of the rows that a sieve holds."""
    store = sieve.state.store
    engines, columns, folds = prepare(sieve)
    sizes = sizes_of(sieve, engines[0].problem, columns, folds)
    ridges = ridges_of(sieve)
    if len(sizes) > 1 and sieve.criterion in criteria.INFORMATION:
        sizes = [least_criterion(sieve, engines, columns, ridges, sizes)]
    auto = len(sizes) > 1
    factors = FACTORS_OF_LABELS if sieve.labels else FACTORS
    late = auto and isinstance(engines[0], Problem) and distinct_rows(store) > MANY_FITS
    tried = (NO_REFIT,) if late else factors
    runs = [finalists(engines, columns, ridges, sizes, folds, tried)]  # a run for each partition
    if auto and sieve.state.H is None and distinct_rows(store) <= FEW_ROWS:
        others = range(1, PARTITIONS)
        runs += [try_partition(sieve, t, engines, runs[0], columns, sizes, tried) for t in others]
    by_criterion: dict[str, int] = {}
    if not runs[0] or not sizes[0]:
        choice = Choice(engines[0], ridges[0], sizes[0], NO_REFIT)
    elif auto and np.mean([better_than_constant(run, sieve.row_weight) for run in runs]) <= 0.5:
        choice, by_criterion = Choice(engines[0], ridges[0], 0, NO_REFIT), {"cv": 0, "1se": 0}
    else:
        best, at_size, at_factor, chosen = choose(runs, sizes, sieve.criterion)
        factor = factors[best_refit(best, at_size, factors) if late else at_factor]
        choice = Choice(best.engine, best.ridge, sizes[at_size], factor)
        by_criterion = chosen if auto else {}
    fit, p = fit_all(choice, columns), choice.engine.problem
    coef = fit.B / p.scale[fit.columns] * p.spread[:, None]
    intercept = fit.b * p.spread + p.center - coef @ (p.mean[fit.columns] + store.shift[fit.columns])
    return Reading(store.columns[fit.columns], coef, intercept, choice.ridge, by_criterion)


def prepare(sieve: Sieve) -> tuple[list[Engine], Ints, list[int]]:
    """An engine for each scaling; the columns that vary, without copies; the folds that can be left out."""
    engines, folds = engines_of(sieve)
    columns = np.flatnonzero(engines[0].problem.deviation > 0).astype(np.int32)
    return engines, engines[0].distinct(columns), folds


def engines_of(sieve: Sieve, partition: int = 0) -> tuple[list[Engine], list[int]]:
    """An engine for each scaling, with the folds of this partition; those folds that can be left out."""
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
    """The fold of each row, the part to which its loss is added, and the folds that can be left out."""
    s, store = sieve.state, sieve.state.store
    weight = store.weight[: store.n]
    number = row_numbers(store.key[: store.n], weight, store.y[: store.n, 0] if sieve.labels else None)
    fold = (number + partition * (number // FOLDS)) % FOLDS  # folds of two partitions share one number
    by_fold = np.bincount(fold, weight, FOLDS)
    if sieve.loss == "squared" and s.H is not None:
        by_fold = by_fold + s.H[:, -1, -1]
    rest = by_fold.sum() if s.H is None or sieve.loss == "squared" else np.inf
    folds = [f for f in range(FOLDS) if 0 < by_fold[f] < rest]
    if (sieve.loss != "squared" or s.H is None) and distinct_rows(store) > MANY:
        return fold, number // FOLDS, folds[:1]
    return fold, fold, folds


def distinct_rows(store: Store) -> int:
    """Number of rows that differ: a row that is there twice is the same as a row of weight two."""
    return len(np.unique(store.key[: store.n]))


def row_numbers(
    key: NDArray[np.uint32], weight: NDArray[np.float32], label: Array | None = None
) -> NDArray[np.uint8]:
    """The number of each row, from 0 to 24, by its content: equal rows have the same one, up to `COPIES`.

    Contents with labels are numbered class by class: every fold has its share of the rows of a rare class.
    """
    order = np.argsort(key, kind="stable").astype(np.int32)
    begins = np.flatnonzero(np.diff(key[order], prepend=~key[order[:1]]))  # of each content
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
    """The ridges to try, decreasing. For labels, those above the lower bound. If rows were summarised and the
    loss is not squared, the ridge of the model around which it was expanded."""
    s = sieve.state
    if s.H is not None and sieve.loss != "squared":
        return (s.ridge / s.store.total,)
    weak = LEAST_TOTAL * sieve.row_weight / s.store.total if sieve.labels else 0.0
    return tuple(ridge for ridge in RIDGES if ridge >= min(weak, RIDGES[0]))


def sizes_of(sieve: Sieve, problem: Problem, columns: Ints, folds: list[int]) -> list[int]:
    """The sizes to try, decreasing: k alone, or for "auto" a grid up to twice the number of rows."""
    unit = problem.unit[columns]
    most, least = len(np.unique(unit)), len(np.unique(unit[problem.flags[columns] & KEPT > 0]))
    if sieve.k != "auto" and sieve.k < least:
        expected = f"expected at least {least}, the number of features or groups to keep."
        raise ParamError("k", sieve.k, expected)
    if sieve.k != "auto" or not folds:
        return [max(min(DEFAULT_SIZE if sieve.k == "auto" else sieve.k, most), least)]
    rows = distinct_rows(problem.store) if problem.summary is None else most
    most = max(min(most, SIZES_PER_ROW * rows), least, 1)
    steps = np.rint(ALL_SIZES * 2 ** np.arange(0, 40, 0.5))
    ladder = {*range(1, ALL_SIZES), *steps.astype(int).tolist(), most}
    return sorted((size for size in ladder if max(least, 1) <= size <= most), reverse=True)


class Trial(NamedTuple):
    """An elimination in one scaling under one ridge: fits by fold and size, losses (size, factor, part)."""

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
    factors: Sequence[float],
) -> list[Trial]:
    """Steps 1 and 2: all ridges on the first fold, in the other scaling the best of them; then the best
    trials on all folds."""
    tried: list[Trial] = []
    for engine in engines:  # the best ridge hardly depends on the scaling
        some = [trial.ridge for trial in best_trials(tried, 1)] or ridges
        tried += try_ridges(engine, columns, some, sizes, folds[:1], factors)
    best = best_trials(tried, FINALISTS)
    return [e for engine in engines for e in try_folds(engine, columns, best, sizes, folds[1:], factors)]


def best_trials(tried: Sequence[Trial], count: int) -> list[Trial]:
    """The trials of least loss, in their order; of equal ones the first."""
    order = sorted(range(len(tried)), key=lambda i: least_loss(tried[i]) * (1 + TIE * i))[:count]
    return [tried[i] for i in sorted(order)]


def try_ridges(
    engine: Engine,
    columns: Ints,
    ridges: Sequence[float],
    sizes: Sequence[int],
    folds: Sequence[int],
    factors: Sequence[float],
) -> Iterator[Trial]:
    """Trials on one fold, from the strongest ridge on, until `PATIENCE` of them are not better.

    The first ridges are solved together, which reads the rows once; each later one starts from the model of
    all columns under the one before.
    """
    start, best, worse = engine.problem.zero(columns), np.inf, 0
    together = ridges[: PATIENCE + 1] if folds else ()
    while together and worse < PATIENCE:
        f, ridges = folds[0], ridges[len(together) :]
        paths = engine.eliminate([Start(start, ridge, f, [len(columns), *sizes]) for ridge in together])
        for ridge, (full, *path) in zip(together, paths):
            empty = Trial(engine, ridge, {f: path}, np.zeros((len(sizes), len(factors), FOLDS)))
            yield (trial := add_losses(empty, [f], factors))
            best, worse = (least_loss(trial), 0) if least_loss(trial) < best else (best, worse + 1)
            start = full
        together = ridges[:1]


def try_folds(
    engine: Engine,
    columns: Ints,
    trials: list[Trial],
    sizes: Sequence[int],
    folds: Sequence[int],
    factors: Sequence[float],
) -> list[Trial]:
    """The trials of this engine, with the losses of these folds added."""
    own = [trial for trial in trials if trial.engine is engine]
    # from zero weights: the model without the first fold has learned from the rows of these folds, and with
    # more columns than rows that would stay in directions that only the ridge determines
    zero = engine.problem.zero(columns)
    starts = [Start(zero, trial.ridge, f, sizes) for trial in own for f in folds]
    found = iter(engine.eliminate(starts))
    return [
        add_losses(e._replace(paths=e.paths | {f: next(found) for f in folds}), folds, factors) for e in own
    ]


def try_partition(
    sieve: Sieve,
    partition: int,
    engines: Sequence[Engine],
    trials: list[Trial],
    columns: Ints,
    sizes: Sequence[int],
    factors: Sequence[float],
) -> list[Trial]:
    """The same trials on the folds of another partition."""
    found, (others, folds) = [], engines_of(sieve, partition)
    for engine, other in zip(engines, others):
        none = np.zeros((len(sizes), len(factors), FOLDS))
        own = [Trial(other, e.ridge, {}, none) for e in trials if e.engine is engine]
        found += try_folds(other, columns, own, sizes, folds, factors)
    return found


def add_losses(trial: Trial, folds: Sequence[int], factors: Sequence[float]) -> Trial:
    """The trial with the losses of these folds added, at each size and for each factor."""
    engine, ridge, paths, losses = trial
    at = [(s, r, f) for s in range(len(losses)) for r in range(len(factors)) for f in folds]
    again = [(s, r, f) for s, r, f in at if factors[r] != NO_REFIT]
    solved = solve(engine, [refit(engine, paths[f][s], factors[r] * ridge, f) for s, r, f in again])
    fits = {(s, r, f): paths[f][s] for s, r, f in at} | dict(zip(again, solved))
    losses = losses.copy()
    for (s, r, f), fit in fits.items():
        losses[s, r] += engine.loss(fit, f)
    return trial._replace(losses=np.fmin(losses, LARGEST_LOSS))


def refit(engine: Engine, fit: Fit, ridge: float, fold: int | None) -> Start:
    """The adaptive refit of a model: the ridge of a column is inversely proportional to its squared weight.

    This shrinks columns of noise to almost zero if k is larger than the number of useful columns. `ridge` is
    that of a column with a typical squared weight: the mean of the squares, weighted by the squares. With
    their plain mean, each column of noise would weaken the ridge of the useful ones.
    """
    _, unit = np.unique(engine.problem.unit[fit.columns], return_inverse=True)
    square = (fit.B**2).sum(axis=0)
    square = (np.bincount(unit, square) / np.bincount(unit))[unit]  # means of groups
    typical = float(square @ square) / max(float(square.sum()), np.finfo(float).tiny)
    factor = typical / np.maximum(square, LEAST_SQUARE * typical) if typical > 0 else 1.0
    return Start(fit, ridge, fold, factor=factor)


def least_loss(trial: Trial) -> float:
    return float(trial.losses.sum(axis=-1).min())


def choose(
    runs: list[list[Trial]], sizes: Sequence[int], criterion: str
) -> tuple[Trial, int, int, dict[str, int]]:
    """The trial of least loss at the size that the criterion chooses, the places of size and factor, and the
    size that each criterion chooses. Losses are means over the runs, one for each partition."""
    losses = np.array([[trial.losses for trial in run] for run in runs])  # run, trial, size, refit, part
    total = losses.sum(axis=-1).mean(axis=0) * (1 + TIE * np.arange(len(runs[0])))[:, None, None]
    where = [np.unravel_index(total[:, s].argmin(), total[:, s].shape) for s in range(len(sizes))]
    curve = np.array([losses[:, i, s, r] for s, (i, r) in enumerate(where)])
    best = int(curve.sum(axis=(1, 2)).argmin())
    excess = curve - curve[best]
    error = (FOLDS * excess.var(axis=2, ddof=1).mean(axis=1)) ** 0.5  # of a sum over the parts of a run
    near = int(np.flatnonzero(excess.sum(axis=2).mean(axis=1) <= error)[-1])
    s = near if criterion == "1se" else best
    i, r = where[s]
    return runs[0][i], s, int(r), {"cv": sizes[best], "1se": sizes[near]}


def best_refit(trial: Trial, s: int, factors: Sequence[float]) -> int:
    """The place of the factor of least loss, at one size."""
    paths = {f: [path[s]] for f, path in trial.paths.items()}
    at_size = trial._replace(paths=paths, losses=np.zeros((1, len(factors), FOLDS)))
    return int(add_losses(at_size, list(paths), factors).losses.sum(axis=-1).argmin())


def better_than(constant: Array, trials: list[Trial], row: float = 1.0) -> bool:
    """Whether trials predict better than the constant; each part judges a model that the other parts chose.

    The gain must exceed `LEAST_GAIN`, in units of the weight `row` of a row: on noise, models are shrunk to
    almost nothing and gain less. It must also exceed `STUDENT_T` standard errors, or be positive in all parts
    but one: with heavy tails one part can be extreme.
    """
    losses = np.array([trial.losses for trial in trials]).reshape(-1, FOLDS)
    others = losses.sum(axis=1, keepdims=True) - losses
    gain = constant - losses[others.argmin(axis=0), np.arange(FOLDS)]
    clearly = gain.sum() > STUDENT_T * gain.std(ddof=1) * FOLDS**0.5
    return bool(gain.sum() > LEAST_GAIN * row and (clearly or (gain > 0).sum() >= FOLDS - 1))


def better_than_constant(trials: list[Trial], row: float) -> bool:
    engine, folds = trials[0].engine, list(trials[0].paths)
    return better_than(constant(engine, folds), trials, row)


def constant(engine: Engine, folds: Sequence[int]) -> Array:
    """Losses of the model without columns, by part."""
    none = engine.problem.zero(np.empty(0, dtype=np.int32))
    fits = solve(engine, [Start(none, 1.0, f) for f in folds], 1e-6)
    return np.sum([engine.loss(fit, f) for fit, f in zip(fits, folds)], axis=0)


def fit_all(choice: Choice, columns: Ints) -> Fit:
    """Step 5: the model of all rows."""
    engine, ridge, size, factor = choice
    start = Start(engine.problem.zero(columns if size else columns[:0]), ridge, None, [size])
    fit = engine.eliminate([start])[0][0]
    again = Start(fit, ridge) if factor == NO_REFIT else refit(engine, fit, ridge * factor, None)
    return solve(engine, [again], 1e-6)[0]


def least_criterion(
    sieve: Sieve, engines: list[Engine], columns: Ints, ridges: Sequence[float], sizes: Sequence[int]
) -> int:
    """The size of least information criterion, 0 included, along eliminations on all rows."""
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
                flat = solve(engine, [Start(fit, CRITERION_RIDGE) for fit in fits], 1e-4)
                for size, fit in zip(sizes, flat):
                    found[size] = min(found.get(size, np.inf), value(engine, fit, size))
        return min(found, key=lambda size: found[size])

    found = {0: value(engines[0], fit_all(Choice(engines[0], 1.0, 0, NO_REFIT), columns), 0)}
    best = measure([size for size in sizes if size < n / 3])  # more would fit any targets
    low = max((size for size in found if size < best), default=0)
    high = min((size for size in found if size > best), default=best + 1)
    return measure([size for size in range(high - 1, low, -1) if size != best])


def full_ridge(engine: Engine, columns: Ints, folds: Sequence[int]) -> float:
    """The ridge with which the model of all columns predicts the first fold best."""
    tried = try_ridges(engine, columns, RIDGES, [len(columns)], folds[:1], (NO_REFIT,))
    return min(((least_loss(trial), trial.ridge) for trial in tried), default=(0.0, 1.0))[1]


def strengths(sieve: Sieve) -> tuple[Ints, Array]:
    """The features that are candidates, and the norms of their standardised weights in a model of all."""
    engines, columns, folds = prepare(sieve)
    ridge = full_ridge(engines[0], columns, folds)
    fit = solve(engines[0], [Start(engines[0].problem.zero(columns), ridge)])[0]
    return sieve.state.store.columns[fit.columns], np.linalg.norm(fit.B, axis=0)
