"""Shapes and pairs: equal to the slow twin, exactly mergeable, and found where lines find nothing."""

import json
import logging
import pickle
import signal
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cli_data import good, run, table
from reference import effects as twin
from streamsieve import (
    CheckpointError,
    EffectDisplay,
    SieveClassifier,
    SieveRegressor,
    _core,
    distributed,
    load,
    save,
)
from streamsieve.core.losses import expit
from streamsieve.core.rows import as_rows
from streamsieve.export import to_c, to_json, to_sql
from streamsieve.methods.effects.fit import Sample, Squares, cholesky, fit_labels
from streamsieve.methods.effects.functions import Basis, Design
from streamsieve.methods.effects.levels import EDGES, LEVELS, Levels, cut_points
from streamsieve.methods.effects.read import Answer, eliminate


def rng(seed=0):
    return np.random.default_rng(seed)


def labels(g, margin):
    return (g.random(len(margin)) < 1 / (1 + np.exp(-margin))).astype(int)


def xor(n=3000, p=40, seed=0):
    g = rng(seed)
    X = g.normal(size=(n, p))
    return X, labels(g, 3 * np.sign(X[:, 0] * X[:, 1]) + 1.5 * np.sign(X[:, 2] * X[:, 3]))


def bowls(n=3000, p=40, seed=0):
    g = rng(seed)
    X = g.normal(size=(n, p))
    return X, (X[:, :3] ** 2).sum(axis=1) + g.normal(size=n)


def learned(X, y=None, edges=None, capacity=10**6, cuts=(), first=200, w=None):
    """Levels of rows that come in parts."""
    y = np.zeros((X.shape[0], 1)) if y is None else y
    out = Levels.of(X.shape[1], y.shape[1], edges)
    for at in np.split(np.arange(X.shape[0]), sorted(cuts)):
        if len(at):
            part = as_rows(X[at[0] : at[-1] + 1], nan_ok=True)[0]
            out.apply(out.step(part, y[at], None if w is None else w[at], first, capacity, 1))
    return out


# ---------------------------------------------------------------- kernels and the twin


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_levels_are_those_of_the_twin(dtype):
    X = rng().normal(size=(700, 37)).round(1).astype(dtype)
    X[rng(1).random(X.shape) < 0.5] = 0
    X[5, 3] = np.nan
    dense, sparse = learned(X), learned(sp.csr_array(X))
    assert not list(dense.differences(sparse))
    expected = twin.levels(X, dense.edges)
    assert sorted(map(bytes, dense.codes)) == sorted(map(bytes, expected))  # by hash, not by row
    for j in (0, 3):
        there = ~np.isnan(X[:, j])
        assert_array_equal(dense.rows[j], np.bincount(expected[:, j], minlength=LEVELS))
        sums = np.bincount(expected[there, j], X[there, j], LEVELS)
        assert_allclose(dense.means()[j] * dense.rows[j] * (np.arange(LEVELS) < 63), sums, atol=2e-3)


def test_few_values_have_a_level_each_and_many_are_cut_at_quantiles():
    X = np.column_stack([np.tile([3.0, 1.0, 2.0], 100), rng().normal(size=300), np.full(300, 7.0)])
    edges = cut_points(as_rows(X)[0], 4)
    assert_array_equal(edges[0][:3], [1.5, 2.5, np.inf])
    assert np.isfinite(edges[1]).sum() == EDGES - 1
    assert np.bincount(twin.levels(X, edges)[:, 1]).min() >= 3
    assert np.isinf(edges[2:]).all()


def test_rounding_to_float32_moves_no_row_to_another_level():
    X = rng().normal([0.0, 1.0, 100.0, -5.0], size=(300, 4))
    edges = cut_points(as_rows(X)[0], 4)
    assert_array_equal(twin.levels(X.astype(np.float32).astype(float), edges), twin.levels(X, edges))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("outputs", [1, 3])
def test_the_scan_is_that_of_the_twin_whatever_the_threads(order, outputs):
    g = rng()
    p = 300  # two tiles of nine products, the last one incomplete
    every = g.integers(0, LEVELS, size=(400, p)).astype(np.uint8)
    rows = np.flatnonzero(np.arange(400) % 4)  # a panel of 256 of them, and an incomplete one
    n, codes = len(rows), every[rows]
    table = g.normal(size=(p, LEVELS, order)).astype(np.float32)
    R = g.normal(size=(n, outputs)).astype(np.float32)
    F = table[np.arange(p), codes].astype(float)
    T = twin.scan(F, R.astype(float))
    cut = np.sort(T, axis=None)[-200]
    features, r = np.arange(p, dtype=np.int32), np.ascontiguousarray(R.T)
    by_level = np.ascontiguousarray(table.swapaxes(1, 2))
    found = _core.effects_scan(every, rows, features, by_level, r, cut, 50, 1)
    assert found == _core.effects_scan(every, rows, features, by_level, r, cut, 50, 3)
    strongest = np.argsort(-T, axis=None)[:50]
    assert [(i, j) for i, j, _ in found] == [divmod(int(at), p) for at in strongest]
    assert_allclose([t for *_, t in found], T.ravel()[strongest], rtol=1e-4)


