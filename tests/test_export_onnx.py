"""ONNX graphs, MLflow folders and model cards of fitted models."""

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

from streamsieve import OLSthRegressor, SieveClassifier, SieveRegressor, TSGDClassifier, save
from streamsieve.cli import main
from streamsieve.export import register_converters, to_card, to_onnx

pd = pytest.importorskip("pandas", reason="pandas is not installed")
rng = np.random.default_rng(0)
X = rng.normal(5, 1, (1000, 12))
y = X[:, 3] - X[:, 7] + 0.1 * rng.normal(size=1000)


def run(model, inputs):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([out.name for out in session.get_outputs()], session.run(None, inputs)))


@pytest.fixture(autouse=True)
def _onnx(request):
    if "onnx" in request.node.name:
        pytest.importorskip("onnx", reason="onnx is not installed: pip install 'streamsieve[onnx]'")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_onnx_predicts_targets(dtype):
    Z = X.copy()
    Z[::9, 3] = np.nan
    rows = Z * 1.5  # some are clipped
    for model in (SieveRegressor(3, missing="mean").fit(Z, y), OLSthRegressor(3).fit(X, np.c_[y, -y])):
        given = rows if model.get_params()["missing"] == "mean" else X
        with np.errstate(invalid="ignore"):
            out = run(to_onnx(model, dtype), {"X": given.astype(dtype)})["variable"]
        expected = predicted(model, given)
        assert_allclose(out.reshape(expected.shape), expected, atol=1e-5 if dtype == "float32" else 1e-12)


def predicted(model, rows):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.predict(rows)


@pytest.mark.parametrize("classes", [2, 3])
def test_onnx_predicts_labels_and_probabilities(classes):
    labels = np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))]
    for model in (SieveClassifier(3).fit(X, labels), TSGDClassifier(3, loss="logistic").fit(X, labels)):
        out = run(to_onnx(model, "float64"), {"X": X})
        assert_array_equal(out["label"], model.predict(X))
        assert_allclose(out["probabilities"], model.predict_proba(X), atol=1e-9)
    integers = TSGDClassifier(3, loss="logistic").fit(X, np.digitize(y, [0.0]))
    assert_array_equal(run(to_onnx(integers, "float64"), {"X": X})["label"], integers.predict(X))


def test_onnx_of_a_table_has_an_input_for_each_column():
    colour = rng.choice(["red", "green", "blue"], 1000)
    frame = pd.DataFrame({"size": X[:, 3], "other": X[:, 7], "colour": colour})
    model = SieveRegressor(4).fit(frame, y + 2 * (colour == "red"))
    graph = to_onnx(model, "float64")
    inputs = {
        i.name: frame[[i.name]].to_numpy(dtype=object if i.name == "colour" else np.float64)
        for i in graph.graph.input
    }
    assert "colour" in inputs
    assert_allclose(run(graph, inputs)["variable"][:, 0], model.predict(frame), rtol=1e-9)


def converted(model, dtype):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    register_converters()
    tensor = FloatTensorType if dtype == "float32" else DoubleTensorType
    zipmap = {"zipmap": False} if hasattr(model, "classes_") else {}
    return skl2onnx.convert_sklearn(
        model, initial_types=[("X", tensor([None, X.shape[1]]))], options={id(model): zipmap}
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_onnx_of_pipelines_by_skl2onnx(steps, dtype):
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    close = {"atol": 1e-4 if dtype == "float32" else 1e-9}
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-1.0, 1.0])]
    if steps == 1:  # the estimator itself
        targets, classes = OLSthRegressor(3), SieveClassifier(3)
    elif steps == 2:  # it predicts
        targets = make_pipeline(StandardScaler(), SieveRegressor(3))
        classes = make_pipeline(StandardScaler(), TSGDClassifier(3, loss="logistic"))
    else:  # it selects
        targets = make_pipeline(StandardScaler(), OLSthRegressor(3), Ridge())
        classes = make_pipeline(SieveClassifier(3), StandardScaler(), LogisticRegression())
    targets.fit(X, y)
    classes.fit(X, labels)
    given = {"X": X.astype(dtype)}
    out = run(converted(targets, dtype), given)["variable"]
    assert_allclose(out[:, 0], targets.predict(X), **close)
    out = run(converted(classes, dtype), given)
    assert np.mean(out["label"] == classes.predict(X)) > 0.99
    assert_allclose(out["probabilities"], classes.predict_proba(X), **close)


def test_onnx_of_labels_without_probabilities_and_of_tables_by_skl2onnx():
    hinge = TSGDClassifier(3, loss="hinge").fit(X, y > 0)
    out = run(converted(hinge, "float64"), {"X": X})
    assert list(out) == ["label"]
    assert_array_equal(out["label"], hinge.predict(X))
    table = pd.DataFrame({"a": X[:, 3], "b": np.where(X[:, 7] > 5, "x", "y")})
    with pytest.raises(ValueError, match="categories"):
        converted(OLSthRegressor(2).fit(table, y), "float64")


def test_a_card_says_what_the_model_is(tmp_path):
    frame = pd.DataFrame(X, columns=[f"x|{j}" for j in range(12)])
    model = OLSthRegressor(2).fit(frame, y)
    card = to_card(model)
    assert card.startswith("# OLSthRegressor\n")
    assert "| x\\|3 |" in card
    assert "| rows learned | 1000 |" in card
    save(model, tmp_path / "m.sieve")
    found = CliRunner().invoke(main, ["export", str(tmp_path / "m.sieve"), "--format", "card"])
    assert found.exit_code == 0
    assert "## Selected features" in found.stdout
    with pytest.raises(ValueError, match="has not learned"):
        to_card(OLSthRegressor(2))


def test_the_command_writes_onnx_to_files_only(tmp_path):
    save(OLSthRegressor(2).fit(X, y), tmp_path / "m.sieve")
    command = ["export", str(tmp_path / "m.sieve"), "--format", "onnx"]
    assert "name a file" in CliRunner().invoke(main, command).output
    done = CliRunner().invoke(main, [*command, "-o", str(tmp_path / "m.onnx")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "m.onnx").stat().st_size > 100


@pytest.mark.filterwarnings("ignore")
def test_mlflow_loads_what_was_saved(tmp_path):
    pytest.importorskip("mlflow", reason="mlflow is not installed: pip install 'streamsieve[mlflow]'")
    import mlflow.pyfunc

    from streamsieve.mlflow import save_model

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    model = OLSthRegressor(2).fit(frame, y)
    save_model(model, str(tmp_path / "model"))
    assert_array_equal(mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(frame), model.predict(frame))
