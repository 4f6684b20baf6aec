"""How a sieve reads a model: which features, how many, under which ridge; each rule has a test."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from reference import sieve_read as twin
from streamsieve import SieveClassifier, SieveRegressor
from streamsieve.core.params import ParamError
from streamsieve.core.rows import as_rows
from streamsieve.methods.sieve import read
from streamsieve.methods.sieve.dual import Dual
from streamsieve.methods.sieve.solve import Fit, Problem, solve


def data(n=200, p=20, seed=0, corr=0.5, true=(3, 7, 11), noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + corr * rng.normal(size=(n, 1))
    return X, X[:, list(true)] @ np.linspace(1, 2, len(true)) + noise * rng.normal(size=n)


def fitted(X, y, k="auto", w=None, labels=False, **options):
    model = SieveClassifier(k, **options) if labels else SieveRegressor(k, **options)
    return model.fit(X, y > np.median(y) if labels else y, sample_weight=w)


def support(model):
    return set(model.get_support(indices=True))


# ---------------------------------------------------------------- the whole rule


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("k", "criterion"), [(4, "cv"), ("auto", "cv"), ("auto", "1se")])
def test_reading_equals_the_slow_twin(seed, k, criterion):
    n = 60 + 20 * seed if seed < 4 else 420  # these have one partition into folds
    X, y = data(n, 12 + 4 * seed, seed, noise=1 + seed)
    X[:, 1], X[:, 2] = 3 - 2 * X[:, 0], 5.0  # a copy, and a column that does not vary
    X = X.astype(np.float32).astype(float)
    model = fitted(X, y, k, criterion=criterion)
    columns, coef, intercept = twin.read(X, y, k, criterion)
    assert_array_equal(model.get_support(indices=True), columns)
    assert_allclose(model.coef_[columns], coef, rtol=1e-4)
    assert_allclose(model.intercept_, intercept, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("labels", [False, True])
def test_of_noise_hardly_ever_a_feature_is_selected(labels):
    chosen = []
    for seed in range(14):
        rng = np.random.default_rng(seed)
        n, p = ((50, 300), (150, 30))[seed % 2]
        X = rng.normal(size=(n, p)) if seed % 3 else rng.standard_t(2, size=(n, p))
        y = rng.standard_t(2, size=n)
        chosen.append(fitted(X, y, labels=labels).get_support().any())
    assert sum(chosen) <= 2


def test_one_wild_part_does_not_hide_what_the_others_show():
    def entry(*gain):
        return read.Trial(None, 1.0, {}, 10 - np.array([[gain]], dtype=float))

    base = np.full(5, 10.0)
    assert read.better_than(base, [entry(5, 5, 5, -12, 5)])  # four of five, and their sum
    assert not read.better_than(base, [entry(5, 5, 5, -25, 5)])
    assert not read.better_than(base, [entry(5, 1, 5, -5, -5)])
    assert read.better_than(base, [entry(9, 8, 9, -1, -1)])  # by the standard error
    assert not read.better_than(base, [entry(9, 1, 5, -5, -5)])  # enough, but neither


def test_a_gain_that_noise_has_too_is_none():
    """Models that are shrunk to almost nothing are as often a little better than the constant as worse."""

    def better(gain, row=1.0):
        entry = read.Trial(None, 1.0, {}, 10 - np.full((1, 1, 5), gain))
        return read.better_than(np.full(5, 10.0), [entry], row)

    assert not better(0.5)
    assert better(0.7)
    assert better(0.7e-3, row=1e-3)  # weights below one are shares of rows


@pytest.mark.parametrize("seed", [0, 4])
def test_heavy_tails_are_no_noise(seed):
    """Profits of sales: log-normal, so that a few rows are most of the variance."""
    rng, n = np.random.default_rng(seed), 2000
    sales, discount = np.exp(rng.normal(4, 1.5, n)), rng.choice([0, 0.2, 0.4, 0.7], n)
    y = sales * (0.2 - 0.6 * discount * (rng.random(n) < 0.7)) + 5 * rng.normal(size=n)
    assert {0, 1} & support(fitted(np.column_stack([sales, discount, rng.normal(size=(n, 20))]), y))


# ---------------------------------------------------------------- folds


@pytest.mark.parametrize("labels", [False, True])
def test_folds_are_those_of_the_slow_twin(labels):
    X, y = data(150, 12)
    X = (X * (X > -0.5)).astype(np.float32).astype(float)
    model = fitted(X, y, 3, labels=labels)
    for partition in range(read.PARTITIONS):
        wanted = twin.folds(X, y > np.median(y) if labels else None, partition)
        assert_array_equal(read.folds_of(model.method_, partition)[0], wanted)


def test_two_rows_share_a_fold_in_one_of_the_partitions_at_most():
    X, y = data(25)
    model = fitted(X, y, 3, labels=True)
    folds = [read.folds_of(model.method_, partition)[0] for partition in range(read.PARTITIONS)]
    together = sum((fold[:, None] == fold).astype(int) for fold in folds)
    assert np.isin(together[~np.eye(25, dtype=bool)], [0, 1]).all()


@pytest.mark.parametrize(("n", "partitions"), [(400, [1, 2]), (401, [])])
def test_up_to_400_rows_have_three_partitions(n, partitions, monkeypatch):
    found, repeated = [], read.try_partition
    monkeypatch.setattr(read, "try_partition", lambda s, t, *rest: found.append(t) or repeated(s, t, *rest))
    fitted(*data(n, 12)).coef_  # noqa: B018
    assert found == partitions


@pytest.mark.parametrize("votes", [1, 2])
def test_most_partitions_of_few_rows_decide_whether_anything_is_selected(votes, monkeypatch):
    better = iter([t < votes for t in range(3)])
    monkeypatch.setattr(read, "better_than_constant", lambda *_: next(better))
    assert fitted(*data(100)).get_support().any() == (votes == 2)


@pytest.mark.parametrize("kind", ["numbers", "words"])
@pytest.mark.parametrize("labels", [False, True])
def test_every_row_twice_selects_what_once_selects(labels, kind):
    X, y = data(150, 25, noise=4)
    X = X if kind == "numbers" else (X > 0.3) * 1.0
    once = fitted(X, y, labels=labels)
    for twice in (np.repeat(np.arange(150), 2), np.tile(np.arange(150), 2)):
        again = fitted(X[twice], y[twice], labels=labels)
        assert abs(len(support(again)) - len(support(once))) <= 1


@pytest.mark.parametrize("k", [4, "auto"])
@pytest.mark.parametrize("labels", [False, True])
def test_weight_two_is_a_row_twice(labels, k):
    X, y = data(150, 25, noise=2)
    times = np.random.default_rng(0).integers(1, 4, 150)
    rows = np.repeat(np.arange(150), times)
    y = y > np.median(y) if labels else y  # once: repeats move the median
    kind = SieveClassifier if labels else SieveRegressor
    weighted, repeated = kind(k).fit(X, y, times.astype(float)), kind(k).fit(X[rows], y[rows])
    assert support(weighted) == support(repeated)
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rule", ["MANY_FITS", "MANY"])
def test_rules_by_the_number_of_rows_count_a_row_twice_once(rule, monkeypatch):
    """With 600 rows 12 features were selected, and 11 with each of them twice."""
    monkeypatch.setattr(read, rule, 200)
    X, y = data(150, 25, noise=2)
    y = y > np.median(y)
    once = SieveClassifier().fit(X, y, np.full(150, 2.0))
    twice = SieveClassifier().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert_allclose(once.coef_, twice.coef_, rtol=1e-4, atol=1e-6)
    store = twice.method_.state.store
    assert (store.n, read.distinct_rows(store)) == (300, 150)


@pytest.mark.parametrize("filled", [0.05, 0.1, 0.4, 0.8])
@pytest.mark.parametrize("k", [5, "auto"])
@pytest.mark.parametrize("labels", [False, True])
def test_dense_equals_sparse(labels, k, filled):
    X, y = data(300, 40, corr=0, noise=0.5)
    X *= np.random.default_rng(1).random(X.shape) < filled
    y = X[:, 3] + X[:, 7] + 0.3 * y
    dense, sparse = fitted(X, y, k, labels=labels), fitted(csr_array(X), y, k, labels=labels)
    assert support(dense) == support(sparse)
    assert_allclose(dense.coef_, sparse.coef_, rtol=1e-4, atol=1e-5)


def test_copies_of_a_row_are_left_out_together_and_many_of_them_apart():
    key = np.repeat(np.arange(100, dtype=np.uint32) * 7919, 3)
    label = np.repeat(np.arange(100) % 2, 3).astype(float)
    one = np.ones(len(key), dtype=np.float32)
    for number in (read.row_numbers(key, one), read.row_numbers(key, one, label)):
        assert (number.reshape(100, 3) == number[::3, None]).all()
    same = np.zeros(1000, dtype=np.uint32)  # one content, which is no row delivered again
    assert (np.bincount(read.row_numbers(same, np.ones(1000, dtype=np.float32)) % 5, minlength=5) > 150).all()


def test_every_fold_has_its_share_of_a_rare_class():
    X, _ = data(1000, 12)
    method = SieveClassifier(2).fit(X, np.arange(1000) < 20).method_
    rare = method.state.store.y[:1000, 0] > 0
    assert (np.bincount(read.folds_of(method)[0][rare], minlength=5) == 4).all()


def test_features_of_few_values_are_still_selected():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 2)) < 0.5) * 1.0
    y = X[:, 0] + 0.3 * rng.normal(size=400)
    assert 0 in support(fitted(X, y))
    assert 0 in support(fitted(X, y, labels=True))


def test_of_many_rows_one_fold_is_left_out(monkeypatch):
    X, y = data(300, 30)
    model = fitted(X, y, 3, labels=True)
    assert len(read.folds_of(model.method_)[2]) == 5
    monkeypatch.setattr(read, "MANY", 100)
    fold, part, folds = read.folds_of(model.method_)
    assert len(folds) == 1
    assert len(np.unique(part[fold == folds[0]])) == 5  # errors are still those of five parts
    assert support(fitted(X, y, 3, labels=True)) == {3, 7, 11}


# ---------------------------------------------------------------- columns


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("labels", [False, True])
def test_copies_and_complements_are_never_selected_together(labels, wide):
    X, y = data(300, 300 if wide else 12, noise=0.3)
    X[:, 0], X[:, 1], X[:, 2] = X[:, 3], 1 - X[:, 3], X[:, 7] * 1e-3 + 4
    model = fitted(X, y, 5, labels=labels)
    assert len(support(model)) == 5
    assert len(support(model) & {0, 1, 3}) == 1
    assert len(support(model) & {2, 7}) == 1


def test_near_copies_are_not_copies():
    X, y = data(300, 12, noise=0.3)
    X[:, 0] = X[:, 3] + 1e-3 * X[:, 5]
    problem = Problem((m := fitted(X, y, 4, labels=True).method_), *read.folds_of(m)[:2])
    assert_array_equal(problem.distinct(np.arange(12, dtype=np.int32)), np.arange(12))


def test_words_compete_in_one_unit_too():
    """Frequent words that matter are found among rare ones whose deviations are small."""
    X, y = data(400, 60, corr=0)
    X = (np.random.default_rng(0).random(X.shape) < np.linspace(0.001, 0.1, 60)) * 1.0
    model = fitted(csr_array(X), X[:, 50:].sum(axis=1) + 0.1 * y, 5, labels=True)
    engines, _, _ = read.prepare(model.method_)
    assert [np.ptp(e.problem.scale[engines[0].problem.deviation > 0]) > 0 for e in engines] == [True, False]
    dense, _, _ = read.prepare(fitted(data()[0], data()[1], 3).method_)
    assert len(dense) == 1


def test_words_are_tried_with_one_ridge_in_the_other_scaling(monkeypatch):
    X, y = data(400, 60, corr=0, noise=3)
    X = (np.random.default_rng(0).random(X.shape) < np.linspace(0.001, 0.1, 60)) * 1.0
    method = fitted(csr_array(X), X[:, 50:].sum(axis=1) + 0.3 * y, 5, labels=True).method_
    engines, columns, folds = read.prepare(method)
    monkeypatch.setattr(read, "FINALISTS", 9)
    ridges = read.ridges_of(method)
    entries = read.finalists(engines, columns, ridges, [5], folds, [read.NO_REFIT])
    own, other = ([e.ridge for e in entries if e.engine is engine] for engine in engines)
    assert len(own) > 1
    tried = list(read.try_ridges(engines[0], columns, ridges, [5], folds[:1], [read.NO_REFIT]))
    assert other == [entry.ridge for entry in read.best_trials(tried, 1)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("sizes", "widths"),
    [
        ([30], (90, 81, 72, 64, 57, 51, 45, 40, 36, 32, 30)),
        ([1], (60, 36, 27, 20, 15, 11, 8, 7, 6, 5, 4, 3, 2, 1)),
        ([10, 8], (70, 49, 34, 23, 16, 11, 10, 9, 8)),
    ],
)
def test_columns_leave_in_smaller_steps_near_the_last_size(seed, sizes, widths):
    X, y = data(300, 100, seed, corr=2, noise=3)
    (engine,), columns, _ = read.prepare(fitted(X, y, 3, labels=True).method_)
    start = read.Start(engine.problem.zero(columns), 0.01)
    found = engine.eliminate([start._replace(sizes=sizes)], 1e-6)[0][-1]
    for width in widths:
        fit = solve(engine, [start], 1e-6)[0]
        strongest = np.sort(np.argsort(-(fit.B[0] ** 2))[:width])
        start = start._replace(fit=Fit(fit.columns[strongest], fit.B[:, strongest], fit.b))
    assert_array_equal(found.columns, start.fit.columns)


# ---------------------------------------------------------------- size


def test_sizes_are_all_up_to_twelve_then_two_in_an_octave_up_to_twice_the_rows():
    X, y = data(100, 300)
    method = fitted(X, y).method_
    engines, columns, folds = read.prepare(method)
    sizes = read.sizes_of(method, engines[0].problem, columns, folds)
    assert sizes == [200, 192, 136, 96, 68, 48, 34, 24, 17, *range(12, 0, -1)]


def test_one_standard_error_is_the_smaller_model():
    X, y = data(300, 40, seed=3, true=range(0, 40, 3), noise=20)
    best, near = fitted(X, y), fitted(X, y, criterion="1se")
    assert best.sizes_ == near.sizes_
    assert len(support(best)) == best.sizes_["cv"] > near.sizes_["1se"] == len(support(near))
    assert f"{best.sizes_['1se']} are within one standard error" in best.method_.note


@pytest.mark.parametrize("labels", [False, True])
def test_information_criteria_find_the_true_features(labels):
    X, y = data(600, 60, seed=2, true=range(0, 60, 4), noise=0.5)
    found = {c: support(fitted(X, y, criterion=c, labels=labels)) for c in ("ebic", "bic", "aic")}
    assert not fitted(X, y, criterion="aic", labels=labels).sizes_  # "cv" and "1se" have not chosen
    assert found["ebic"] >= set(range(0, 60, 4))
    assert len(found["ebic"]) <= 16  # 15 are true, between the sizes of the ladder
    assert len(found["ebic"]) <= len(found["bic"]) <= len(found["aic"])


def test_information_criteria_try_no_size_that_would_fit_any_targets():
    X, y = data(30, 60, corr=0, noise=5)
    assert len(support(fitted(X, y, criterion="aic"))) < 10


def test_ten_features_where_no_row_can_be_left_out():
    for seed in range(200):  # until three rows are in one fold
        X, y = data(3, 20, seed)
        model = fitted(X, y)
        if not read.folds_of(model.method_)[2]:
            break
    assert len(support(model)) == 10


# ---------------------------------------------------------------- ridges


def test_both_strong_and_weak_ridges_are_of_use():
    weak_signal, _ = data(60, 200, corr=0)
    y = weak_signal[:, :40].sum(axis=1) + 4 * np.random.default_rng(1).normal(size=60)
    assert fitted(weak_signal, y, 20).ridge_ >= 0.1
    X, y = data(400, 30, corr=5, true=(3, 7), noise=1e-3)
    y -= 2.5 * X[:, 7]  # a difference of columns that have nearly everything in common
    assert fitted(X, y, 2).ridge_ < 1e-2


def entries_of(seed, k, noise, n=60, p=40, factors=read.FACTORS):
    """The engine and what was tried on the first fold."""
    X, y = data(n, p, seed, noise=noise)
    (engine,), columns, folds = read.prepare(fitted(X, y, k).method_)
    tried = list(read.try_ridges(engine, columns, read.RIDGES, [k], folds[:1], factors))
    return tried, engine, columns, folds


def test_weaker_ridges_are_not_tried_after_two_that_are_worse():
    losses = [read.least_loss(entry) for entry in entries_of(0, 20, noise=5)[0]]
    assert len(losses) < len(read.RIDGES)
    assert min(losses) == losses[-3]


def test_the_three_best_ridges_of_the_first_fold_are_compared_by_all():
    tried, engine, columns, folds = entries_of(3, 5, noise=1)
    assert len(tried) > 3
    best = read.finalists([engine], columns, read.RIDGES, [5], folds, read.FACTORS)
    assert [e.ridge for e in best] == sorted(
        (e.ridge for e in sorted(tried, key=read.least_loss)[:3]), reverse=True
    )
    assert all(set(e.paths) == set(range(5)) and (e.losses > 0).all() for e in best)
    assert all(set(e.paths) == {0} for e in tried)


def test_few_labels_bear_no_weak_ridges():
    """Separable rows: what predicts the others best, by chance, must not let weights explode."""
    X, y = data(80, 12)
    method = fitted(X, y, 3, labels=True).method_
    assert read.ridges_of(method) == (1.0, 0.1)
    assert read.ridges_of(fitted(X, y, 3).method_) == read.RIDGES
    assert read.ridges_of(fitted(*data(3, 12), 3, labels=True).method_) == (1.0,)
    X, y = data(40, 12, noise=0.1)
    assert np.abs(fitted(X, y, 5, labels=True).coef_).max() < 5


def test_each_refit_is_chosen_somewhere():
    chosen = set()
    for seed in range(24):
        _, engine, columns, folds = entries_of(seed, 5, noise=0.5 + seed % 12, p=20)
        entries = read.finalists([engine], columns, read.RIDGES, [5], folds, read.FACTORS)
        chosen.add(read.FACTORS[read.choose([entries], [5], "cv")[2]])
    assert chosen == {read.NO_REFIT, 0.1, 1.0, 10.0}


@pytest.mark.parametrize("labels", [False, True])
def test_of_more_features_than_matter_noise_hardly_weighs(labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 300))
    y = X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=240)
    model = fitted(X[:120], y[:120], 60, labels=labels)
    weight = np.abs(model.coef_)
    assert len(support(model)) == 60
    assert np.linalg.norm(weight[4:]) < 0.3 * np.linalg.norm(weight[:4])
    wanted = y[120:] > np.median(y) if labels else y[120:]
    assert model.score(X[120:], wanted) > (0.85 if labels else 0.9)


@pytest.mark.parametrize("seed", range(3))
def test_classes_that_hardly_overlap_select_what_matters(seed):
    """All 25 were selected: noise in the mean of the squared weights made the ridge of the others weaker."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 25))
    y = X[:, [3, 7, 11]] @ [1, -2, 1] + 0.3 * rng.normal(size=300)
    assert support(fitted(X, y, labels=True)) == {3, 7, 11}
    method = fitted(X, y, 3, labels=True).method_
    engines, columns, folds = read.prepare(method)
    factors, ridges = read.FACTORS_OF_LABELS, read.ridges_of(method)
    trials = read.finalists(engines, columns, ridges, [3], folds, factors)
    assert factors[read.choose([trials], [3], "cv")[2]] == 0.01  # the bound of the ridges is too strong