def test_functions_are_those_of_the_twin_and_orthonormal():
    X = rng().integers(0, 12, size=(500, 4)).astype(float) ** 2
    levels = learned(X)
    basis = Basis(levels)
    main, side = basis.main(np.arange(4)), basis.side(np.arange(4))
    codes, scale = twin.levels(X, levels.edges), np.array([1, 1, 1, 2, 3, 4, 5])
    for j in range(4):
        F = main[j, codes[:, j]][:, [0, 2, 3, 4, 5, 6, 7]] * scale
        assert_allclose(np.abs(F), np.abs(twin.functions(X[:, j], 7, True)), atol=1e-3)
        G = side[j, codes[:, j]]
        assert_allclose(G, twin.functions(X[:, j], 3, False), atol=1e-9)
        assert_allclose(G.T @ G / 500, np.eye(3), atol=1e-9)


def test_elimination_is_that_of_the_twin():
    X, _ = bowls(400, 60)
    Y = (X[:, :2] ** 2).sum(axis=1, keepdims=True) + X[:, 4:5] * X[:, 5:6] + rng().normal(size=(400, 1))
    levels = learned(X)
    design = Design(Basis(levels), np.arange(60), 6, [(4, 5), (7, 8), (9, 30), (11, 12), (1, 50)])
    levels.fields()
    data = Sample(levels.codes, Y, np.ones(400), np.arange(400))
    for ridge in (1e-2, 1.0):
        *_, keep = eliminate(Squares(design, data), design.owner, np.arange(design.width), 2, ridge)
        Z = design.columns(levels.codes).astype(float)
        assert keep.tolist() == twin.eliminate(Z, Y, design.owner.tolist(), 2, ridge)


def test_products_that_rounding_made_indefinite_are_factorized():
    Z = rng().normal(size=(30, 6)) @ rng(1).normal(size=(6, 20))
    G = Z.T @ Z
    L = np.tril(cholesky(G.copy(), 1.0))
    assert_allclose(L @ L.T, G + np.eye(20), atol=1e-8)
    L = np.tril(cholesky(G - 1e-4 * np.eye(20), 1e-5))
    assert_allclose(L @ L.T, G, rtol=1e-3, atol=1e-2)


def sampled(X, Y):
    levels = learned(X)
    levels.fields()
    return Basis(levels), Sample(levels.codes, Y, rng(3).uniform(0.5, 1.5, len(X)), np.arange(len(X)))


def test_columns_are_functions_and_their_products():
    basis, data = sampled(rng().normal(size=(300, 6)), np.zeros((300, 1)))
    design = Design(basis, np.arange(2, 6), 3, [(0, 3), (5, 1)])
    F, S = (f(np.arange(6), 3)[np.arange(6), data.codes] for f in (basis.main, basis.side))
    S = S / np.sqrt([1, 2, 3])
    products = [np.einsum("na,nb->nab", S[:, i], S[:, j]).reshape(300, -1) for i, j in design.pairs]
    main = F[:, 2:][:, :, [0, 2, 3]].reshape(300, -1)  # no value is missing
    for times in (None, np.linspace(0, 2, 300)):
        expected = np.hstack([main, *products]) * (1 if times is None else times[:, None])
        ((_, Z),) = design.blocks(data.codes, data.rows, times=times)
        assert_allclose(Z, expected, atol=1e-5)


def test_products_known_from_another_design_are_not_computed_again():
    X, y = bowls(600, 12)
    basis, data = sampled(X, y[:, None])
    small = Squares(Design(basis, np.arange(9)), data)
    design = Design(basis, np.arange(1, 11), pairs=[(0, 1), (3, 4)])
    small.G[:] += 1000.0  # so that one sees where it went
    both, alone = Squares(design, data, small), Squares(design, data)
    known = np.isin(design.owner, np.arange(9)).all(axis=1) & (design.owner[:, 0] == design.owner[:, 1])
    assert known.sum() == 8 * 7
    assert_allclose(both.G, alone.G + 1000 * np.outer(known, known), atol=1e-2)
    assert_allclose(both.b, alone.b)
    other = data.at(np.arange(0, 600, 2))
    assert_array_equal(Squares(design, other, small).G, Squares(design, other).G)


