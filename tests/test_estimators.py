"""What holds for every estimator on running averages."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import streamsieve.methods
from streamsieve import (
    FoldAverages,
    OFSAClassifier,
    OFSARegressor,
    OLSRegressor,
    OLSthRegressor,
    RunningAverages,
    SieveRegressor,
    cross_validate,
)
from streamsieve.estimators.make import expected_failed_checks
from streamsieve.methods.averages.path import as_method
from streamsieve.statistics.standardize import standardize

METHODS = [entry.name for entry in streamsieve.methods.METHODS.values() if entry.family == "averages"]
SELECTING = [name for name in METHODS if name != "OLS"]
REGRESSORS = [getattr(streamsieve, f"{m}Regressor") for m in METHODS]
CLASSIFIERS = [getattr(streamsieve, f"{m}Classifier") for m in METHODS]


def data(n=400, p=12, seed=0, classes=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.5 * rng.normal(size=(n, 1))
    score = 2 * X[:, 3] - 1.5 * X[:, 7] + X[:, 9]
    if classes == 0:
        return X, score + 0.5 * rng.normal(size=n)
    if classes == 2:
        return X, np.where(score + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    return X, np.digitize(score + 0.2 * rng.normal(size=n), [-2, 2])


def make(cls, **params):
    return (
        cls(**params)
        if cls.__name__.startswith("OLSR") or cls.__name__.startswith("OLSC")
        else cls(3, **params)
    )


# scikit-learn itself warns so where k='auto' finds that nothing matters
@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.parametrize("name", streamsieve.methods.ESTIMATORS)
def test_check_estimator_as_a_user_runs_it(name):
    """By default parameters; it fails the checks that its documentation names, and no others."""
    model = getattr(streamsieve, name)()
    found = check_estimator(model, on_skip=None, on_fail=None)
    failed = {result["check_name"]: result["exception"] for result in found if result["status"] == "failed"}
    expected = expected_failed_checks(model)
    assert failed.keys() == expected.keys(), failed
    for reason in expected.values():
        assert reason in " ".join(type(model).__doc__.split())


def test_every_method_has_an_extractor():
    assert sorted(streamsieve.extract.__all__) == sorted(name.lower() for name in METHODS)
    assert all(callable(getattr(streamsieve.extract, name)) for name in streamsieve.extract.__all__)


@pytest.mark.parametrize("cls", REGRESSORS + CLASSIFIERS)
def test_signature_and_docstring_agree(cls):
    for name in cls().get_params():
        assert f"\n{name} : " in cls.__doc__
    assert "Parameters\n----------" in cls.__doc__


@pytest.mark.parametrize("name", SELECTING)
def test_regressors_find_the_features_that_matter(name):
    X, y = data()
    model = getattr(streamsieve, f"{name}Regressor")(3).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [3, 7, 9])
    expected = LinearRegression().fit(X[:, [3, 7, 9]], y)
    assert_allclose(model.coef_[[3, 7, 9]], expected.coef_, rtol=1e-10)
    assert_allclose(model.predict(X), expected.predict(X[:, [3, 7, 9]]), rtol=1e-8)
    assert model.transform(X).shape == (400, 3)


@pytest.mark.parametrize("name", SELECTING)
@pytest.mark.parametrize("classes", [2, 3])
def test_classifiers_find_the_features_that_matter(name, classes):
    X, y = data(classes=classes, n=1500)
    model = getattr(streamsieve, f"{name}Classifier")(3).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [3, 7, 9])
    assert model.score(X, y) > (0.85 if classes == 2 else 0.7)
    assert model.coef_.shape == (1 if classes == 2 else 3, 12)


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_budget_holds_for_many_classes_together(cls):
    X, y = data(classes=3)
    model = make(cls).fit(X, y)
    assert_array_equal(model.get_support(), model.coef_.any(axis=0))
    if cls.__name__ != "OLSClassifier":
        assert model.get_support().sum() <= 3


@pytest.mark.parametrize("cls", REGRESSORS + CLASSIFIERS)
@settings(max_examples=5, deadline=None)
@given(cuts=st.sets(st.integers(1, 399)))
def test_chunks_do_not_matter(cls, cuts):
    X, y = data(classes=2 if cls in CLASSIFIERS else 0)
    first = {"classes": np.unique(y)} if cls in CLASSIFIERS else {}
    whole, parts = make(cls).fit(X, y), make(cls)
    for rows in np.split(np.arange(len(X)), sorted(cuts)):
        parts.partial_fit(X[rows], y[rows], **first)
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("cls", REGRESSORS)
def test_layout_and_scale_do_not_decide(cls):
    X, y = data()
    expected = make(cls).fit(X, y)
    for rows in (sp.csr_array(X), sp.csr_matrix(X), np.asfortranarray(X)):
        assert_allclose(make(cls).fit(rows, y).coef_, expected.coef_, rtol=1e-8, atol=1e-12)
    assert_allclose(make(cls).fit(X.astype(np.float32), y).coef_, expected.coef_, rtol=1e-3, atol=1e-5)
    scale = np.logspace(-3, 3, X.shape[1])
    scaled = make(cls).fit(X * scale + 100 * scale, y)
    assert_allclose(scaled.coef_ * scale, expected.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("cls", REGRESSORS)
def test_weights_are_repetitions(cls):
    X, y = data()
    w = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = make(cls).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(make(cls).fit(X, y, w).coef_, repeated.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cls", REGRESSORS + CLASSIFIERS)
def test_pickled_mid_stream_equals_uninterrupted_and_clone_is_fresh(cls):
    X, y = data(classes=2 if cls in CLASSIFIERS else 0)
    first = {"classes": np.unique(y)} if cls in CLASSIFIERS else {}
    a = make(cls).partial_fit(X[:150], y[:150], **first)
    b = pickle.loads(pickle.dumps(a))
    assert_array_equal(a.partial_fit(X[150:], y[150:]).coef_, b.partial_fit(X[150:], y[150:]).coef_)
    assert not hasattr(clone(a), "averages_")


@pytest.mark.parametrize("cls", REGRESSORS)
def test_works_in_pipelines_and_searches(cls):
    X, y = data()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), cls()),
        {f"{cls.__name__.lower()}__fit_intercept": [True, False]},
        cv=3,
    )
    assert search.fit(X, y).score(X, y) > 0.9
    if cls is not OLSRegressor:
        assert make_pipeline(cls(3), LinearRegression()).fit(X, y).score(X, y) > 0.9
        assert GridSearchCV(cls(), {"k": [1, 3]}, cv=3).fit(X, y).best_params_ == {"k": 3}


@pytest.mark.parametrize("name", SELECTING)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_and_set_output(name, frame):
    X, y = data()
    names = [f"f{j}" for j in range(12)]
    table = frame(dict(zip(names, X.T)))
    model = getattr(streamsieve, f"{name}Regressor")(3).fit(table, y)
    assert list(model.get_feature_names_out()) == ["f3", "f7", "f9"]
    for kind, cls in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = model.set_output(transform=kind).transform(table)
        assert isinstance(out, cls)
        assert list(out.columns) == ["f3", "f7", "f9"]
    assert_allclose(model.predict(table), X @ model.coef_ + model.intercept_)


@pytest.mark.parametrize("frame", ["pandas", "arrow"])
def test_two_columns_of_one_name_are_refused_by_it(frame):
    X, y = data()
    columns = ["a", "b", "a"]
    table = (
        pd.DataFrame(X[:, :3], columns=columns)
        if frame == "pandas"
        else pa.Table.from_arrays([pa.array(x) for x in X[:, :3].T], columns)
    )
    words = "The frame has 2 columns called 'a'; expected every name once, .* rename or drop the others"
    fitted = OLSthRegressor(1).fit(X[:, :3], y)
    for call in (
        lambda: OLSthRegressor(1).fit(table, y),
        lambda: SieveRegressor(1).fit(table, y),
        lambda: fitted.predict(table),
        lambda: RunningAverages().update(table, "b"),
        lambda: list(streamsieve.read(table, target="b")),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_lazy_frames_are_to_be_collected():
    X, y = data()
    lazy = pl.DataFrame({"y": y}).lazy()
    for call, name in (
        (lambda: OLSthRegressor(1).fit(lazy, y), "X"),
        (lambda: OLSthRegressor(1).fit(X, lazy), "y"),
        (lambda: SieveRegressor(1).fit(X, lazy), "y"),
        (lambda: OFSAClassifier(1).fit(X, lazy), "y"),
        (lambda: OLSthRegressor(1).fit(X, y, sample_weight=lazy), "sample_weight"),
    ):
        words = f"{name} is a polars LazyFrame, which holds no rows yet; pass {name}.collect"
        with pytest.raises(TypeError, match=words):
            call()


@pytest.mark.parametrize("name", SELECTING)
@pytest.mark.parametrize("criterion", ["bic", "ebic", "cv"])
def test_k_is_chosen_from_the_data(name, criterion):
    X, y = data(n=2000)
    model = getattr(streamsieve, f"{name}Regressor")(criterion=criterion).fit(X, y)
    assert set(model.get_support(indices=True)) >= {3, 7, 9}
    assert model.get_support().sum() <= (3 if criterion != "cv" else 12)


def test_several_targets_share_one_support():
    X, y = data()
    Y = np.column_stack([y, -3 * y + X[:, 7]])
    model = OLSthRegressor(3).fit(X, Y)
    assert model.coef_.shape == (2, 12)
    assert_allclose(model.predict(X), LinearRegression().fit(X[:, [3, 7, 9]], Y).predict(X[:, [3, 7, 9]]))


def test_without_intercept_equals_least_squares_through_zero():
    X, y = data()
    expected = LinearRegression(fit_intercept=False).fit(X + 3, y)
    assert_allclose(OLSRegressor(fit_intercept=False).fit(X + 3, y).coef_, expected.coef_, rtol=1e-9)


def test_interactions_find_a_product():
    X, _ = data(n=2000)
    y = 2 * X[:, 1] * X[:, 4] - X[:, 3]
    model = OFSARegressor(2, interactions=True).fit(X, y)
    assert list(model.get_feature_names_out()) == ["x3", "x1 x4"]
    assert_allclose(model.predict(X), y, atol=1e-9)
    assert_allclose(model.transform(X), np.column_stack([X[:, 3], X[:, 1] * X[:, 4]]))


def test_drift_is_followed_with_forgetting_and_not_without():
    X, y = data(n=4000)
    y[2000:] = -y[2000:]
    follow = OLSthRegressor(3, half_life=100).fit(X, y)
    assert_allclose(follow.coef_[[3, 7]], [-2, 1.5], atol=0.2)
    assert abs(OLSthRegressor(3).fit(X, y).coef_).max() < 0.2


def test_missing_values_on_request():
    X, y = data()
    X[5, 2] = np.nan
    with pytest.raises(ValueError, match="NaN at row 5, column 2"):
        OFSARegressor(3).fit(X, y)
    model = OFSARegressor(3, missing="mean").fit(X, y)
    assert model.averages_.n_imputed_[2] == 1


@pytest.mark.parametrize("cls", REGRESSORS)
def test_constant_and_duplicate_columns_do_no_harm(cls):
    X, y = data()
    X[:, 0] = 5.0
    X[:, 1] = X[:, 3]
    model = make(cls).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.coef_[0] == 0
    assert abs(model.coef_).max() < 10
    assert not make(cls).fit(X, np.full(len(y), 7.0)).coef_.any()


@pytest.mark.parametrize("cls", REGRESSORS)
@pytest.mark.parametrize("n", [1, 2, 6, 30])
def test_a_model_can_be_read_after_any_row(cls, n):
    X, y = data(n=n, p=40)
    model = make(cls).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"k": 13}, "k=13; expected at most 12"),
        ({"k": -1}, "expected int >= 0 or 'auto'"),
        ({"k": 2.5}, "expected int >= 0 or 'auto'"),
        ({"k": None}, "k=None; expected int >= 0 or 'auto'"),
        ({"k": "some"}, "expected int >= 0 or 'auto'"),
        ({"criterion": "r2"}, "criterion='r2'"),
        ({"decay": 2}, r"\[0, 1\)"),
        ({"criterion": "cv", "n_folds": 1}, "expected int >= 2"),
        ({"missing": "drop"}, "missing='drop'"),
    ],
)
def test_bad_parameters_are_refused(params, match):
    with pytest.raises(ValueError, match=match):
        OFSARegressor(**params).fit(*data())


def test_k_and_alpha_exclude_each_other():
    with pytest.raises(ValueError, match="both determine the sparsity"):
        streamsieve.OLassoRegressor(3, alpha=0.1).fit(*data())
    assert streamsieve.OLassoRegressor(alpha=0.5).fit(*data()).get_support().sum() > 0


@pytest.mark.parametrize("criterion", ["bic", "cv"])
def test_without_refit_the_answer_is_the_penalised_one(criterion):
    X, y = data()
    model = streamsieve.OLassoRegressor(criterion=criterion, refit=False).fit(X, y)
    lasso = Lasso(model.model_.alpha, tol=1e-10).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    assert_allclose(model.coef_ * X.std(axis=0), lasso.coef_, atol=1e-6)
    assert model.model_.stderr is None
    with pytest.raises(ValueError, match="no meaning"):
        streamsieve.path(
            model.averages_.total() if criterion == "cv" else model.averages_, "olsth", refit=False
        )


def test_k_zero_is_the_mean():
    X, y = data()
    model = OLSthRegressor(0).fit(X, y)
    assert not model.coef_.any()
    assert_allclose(model.predict(X), y.mean())


def test_labels_that_were_not_announced_are_refused_and_change_nothing():
    X, y = data(classes=2)
    model = OFSAClassifier(3).partial_fit(X, y, classes=["no", "yes"])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=r"y\[0\] = .*maybe.* is not one of the 2 classes"):
        model.partial_fit(X[:1], ["maybe"])
    assert_array_equal(model.coef_, before)
    with pytest.raises(ValueError, match="only one class"):
        OFSAClassifier(3).fit(X, np.ones(len(X)))


def test_parameters_changed_after_the_fit_change_the_model():
    X, y = data()
    model = OLSthRegressor(3).fit(X, y)
    assert model.get_support().sum() == 3
    assert model.set_params(k=2).get_support().sum() == 2


def test_standard_errors_are_those_of_least_squares():
    X, y = data()
    model = OLSthRegressor(3).fit(X, y).model_
    A = np.column_stack([np.ones(len(y)), X[:, model.support]])
    beta, rss, *_ = np.linalg.lstsq(A, y)
    variance = rss[0] / (len(y) - 4)
    stderr = np.sqrt(variance * np.linalg.inv(A.T @ A).diagonal())
    assert_allclose(model.sigma2, variance)
    assert_allclose(model.stderr[model.support], stderr[1:])
    assert_allclose(model.tvalue[model.support], beta[1:] / stderr[1:])


@pytest.mark.parametrize("method", ["olsth", "ofsa", "olasso", "omcp"])
def test_cross_validation_equals_the_explicit_one_on_the_rows(method):
    X, y = data(n=303)
    folds = FoldAverages(3).update(X, y)
    result = cross_validate(folds, method)
    fold = np.arange(len(y)) % 3
    for f in range(3):
        train = standardize(streamsieve.RunningAverages().update(X[fold != f], y[fold != f]))
        if result.alpha is None:
            supports = [streamsieve.path(train, method, ks=[k]).support(k) for k in result.k]
        else:
            betas = as_method(method, {}).solutions(train, alphas=result.alpha / y.std())[1]
            supports = [np.unique(b.indices) for b in betas]
        for i, support in enumerate(supports):
            if len(support):
                fitted = LinearRegression().fit(X[fold != f][:, support], y[fold != f])
                predicted = fitted.predict(X[fold == f][:, support])
            else:
                predicted = y[fold != f].mean()
            error = np.mean((y[fold == f] - predicted) ** 2)
            assert_allclose(result.mse[f, i], error / y.var(), rtol=1e-6)


def test_cross_validation_with_forgetting_does_not_blame_the_sample_weights():
    X, y = data(n=2000)
    OLSthRegressor(criterion="cv", half_life=20).fit(X, y).predict(X)  # warnings are errors


def test_k_set_after_a_cross_validated_fit_is_obeyed():
    X, y = data()
    model = OLSthRegressor(criterion="cv").fit(X, y)
    model.set_params(k=5)
    assert_allclose(model.coef_, OLSthRegressor(k=5).fit(X, y).coef_, rtol=1e-9)
    model.set_params(k="auto", criterion="bic")
    assert_allclose(model.coef_, OLSthRegressor(criterion="bic").fit(X, y).coef_, rtol=1e-9)
    with pytest.raises(ValueError, match="call fit"):
        OLSthRegressor().fit(X, y).set_params(criterion="cv").predict(X)


@pytest.mark.parametrize("options", [{}, {"criterion": "cv"}, {"interactions": True}])
def test_missing_values_are_imputed_in_predictions_as_well(options):
    X, y = data()
    model = OLSthRegressor(missing="mean", **options).fit(X, y)
    row, mean = X[:1].copy(), X[:1].copy()
    row[0, ::2], mean[0, ::2] = np.nan, X[:, ::2].mean(axis=0)
    assert_allclose(model.predict(row), model.predict(mean), rtol=1e-9)
    assert_allclose(model.predict(sp.csr_array(row)), model.predict(mean), rtol=1e-9)
    assert np.isnan(row[0, 0])


@pytest.mark.parametrize("interactions", [False, True])
def test_the_model_names_the_columns_of_a_frame(interactions):
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    model = OLSthRegressor(k=2, interactions=interactions).fit(frame, y)
    assert_array_equal(model.model_.feature_names[model.model_.support], model.get_feature_names_out())
    assert model.get_feature_names_out()[0] in str(model.model_)


@pytest.mark.parametrize("name", SELECTING)
def test_a_copy_of_a_column_never_takes_the_place_of_another(name):
    X, y = data()
    doubled = np.hstack([X, 32 - 1.8 * X])
    model = getattr(streamsieve, f"{name}Regressor")(3).fit(doubled, y)
    assert_array_equal(model.get_support(indices=True), [3, 7, 9])
    assert_allclose(model.coef_[[3, 7, 9]], LinearRegression().fit(X[:, [3, 7, 9]], y).coef_, rtol=1e-8)


def test_the_scale_of_the_weights_does_not_decide_whether_a_ridge_is_needed():
    X, y = data()
    with pytest.warns(UserWarning, match="sum to 1"):
        light = OLSRegressor().fit(X, y, np.full(len(y), 1 / len(y))).model_
    assert light.ridge == 0
    assert_allclose(light.coef, OLSRegressor().fit(X, y).coef_, rtol=1e-8)


def test_what_the_state_depends_on_may_not_change_after_the_first_rows():
    X, y = data()
    model = OFSARegressor(3).fit(X, y)
    with pytest.raises(ValueError, match=r"decay was None when the first rows came and is 0\.5 now"):
        model.set_params(decay=0.5).partial_fit(X, y)
    with pytest.raises(ValueError, match="interactions was False"):
        model.set_params(decay=None, interactions=True).predict(X)
    assert model.fit(X, y).get_support().sum() == 3


def test_columns_that_no_model_can_use_are_reported():
    X, y = data()
    X[:, 2], X[:, 5], X[:, 11] = 4.0, 3 - 2 * X[:, 1], X[:, 9]
    for model in (OLSRegressor().fit(X, y).model_, OLSthRegressor(3).fit(X, y).model_):
        assert_array_equal(model.dropped, [2, 5, 11])
        assert np.isnan(model.stderr[[2, 5, 11]]).all()
        assert not np.isnan(model.stderr[model.support]).any()
        assert "3 columns are constant or copies of others: 2, 5, 11" in str(model)


def test_averages_changed_behind_the_estimator_change_the_model():
    X, y = data()
    model = OLSthRegressor(3).fit(X[:200], y[:200])
    before = model.coef_.copy()
    other = streamsieve.RunningAverages().update(X[200:], y[200:])
    model.averages_.merge(other).subtract(streamsieve.RunningAverages().update(X[:200], y[:200]))
    assert not np.allclose(model.coef_, before)


def test_masked_values_are_missing():
    X, y = data()
    masked = np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) == 30)
    with pytest.raises(ValueError, match="NaN at row 2, column 6"):
        OLSRegressor().fit(masked, y)