def test_ridges_of_a_refit_are_finite_and_those_of_a_group_are_equal():
    X, y = data(100, 12)
    (engine,), columns, _ = read.prepare(fitted(X, y, 3, groups=[[0, 1]]).method_)
    weights = np.array([[1.0, 3.0, 0.0, *[2.0] * 9]])
    factor = read.refit(engine, Fit(columns, weights, np.zeros(1)), 0.1, None).factor
    typical = (2 * 5**2 + 9 * 4**2) / (2 * 5 + 9 * 4)
    assert_allclose(factor, [typical / 5, typical / 5, 1e6, *[typical / 4] * 9])
    assert read.refit(engine, Fit(columns, 0 * weights, np.zeros(1)), 0.1, None).factor == 1


def test_fits_do_not_depend_on_the_targets_of_rows_left_out():
    """More columns than rows: what a start has learned of rows that are left out would not be forgotten."""
    X, y = data(60, 400, corr=0)
    paths = []
    for _ in range(2):
        method = fitted(X, y, 5).method_
        (engine,), columns, folds = read.prepare(method)
        (entry,) = read.finalists([engine], columns, [1e-3], [40], folds, [read.NO_REFIT])
        paths.append(entry.paths[2][0])
        rows = np.flatnonzero(engine.problem.fold == 2)
        y = y.copy()
        y[rows] = y[rows][::-1]  # means and deviations stay
    assert_array_equal(paths[0].columns, paths[1].columns)
    assert_allclose(paths[0].B, paths[1].B, rtol=1e-6, atol=1e-9)