@pytest.mark.parametrize("classes", [1, 3])
def test_fits_to_labels_are_optimal_and_form_their_second_derivatives_once(classes, monkeypatch):
    X, _ = bowls(800, 6)
    code = np.digitize(X[:, 0] ** 2 + rng(2).normal(size=800), [0.5, 2])
    Y = (code[:, None] == (np.arange(3) if classes > 1 else 1)).astype(float)
    basis, data = sampled(X, Y)
    design, formed, blocks = Design(basis, np.arange(6), pairs=[(0, 1)]), [], Design.blocks
    monkeypatch.setattr(
        Design, "blocks", lambda self, *a, **k: (formed.append(len(a) > 2), blocks(self, *a, **k))[1]
    )
    fit = fit_labels(design, data, 0.01)
    assert sum(formed) == 1
    Z, w = design.columns(data.codes).astype(float), data.weight
    eta = Z @ fit.weights + fit.constant
    share = expit(eta) if classes == 1 else np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    slope = Z.T @ (w[:, None] * (Y - share)) / w.sum() - 0.01 * fit.weights
    assert np.abs(slope).max() < 3e-3


# ---------------------------------------------------------------- chunks and merging


@settings(max_examples=15, deadline=None)
@given(st.sets(st.integers(1, 899)), st.booleans())
def test_chunks_do_not_matter(cuts, sparse):
    X, y = bowls(900, 7)
    X = sp.csr_array(X * (np.abs(X) > 1)) if sparse else X
    whole = learned(X, y[:, None], capacity=300)
    assert not list(whole.differences(learned(X, y[:, None], capacity=300, cuts=cuts)))
    assert len(whole) == 300


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(8)), st.integers(1, 7))
def test_shards_in_any_order_are_the_same_bytes(order, cut):
    X, y = bowls(1600, 5)
    edges = cut_points(as_rows(X[:200])[0], 5)
    shards = [learned(X[s::8], y[s::8, None], edges, 400) for s in range(8)]

    def merged(numbers):
        out = shards[numbers[0]].copy()
        for number in numbers[1:]:
            out.merge(shards[number], 400)
        return out

    whole = merged(list(range(8)))
    left, right = merged(order[:cut]), merged(order[cut:])
    left.merge(right, 400)
    assert not list(whole.differences(left))
    assert (len(whole), whole.n) == (400, 1600)


def test_shards_of_other_edges_are_refused():
    X, _ = bowls(400, 5)
    with pytest.raises(ValueError, match="different levels"):
        learned(X).merge(learned(X + 1), 100)


@pytest.mark.parametrize("effects", ["auto", "pairs"])
def test_any_partitions_give_the_same_bytes(effects):
    X, y = xor(20_000, 8)
    estimator = SieveClassifier(4, effects=effects, memory=1 << 20)

    def fitted(cuts):
        made = distributed.task(estimator, p=8, classes=[0, 1])

        def run(task):
            parts = [
                task.from_bytes(task.zero(row=a).update((X[a:b], y[a:b])).to_bytes())
                for a, b in zip([0, *cuts], [*cuts, len(y)])
            ]
            return distributed.merge_in_order(parts)

        return distributed.fit_task(made, run)

    one, eight = fitted([]), fitted([100, 2500, 4096, 9000, 9001, 15_000, 19_999])
    assert not list(one._model.differences(eight._model))
    assert one.n_features_in_ == 8
    if effects == "auto":  # to read it takes seconds
        assert (eight.effects_, *eight.get_support(indices=True)) == ("pairs", 0, 1, 2, 3)
        assert eight.score(X, y) > 0.85


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_calls_do_not_matter_to_the_model(layout):
    X, y = xor(2500, 12)
    X = layout(X)
    whole = SieveClassifier(4, effects="auto").fit(X, y)
    parts = SieveClassifier(4, effects="auto")
    for at in (slice(0, 7), slice(7, 2100), slice(2100, 2500)):
        parts.partial_fit(X[at], y[at], classes=[0, 1])
    assert not list(parts._model.differences(whole._model))
    if layout is np.asarray:  # to read them takes seconds
        assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("rows_before", [0, 10, 5000])
def test_a_call_of_many_rows_needs_the_memory_of_the_sample(rows_before):
    X = rng().normal(size=(40_000, 200)).astype(np.float32)
    y = X[:, 0].astype(float)
    model = SieveRegressor(3, effects="pairs", memory=1 << 20)
    if rows_before:
        model.partial_fit(X[:rows_before], y[:rows_before])
    tracemalloc.start()
    model.partial_fit(X[rows_before:], y[rows_before:])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the sample, rows that enter it, a block of levels, counts, hashes; the levels of all rows take 8 MB
    assert peak < 6 << 20


def test_wider_rows_leave_a_shorter_sample():
    X, y = bowls(900, 7)
    levels, wide = learned(X, y[:, None], capacity=300).widened(20), rng(1).normal(size=(5, 20))
    hashes = np.sort(levels.hash)
    levels.apply(levels.step(as_rows(wide)[0], np.zeros((5, 1)), None, 200, 100, 1))
    assert len(levels) == len(levels.codes) == len(levels.y) == 100
    assert np.isin(hashes[:90], levels.hash).all()


