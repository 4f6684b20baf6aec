"""Models as SQL, C and JSON predict what the model predicts, to rounding."""

import ctypes
import dataclasses
import json
import math
import shutil
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from cli_data import good, run
from streamsieve import (
    OLSthRegressor,
    SFSAClassifier,
    SieveClassifier,
    SieveRegressor,
    TSGDClassifier,
    read,
    save,
)
from streamsieve.export import Term, formula_of, reader, sql, to_c, to_json, to_sql

N = 600


def frame(seed=0, dates=True):
    """Numbers, words, numbers that are categories, and dates, with missing values."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            'size "cm"': rng.normal(50, 10, N),
            "city's name": rng.choice(["Oslo", "Bodø", "Rome", "Kyiv"], N),
            "age": rng.normal(40, 9, N),
            "noise": rng.normal(size=N),
        }
    )
    if dates:
        table["sold at"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 20_000, N), unit="h")
    y = table['size "cm"'] / 10 + 3 * (table["city's name"] == "Bodø") - table["age"] / 9
    if dates:
        y = y + 2 * (table["sold at"].dt.day_of_week == 2)
        table.loc[rng.random(N) < 0.1, "sold at"] = None
        y = y + 4 * table["sold at"].isna()
    for column in ('size "cm"', "city's name", "age"):
        table.loc[rng.random(N) < 0.1, column] = None
    return table, y.to_numpy()


def hostile_rows(table):
    """Rows with an unknown word, values far outside, and nothing at all."""
    rows = table.head(40).copy()
    rows.loc[1, "city's name"] = "O'Hara; DROP TABLE rows"
    rows.loc[2, 'size "cm"'] = 1e7
    rows.loc[3, "age"] = -1e7
    rows.loc[4, :] = None
    return rows


def labels(y):
    return np.where(y > np.median(y), "o'k", "no")


MODELS = {
    "targets": lambda X, y: SieveRegressor(6, missing="mean").fit(X, y),
    "averages": lambda X, y: OLSthRegressor(6, missing="mean").fit(X, y),
    "counts": lambda X, y: SieveRegressor(6, loss="poisson", missing="mean").fit(X, np.abs(y.round())),
    "labels": lambda X, y: SieveClassifier(6, missing="mean").fit(X, labels(y)),
    "classes": lambda X, y: SieveClassifier(6, missing="mean").fit(X, np.digitize(y, [-1, 1])),
}


@pytest.fixture(params=MODELS)
def fitted(request):
    table, y = frame()
    model = MODELS[request.param](table, y)
    rows = hostile_rows(table)
    with pytest.warns(UserWarning, match="outside"):
        expected = model.predict(rows)
    return model, rows, expected


def same(found, expected):
    if np.asarray(expected).dtype.kind == "f":
        assert_allclose(np.asarray(found, dtype=float), expected, rtol=1e-9, atol=1e-9)
    else:
        assert list(found) == list(expected)


def in_sqlite(rows, expression):
    connection = sqlite3.connect(":memory:")
    connection.create_function("EXP", 1, lambda x: None if x is None else math.exp(x))
    stored = rows.copy()
    for name in stored.columns:
        if stored[name].dtype.kind == "M":
            stored[name] = stored[name].dt.strftime("%Y-%m-%d %H:%M:%S")
    stored.astype(object).where(stored.notna(), None).to_sql("rows", connection, index_label="at")
    return [value for (value,) in connection.execute(f"SELECT {expression} FROM rows ORDER BY at")]


def test_sql_predicts_what_the_model_does(fitted):
    model, rows, expected = fitted
    same(in_sqlite(rows, to_sql(model, "sqlite")), expected)


def test_sql_of_duckdb_and_postgresql(fitted):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is the database of this test")
    model, rows, expected = fitted
    connection = duckdb.connect()
    connection.register("rows", rows.astype({"city's name": "string"}))
    for dialect in ("duckdb", "postgresql"):
        found = connection.execute(f"SELECT {to_sql(model, dialect)} FROM rows").fetchall()
        same([value for (value,) in found], expected)


def test_json_is_predicted_with_by_a_reader_without_dependencies(fitted):
    model, rows, expected = fitted
    held = json.loads(to_json(model))
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    same([reader.predict(held, row) for row in records], expected)
    assert held["format"] == "streamsieve formula"
    assert held["version"] == 1


def violations(schema, value, where="model"):
    """Where a value differs from a JSON schema, of the keywords that ours uses."""
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "boolean": bool}
    types = schema.get("type", list(kinds))
    types = [types] if isinstance(types, str) else types
    if not any(isinstance(value, kinds[name]) for name in types):
        yield f"{where} is a {type(value).__name__}"
    elif value not in schema.get("enum", [schema.get("const", value)]):
        yield f"{where} is {value!r}"
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{where} is too short"
        for i, item in enumerate(value):
            yield from violations(schema["items"], item, f"{where}[{i}]")
    elif isinstance(value, dict):
        for name in {*schema["required"]} - {*value} | {*value} - {*schema["properties"]}:
            yield f"{where}.{name} is missing or unknown"
        for name, field in value.items():
            yield from violations(schema["properties"].get(name, {}), field, f"{where}.{name}")


def test_json_follows_its_schema(fitted):
    schema = json.loads((Path(reader.__file__).parent / "formula.schema.json").read_text(encoding="utf-8"))
    held = json.loads(to_json(fitted[0]))
    wrong = held | {"terms": [*held["terms"], {"column": "a", "kind": "word", "weight": [], "fill": "no"}]}
    assert not list(violations(schema, held))
    assert len(list(violations(schema, wrong))) == 4
    term = schema["properties"]["terms"]["items"]["properties"]
    assert list(term) == [field.name for field in dataclasses.fields(Term)]
    try:
        import jsonschema
    except ImportError:
        return  # the check above reads all keywords of our schema
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(held, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)


def test_probabilities_and_scores_in_sql():
    table, y = frame()
    model = SieveClassifier(5, missing="mean").fit(table, labels(y))
    rows = table.head(30)
    assert_allclose(
        in_sqlite(rows, to_sql(model, "sqlite", "score")), model.decision_function(rows), rtol=1e-9
    )
    found = in_sqlite(rows, to_sql(model, "sqlite", "probability"))
    assert_allclose(found, model.predict_proba(rows)[:, 1], rtol=1e-9)


def compiled(folder, source, members, outputs):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler called cc")
    (folder / "model.c").write_text(source, encoding="utf-8")
    words = [
        "cc",
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "model.c",
        "-o",
        "model.so",
        "-lm",
    ]
    subprocess.run(words, cwd=folder, check=True)
    row = type("Row", (ctypes.Structure,), {"_fields_": members})
    library = ctypes.CDLL(str(folder / "model.so"))

    def predict(*values):
        scores = (ctypes.c_double * outputs)()
        library.predict(ctypes.byref(row(*values)), scores)
        return list(scores)

    return predict


@pytest.mark.parametrize("name", MODELS)
def test_c_computes_the_scores(name, tmp_path):
    table, y = frame(dates=False)
    model = MODELS[name](table, y)
    rows = hostile_rows(table)
    columns = formula_of(model).columns
    words = "city's name"
    members = [(f"c{i}", ctypes.c_char_p if c == words else ctypes.c_double) for i, c in enumerate(columns)]
    q = len(formula_of(model).intercept)
    predict = compiled(tmp_path, to_c(model), members, q)

    def member(column, value):
        if column == words:
            return None if pd.isna(value) else value.encode()
        return math.nan if pd.isna(value) else value

    found = [
        predict(*(member(c, value) for c, value in zip(columns, row)))
        for row in rows[columns].itertuples(index=False)
    ]
    with pytest.warns(UserWarning, match="outside"):
        expected = model.predict(rows) if not hasattr(model, "classes_") else model.decision_function(rows)
    assert_allclose(np.squeeze(found), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [SFSAClassifier, TSGDClassifier])
def test_models_of_arrays_are_exported_by_place(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    model = kind(3).fit(X, X[:, 2] - X[:, 5] > 0)
    rows = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    found = in_sqlite(rows, to_sql(model, "sqlite"))
    assert [bool(value) for value in found] == model.predict(X).tolist()


def test_null_is_null_where_a_missing_value_is_an_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = SieveRegressor(2).fit(X, X[:, 0] + X[:, 1])
    rows = pd.DataFrame({"x0": [1.0, None], "x1": [1.0, 1.0]})
    assert in_sqlite(rows, to_sql(model, "sqlite"))[1] is None
    for row in ({"x0": None, "x1": 1.0}, {"x0": math.nan, "x1": 1.0}, {"x1": 1.0}):
        assert reader.predict(json.loads(to_json(model)), row) is None


def test_nan_is_a_missing_value_in_sql_too():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is the database of this test")
    pa = pytest.importorskip("pyarrow", reason="pyarrow holds NaN that is not NULL")
    rng = np.random.default_rng(0)
    X = rng.normal(5, 1, size=(300, 3))
    X[::9, 0] = np.nan
    y = np.where(np.isnan(X[:, 0]), 9, X[:, 0]) + X[:, 1]
    held = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})  # NaN, not null
    for missing in ("mean", "indicator"):
        model = OLSthRegressor(3, missing="mean") if missing == "mean" else SieveRegressor(3)
        model = model.fit(read(held.append_column("y", pa.array(y)), target="y", missing=missing))
        connection = duckdb.connect()
        connection.register("held", held)
        for dialect in ("duckdb", "postgresql"):
            found = connection.execute(f"SELECT {to_sql(model, dialect)} FROM held").fetchall()
            same([value for (value,) in found], model.predict(held))


def test_a_sum_of_many_terms_is_not_too_deep_for_sqlite():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 1500))
    model = OLSthRegressor(1500).fit(X, X @ rng.normal(size=1500))
    assert len(model.get_support(indices=True)) == 1500
    connection = sqlite3.connect(":memory:")
    values = ", ".join(f"{x!r} AS x{j}" for j, x in enumerate(X[0].tolist()))
    [(found,)] = connection.execute(f"SELECT {to_sql(model, 'sqlite')} FROM (SELECT {values})")
    assert_allclose(found, model.predict(X[:1])[0], rtol=1e-9)


def test_forged_levels_of_numbers_do_not_become_sql():
    term = Term("a=1", "a", "category", (1.0,), levels=("1", "2"), numeric=True)
    assert "IN (1.0e0, 2.0e0)" in sql._value(term, sql.DIALECTS["sqlite"])
    forged = dataclasses.replace(term, levels=("1) OR (1=1",))
    with pytest.raises(ValueError, match="could not convert"):
        sql._value(forged, sql.DIALECTS["sqlite"])


def test_what_cannot_be_exported_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="has not learned any rows"):
        to_sql(SieveRegressor())
    X = rng.normal(size=(200, 4))
    model = OLSthRegressor(2, interactions=True).fit(X, X[:, 0] * X[:, 1])
    with pytest.raises(ValueError, match="products of columns"):
        to_json(model)
    model = OLSthRegressor(2).fit(X, X[:, 0] - X[:, 1])
    with pytest.raises(ValueError, match="dialect='oracle'; expected one of"):
        to_sql(model, "oracle")
    with pytest.raises(ValueError, match="output='proba'; expected 'prediction'"):
        to_sql(model, output="proba")
    with pytest.raises(ValueError, match="not a C identifier"):
        to_c(model, "1st")
    two = OLSthRegressor(2).fit(X, X[:, :2])
    with pytest.raises(ValueError, match="2 targets"):
        to_sql(two)
    words = pd.DataFrame(
        {"text": [f"{w} and some more words {i}" for i, w in enumerate(["good", "bad"] * 100)]}
    )
    held = SieveRegressor(2, missing="mean").fit(words, np.tile([1.0, -1.0], 100))
    with pytest.raises(ValueError, match="reads 'text' as text"):
        to_sql(held)


def test_the_command_writes_each_format(tmp_path):
    table, y = frame()
    save(SieveRegressor(4, missing="mean").fit(table, y), tmp_path / "m")
    sql = good("export", tmp_path / "m", "--format", "sql", "--dialect", "sqlite").stdout
    assert len(in_sqlite(table.head(3), sql)) == 3
    assert json.loads(good("export", tmp_path / "m", "--format", "json").stdout)["link"] == "identity"
    done = run("export", tmp_path / "m", "--format", "json", "--dialect", "sqlite")
    assert done.exit_code == 2
    assert "--dialect is for --format sql" in done.stderr
    done = run("export", tmp_path / "m", "--format", "c")
    assert done.exit_code == 1
    assert "as a date, which to_c cannot compute" in " ".join(done.stderr.split())