def test_of_many_rows_and_sizes_kernels_refit_the_chosen_one_alone(monkeypatch):
    X, y = data(150, 12, noise=2)
    refitted = []
    best_refit = read.best_refit
    monkeypatch.setattr(read, "best_refit", lambda e, s, r: refitted.append(s) or best_refit(e, s, r))
    fitted(X, y).coef_  # noqa: B018
    fitted(X, y, 4, labels=True).coef_  # noqa: B018
    fitted(X, y, labels=True).coef_  # noqa: B018
    assert not refitted  # sums, one size, and few rows are quick
    monkeypatch.setattr(read, "MANY_FITS", 100)
    model = fitted(X, y, labels=True)
    assert len(support(model)) == model.sizes_["cv"]
    assert len(refitted) == 1


def test_after_a_retirement_the_ridge_is_that_of_then():
    X, y = data(9_500, 20, noise=2)
    model = fitted(X, y, 3, labels=True, memory="1MB")
    s = model.method_.state
    assert s.H is not None
    assert s.store.n > 0
    assert model.ridge_ == s.ridge / s.store.total
    assert model.ridge_ not in read.RIDGES


def test_a_model_that_overflows_is_not_chosen():
    class Overflows:
        def eliminate(self, *_):
            return []

        def loss(self, *_):
            return np.full(5, np.nan)

    one = entries_of(0, 5, noise=1)[0][0]
    wild = read.add_losses(
        one._replace(engine=Overflows(), losses=np.zeros((1, 1, 5))), [0], (read.NO_REFIT,)
    )
    assert read.least_loss(wild) > 1e99
    fine = one._replace(losses=np.ones((1, 1, 5)))
    assert read.choose([[wild, fine]], [5], "cv")[0] is fine