# ---------------------------------------------------------------- what is found


def test_shapes_and_pairs_are_found_where_lines_are_not():
    X, y = bowls()
    model = SieveRegressor(3, effects="auto").fit(X, y)
    assert (model.effects_, *model.get_support(indices=True)) == ("shapes", 0, 1, 2)
    assert model.score(*bowls(seed=1)) > 0.8 > 0.1 > SieveRegressor(3).fit(X, y).score(*bowls(seed=1))
    X, y = xor()
    model = SieveClassifier(4, effects="auto").fit(X, y)
    assert (model.effects_, *model.get_support(indices=True)) == ("pairs", 0, 1, 2, 3)
    assert model.score(*xor(seed=1)) > 0.85
    pairs = [term for term in model.terms_ if len(term.features) == 2]
    assert [term.features for term in pairs[:2]] in ([(0, 1), (2, 3)], [(2, 3), (0, 1)])
    assert all(term.pvalue < 1e-6 for term in pairs[:2])


def test_the_last_fit_has_as_many_pairs_as_its_products_allow():
    g = rng()
    X = np.sign(g.normal(size=(8000, 32))) + 0.3 * g.normal(size=(8000, 32))
    y = sum(X[:, i] * X[:, (i + step) % 32] for i in range(32) for step in (1, 2, 3, 4)) + g.normal(size=8000)
    model = SieveRegressor(32, effects="pairs").fit(X, y)
    pairs = [term for term in model.terms_ if len(term.features) == 2]
    assert 115 <= len(pairs) <= 222  # of 128, with nine products each, 2,000 in all
    assert model.score(X, y) > 0.9


def without_pairs(kind, seed):
    """Four shapes and no pair."""
    g = rng(seed)
    X = g.normal(size=(1500, 20))
    for j in range(1, 20 if kind != "independent" else 0):
        X[:, j] = 0.7 * X[:, j - 1] + 0.51**0.5 * X[:, j]
    margin = X[:, 0] + X[:, 3] ** 2 + np.sign(X[:, 6]) + np.sin(2 * X[:, 9])
    if kind == "labels":
        return X, labels(g, margin)
    return X, margin + g.normal(size=1500) * np.exp((X[:, 3] + X[:, 4]) / 2 * (kind == "heteroskedastic"))


def has_pair(X, y):
    """Whether a pair has a p-value below 0.05."""
    model = (SieveClassifier if y.dtype == int else SieveRegressor)(10, effects="pairs").fit(X, y)
    return any(term.pvalue is not None and term.pvalue < 0.05 for term in model.terms_)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["independent", "correlated", "heteroskedastic", "labels"])
def test_few_additive_designs_have_pairs(kind):
    # 5 % of 100 runs at most are expected; more than ten happen by chance once in a hundred times
    assert sum(has_pair(*without_pairs(kind, seed)) for seed in range(100)) <= 10


@pytest.mark.parametrize(("kind", "seed"), [("heteroskedastic", 3), ("labels", 0)])
def test_pvalues_allow_for_variance_and_for_the_link(kind, seed):
    X, y = without_pairs(kind, seed)
    assert not has_pair(X, y)
    assert has_pair(X, labels(rng(), 2 * X[:, 0] * X[:, 9]) if kind == "labels" else y + X[:, 0] * X[:, 9])


@pytest.mark.parametrize("kind", ["targets", "labels"])
def test_copies_of_columns_that_are_rarely_not_zero_can_be_read(kind):
    g = rng()
    rare = (g.random(size=(1500, 5)) < 0.01) * g.normal(size=(1500, 5))
    X = np.column_stack([g.normal(size=(1500, 3)), np.repeat(rare, 8, axis=1)])
    margin = 3 * X[:, 0] * X[:, 1] + X[:, 2] + 3 * X[:, 4]
    assert has_pair(X, labels(g, margin) if kind == "labels" else margin + g.normal(size=1500))


def test_lines_are_answered_by_the_sieve():
    g = rng()
    X = g.standard_t(4, size=(1000, 30))
    y = X[:, :3].sum(axis=1) + 2 * g.normal(size=1000)
    auto, linear = (SieveRegressor(3, effects=effects).fit(X, y) for effects in ("auto", "linear"))
    assert (auto.effects_, *auto.effect_losses_)[:3] == ("linear", "linear", "shapes")
    assert_array_equal(auto.coef_, linear.coef_)
    assert_array_equal(auto.predict(X), linear.predict(X))


