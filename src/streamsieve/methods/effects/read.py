"""Reading a model of lines, shapes or pairs from the sample: its kind, its k features and its components.

Candidates are the best features by lines, the best by shapes, and the features of the best pairs, which are
tested on the residuals of the shapes. Features are eliminated together with all their components, by least
squares with a ridge. Held-out rows choose the ridge and the kind: the simplest within one standard error of
the best. The chosen model is then fitted to all rows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core import linalg
from ...core.losses import expit, softmax
from ...core.rows import Array, threads
from .fit import Fit, Sample, Squares, fit_labels, losses, margins
from .functions import ORDER, SIDE, Basis, Design, main_scale
from .levels import LEVELS, Levels

if TYPE_CHECKING:
    from .effects import Effects

KINDS = ("linear", "shapes", "pairs")
RIDGES = (1e-3, 1e-2, 1e-1, 1.0)  # of eliminations, per row, for functions of unit variance
FINAL = (1e-1, 1e-2, 1e-3, 1e-4)  # of the last fit
LINES = 0.1  # ridge of the elimination of lines that finds candidates
BEFORE_SCAN = 0.01  # ridge of the shapes before the scan; with .1, what they miss looks like 51 pairs, not 14
PROJECTED = 1e-3  # ridge of the projection of products on shapes: above the rounding of float32
WIDE = 1000  # of more features, only the best have their lines eliminated, and nine products a pair tested
CHOOSING = 20_000  # rows to fit, and rows held out, at most, while choosing
HELD_OUT = 5  # one row in so many is held out
MANY = 1000  # rows up to which each fifth is held out in turn; above, one fifth chooses as well (same scores)
MANY_SIZES = 5000  # the same where k is chosen too: one fifth of 1,500 rows chose 1 of 3 features
LEAST = 25  # of fewer rows none is held out: "auto" is then linear, and the ridge is .1
RICH = 12  # main functions of the last fit, if they predict better; pairs have up to 8 a side
TESTED = 50_000  # rows for the p-values of pairs, at most
MOST = 2000  # products of pairs in the last fit, about: their Gram matrix takes 32 MB
LEVEL = 0.05  # significance level of the scan, for all pairs together

Ints = NDArray[np.int64]
logger = logging.getLogger("streamsieve")  # progress, at level INFO


class Answer(NamedTuple):
    """A model: the contribution of each component by level.

    Shapes and their standard errors are `tables` and `errors` (k, 64, q), surfaces `pair_tables`
    (m, 64, 64, q) with `pvalues` (m,) that account for all pairs; `losses` are of held-out rows, by kind.
    """

    kind: str
    losses: dict[str, float]
    features: Ints
    tables: Array
    errors: Array
    pairs: Ints
    pair_tables: Array
    pvalues: Array
    constant: Array

    @classmethod
    def none(cls, q: int, losses: dict[str, float]) -> Answer:
        """The answer that lines are as good."""
        none, tables = np.zeros(0, dtype=np.int64), np.zeros((0, LEVELS, q))
        pairs = np.zeros((0, LEVELS, LEVELS, q))
        return cls(
            "linear", losses, none, tables, tables, none.reshape(0, 2), pairs, np.zeros(0), np.zeros(q)
        )


class Variant(NamedTuple):
    """Features, number of functions of each, and pairs: where an elimination begins or ends."""

    features: Ints
    order: int
    pairs: list[tuple[int, int]]


class Chosen(NamedTuple):
    """The result of an elimination: what is left, by which ridge, and the loss of each held-out row."""

    variant: Variant
    ridge: float
    loss: Array


def eliminate(
    squares: Squares, owner: Ints, keep: NDArray[np.intp], k: int | None, ridge: float
) -> Iterator[NDArray[np.intp]]:
    """Yield the columns that are left at each size, down to k features, or to one if k is None.

    The worth of a feature is the sum of the squared weights of all its components; they are removed with it.
    The weakest pairs are removed at the same rate, down to two a feature. While there are far more than k
    features, 40 % or 25 % of them are removed at a time; below ten times k a tenth, because larger steps lose
    correlated features.
    """
    last = k or 1
    p = int(owner.max(initial=0)) + 1
    pair = owner[:, 0] != owner[:, 1]
    name = owner[:, 0] * p + owner[:, 1]
    while True:
        alive = np.unique(owner[keep])
        yield keep
        if len(alive) <= last:
            return
        v = (squares.fit(keep, ridge).weights ** 2).sum(axis=1)
        o, two = owner[keep], pair[keep]
        worth = np.bincount(o[:, 0], v, p) + np.bincount(o[two, 1], v[two], p)
        rate = 0.6 if len(alive) > 40 * last else 0.75 if len(alive) > 10 * last else 0.9
        size = min(max(last, int(len(alive) * rate)), len(alive) - 1)
        gone = np.zeros(p, dtype=bool)
        gone[alive[np.argsort(-worth[alive], kind="stable")[size:]]] = True
        stay = ~(gone[o[:, 0]] | gone[o[:, 1]])
        if two.any():
            names, which = np.unique(name[keep[two]], return_inverse=True)
            strongest = np.argsort(-np.bincount(which, v[two]), kind="stable")
            weak = names[strongest[max(2 * (k or size), int(len(names) * rate)) :]]
            stay &= ~(two & np.isin(name[keep], weak))
        keep = keep[stay]


def standardized(R: Array, w: Array) -> Array:
    R = R - w @ R / w.sum()
    scale = np.sqrt(w @ R**2 / w.sum())
    return np.asarray(R / np.where(scale > 0, scale, 1.0))


class Reader:
    """One reading of a state: the sample, its functions and the parameters."""

    def __init__(self, method: Effects, levels: Levels) -> None:
        self.levels, self.jobs = levels, threads(method.n_jobs)
        self.k: int | None = None if method.k == "auto" else method.k
        self.few = method.criterion == "1se"
        self.labels, self.by_sieve, self.p = method.labels, method.by_sieve, levels.p
        self.loss = "logistic" if self.labels else "squared"
        w = levels.weight / levels.weight.mean()
        if self.labels:
            code, q = levels.y[:, 0].astype(np.int64), method.q
            self.shift, self.unit = np.zeros(q), np.ones(q)
            Y = (code[:, None] == (np.arange(q) if q > 1 else 1)).astype(np.float64)
        else:
            self.shift = w @ levels.y / w.sum()
            Y = levels.y - self.shift
            unit = np.sqrt(w @ Y**2 / w.sum())
            self.unit = np.where(unit > 0, unit, 1.0)
            Y = Y / self.unit
        self.basis = Basis(levels)
        self.all = Sample(levels.codes, Y, w, np.arange(len(levels)))
        fold = (levels.hash % np.uint64(HELD_OUT)).astype(np.int64)
        places = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(HELD_OUT)]
        crossed = len(levels) <= (MANY_SIZES if self.k is None else MANY)
        self.folds = [
            (self.all.at(train[:CHOOSING]), self.all.at(held[:CHOOSING]))
            for train, held in places[: HELD_OUT if crossed else 1]
        ]
        self.few_rows = len(levels) < LEAST or min(len(held) for _, held in places) == 0
        if self.few_rows:
            self.folds = [(self.all, self.all)]
        self.most = max(3 * (self.k or 0), 40)  # candidates by each rule
        self.known: Squares | None = None

    # ---------------------------------------------------------------- candidates

    def marginal(self, data: Sample, R: Array) -> Array:
        """(p, functions): squared products of residuals with the main functions, over rows and outputs."""
        sums = np.zeros((self.p, LEVELS, R.shape[1]))
        _core.effects_level_sums(data.codes, data.rows, R * data.weight[:, None], sums, self.jobs)
        out = []
        for start in range(0, self.p, 1024):
            some = np.arange(start, min(self.p, start + 1024))
            products = np.einsum("plq,plo->poq", sums[some], self.basis.main(some))
            out.append((products**2).sum(axis=2) * main_scale(ORDER) ** 2 / len(data.rows))
        return np.concatenate(out)

    def squares(self, design: Design, data: Sample) -> Squares:
        """Least squares of a design, with the products that the design before has in common with it."""
        known = self.known
        if known is None or known.design is not design or known.rows is not data.rows:
            known = self.known = Squares(design, data, known, self.jobs)
        return known

    def residual(self, data: Sample, features: Ints) -> Array:
        """Residuals of an additive fit of the targets to these features, times the weights."""
        design = Design(self.basis, features)
        fit = self.squares(design, data).fit(np.arange(design.width), BEFORE_SCAN)
        R = standardized(data.targets - margins(design, data, fit), data.weight) * data.weight[:, None]
        return np.asarray(R / (np.sqrt((R**2).mean(axis=0)) + 1e-300))

    def candidates(self, data: Sample) -> tuple[Ints, Ints, Array]:
        """The best features by lines, the best by any rule, and the marginal worth of each shape."""
        R = standardized(data.targets, data.weight)
        marginal = self.marginal(data, R)
        first = np.sort(np.argsort(-marginal[:, 0], kind="stable")[:WIDE])
        design = Design(self.basis, first, 1)
        squares = self.squares(design, data)
        every = np.arange(design.width)
        *_, keep = eliminate(squares, design.owner, every, min(self.most, self.p), LINES)
        linear = np.unique(design.owner[keep])
        R = standardized(data.targets - margins(design, data, squares.fit(keep, LINES), keep), data.weight)
        shape, curve = marginal.sum(axis=1), self.marginal(data, R)[:, 1:].sum(axis=1)
        best = [np.argsort(-worth, kind="stable")[: self.most] for worth in (shape, curve)]
        return linear, np.unique(np.concatenate([linear, *best])), shape

    def pairs(self, data: Sample, R: Array, among: Ints, order: int, top: int) -> list[tuple[int, int]]:
        """The strongest pairs above the level of the scan, given the residuals of the shapes."""
        from scipy.special import chdtri

        if len(among) < 2:
            return []
        n, m = len(data.rows), len(among)
        cut = chdtri(order**2 * R.shape[1], LEVEL / (m * (m - 1) / 2))
        table = np.ascontiguousarray(self.basis.side(among, order).swapaxes(1, 2), dtype=np.float32)
        found = _core.effects_scan(
            data.codes,
            data.rows,
            among.astype(np.int32),
            table,
            np.ascontiguousarray(R.T, dtype=np.float32),
            cut * n,
            top,
            self.jobs,
        )
        return [(int(among[i]), int(among[j])) for i, j, _ in found]

    def variants(self, data: Sample, effects: str) -> dict[str, Variant]:
        """Where the elimination of each kind begins."""
        linear, features, shape = self.candidates(data)
        out = {"linear": Variant(linear, 1, []), "shapes": Variant(features, ORDER, [])}
        if effects in ("auto", "pairs"):
            best = np.sort(np.argsort(-shape, kind="stable")[:WIDE])
            R = self.residual(data, features)
            found = self.pairs(data, R, best, SIDE, 2 * self.most)
            if self.p > WIDE:
                found += self.pairs(data, R, np.arange(self.p), 1, self.most)
            found = list(dict.fromkeys(found))
            if found or effects == "pairs":
                both = np.array(found, dtype=np.int64).ravel()
                out["pairs"] = Variant(np.unique(np.concatenate([features, both])), ORDER, found)
        n, pairs = len(data.rows), len(out["pairs"].pairs) if "pairs" in out else 0
        logger.info(
            "effects: %d rows, %d candidates of %d features, %d pairs", n, len(features), self.p, pairs
        )
        return {kind: variant for kind, variant in out.items() if effects in ("auto", kind)}

    # ---------------------------------------------------------------- choosing

    def reduce(
        self, data: Sample, held: Sample, variant: Variant, ridges: tuple[float, ...], k: int | None
    ) -> Chosen:
        """Eliminate down to k features under each ridge; the one that predicts the rows held out best."""
        design = Design(self.basis, variant.features, variant.order, variant.pairs)
        squares, w = self.squares(design, data), held.weight
        entries: list[tuple[float, int, float, Array, Any]] = []
        for ridge in ridges:
            path = list(eliminate(squares, design.owner, np.arange(design.width), k, ridge))
            first, last = (len(np.unique(design.owner[keep])) for keep in (path[0], path[-1]))
            logger.info("effects: ridge %g, eliminated %d to %d features", ridge, first, last)
            for keep in path[-1:] if k else path:
                eta = margins(design, held, squares.fit(keep, ridge / 10), keep)
                loss = losses(eta, held.targets, "squared")
                entries.append((float(w @ loss), len(np.unique(design.owner[keep])), ridge, loss, keep))
        best = min(entries, key=lambda entry: entry[0])
        if self.few:  # the fewest features within a standard error of the best
            near = best[0] + (w * best[3]).std() * len(w) ** 0.5
            best = min((entry for entry in entries if entry[0] <= near), key=lambda entry: entry[1])
        owner = np.unique(design.owner[best[4]], axis=0)
        pairs = [(int(i), int(j)) for i, j in owner if i != j]
        return Chosen(Variant(np.unique(owner), variant.order, pairs), best[2], best[3])

    def judge(self, chosen: Chosen, train: Sample, held: Sample) -> Chosen:
        """For labels, replace the squared loss of the held-out rows by the logistic one."""
        if not self.labels:
            return chosen
        design, fit, best = Design(self.basis, *chosen.variant), None, chosen.loss
        for number, share in enumerate((4, 40)):  # margins of labels are four times those of squares
            fit = fit_labels(design, train, chosen.ridge / share, fit)
            loss = losses(margins(design, held, fit), held.targets, self.loss)
            if not number or held.weight @ (loss - best) < 0:
                best = loss
        return chosen._replace(loss=best)

    def choose(self, effects: str) -> tuple[str, float, int, dict[str, float]]:
        """Kind, ridge and size by held-out rows, and the losses: the simplest kind, unless another one gains
        more than a standard error."""
        found: list[dict[str, Chosen]] = []
        ridges = (0.1,) if self.few_rows else RIDGES
        for train, held in self.folds:
            variants = self.variants(train, effects).items()
            reduced = {kind: self.reduce(train, held, start, ridges, self.k) for kind, start in variants}
            found.append({kind: self.judge(chosen, train, held) for kind, chosen in reduced.items()})
        w = np.concatenate([held.weight for _, held in self.folds])
        best, least, ridge, size, report = "", None, 0.0, 0, dict[str, float]()
        for kind in (kind for kind in KINDS if any(kind in chosen for chosen in found)):
            # a fold in which no pair was found has the losses of its shapes
            each = [chosen[kind] if kind in chosen else list(chosen.values())[-1] for chosen in found]
            loss = np.concatenate([one.loss for one in each])
            report[kind] = float(w @ loss / w.sum())
            gain = None if least is None else w * (least - loss)
            if gain is None or gain.mean() > gain.std() / len(gain) ** 0.5:
                best, least = kind, loss
                ridge = float(np.exp(np.median([np.log(one.ridge) for one in each])))
                size = int(np.median([len(one.variant.features) for one in each]))
        return best, ridge, size, report

    # ---------------------------------------------------------------- the model

    def fit(self, design: Design, data: Sample, ridge: float, start: Fit | None) -> Fit:
        if self.labels:
            return fit_labels(design, data, ridge, start)
        return self.squares(design, data).fit(np.arange(design.width), ridge)

    def read(self, effects: str) -> Answer:
        effects = "linear" if effects == "auto" and self.few_rows else effects
        kind, ridge, k, report = self.choose(effects)
        if kind == "linear" and self.by_sieve:
            return Answer.none(len(self.unit), report)
        logger.info("effects: %s chosen, to be fitted on %d rows", kind, len(self.levels))
        variant = self.variants(self.all, kind)[kind]
        support = self.reduce(self.all, self.all, variant, (ridge,), max(k, 1)).variant.features
        pairs = list[tuple[int, int]]()
        if kind == "pairs":
            pairs = self.pairs(self.all, self.residual(self.all, support), support, SIDE, MOST // SIDE**2)
        rich = min(8, int((MOST / max(len(pairs), 1)) ** 0.5))
        shapes = [(1, 1)] if kind == "linear" else [(ORDER, SIDE), (RICH, rich)]
        best = None
        for order, side in shapes:
            design, value = Design(self.basis, support, order, pairs, side), np.zeros(len(FINAL))
            for train, held in self.folds:
                fit = None
                for number, ridge in enumerate(FINAL):
                    fit = self.fit(design, train, ridge, fit)
                    loss = losses(margins(design, held, fit), held.targets, self.loss)
                    value[number] += held.weight @ loss
            at = 0 if self.few_rows else int(value.argmin())  # the strongest ridge if nothing is held out
            if best is None or value[at] < best[0]:
                best = value[at], design, FINAL[at]
        assert best is not None
        _, design, ridge = best
        fit = self.fit(design, self.all, ridge, None)
        tables, pair_tables = design.components(fit.weights * self.unit)
        return Answer(
            kind=kind,
            losses=report,
            features=support,
            tables=tables,
            errors=self.errors(design, fit, ridge),
            pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2),
            pair_tables=pair_tables,
            pvalues=test_pairs(self, np.union1d(variant.features, support), pairs),
            constant=fit.constant * self.unit + self.shift,
        )

    def errors(self, design: Design, fit: Fit, ridge: float) -> Array:
        """Standard errors of the main components, (k, 64, q), given the selection."""
        data, out = self.all, np.zeros((len(design.features), LEVELS, len(self.unit)))
        eta, R = margins(design, data, fit), None
        for c in range(len(self.unit)):
            if self.labels:
                share = expit(eta[:, 0]) if len(self.unit) == 1 else softmax(eta)[:, c]
                bend, variance = np.maximum(share * (1 - share), 1e-4), 1.0
            else:
                bend, R = np.ones(len(eta)), data.targets[:, c] - eta[:, c]
                variance = float(data.weight @ R**2 / data.weight.sum()) * self.unit[c] ** 2
            if self.labels or not c:
                inverse = Squares(design, data._replace(w=data.w * bend)).inverse(ridge * len(eta))
            for at, (table, term) in enumerate(zip(design.tables, design.terms)):
                own = inverse[term.columns, term.columns]
                out[at, :, c] = np.sqrt(variance * np.einsum("la,ab,lb->l", table, own, table))
        return out


def test_pairs(reader: Reader, additive: Ints, pairs: list[tuple[int, int]]) -> Array:
    """The p-value of each pair, times the number of all pairs, of the hypothesis that its products explain
    nothing beyond the shapes. A score test with the empirical variance, which allows for heteroskedasticity.
    For labels the shapes are fitted to the margin, because a sum of shapes in the margin is not one in the
    probability.
    """
    from scipy.special import chdtrc

    if not pairs:
        return np.zeros(0)
    data = reader.all if len(reader.all.rows) <= TESTED else reader.all.at(reader.all.rows[:TESTED])
    design = Design(reader.basis, additive, ORDER, pairs)
    d = design.terms[len(design.features)].columns.start
    if reader.labels:
        main = Design(reader.basis, additive)
        eta = margins(main, data, fit_labels(main, data, BEFORE_SCAN / 4))
        share = expit(eta) if eta.shape[1] == 1 else softmax(eta)
        R, w = (data.targets - share) * data.weight[:, None], data.w.copy()
        w[data.rows] *= (share * (1 - share)).mean(axis=1)
        squares = Squares(design, data._replace(w=w))
    else:
        R, squares = reader.residual(data, additive), reader.squares(design, data)
    factor = squares.factor(np.arange(d), PROJECTED)
    beta = linalg.dpotrs(factor, squares.G[:d, d:], lower=1)[0].astype(np.float32)
    terms, q = design.terms[len(design.features) :], R.shape[1]
    scores = [np.zeros((t.columns.stop - t.columns.start) * q) for t in terms]
    variances = [np.zeros((len(g), len(g))) for g in scores]
    for at, Z in design.blocks(data.codes, data.rows):
        Z -= squares.mean.astype(np.float32)
        products = Z[:, d:] - Z[:, :d] @ beta
        for t, g, V in zip(terms, scores, variances):
            own = products[:, t.columns.start - d : t.columns.stop - d]
            each = (own[:, :, None] * R[at][:, None]).reshape(len(own), -1)
            g += each.sum(axis=0)
            V += each.T @ each
    T = [g @ np.linalg.pinv(V, hermitian=True) @ g for g, V in zip(scores, variances)]
    alone = chdtrc([len(g) for g in scores], T)
    return np.minimum(1.0, alone * reader.p * (reader.p - 1) / 2)
