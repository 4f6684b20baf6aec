"""What the papers prove beside what is measured, where `bounds` and `recovery` do not: rates and lemmas.

[Sun] Theorem 1 asks for a loss that is strongly convex and has a gradient that is bounded on all of R^p. No
loss has both: the gradient of a strongly convex one grows with |b|. Its proof uses the gradient at the truth,
which is measured here. Theorem 3 is the same for all rows at once, where the noise bounds that gradient. Both
need M / m below 1.26 at every step, so that batches are large and features are few and independent.

[Sun] Proposition 5: the regret of least squares is at most a constant times log(n) / n. Table 3.1: the rates
at which coefficients converge. They are those of squared distances, since least squares has n^-1. SGD, SADMM
and SIHT have steps that fade as 1 / sqrt(t) here, without which they do not converge. Theorem 5: the lasso on
labels finds the true features if the covariance satisfies the irrepresentable condition. A second design does
not satisfy it: a false feature is half the sum of the true ones, and noise.

[Ma] Lemma 1 says that purging brings the weights closer to the target, by (13) at least. Its proof bounds the
expected number of true features that are purged by q^2 / ((2 pi_0 - 1) p) - q + d: it takes q, the number of
features that a burst selects, for the size of the stable set. The bound (13) is positive only where that
number is negative. [Ma] Lemma 2 says that informative truncation is closer to the target than universal
truncation, by (14) at least. Its proof has a wrong sign in (25), where -2 (w - h)'(-h) is 2 (w - h)'h and not
its opposite, and no clipping at 0. It is measured from weights of 0, as the algorithm starts, and from the
target. [Ma] Theorem 1 and Corollary 1: the regret of Algorithm 3 with a step of 1 / sqrt(T) is O(sqrt(T)).
The bound (15) is measured without its last term, whose epsilon is not given. The logistic loss has
A = max |x|^2 and B = 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsieve import (
    RunningAverages,
    SADMMRegressor,
    SGDRegressor,
    SIHTRegressor,
    StabilizedSGDClassifier,
)
from streamsieve.methods.averages import extract
from streamsieve.statistics.annealing import schedule
from streamsieve.statistics.standardize import standardize

from ..report import Cell, Outcomes, Part, Table
from .bounds import contraction

Array = NDArray[np.float64]

TRUE = 5
P, BATCH, STEPS = 10, 5_000, 60  # Theorem 1
DESIGNS = ((10, 10_000), (20, 20_000), (50, 50_000))  # Theorem 3
LENGTHS, WIDTHS = (1_000, 3_000, 10_000, 30_000), (5, 20)  # Proposition 5
RATE_ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)  # Table 3.1
# By method: how to make it, and the rate in print as a power of n; SIHT has log(n) / n.
RATES: dict[str, tuple[Any, str]] = {
    "SGD": (lambda: SGDRegressor(schedule="sqrt", standardize=False), "-0.5"),
    "SADMM": (lambda: SADMMRegressor(TRUE, schedule="sqrt", standardize=False), "-0.5"),
    "SIHT": (lambda: SIHTRegressor(TRUE, schedule="sqrt"), "-1, times log(n)"),
    "OFSA": (extract.ofsa, "-1"),
    "OLSth": (extract.olsth, "-1"),
    "OMCP": (extract.omcp, "-1"),
    "OElnet": (extract.oelasticnet, "-1"),
}
LABEL_ROWS, LABEL_WIDTH = (30, 100, 300, 1_000, 10_000), 50  # Theorem 5
# [Ma]: features, the share of rows that has one, rows of a burst, bursts of a stage, paths, step
FEATURES, DENSITY, K, BURSTS, PATHS, STEP = 200, 0.1, 50, 5, 20, 0.3
GRAVITIES, THRESHOLDS = (0.02, 0.06), (0.6, 0.8)  # Lemma 1
STARTS, G0 = ("0", "the target"), 0.002  # Lemma 2
ROUNDS = (1_000, 4_000, 16_000, 64_000)
ROUND_BLOCK, ROUND_GRAVITY = 50, 1e-4


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for seed in range(runs):
        found += [{"what": "theorem 1", "seed": seed}]
        found += [{"what": "theorem 3", "p": p, "n": n, "seed": seed} for p, n in DESIGNS]
        found += [{"what": "proposition 5", "p": p, "seed": seed} for p in WIDTHS]
        found += [{"what": "rates", "seed": seed}]
        found += [{"what": "labels", "fair": fair, "seed": seed} for fair in (True, False)]
        found += [{"what": "lemma 1", "gravity": gravity, "seed": seed} for gravity in GRAVITIES]
        found += [{"what": "lemma 2", "seed": seed}]
        found += [{"what": "rounds", "n": n, "seed": seed} for n in ROUNDS if not quick or n == ROUNDS[0]]
    return found


def measure(what: str, seed: int, **job: Any) -> dict[str, Any]:
    measures: dict[str, Any] = {
        "theorem 1": measure_batches,
        "theorem 3": measure_all_rows,
        "proposition 5": measure_least_squares,
        "rates": measure_rates,
        "labels": measure_labels,
        "lemma 1": measure_purging,
        "lemma 2": measure_truncation,
        "rounds": measure_rounds,
    }
    outcome: dict[str, Any] = measures[what](rng=np.random.default_rng(seed), **job)
    return outcome


def draw(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array, Array]:
    """Independent features, the first ones with a weight of 1, noise 1."""
    X, truth = rng.normal(size=(n, p)), np.where(np.arange(p) < TRUE, 1.0, 0.0)
    return X, X @ truth + rng.normal(size=n), truth


def keep_largest(b: Array, k: int) -> Array:
    kept = np.zeros_like(b)
    largest = np.argsort(-np.abs(b), kind="stable")[:k]
    kept[largest] = b[largest]
    return kept


def measure_batches(rng: np.random.Generator) -> dict[str, Any]:
    """SFSA on a new batch each step: the largest M / m, and the distance beside the bound of Theorem 1."""
    sizes = schedule(P, TRUE, STEPS, 0.0, 0.0)
    b, ratio, gradient, steps, distances = np.zeros(P), 0.0, 0.0, [], []
    for t in range(STEPS):
        X, y, truth = draw(rng, BATCH, P)
        eigenvalues = np.linalg.eigvalsh(X.T @ X / BATCH)
        ratio = max(ratio, float(eigenvalues[-1] / eigenvalues[0]))
        eta, a = contraction(float(eigenvalues[0]), float(eigenvalues[-1]))
        steps.append((eta, a))
        gradient = max(gradient, float(np.abs(X.T @ (X @ truth - y) / BATCH).max()))
        b = keep_largest(b - eta * (X.T @ (X @ b - y)) / BATCH, int(sizes[t]))
        distances.append(float(np.linalg.norm(b - truth)))
    eta, a = max(e for e, _ in steps), max(c for _, c in steps)
    size = math.sqrt(TRUE)
    bounds = [a ** (t + 1) * size + 1.62 * eta * math.sqrt(P) * gradient / (1 - a) for t in range(STEPS)]
    share = max(d / bound for d, bound in zip(distances, bounds))
    return {"ratio": ratio, "distance": distances[-1], "bound": bounds[-1], "share": share}


def measure_all_rows(rng: np.random.Generator, p: int, n: int) -> dict[str, Any]:
    """OFSA, whose rows are the same each step: the distance beside the bound of Theorem 3."""
    X, y, truth = draw(rng, n, p)
    S, r = X.T @ X / n, X.T @ y / n
    eigenvalues = np.linalg.eigvalsh(S)
    m, M = float(eigenvalues[0]), float(eigenvalues[-1])
    eta, a = contraction(m, M)
    sizes = schedule(p, TRUE, STEPS, 0.0, 0.0)
    b, share = np.zeros(p), 0.0
    rest = 3.24 * eta / (1 - a) * math.sqrt(p * math.log(p) / n) if a < 1 else math.inf
    for t in range(STEPS):
        b = keep_largest(b - eta * (S @ b - r), int(sizes[t]))
        distance = float(np.linalg.norm(b - truth))
        share = max(share, distance / (a ** (t + 1) * math.sqrt(TRUE) + rest))
    return {"ratio": M / m, "distance": distance, "bound": a**STEPS * math.sqrt(TRUE) + rest, "share": share}


def measure_least_squares(rng: np.random.Generator, p: int) -> dict[str, Any]:
    """By n: regret of least squares, updated after every row from the p-th on, as a mean over the rows."""
    n = max(LENGTHS)
    X, y, _ = draw(rng, n, p)
    inverse, b, out, loss = np.eye(p), np.zeros(p), {}, 0.0  # a ridge of 1 begins it
    for i, (x, target) in enumerate(zip(X, y), start=1):
        off = float(target - x @ b)
        loss += off * off
        gain = inverse @ x
        gain /= 1 + float(x @ gain)
        inverse -= np.outer(gain, inverse @ x)
        b += gain * off
        if i in LENGTHS:
            best = np.linalg.lstsq(X[:i], y[:i])[0]
            out[str(i)] = (loss - float(np.square(y[:i] - X[:i] @ best).sum())) / i
    return out


def measure_rates(rng: np.random.Generator) -> dict[str, Any]:
    """By n and method: squared distance of the coefficients to the truth."""
    p = 4 * TRUE
    X, y, truth = draw(rng, max(RATE_ROWS), p)
    averages = RunningAverages()
    learners = {name: make() for name, (make, _) in RATES.items() if name in ("SGD", "SADMM", "SIHT")}
    out: dict[str, Any] = {}
    before = 0
    for n in RATE_ROWS:
        averages.update(X[before:n], y[before:n])
        for model in learners.values():
            model.partial_fit(X[before:n], y[before:n])
        before, s = n, standardize(averages)
        read = {name: np.ravel(model.coef_) for name, model in learners.items()}
        read |= {name: RATES[name][0](s, k=TRUE).coef for name in RATES if name not in learners}
        out[str(n)] = {name: float(np.square(coef - truth).sum()) for name, coef in read.items()}
    return out


def measure_labels(rng: np.random.Generator, fair: bool) -> dict[str, Any]:
    """By n: whether the lasso on labels finds exactly the true features."""
    n = max(LABEL_ROWS)
    X = rng.normal(size=(n, LABEL_WIDTH)) + 0.5 * rng.normal(size=(n, 1))
    if not fair:  # the last feature is half the sum of the true ones, and noise of deviation 0.5
        X[:, -1] = 0.5 * X[:, :TRUE].sum(axis=1) + 0.5 * rng.normal(size=n)
    y = np.where(X[:, :TRUE].sum(axis=1) + rng.normal(size=n) > 0, 1.0, -1.0)
    averages, out, before = RunningAverages(), {}, 0
    for i in LABEL_ROWS:
        averages.update(X[before:i], y[before:i])
        before = i
        support = extract.olasso(standardize(averages), k=TRUE).support
        out[str(i)] = float(support.tolist() == list(range(TRUE)))
    return out


def draw_sparse(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Sparse features, the first ones with a weight, and labels by the logistic model."""
    X = rng.normal(size=(n, FEATURES)) * (rng.random((n, FEATURES)) < DENSITY)
    truth = np.where(np.arange(FEATURES) < TRUE, 2.0, 0.0)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-X @ truth)), 1.0, -1.0)
    return X, y, truth