def test_a_model_of_shapes_has_curves_and_no_weights():
    X, y = bowls()
    model = SieveRegressor(3, effects="shapes").fit(X, y)
    with pytest.raises(AttributeError, match="has shapes, not weights"):
        model.coef_  # noqa: B018
    assert not hasattr(model, "intercept_")
    curve = model.effect(0)
    assert curve.rows.sum() == len(X)
    centred = curve.values**2 - np.average(curve.values**2, weights=curve.rows)
    assert np.corrcoef(centred, curve.effect)[0, 1] > 0.98
    assert np.mean(np.abs(curve.effect - centred) < 4 * curve.error + 0.1) > 0.9
    with pytest.raises(ValueError, match="not selected"):
        model.effect(7)
    with pytest.raises(ValueError, match="not a component"):
        model.effect(0, 1)
    with pytest.raises(ValueError, match="see coef_"):
        SieveRegressor(3).fit(X, y).effect(0)


def test_the_surface_of_a_pair_can_be_turned():
    X, y = xor()
    model = SieveClassifier(4, effects="pairs").fit(X, y)
    one, other = model.effect(0, 1), model.effect(1, 0)
    assert_array_equal(one.effect, other.effect.T)
    assert (np.sign(one.effect) == np.sign(np.outer(one.values, one.other))).mean() > 0.9


def test_displays_draw_curves_maps_and_bars():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = xor()
    model = SieveClassifier(4, effects="pairs").fit(X, y)
    fig, axes = plt.subplots(1, 3)
    curve = EffectDisplay.from_estimator(model, 0, ax=axes[0])
    assert curve.ax_ is axes[0]
    assert len(curve.ax_.lines[0].get_xdata()) == len(model.effect(0).values)
    surface = EffectDisplay.from_estimator(model, 0, 1, ax=axes[1])
    assert surface.ax_.get_xlabel() == "0"
    bars = EffectDisplay.from_estimator(model, ax=axes[2])
    assert_allclose([bar.get_width() for bar in bars.ax_.patches], [t.deviation**2 for t in model.terms_])
    assert "variance" in bars.ax_.get_xlabel()
    plt.close(fig)
    with pytest.raises(ValueError, match="is linear"):
        EffectDisplay.from_estimator(SieveClassifier(4).fit(X, y))


@pytest.mark.parametrize("missing", ["error", "mean"])
def test_sql_looks_components_up(missing):
    duckdb = pytest.importorskip("duckdb")
    X, y = xor(1000, 4)
    X[:, 2] = X[:, 2].round()
    if missing == "mean":
        X[::7, 0] = np.nan
    model = SieveClassifier(4, effects="pairs", missing=missing).fit(X, y)
    frame = pyarrow_table(X[:200])
    for output, expected in (
        ("score", model.decision_function(X[:200])),
        ("prediction", model.predict(X[:200])),
    ):
        sql = to_sql(model, "duckdb", output)
        got = duckdb.sql(f"SELECT {sql} AS s FROM frame").fetchnumpy()["s"]
        assert_allclose(got, expected, atol=1e-9)
    for format_ in (to_c, to_json):
        with pytest.raises(ValueError, match="SQL"):
            format_(model)
    del frame


def pyarrow_table(X):
    pa = pytest.importorskip("pyarrow")
    return pa.table({f"x{j}": pa.array(x, from_pandas=True) for j, x in enumerate(X.T)})


def test_the_command_line_prints_components(tmp_path):
    X, y = xor(1500, 6)
    np.savetxt(
        tmp_path / "a.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,e,f,y", comments=""
    )
    target = [tmp_path / "a.csv", "--target", "y", "-k", 4, "-q"]
    rows = table(good("select", *target, "--effects", "auto", "-o", tmp_path / "m"))
    assert list(rows[0]) == ["feature", "with", "effect", "p"]
    assert {(row["feature"], row["with"]) for row in rows[:2]} == {("a", "b"), ("c", "d")}
    levels = table(good("inspect", tmp_path / "m", "--effects", "-q"))
    assert list(levels[0]) == ["feature", "value", "effect", "error", "rows"]
    assert len(table(good("predict", tmp_path / "m", tmp_path / "a.csv"))) == 1500
    good("report", tmp_path / "m", "-o", tmp_path / "r.html")
    assert "Shapes and pairs" in (tmp_path / "r.html").read_text()
    good("fit", *target, "-o", tmp_path / "l")
    assert "has no shapes" in run("inspect", tmp_path / "l", "--effects").output


# ---------------------------------------------------------------- files and refusals


