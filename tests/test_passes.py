"""Several passes of `fit`: a method that declares `max_iter` has them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine

import streamsieve
from streamsieve import SFSARegressor, metrics, simulate
from streamsieve.core.rows import Rows, as_rows, from_scipy
from streamsieve.core.tasks import Classification
from streamsieve.methods import ESTIMATORS
from streamsieve.methods.learners.siht import SIHT
from streamsieve.methods.learners.steps import PATIENCE
from streamsieve.methods.learners.tsgd import TSGD
from streamsieve.training import passes
from streamsieve.training import prepare as centering
from streamsieve.training.model import Model


def fitted(rows, y, **options):
    model = Model(TSGD(**options), "regression")
    return model, passes.fit_passes(model, rows, y, None)[0].made


def stream_of(p, q, **options):
    model = Model(TSGD(**options), "regression")
    model.begin(p, q)
    return model


def regression(n=300, p=8):
    X = np.random.default_rng(0).normal(size=(n, p))
    return X, (X[:, :2] @ [[1.0], [-2.0]]) + 0.1


def test_rows_in_order_are_the_stream_again_and_again():
    X, y = regression()
    model, made = fitted(Rows(X), y, shuffle=False, max_iter=3, tol=0.0)
    stream = stream_of(8, 1)
    for _ in range(3):
        stream.update(Rows(X), y)
    assert made == 3
    assert not list(model.method.state.differences(stream.method.state))


@pytest.mark.parametrize("made", [np.asarray, np.asfortranarray, sp.csr_array])
def test_orders_follow_the_seed_and_no_layout(made):
    X, y = regression()
    rows = as_rows(made(X))[0]
    model, _ = fitted(rows, y, max_iter=2, tol=0.0)
    stream = stream_of(8, 1)
    for at in range(2):
        order = passes.shuffled(300, 0, at)
        stream.update(Rows(X[order]), y[order])
    assert np.allclose(model.coefficients()[0], stream.coefficients()[0], rtol=1e-9, atol=1e-12)
    other, _ = fitted(rows, y, max_iter=2, tol=0.0, random_state=1)
    assert (other.coefficients()[0] != model.coefficients()[0]).any()


def test_passes_end_when_the_loss_falls_no_more():
    X, y = regression()
    assert PATIENCE < fitted(Rows(X), y, max_iter=100)[1] < 50
    assert fitted(Rows(X), y, max_iter=100, tol=2.0)[1] == PATIENCE + 1  # no loss falls by more than itself
    rule = passes.Passes(TSGD(tol=0.1))
    losses = [1.0, 0.8, 0.75, 0.71, 0.69, 0.65, 0.61, 0.6, 0.6]
    # 0.69 is below 0.8 - 0.1 and so on: what counts is the best so far, not the pass before
    assert [rule.loss_stalls(loss) for loss in losses].index(True) == 6


def test_weights_have_settled_when_a_pass_moves_them_little():
    assert not passes.settled(np.zeros(3), np.zeros(3), 0.1)
    assert passes.settled(np.ones(3), np.ones(3), 0.0)


def test_labels_in_sorted_order_are_learned():
    X, labels = load_wine(return_X_y=True)
    assert_array_equal(labels, np.sort(labels))
    task = Classification.of(labels)
    Y = task.encode(labels, len(labels))

    def accuracy(model):
        return np.mean(task.decode(model.scores(Rows(X))) == labels)

    once = stream_of(13, 3, k=13, loss="logistic")
    once.update(Rows(X), Y)
    often, _ = fitted(Rows(X), Y, k=13, loss="logistic")
    assert accuracy(often) > max(0.95, accuracy(once))


def test_an_overflow_names_pass_and_row():
    X, y = regression()
    with pytest.raises(ValueError, match=r"overflow in pass 1, at row \d+: eta=1e\+150"):
        fitted(Rows(X), y, eta=1e150)


def test_epochs_over_rows_in_memory_find_more_than_one_pass():
    found = {"one pass": 0.0, "epochs": 0.0}
    for seed in range(3):
        stream = simulate.correlated(500, p=300, k=15, random_state=seed)
        X, y = stream.take(500)
        one = SFSARegressor(15, maturity=500 // 25, ladder=False, refit=False, warmup=0.0).partial_fit(X, y)
        epochs = SFSARegressor(15, maturity=5 * 500 // 25, ladder=False, refit=False, warmup=0.0).fit(X, y)
        assert epochs.n_iter_ >= 5
        assert epochs.current_maturity_ == 100
        for name, model in (("one pass", one), ("epochs", epochs)):
            found[name] += metrics.detection_rate(model.get_support(), stream.support) / 3
    assert found["epochs"] > 0.95 > found["one pass"]


def test_the_first_maturity_of_sfsa_follows_from_the_number_of_rows():
    X, y = simulate.correlated(800, p=30, k=3, random_state=0).take(800)
    assert SFSARegressor(3, max_iter=1).fit(X, y).current_maturity_ == 28  # nine tenths of 32 batches
    assert SFSARegressor(3, max_iter=1, maturity=8).fit(X, y).current_maturity_ == 32
    assert SFSARegressor(3).partial_fit(X, y).current_maturity_ == 32
    assert SFSARegressor(3, max_iter=1).fit(X[:90], y[:90]).current_maturity_ == 0


def test_weights_whose_squares_overflow_do_not_settle():
    huge = np.full((1, 3), 1e200)
    assert not passes.settled(huge, 2 * huge, 0.1)
    assert passes.settled(huge, 1.01 * huge, 0.1)
    assert not passes.settled(np.zeros((1, 3)), huge, 0.1)


@pytest.mark.parametrize("source", [{1.0, 2.0}, {(1, 2, 3, 4)}, range(3)], ids=str)
def test_what_is_no_source_of_blocks_is_named(source):
    with pytest.raises(TypeError, match="expected rows, or a source of blocks"):
        streamsieve.SGDClassifier().fit(source)


@pytest.mark.parametrize("kind", [SFSARegressor, streamsieve.SGDRegressor, streamsieve.OLSthRegressor])
def test_targets_without_columns_are_refused(kind):
    with pytest.raises(ValueError, match="at least one target"):
        kind().fit(np.ones((2, 1)), np.empty((2, 0)))


def test_a_source_with_weights_of_classes_is_read_once_more_and_no_oftener():
    class Source:
        readings = 0

        def __iter__(self):
            self.readings += 1
            X = np.random.default_rng(0).normal(size=(60, 3))
            yield X, (X[:, 0] > 0).astype(int)

    plain, weighted = Source(), Source()
    streamsieve.SGDClassifier(max_iter=3, tol=0).fit(plain)
    streamsieve.SGDClassifier(max_iter=3, tol=0, class_weight={1: 2.0}).fit(weighted)
    assert weighted.readings == plain.readings + 1
    with pytest.raises(TypeError, match="expected rows, or a source of blocks"):
        streamsieve.SGDClassifier(class_weight={1: 2.0}).fit({1.0})


def test_a_narrower_batch_misses_columns_that_are_centred():
    X = 20 + np.random.default_rng(0).normal(size=(300, 4))
    placed = centering.Prepare(4, 1)
    placed.place(Rows(X))
    narrow = placed.apply(as_rows(sp.csr_array(X[:5, :2]))[0])
    assert_array_equal(narrow.to_array(), placed.apply(Rows(X[:5, :2])).to_array())


@pytest.mark.parametrize("name", ["SIHT", "OFS", "BAMD"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_fit_of_truncating_learners_begins_from_all_rows(name, layout):
    """Features that the first row does not show, among 1,000: from nothing they are found by chance."""
    X = np.random.default_rng(0).normal(size=(120, 1_000))
    y = X[:, [5, 50, 500]].sum(axis=1) > 0
    kind = getattr(streamsieve, f"{name}Classifier")
    found = {
        init: np.isin(
            [5, 50, 500], kind(5, init=init, refit=False).fit(layout(X), y).get_support(indices=True)
        )
        for init in ("gradient", "zero")
    }
    assert found["gradient"].all()
    assert not found["zero"].all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_start_is_a_step_of_normalised_hard_thresholding(layout, standardize, intercept):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.6) * [1, 2, 3, 1, 2, 3]
    X[:, 2] = 3.0 if intercept else X[:, 2]
    y, w = rng.normal(size=(50, 2)), rng.random(50)
    method = SIHT(k=2, fit_intercept=intercept, standardize=standardize).begin(6, 2)
    method.begin_fit(Rows(X) if layout is np.asarray else from_scipy(sp.csr_array(X)), y, w)
    Z, target = (a - np.average(a, axis=0, weights=w) * intercept for a in (X, y))
    unit = np.sqrt(w @ Z**2) if standardize else np.ones(6)
    unit[unit < 1e-9] = np.inf  # constant
    gradient = (Z / unit).T @ (target * w[:, None])
    gradient[np.argsort((gradient**2).sum(axis=1))[:-2]] = 0.0
    scores = Z @ (gradient / unit[:, None])
    coef = gradient / unit[:, None] * (w @ (scores * target) / (w @ scores**2))
    assert_allclose(method.weights()[0], coef.T, rtol=1e-10, atol=1e-14)
    origin = np.average(y - X @ coef, axis=0, weights=w) * intercept
    assert_allclose(method.weights()[1], origin, rtol=1e-10, atol=1e-14)


def test_units_of_columns_that_are_hardly_seen_are_not_tiny():
    """The first 100 rows show a column of 10,000 twice: what is tiny by chance must not make huge weights."""
    rng = np.random.default_rng(0)
    n, p, nnz = 4_000, 10_000, 200
    columns = rng.integers(0, p // nnz, (n, nnz)) + np.arange(nnz) * (p // nnz)
    X = sp.csr_array(
        (rng.normal(size=n * nnz), columns.ravel(), np.arange(0, n * nnz + 1, nnz)), shape=(n, p)
    )
    y = X @ rng.normal(size=p) > 0
    scores = [
        streamsieve.SGDClassifier(standardize=standardize)
        .partial_fit(X, y, classes=[False, True])
        .score(X, y)
        for standardize in (True, False)
    ]
    assert scores[0] > scores[1] - 0.02 > 0.7


@pytest.mark.parametrize("name", ["SIHT", "OFS", "BAMD"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_start_of_single_precision_rows_does_not_overflow(name, layout):
    """Squares of these values exceed single precision."""
    X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32) * np.float32(1e25)
    options = {"standardize": False, "fit_intercept": False, "refit": False, "max_iter": 1}
    model = getattr(streamsieve, f"{name}Classifier")(2, **options)
    model.fit(layout(X), X[:, 3] > 0)
    assert model.get_support()[3]
    for field, value in model.method_.state.fields().items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), field


def test_the_refit_gives_tsgd_the_weights_of_least_squares():
    stream = simulate.correlated(2000, p=1000, k=20, random_state=0)
    X, y = stream.take(2000)
    rmse = [
        metrics.rmse(y, streamsieve.TSGDRegressor(20, refit=refit, max_iter=1).fit(X, y).predict(X))
        for refit in (True, False)
    ]
    assert rmse[0] < 1.1 < 5 < rmse[1]


LEARNERS = sorted(
    name
    for name, (entry, task) in ESTIMATORS.items()
    if task == "regression" and entry.load().prepare is not None and "max_iter" in entry.load().params
)


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_done_beyond_the_paper_is_listed_and_can_be_turned_off(name):
    """Then `fit` is one pass over the rows as they come, in order: what the twins of the papers do."""
    kind = getattr(streamsieve, name)
    given = {"standardize": False, "fit_intercept": False, "refit": False, "init": "zero", "shuffle": False}
    off = {key: value for key, value in given.items() if key in kind().get_params()} | {"max_iter": 1}
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, (300, 8)) * np.geomspace(0.1, 2.0, 8)
    y = X @ np.array([0.0, 0, 1, 0, 0, -1, 0, 0]) / 10
    models = [kind(**off).fit(X, y), kind(**off).partial_fit(X, y)]
    assert all(model._model.prepare is None for model in models)
    if name != "SFSARegressor":  # which matures with the number of rows, where that is known
        assert_array_equal(models[0].coef_, models[1].coef_)
    for key in off.keys() - {"shuffle", "max_iter"}:
        assert f"`{key}={off[key]!r}`" in " ".join(kind.__doc__.split())