def run_burst(w: Array, X: Array, y: Array) -> Array:
    """K steps of the logistic loss, not yet truncated."""
    for x, label in zip(X, y):
        w = w + STEP * label / (1 + math.exp(min(label * float(w @ x), 700.0))) * x
    return w


def truncate(w: Array, by: Any) -> Array:
    return np.sign(w) * np.maximum(np.abs(w) - by, 0.0)


def measure_purging(rng: np.random.Generator, gravity: float) -> dict[str, Any]:
    """By pi_0, both sides of [Ma] (13) after a stage, for the best epsilon, and the true features purged."""
    weights, chosen = np.zeros((PATHS, FEATURES)), np.zeros(FEATURES)
    truth = np.zeros(FEATURES)
    for path in range(PATHS):
        for _ in range(BURSTS):
            X, y, truth = draw_sparse(rng, K)
            w = run_burst(weights[path], X, y)
            weights[path] = truncate(w, gravity * (X != 0).sum(axis=0))
            chosen += weights[path] != 0
    w, probability = weights.mean(axis=0), chosen / (PATHS * BURSTS)
    q, largest = float(chosen.sum()) / (PATHS * BURSTS), float(max(np.abs(weights).max(), truth.max()))
    out = {}
    for threshold in THRESHOLDS:
        stable = probability > threshold
        gain = float(np.square(w - truth).sum() - np.square(np.where(stable, w, 0.0) - truth).sum())
        purged = float((~stable[:TRUE]).sum())
        at_most = q * q / ((2 * threshold - 1) * FEATURES) - q + TRUE
        sizes = np.sort(np.abs(w))[::-1]
        first = max(float(e * e * ((np.abs(w) > e).sum() - stable.sum())) for e in sizes)
        bound = first - 2 * threshold * largest**2 * at_most
        out[f"{threshold:g}"] = {"gain": gain, "bound": bound, "purged": purged, "at most": at_most, "q": q}
    return out