@pytest.mark.parametrize("n", [500, 2500])
def test_a_model_goes_on_from_a_file(tmp_path, n):
    X, y = xor(3000, 10)
    model = SieveClassifier(4, effects="auto").partial_fit(X[:n], y[:n], classes=[0, 1])
    model.predict(X)
    save(model, tmp_path / "a")
    for other in (load(tmp_path / "a"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        other.partial_fit(X[n:], y[n:])
        whole = SieveClassifier(4, effects="auto").partial_fit(X, y, classes=[0, 1])
        assert not list(other._model.differences(whole._model))
        assert_array_equal(other.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *[("shard", 1 << 24), ("shard", -1), ("n", 1 << 40), ("rows", -1), ("codes", 64), ("y", 1e308)],
        *[("weight", 1e308), ("weight", 0.0), ("unit", 0.0), ("edges", 0.0)],
        *[("features", 0), ("pairs", 0), ("pairs", 10), ("pvalues", 7.0), ("errors", -1.0)],
        *[("tables", np.nan), ("losses", {"cubes": 1.0}), ("kind", "cubes")],
    ],
)
def test_forged_files_are_refused(part, value, tmp_path):
    X, y = xor(2500, 10)
    model = SieveClassifier(4, effects="pairs").partial_fit(X, y, classes=[0, 1])
    model.predict(X[:1])
    state = model.method_.state
    if part in Answer._fields:
        held = getattr(state._effects, part)
        forged = np.full_like(held, value) if isinstance(held, np.ndarray) else value
        state._effects = state._effects._replace(**{part: forged})
    else:
        held = getattr(state.levels, part)
        setattr(state.levels, part, np.full_like(held, value) if isinstance(held, np.ndarray) else value)
    save(model, tmp_path / "m")
    with pytest.raises(CheckpointError):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"effects": "curves"}, "effects='curves'"),
        ({"effects": "auto", "keep": [1]}, "expected 'linear' with keep"),
        ({"effects": "auto", "loss": "huber"}, "expected 'linear' with loss='huber'"),
        ({"effects": "auto", "se": "classical"}, "expected None"),
        ({"effects": "auto", "edges": np.zeros((3, 63))}, "edges"),
        ({"effects": "auto", "edges": "first"}, "edges"),
    ],
)
def test_what_does_not_apply_is_refused(options, match):
    X, y = bowls(100, 5)
    with pytest.raises(ValueError, match=match):
        SieveRegressor(3, **options).fit(X, y)


def test_a_call_that_fails_changes_nothing():
    X, y = bowls(2500, 6)
    model = SieveRegressor(3, effects="auto").partial_fit(X[:2300], y[:2300])
    before = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="inf"):
        model.partial_fit(np.full((5, 6), np.inf), y[:5])
    assert not list(model._model.differences(before._model))