def test_of_equal_losses_the_stronger_ridge_is_taken():
    one = entries_of(0, 5, noise=1)[0][0]
    losses = np.full((1, 3, 5), 2.0)
    stronger = one._replace(ridge=0.1, losses=losses * (1 + 1e-7))
    assert read.choose([[stronger, one._replace(ridge=0.01, losses=losses)]], [5], "cv")[0].ridge == 0.1
    assert (
        read.choose([[stronger, one._replace(ridge=0.01, losses=losses * 0.999)]], [5], "cv")[0].ridge == 0.01
    )


# ---------------------------------------------------------------- more columns than rows


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
def test_wide_models_by_products_of_rows_are_the_ridge_solutions(intercept, sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1200)) + 3
    X[:, 5] = 7 - 2 * X[:, 4]  # a copy
    X = X * (rng.random(X.shape) < 0.3) if sparse else X
    y, w = rng.normal(size=(40, 2)) + X[:, :2], rng.random(40) + 0.5
    model = SieveRegressor(3, fit_intercept=intercept)
    engines, columns, _ = read.prepare(model.fit(csr_array(X) if sparse else X, y, sample_weight=w).method_)
    engine = engines[0]
    assert isinstance(engine, Dual)
    p, sizes = engine.problem, [len(columns), 1100, 10]
    for fold, ridge in ((None, 0.1), (2, 1e-4)):
        start = read.Start(p.zero(columns), ridge, fold, sizes)
        full, later, _ = engine.eliminate([start])[0]
        weight, total = p.without(fold)
        Z = (p.store.decode(0, 40, columns) - p.mean[columns]) / p.scale[columns]
        rate = weight.astype(float)[:, None]
        m, m_y = rate.T @ Z / rate.sum() * intercept, rate.T @ p.y / rate.sum() * intercept
        H = (rate * (Z - m)).T @ (Z - m) + ridge * total * np.eye(len(columns))
        B = np.linalg.solve(H, (rate * (Z - m)).T @ (p.y - m_y))
        assert_allclose(full.B, B.T, rtol=1e-5, atol=1e-7)
        assert_allclose(full.b, (m_y - m @ B)[0], atol=1e-7)
        strongest = np.sort(np.argsort(-(B**2).sum(axis=1))[:1100])
        assert_array_equal(later.columns, columns[strongest])
        assert_array_equal(engine.eliminate([start, start])[1][0].B, full.B)


