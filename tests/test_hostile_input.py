"""Input that no kernel, and no SciPy routine, may be handed; and the sentences that refuse it."""

import copy
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve
from streamsieve import (
    OLassoRegressor,
    SFSARegressor,
    SGDClassifier,
    SGDRegressor,
    SieveRegressor,
    SIHTRegressor,
)
from streamsieve.core import linalg
from streamsieve.core.params import Int, Or, Param, ParamError, Real
from streamsieve.core.rows import as_rows
from streamsieve.methods import ESTIMATORS

REGRESSORS = [getattr(streamsieve, name) for name, (_, task) in ESTIMATORS.items() if task == "regression"]
X = np.random.default_rng(0).normal(size=(60, 6))
Y = X[:, 1] - 2 * X[:, 4]


def damaged(make, name, value):
    S = make(X)
    getattr(S, name)[3] = value
    return S


DAMAGED = {
    "csr index": damaged(sp.csr_array, "indices", 2**31 - 1),
    "csr index below 0": damaged(sp.csr_array, "indices", -1),
    "csr pointer": damaged(sp.csr_array, "indptr", 2**30),
    "csc index": damaged(sp.csc_array, "indices", 2**31 - 1),
    "csc pointer": damaged(sp.csc_array, "indptr", 2**30),
    "coo row": damaged(sp.coo_array, "row", 2**31 - 1),
    "coo column below 0": damaged(sp.coo_array, "col", -7),
    "bsr index": damaged(sp.bsr_array, "indices", 2**31 - 1),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_sparse_matrix_is_refused(name):
    model = SGDRegressor().fit(X, Y)
    for call in (lambda S: model.partial_fit(S, Y), model.predict, model.transform):
        with pytest.raises(ValueError, match=r"damaged|outside"):
            call(DAMAGED[name])


def test_scipy_does_not_sort_what_it_cannot_follow():
    S = sp.csr_array(X)
    S.indices[:6] = S.indices[:6][::-1].copy()
    S.indptr[-2] = 2**30
    with pytest.raises(ValueError, match="unsorted indices, and"):
        as_rows(S)


@pytest.mark.parametrize(
    "change",
    [{"indices": np.float64}, {"indptr": np.float64}],
    ids=["float indices", "float pointers"],
)
def test_indices_are_integers(change):
    S = sp.csr_array(X)
    for name, dtype in change.items():
        setattr(S, name, getattr(S, name).astype(dtype))
    with pytest.raises(ValueError, match="the CSR matrix is damaged"):
        as_rows(S)


def test_values_of_sparse_matrices_may_be_strided():
    S = sp.csr_array(X)
    S.data = np.repeat(S.data, 2)[::2]
    np.testing.assert_array_equal(as_rows(S)[0].to_array(), X)


@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_rows_whose_squares_vanish_are_refused_rather_than_ignored(kind, layout):
    tiny = layout(X * 1e-160)
    for learn in (kind.fit, kind.partial_fit):
        with pytest.raises(ValueError, match=r"largest magnitude of X is .*rescale"):
            learn(kind(), tiny, Y)
    model = kind().partial_fit(layout(X), Y)
    model.partial_fit(tiny, Y)  # fine beside others
    assert np.isfinite(model.coef_).all()
    kind().partial_fit(layout(X * 0), Y)  # zeros are no small values


def test_a_sieve_takes_what_float32_holds():
    for scale in (1e-25, 1.0, 1e25):
        model = SieveRegressor(2).fit(X * scale, Y)
        assert model.get_support(indices=True).tolist() == [1, 4]
    with pytest.raises(ValueError, match="too large"):
        SieveRegressor(2).fit(X * 1e40, Y)
    with pytest.raises(ValueError, match="weights other than 0 must be within"):
        SieveRegressor(2).fit(X, Y, sample_weight=np.full(len(X), 1e40))


def test_labels_are_labels():
    y = (Y > 0).astype(float)
    y[7] = 1e300
    with pytest.raises(ValueError, match=r"y\[7\] = 1e\+300 is not a label"):
        SGDClassifier().fit(X, y)
    model = SGDClassifier().partial_fit(X, Y > 0, classes=[0, 1])
    before = copy.deepcopy(model)
    for wrong in (np.zeros(len(X), "M8[s]"), np.array([None] * len(X)), np.array(["a"] * len(X))):
        with pytest.raises(ValueError, match="class"):
            model.partial_fit(X, wrong)
    with pytest.raises(ValueError, match="several types"):
        SGDClassifier().partial_fit(X, Y > 0, classes=np.array([1, "a", None], dtype=object))
    assert not list(model.method_.state.differences(before.method_.state))


def test_integers_beyond_all_floats_are_named():
    rows = X.astype(object)
    rows[3, 2] = 10**400
    with pytest.raises(ValueError, match="X holds an integer beyond"):
        SGDRegressor().fit(rows, Y)
    with pytest.raises(ValueError, match="y holds an integer beyond"):
        SGDRegressor().fit(X, np.array([10**400, *Y[1:]], dtype=object))


@pytest.mark.parametrize("value", [None, "1", [1], 10**400, 1j, np.nan, np.inf])
def test_one_row_names_the_value_that_is_none(value):
    model = SGDRegressor().learn_one({"a": 1.0}, 1.0)
    for call in (lambda x: model.learn_one(x, 1.0), model.predict_one):
        with pytest.raises(ValueError, match="Feature 'a' is"):
            call({"a": value})
    with pytest.raises(ValueError, match="every row needs one number"):
        model.learn_one({"a": 1.0}, value)
    assert model.learn_one({"a": np.float32(2)}, np.float32(1), np.float32(1))._model.n_rows == 2


@pytest.mark.parametrize("x", [None, [], "x", 3, {1}])
def test_one_row_is_a_mapping(x):
    with pytest.raises(TypeError, match="a row is a mapping"):
        SGDRegressor().learn_one(x, 1.0)


def test_a_label_is_no_array():
    model = SGDClassifier().learn_one({"a": 1.0}, 1)
    with pytest.raises(ValueError, match="is not one of the 2 classes"):
        model.learn_one({"a": 1.0}, np.array([0, 1]))


def test_parameters_are_compared_as_doubles_and_fit_the_kernels():
    real = Param(1.0, Real(0, below=1e300), "A number.")
    assert real.check("x", np.float32(0.5)) == 0.5
    with pytest.raises(ParamError, match="a finite float"):
        real.check("x", 10**400)
    for domain in (Int(1), Or("auto", Int(1))):
        with pytest.raises(ParamError, match=r"int >= 1 below 2\^63"):
            Param(1, domain, "A count.").check("k", 10**30)
    for kind, options in ((SIHTRegressor, {"k": 10**30}), (SFSARegressor, {"maturity": 10**30})):
        with pytest.raises(ParamError, match=r"2\^63"):
            kind(**options).fit(X, Y)


def test_more_features_than_there_are_cannot_be_asked_for_later_either():
    model = OLassoRegressor(2).fit(X, Y)
    model.set_params(k=7)
    with pytest.raises(ParamError, match="expected at most 6"):
        model.coef_  # noqa: B018
    model.set_params(k=3)
    assert model.get_support(indices=True).tolist() == [1, 4]


def test_features_that_join_later_may_be_fewer_than_k_in_a_file(tmp_path):
    model = OLassoRegressor(5).learn_one({"a": 1.0}, 1.0)
    streamsieve.save(model, tmp_path / "model")
    assert streamsieve.load(tmp_path / "model").learn_one({"b": 2.0}, 1.0).n_features_in_ == 2


def test_an_arrow_file_that_is_truncated_while_it_is_read_is_an_error(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow, which writes Arrow files, is not installed")
    import pyarrow.feather as feather

    file = str(tmp_path / "rows.arrow")
    columns = {f"x{j}": np.arange(200_000.0) for j in range(6)}
    feather.write_feather(pa.table(columns), file, compression="uncompressed", chunksize=10_000)
    script = f"""
        import os, streamsieve
        for i, _ in enumerate(streamsieve.read({file!r}, target="x0")):
            if i == 0:
                os.truncate({file!r}, os.path.getsize({file!r}) // 3)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.returncode  # no signal
    assert "BadData" in done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="address space is read from /proc")
@pytest.mark.parametrize(
    ("name", "left", "p"),
    [("OLSthRegressor", "30", "300"), ("OLSthRegressor", "45", "300"), ("SieveRegressor", "10", "50")],
)
def test_models_without_memory_for_blas_are_refused_in_words(name, left, p):
    """OpenBLAS waits forever for buffers that it cannot get, or ends the process."""
    from tests.hostile.limits import LEARN

    words = [sys.executable, "-c", LEARN, name, left, p]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "refused: BLAS needs buffers of 64 MB" in done.stdout


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SieveRegressor", {}),
        ("SieveClassifier", {}),
        ("SieveRegressor", {"effects": "shapes"}),
        ("SieveRegressor", {"memory": "1MB"}),  # makes room while it learns
        ("SieveClassifier", {"memory": "1MB"}),
    ],
)
def test_a_sieve_asks_for_the_buffers_of_blas_when_it_is_read_or_makes_room(name, options, monkeypatch):
    class NoRoom(MemoryError):
        pass

    def reserve():
        raise NoRoom

    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 100))
    y = X[:, 0] > 0 if name.endswith("Classifier") else X[:, 0]
    monkeypatch.setattr(linalg, "reserve", reserve)
    with pytest.raises(NoRoom):
        getattr(streamsieve, name)(k=2, **options).fit(X, y).predict(X)


def test_rows_without_any_feature_are_learned():
    model = streamsieve.SieveRegressor(k=2).learn_one({}, 1.0, 2)
    assert model.predict_one({}) == 1.0


def test_new_features_are_refused_where_a_list_has_a_value_for_each_feature():
    """They were learned, and the model could neither be read nor loaded."""
    model = streamsieve.OElasticNetRegressor(penalty_factor=[1.0, 2.0]).fit([[1.0, 2.0], [2.0, 1.0]], [1, 2])
    with pytest.raises(
        ValueError, match="penalty_factor='2 values'; expected one for each of the 3 features"
    ):
        model.learn_one({"new": 1.0}, 1.0)
    assert model.coef_.shape == (2,)


@pytest.mark.parametrize("name", ["SieveRegressor", "TSGDClassifier", "OLSthRegressor"])
def test_masked_targets_and_weights_are_refused(name):
    """What lies under the mask was learned."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y, gone = (X[:, 0] > 0).astype(float), np.arange(60) == 7
    model = getattr(streamsieve, name)(k=2)
    with pytest.raises(ValueError, match="y is masked at row 7; drop the rows"):
        model.fit(X, np.ma.masked_array(y, gone))
    with pytest.raises(ValueError, match="sample_weight is masked at row 7"):
        model.fit(X, y, sample_weight=np.ma.masked_array(np.ones(60), gone))
    assert model.fit(X, np.ma.masked_array(y)).n_features_in_ == 3


def test_a_half_life_far_below_a_row():
    """The sums of all folds but one vanish, and were divided by 0."""
    X = np.random.default_rng(0).normal(size=(7, 9))
    for n in (2, 7):
        model = streamsieve.SieveRegressor(half_life=0.001).partial_fit(X[:n], X[:n, 0])
        assert np.isfinite(model.coef_).all()


def test_olst_of_rows_that_weigh_nothing():
    """It divided by their weight."""
    model = streamsieve.OLSTRegressor(grow=True).learn_one({"a": 1.0}, 0.0, 0)
    assert np.isfinite(model.coef_).all()


def test_sfsa_of_a_constant_column():
    """Its refit took the mean of no feature's variance."""
    model = streamsieve.SFSARegressor(k=1, batch_size=2).partial_fit([[1.0], [1.0]], [1.0, 2.0])
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(("make", "name"), [(SGDClassifier, "loss"), (SieveRegressor, "effects")])
def test_an_array_is_not_a_word(make, name):
    model = make(**{name: np.ones(2)})
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ParamError, match=name):
        model.fit(X, Y > 0)


def test_errors_by_products_of_values_need_smaller_values():
    large = X.copy()
    large[3, 1] = 1e99
    assert streamsieve.OLSRegressor().fit(large, Y).coef_.any()
    with pytest.raises(ValueError, match=r"1e\+99\) at row 3, column 1; values must be within 1e\+50"):
        streamsieve.OLSRegressor(se="hc1").fit(large, Y)


def test_new_names_in_a_row_of_weight_0_are_features_of_a_saved_model(tmp_path):
    model = streamsieve.OLassoRegressor(grow=True, loss="poisson").learn_one({"a": 1.0, "b": 2.0}, 1, 0)
    streamsieve.save(model, tmp_path / "model")
    assert streamsieve.load(tmp_path / "model").method_.p == 2


def test_a_row_that_outweighs_all_others_is_named_where_its_fold_is_left_out():
    w = np.ones(len(X))
    w[7] = 1e30
    with pytest.raises(ValueError, match="far larger"):
        streamsieve.OBestSubsetRegressor(criterion="cv").fit(X, Y, sample_weight=w).coef_  # noqa: B018