def measure_truncation(rng: np.random.Generator) -> dict[str, Any]:
    """By start, both sides of [Ma] (14), means over bursts; noise features are never seen, as it assumes."""
    out = {}
    for start in STARTS:
        gains, bounds = [], []
        for _ in range(200):
            X, y, truth = draw_sparse(rng, K)
            X[:, TRUE:] = 0.0
            w = run_burst(truth if start != "0" else np.zeros(FEATURES), X, y)
            seen = (X != 0).sum(axis=0)
            far = [float(np.square(truncate(w, by) - truth).sum()) for by in (G0 * K, G0 * seen)]
            gains.append(far[0] - far[1])
            bounds.append(2 * G0 * float(((K - seen) * np.abs(truth)).sum()))
        out[start] = {"gain": float(np.mean(gains)), "bound": float(np.mean(bounds))}
    return out


def measure_rounds(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """The regret of [Ma] Algorithm 3 with a step of 1 / sqrt(n), and (15) without its last term."""
    X, y, truth = draw_sparse(rng, n)
    eta, gravity = 1 / math.sqrt(n), ROUND_GRAVITY
    model = StabilizedSGDClassifier.as_printed(
        3, loss="logistic", eta=eta, gravity=gravity, burst_size=K, n_bursts=BURSTS, block_size=ROUND_BLOCK
    )
    w, losses, sizes = np.zeros(FEATURES), 0.0, 0.0
    for first in range(0, n, ROUND_BLOCK):
        rows = slice(first, first + ROUND_BLOCK)
        losses += float(np.logaddexp(0, -y[rows] * (X[rows] @ w)).sum())
        sizes += ROUND_BLOCK * float(np.abs(w).sum())
        model.partial_fit(X[rows], y[rows], classes=(-1, 1))
        w = np.ravel(model.coef_)
    best = float(np.logaddexp(0, -y * (X @ truth)).sum())
    norm = float(np.abs(truth).sum())
    A = float(np.square(X).sum(axis=1).max())
    regret = losses - best + K * gravity * (sizes - n * norm)
    bound = math.inf
    if eta * A < 2:
        bound = eta * A / (2 - eta * A) * (best + K * gravity * (n * norm - sizes))
        bound += float(truth @ truth) / (eta * (2 - eta * A))
    return {"regret": regret, "bound": bound if math.isfinite(bound) else None, "kept": float((w != 0).sum())}


def report(outcomes: Outcomes) -> list[Part]:
    tables = (_convergence, _regret, _rates, _labels, _purging, _truncation, _rounds)
    return [table for make in tables if (table := make(outcomes)).rows]


def _cells(part: Outcomes, *names: str, digits: int = 3) -> list[Cell]:
    return [part.cell(name, better="", digits=digits) for name in names]


def _convergence(outcomes: Outcomes) -> Table:
    names = ("ratio", "distance", "bound", "share")
    parts = [("Theorem 1, SFSA", P, BATCH, outcomes.where(what="theorem 1"))]
    parts += [("Theorem 3, OFSA", p, n, outcomes.where(what="theorem 3", p=p, n=n)) for p, n in DESIGNS]
    rows: list[list[str | Cell]] = [
        [theorem, str(p), f"{n:,}", *_cells(part, *names)] for theorem, p, n, part in parts if part
    ]
    note = (
        f"{TRUE} true features of weight 1, noise 1, {STEPS} steps, "
        f"{outcomes.where(what='theorem 1').runs()} runs. n: rows of a batch of SFSA, all rows of OFSA. The "
        "last column is the largest share of the bound that the distance had at any step: below 1 the "
        "theorem holds. Theorem 1 is for a gradient that is bounded everywhere, which no strongly convex "
        "loss has; the bound here has the largest gradient at the truth, which its proof uses."
    )
    columns = ["theorem", "p", "n", "M / m", "distance at the end", "bound at the end", "largest share"]
    return Table("[Sun] Theorems 1 and 3: how fast SFSA and OFSA converge", columns, rows, note)


def _regret(outcomes: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for p in WIDTHS:
        part = outcomes.where(what="proposition 5", p=p)
        for n in LENGTHS if part else ():
            values = part.values(n)
            scaled = [
                Cell([v * n / scale for v in values], None, "", 2) for scale in (math.log(n), math.log(n) * p)
            ]
            rows.append([str(p), f"{n:,}", Cell(values, None, "", 4), *scaled])
    note = (
        "Independent features, noise 1, least squares after every row, begun with a ridge of 1. The "
        "proposition holds if regret times n / log(n) stays below a constant. It tends to p, the number of "
        "features: what each of them costs."
    )
    columns = ["p", "n", "regret", "regret n / log(n)", "regret n / (p log(n))"]
    return Table("[Sun] Proposition 5: the regret of least squares", columns, rows, note)


def _rates(outcomes: Outcomes) -> Table:
    part = outcomes.where(what="rates")
    rows: list[list[str | Cell]] = []
    first, last = RATE_ROWS[1], RATE_ROWS[-1]
    for name, (_, rate) in RATES.items() if part else ():
        cells = [Cell([n * v for v in part.values(n, name)], None, "", 1) for n in RATE_ROWS]
        ratios = [b / a for a, b in zip(part.values(first, name), part.values(last, name))]
        slope = Cell([math.log(ratio) / math.log(last / first) for ratio in ratios], None, "", 2)
        rows.append([name, *cells, slope, rate])
    note = (
        f"{4 * TRUE} independent features, {TRUE} of weight 1, noise 1, {part.runs()} runs. Squared distance "
        f"of the coefficients to the truth, times n, and the power of n with which it falls from n = "
        f"{first:,} to {last:,}. A rate in print is a bound, and holds where the power is no larger. SGD, "
        "SADMM and SIHT have steps that fade as 1 / sqrt(t), and are still on their way from 0."
    )
    columns = ["method", *(f"n = {n:,}" for n in RATE_ROWS), "power of n", "in print"]
    return Table("[Sun] Table 3.1: how fast coefficients converge", columns, rows, note)


def _labels(outcomes: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for fair, name in ((True, "holds"), (False, "does not hold")):
        part = outcomes.where(what="labels", fair=fair)
        if part:
            rows.append([name, *(f"{np.mean(part.values(n)):.0%}" for n in LABEL_ROWS)])
    note = (
        f"{LABEL_WIDTH} features, correlated 0.2, {TRUE} true; labels are the sign of their sum and noise 1. "
        f"The share of {outcomes.where(what='labels').runs()} runs in which OLasso on the labels, given k, "
        "has exactly the true features. Where the irrepresentable condition does not hold, a false feature "
        "is half the sum of the true ones, with noise."
    )
    columns = ["irrepresentable condition", *(f"n = {n:,}" for n in LABEL_ROWS)]
    return Table("[Sun] Theorem 5: the lasso on labels finds the true features", columns, rows, note)


def _purging(outcomes: Outcomes) -> Table:
    names = ("q", "purged", "at most", "gain", "bound")
    rows: list[list[str | Cell]] = [
        [f"{g:g}", f"{t:g}", *(part.cell(f"{t:g}", name, better="", digits=1) for name in names)]
        for g in GRAVITIES
        for t in THRESHOLDS
        if (part := outcomes.where(what="lemma 1", gravity=g))
    ]
    note = (
        f"p = {FEATURES}, {TRUE} true features of weight 2, each in {DENSITY:.0%} of the rows; a stage of "
        f"{BURSTS} bursts of {K} rows on {PATHS} paths, {outcomes.where(what='lemma 1').runs()} runs. q: "
        "features that a burst selects. Gain: by how much purging brings the weights closer to the target. "
        "Bound: (13), at the epsilon that makes it largest. Where (13) is above 0 it is above the gain: the "
        "lemma does not hold as printed. The proof's bound on the true features that are purged is then "
        "below 0, which no number of features is."
    )
    columns = ["g_0", "pi_0", "q", "true features purged", "at most, by the proof", "gain", "bound (13)"]
    return Table("[Ma] Lemma 1: what purging gains", columns, rows, note)


def _truncation(outcomes: Outcomes) -> Table:
    part = outcomes.where(what="lemma 2")
    rows: list[list[str | Cell]] = [
        [start, *(part.cell(start, name, better="", digits=3) for name in ("gain", "bound"))]
        for start in (STARTS if part else ())
    ]
    note = (
        f"A burst of {K} rows with the true features only, as the lemma has it, 200 bursts in each of "
        f"{part.runs()} runs; g_0 = {G0:g}. Gain: by how much informative truncation is closer to the target "
        "than universal truncation. It is above 0, and below (14): the lemma holds in its sign and not in "
        "its size."
    )
    return Table(
        "[Ma] Lemma 2: what informative truncation gains", ["from", "gain", "bound (14)"], rows, note
    )


def _rounds(outcomes: Outcomes) -> Table:
    rows: list[list[str | Cell]] = []
    for n in ROUNDS:
        part = outcomes.where(what="rounds", n=n)
        if part:
            over = Cell([r / math.sqrt(n) for r in part.values("regret")], None, "", 2)
            rows.append(
                [f"{n:,}", *_cells(part, "regret", digits=1), over, *_cells(part, "bound", "kept", digits=1)]
            )
    note = (
        f"p = {FEATURES} sparse features, {TRUE} true of weight 2; `as_printed(3)` with g_0 = "
        f"{ROUND_GRAVITY:g}, K = {K}, weights read every {ROUND_BLOCK} rows. Corollary 1 holds if regret "
        "over sqrt(T) stays below a constant. Regret counts the penalty, by which it may be below 0. The "
        "bound is (15) without its last term, and says nothing (-) while eta A is 2 or more."
    )
    columns = ["T", "regret", "regret / sqrt(T)", "bound (15)", "features kept"]
    return Table("[Ma] Theorem 1, Corollary 1: the regret of Algorithm 3", columns, rows, note)