def test_first_weights_leave_a_thousand_columns_or_as_many_as_there_are_rows(monkeypatch):
    met = []
    monkeypatch.setattr(
        Problem,
        "eliminate",
        lambda self, starts, *_: (met.extend(len(s.fit.columns) for s in starts), exact(self, starts, *_))[1],
    )
    for n in (60, 1100):
        X, y = data(n, 1500)
        fitted(X, y, 3).coef_  # noqa: B018
        assert max(met) == max(1024, n)
        met.clear()


exact = Problem.eliminate


# ---------------------------------------------------------------- constraints


@pytest.mark.parametrize("p", [20, 300, 1200])
@pytest.mark.parametrize("labels", [False, True])
def test_kept_features_are_in_every_model_and_count(labels, p):
    X, y = data(300, p)
    model = fitted(X, y, 4, labels=labels, keep=[0])
    assert support(model) == {0, 3, 7, 11}


@pytest.mark.parametrize("p", [20, 300, 1200])
@pytest.mark.parametrize("labels", [False, True])
def test_features_of_a_group_enter_together_and_k_counts_groups(labels, p):
    X, y = data(400, p, corr=0)
    groups = [[3, 4], [7, 8, 9], [0, 1]]
    assert support(fitted(X, y, 3, labels=labels, groups=groups)) == {3, 4, 7, 8, 9, 11}