def test_reading_logs_progress_and_can_be_interrupted(caplog):
    X, y = bowls(1500, 12)
    whole, model = (SieveRegressor(3, effects="pairs").fit(X, y) for _ in range(2))

    class Interrupt(logging.Handler):
        def emit(self, record):
            if "eliminated" in record.getMessage():
                signal.raise_signal(signal.SIGINT)

    logger, handler = logging.getLogger("streamsieve"), Interrupt()
    with caplog.at_level(logging.INFO, "streamsieve"):
        logger.addHandler(handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                model.get_support()
        finally:
            logger.removeHandler(handler)
        assert_array_equal(model.predict(X), whole.predict(X))
    assert "12 candidates of 12 features" in caplog.text
    assert "eliminated 12 to 3 features" in caplog.text
    assert "pairs chosen" in caplog.text


# ---------------------------------------------------------------- all kinds of data


def test_the_number_of_features_is_chosen():
    X, y = bowls()
    model = SieveRegressor(effects="auto").fit(X, y)
    assert set(model.get_support(indices=True)) >= {0, 1, 2}
    assert len(model.get_support(indices=True)) <= 8
    few = SieveRegressor(effects="auto", criterion="1se").fit(X, y)
    assert few.get_support(indices=True).tolist() == [0, 1, 2]


@pytest.mark.parametrize("classes", [3, 4])
def test_several_classes(classes):
    g = rng()
    X = g.normal(size=(3000, 30))
    score = 2 * (X[:, 0] * X[:, 1] + X[:, 2] ** 2)[:, None] * np.linspace(-1, 1, classes)
    y = np.array(list("abcd"))[(score + g.gumbel(size=score.shape)).argmax(axis=1)]
    model = SieveClassifier(3, effects="auto").fit(X[:2500], y[:2500])
    assert (model.effects_, *model.get_support(indices=True)) == ("pairs", 0, 1, 2)
    linear = SieveClassifier(3).fit(X[:2500], y[:2500])
    assert model.score(X[2500:], y[2500:]) > linear.score(X[2500:], y[2500:]) + 0.05
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.effect(2).effect.shape[1] == classes


def test_five_folds_choose_the_number_of_features():
    def data(n, seed):
        g = rng(seed)
        X = g.normal(size=(n, 30))
        y = (X[:, :3] ** 2).sum(axis=1) + X[:, 3] * X[:, 4] + 3 * g.normal(size=n)
        return X, np.column_stack([y, X[:, 5] + 3 * g.normal(size=n)])

    # one fold of 300 rows chose 0, 1, 2, 5 and 22
    model = SieveRegressor("auto", effects="auto").fit(*data(1500, 4))
    assert (model.effects_, *model.get_support(indices=True)) == ("pairs", 0, 1, 2, 3, 4, 5)


def test_several_targets():
    X, y = bowls()
    model = SieveRegressor(3, effects="auto").fit(X, np.column_stack([y, -2 * y + X[:, 1]]))
    assert (model.effects_, *model.get_support(indices=True)) == ("shapes", 0, 1, 2)
    assert model.predict(X).shape == (3000, 2)
    assert model.score(X, np.column_stack([y, -2 * y + X[:, 1]])) > 0.8


def test_weights_decide_whose_shape_is_fitted():
    g = rng()
    X, side = g.normal(size=(3000, 10)), g.random(3000) < 0.5
    y = np.where(side, X[:, 0] ** 2, -(X[:, 0] ** 2)) + 0.1 * g.normal(size=3000)
    for rows in (side, ~side):
        model = SieveRegressor(1, effects="shapes").fit(X, y, sample_weight=np.where(rows, 1.0, 1e-3))
        assert model.score(X[rows], y[rows]) > 0.9
        none = SieveRegressor(1, effects="shapes").fit(X, y, sample_weight=np.where(rows, 1.0, 0.0))
        alone = SieveRegressor(1, effects="shapes").fit(X[rows], y[rows])
        assert_array_equal(none.predict(X), alone.predict(X))


def holes(n=2500):
    """A bowl of column 2, and a jump where column 4 is missing."""
    X = rng().normal(size=(n, 6))
    X[rng(1).random(X.shape) < 0.2] = np.nan
    return X, 3.0 * np.isnan(X[:, 4]) + np.nan_to_num(X[:, 2]) ** 2 + 0.5 * rng(2).normal(size=n)


def test_a_missing_value_is_a_level():
    X, y = holes()
    with pytest.raises(ValueError, match="NaN"):
        SieveRegressor(2, effects="auto", missing="error").fit(X, y)
    model = SieveRegressor(2, effects="auto").fit(X, y)
    assert (model.effects_, *model.get_support(indices=True)) == ("shapes", 2, 4)
    assert model.score(X, y) > 0.85
    curve = model.effect(4)
    assert np.isnan(curve.values[-1])
    others = np.average(curve.effect[:-1], weights=curve.rows[:-1])
    assert curve.effect[-1] - others == pytest.approx(3, abs=0.2)


def test_a_line_has_the_mean_for_a_missing_value():
    X, _ = holes()
    y = np.nan_to_num(X[:, 0]) + 2.0 * np.isnan(X[:, 1]) + rng(3).normal(size=len(X))
    assert (
        SieveRegressor(2, effects="auto").fit(X, y).effects_ == "shapes"
    )  # lines do not tell who has a hole
    y = np.nan_to_num(X[:, 0]) + rng(5).normal(size=len(X))
    auto = SieveRegressor(1, effects="auto").fit(X, y)
    assert auto.effects_ == "linear"
    assert_array_equal(auto.predict(X), SieveRegressor(1, missing="mean").fit(X, y).predict(X))


@pytest.mark.parametrize("words", [False, True])
def test_missing_numbers_of_tables_are_a_level_too(words, tmp_path):
    pd, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    X, y = holes()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    if words:
        frame["g"] = rng(4).choice(["x", "y", "z"], size=len(X))
    file, table = tmp_path / "t.parquet", frame.assign(y=y)
    table.to_parquet(file)
    model = SieveRegressor(2, effects="auto").fit(frame, y)
    expected = model.predict(frame)
    assert model.get_feature_names_out().tolist() == ["c", "e"]
    assert model.score(frame, y) > 0.85
    save(model, tmp_path / "m")
    good("fit", file, "--target", "y", "-k", 2, "--effects", "auto", "-o", tmp_path / "c", "-q")
    for other in (
        load(tmp_path / "m"),
        load(tmp_path / "c"),
        SieveRegressor(2, effects="auto").fit(table, "y"),
        SieveRegressor(2, effects="auto").fit(file, "y"),
        SieveRegressor(2, effects="auto").partial_fit(table, "y"),
    ):
        assert_array_equal(other.predict(frame), expected)
    for source in (table, str(file)):
        shards = distributed.fit(SieveRegressor(2, effects="auto"), source, target="y")
        assert shards.score(frame, y) > 0.85
    for name in "mc":
        rows = good("predict", tmp_path / name, file, "-q").output.split()[1:]
        assert_array_equal(np.array(rows, dtype=float), expected)
    sql = duckdb.sql(f"SELECT {to_sql(model)} AS s FROM '{file}'").fetchnumpy()["s"]
    assert_allclose(sql, expected, atol=1e-9)
    filled = good(
        "fit", file, "--target", "y", "--effects", "auto", "--missing", "mean", "-o", tmp_path / "f"
    )
    assert "replaced by the mean" in filled.output


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("effects", ["auto", "shapes"])
def test_a_model_of_few_rows_with_missing_values_can_be_loaded(effects, sparse, tmp_path):
    X, y = holes(600)  # too few to set the edges, so that the rows themselves are in the file
    rows = sp.csr_array(X) if sparse else X
    model = SieveRegressor(2, effects=effects).fit(rows, y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert_array_equal(loaded.predict(rows), model.predict(rows))
    for each in (model, loaded):
        each.partial_fit(*holes())
    assert_array_equal(loaded.predict(rows), model.predict(rows))


def test_exports_fill_numbers_that_are_left_to_the_method(tmp_path):
    pd, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    X, _ = holes()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(g=rng().choice(["x", "y"], size=len(X)))
    file = tmp_path / "t.parquet"
    frame.assign(y=np.nan_to_num(X[:, 0]) + rng(3).normal(size=len(X))).to_parquet(file)
    good("fit", file, "--target", "y", "-k", 2, "--missing", "keep", "-o", tmp_path / "m")
    model = load(tmp_path / "m")
    sql = duckdb.sql(f"SELECT {to_sql(model)} AS s FROM '{file}'").fetchnumpy()["s"]
    assert_allclose(sql, model.predict(frame), atol=1e-9)
    to_json(model)


def test_effects_of_columns_with_missing_values_are_those_with_the_mean_in_their_place(tmp_path):
    pd = pytest.importorskip("pandas")
    X, _ = holes()
    file = tmp_path / "t.csv"
    y = np.nan_to_num(X[:, 0]) + 2 * np.nan_to_num(X[:, 1]) + rng(3).normal(size=len(X))
    pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_csv(file, index=False)
    shown = []
    for words in (("--missing", "mean"), ("--missing", "keep"), ("--effects", "auto")):
        done = good("select", file, "--target", "y", "-k", 2, *words, "--json")
        shown.append(json.loads(done.stdout)["rows"])
    assert [row["feature"] for row in shown[0]] == ["b", "a"]
    for other in shown[1:]:
        assert [row["feature"] for row in other] == ["b", "a"]
        for row, same in zip(other, shown[0]):
            assert row["effect"] == pytest.approx(same["effect"], rel=0.01)


def test_sparse_rows_are_dense_rows():
    g = rng()
    X = g.normal(size=(2500, 30)) * (g.random((2500, 30)) < 0.1)
    y = 2 * (X[:, 0] != 0) * (X[:, 1] != 0) + X[:, 2] ** 2 + 0.2 * g.normal(size=2500)
    dense, sparse = (SieveRegressor(3, effects="pairs").fit(A, y) for A in (X, sp.csr_array(X)))
    assert not list(dense.method_.state.levels.differences(sparse.method_.state.levels))
    assert_array_equal(dense.predict(X), sparse.predict(sp.csr_array(X)))
    assert 2 in sparse.get_support(indices=True)


def test_numbers_of_categories_are_levels():
    g = rng()
    X, value = g.normal(size=(3000, 8)), g.normal(size=7)
    X[:, 3] = g.integers(0, 7, size=3000)
    y = value[X[:, 3].astype(int)] + 0.3 * g.normal(size=3000)
    model = SieveRegressor(1, effects="auto").fit(X, y)
    assert (model.effects_, *model.get_support(indices=True)) == ("shapes", 3)
    assert_allclose(model.effect(3).effect - model.effect(3).effect[0], value - value[0], atol=0.15)


def test_single_rows_of_new_names_are_learned():
    X, y = bowls(300, 4)
    model = SieveRegressor(3, effects="shapes")
    for x, target in zip(X, y):
        model.learn_one(dict(zip("abcd", x)), target)
    model.learn_one({"e": 1.0}, 0.0)
    assert model.get_feature_names_out().tolist() == ["a", "b", "c"]
    assert model.predict_one(dict(zip("abcd", X[0]))) != model.predict_one(dict(zip("abcd", X[1])))


@pytest.mark.parametrize("effects", ["auto", "shapes", "pairs"])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((30, 3)), np.arange(30.0)),
        (rng().normal(size=(1, 3)), np.ones(1)),
        (rng().normal(size=(12, 3)), np.ones(12)),
        (rng().normal(size=(40, 1)), np.arange(40.0)),
        (np.repeat(rng().normal(size=(60, 1)), 4, axis=1), np.arange(60.0)),
        (1e25 * rng().normal(size=(50, 3)), np.arange(50.0)),
        (rng().integers(0, 2, size=(60, 5)).astype(float), np.arange(60.0)),
    ],
)
def test_odd_data_give_finite_answers(effects, X, y):
    model = SieveRegressor(5, effects=effects).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert len(model.get_support(indices=True)) <= min(5, X.shape[1])
    labels = SieveClassifier(2, effects=effects)
    labels.partial_fit(X, np.zeros(len(X), dtype=int), classes=[0, 1])
    assert np.isfinite(labels.predict_proba(X)).all()