@pytest.mark.parametrize("p", [20, 300, 1200])
@pytest.mark.parametrize("labels", [False, True])
def test_positive_weights(labels, p):
    X, y = data(400, p, corr=0)
    y -= 3 * X[:, 5]
    model = fitted(X, y, 3, labels=labels, positive=True)
    assert (model.coef_ >= 0).all()
    assert support(model) == {3, 7, 11}
    assert 5 in support(fitted(X, y, 3, labels=labels))


def test_positive_is_refused_for_many_classes():
    X, y = data()
    with pytest.raises(ParamError, match="positive"):
        SieveClassifier(3, positive=True).fit(X, np.digitize(y, [-1, 1]))


# ---------------------------------------------------------------- predictions


@pytest.mark.parametrize("sparse", [False, True])
def test_values_far_outside_are_clipped_and_counted(sparse):
    X, y = data(200, 6, true=(3,), noise=0.1)
    X *= np.random.default_rng(0).random(X.shape) < 0.4 if sparse else 1.0
    y = X[:, 3] * 2
    wild, edge, inside = X[:3].copy()
    low, high = X[:, 3].min(), X[:, 3].max()
    wild[3], edge[3], inside[3] = 1e9, high + 0.5 * (high - low), high + 0.4 * (high - low)
    rows = np.array([wild, edge, inside])
    as_given = csr_array if sparse else np.array
    model = SieveRegressor(1).fit(as_given(X), y)
    with pytest.warns(UserWarning, match="1 of 3 rows .* clipped to that range"):
        clipped = model.predict(as_given(rows))
    assert model.n_clipped_ == 1
    assert_allclose(clipped[0], clipped[1], rtol=1e-6)
    with pytest.warns(UserWarning, match="1 of 3 rows to predict lie outside"):
        free = SieveRegressor(1, clip=False).fit(as_given(X), y).predict(as_given(rows))
    assert_allclose(clipped[1:], free[1:], rtol=1e-5)
    assert free[0] > 1e8
    model.predict(as_given(X))
    assert model.n_clipped_ == 1  # rows learned are within


def test_ranges_do_not_depend_on_layout_or_cuts():
    X, y = data(150, 12)
    X *= np.random.default_rng(0).random(X.shape) < 0.3
    limits = []
    for rows in (X, csr_array(X)):
        for step in (150, 40):
            model = SieveRegressor(3)
            for at in range(0, 150, step):
                model.partial_fit(rows[at : at + step], y[at : at + step])
            limits.append(model.method_.state.store.limits(150))
    for other in limits:
        assert_allclose(other, [X.min(axis=0), X.max(axis=0)], rtol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_rare_positives_are_ranked_as_well_as_by_l1(sparse):
    """3 % positives: the area under the curve is not given up for the log-loss."""
    ahead = []
    for seed in range(3):
        rng, n = np.random.default_rng(seed), 3000
        if sparse:
            X = csr_array((rng.random((2 * n, 200)) < 10 ** rng.uniform(-2.5, -0.5, 200)) * 1.0)
            margin = X @ np.where(rng.random(200) < 0.3, rng.normal(size=200) * 1.5, 0)
        else:
            X = rng.normal(size=(2 * n, 60)) + 0.5 * rng.normal(size=(2 * n, 1))
            margin = X[:, :15].sum(axis=1) / 2
        y = rng.random(2 * n) < 1 / (1 + np.exp(np.quantile(margin, 0.97) + 1 - margin))
        model = SieveClassifier(10).fit(X[:n], y[:n])
        for C in np.logspace(-3, 1, 20):
            l1 = LogisticRegression(C=C, l1_ratio=1, solver="liblinear", random_state=0).fit(X[:n], y[:n])
            if np.count_nonzero(l1.coef_) >= 10:
                break
        best = np.argsort(-np.abs(l1.coef_[0]))[:10]
        refit = LogisticRegression(C=1).fit(X[:n, best], y[:n])
        ours = roc_auc_score(y[n:], model.decision_function(X[n:]))
        ahead.append(ours - roc_auc_score(y[n:], refit.decision_function(X[n:, best])))
    assert np.mean(ahead) > -0.01


def test_rows_of_one_content_have_one_key():
    from streamsieve import _core

    X = np.array([[1.0, 0.0, -0.0, 2.5], [1.0, 0.0, 0.0, 2.5], [2.5, 0.0, 0.0, 1.0]])
    keys = []
    for rows in (X, X.astype(np.float32), csr_array(X)):
        key = np.empty(3, dtype=np.uint32)
        assert _core.sieve_row_keys(as_rows(rows)[0].kernel, key) == 6
        keys.append(key)
    assert_array_equal(keys[0], keys[1])
    assert_array_equal(keys[0], keys[2])
    assert keys[0][0] == keys[0][1] != keys[0][2]
