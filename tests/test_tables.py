"""Tables as people have them: each trouble alone, all of them together, and ten real tables."""

import gzip
import json
import lzma
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cli_data import good, run, table
from streamsieve import SieveRegressor, load, read
from streamsieve.sources import BadData
from streamsieve.sources.schema import Schema

N = 400
FOLDERS = [parent / "shared" / "tables" for parent in Path(__file__).resolve().parents[2:4]]
FOUND = next((folder for folder in FOLDERS if folder.is_dir()), None)


def frame(seed=0):
    """Numbers, categories and a target that depends on both."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Oslo", "Rome", "Lima"], N, p=[0.5, 0.3, 0.2])
    size, age = rng.normal(80, 20, N).round(1), rng.integers(1, 90, N)
    price = 3 * size + 60 * (city == "Rome") - 0.5 * age + rng.normal(0, 10, N)
    return pd.DataFrame({"size": size, "age": age, "city": city, "price": price.round(2)})


def schema_of(source, **options):
    stream = read(source, target="price", **options)
    for _ in stream:
        pass
    return stream.schema


def kinds(schema):
    return {column.name: column.kind for column in schema.columns}


def write(path, df, **options):
    df.to_csv(path, index=False, **options)
    return path


# ---------------------------------------------------------------- each trouble alone


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("quoting", [0, 1])
def test_the_delimiter_is_found(tmp_path, delimiter, quoting):
    file = write(tmp_path / "t.csv", frame(), sep=delimiter, quoting=quoting)
    stream = read(file, target="price")
    assert sum(len(block.y) for block in stream) == N
    assert stream.feature_names == ["size", "age", "city=Rome", "city=Lima"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_the_encoding_is_found(tmp_path, encoding):
    df = frame().replace({"city": {"Rome": "Tromsø"}})
    stream = read(write(tmp_path / "t.csv", df, encoding=encoding), target="price")
    assert sum(len(block.y) for block in stream) == N
    assert "city=Tromsø" in stream.feature_names


def test_a_decimal_comma_is_found_and_numbers_are_the_same(tmp_path):
    df = frame()
    comma = read(write(tmp_path / "c.csv", df, sep=";", decimal=","), target="price")
    plain = read(write(tmp_path / "p.csv", df), target="price")
    for a, b in zip(comma, plain):
        assert_array_equal(a.X.toarray(), b.X.toarray())
        assert_array_equal(a.y, b.y)
    assert dict(comma.schema.found) == {"delimiter": "semicolon", "decimal": "comma"}


def test_money_groups_of_digits_and_per_cent_are_numbers(tmp_path):
    df = frame()
    df["rent"] = [f"${x:,.2f}" for x in df["size"] * 100]
    df["share"] = [f"{x}%" for x in df["age"]]
    schema = schema_of(write(tmp_path / "t.csv", df.drop(columns="age")))
    assert kinds(schema) == {
        "size": "number", "city": "category", "price": "target", "rent": "copy", "share": "number",
    }  # fmt: skip


def test_nameless_and_repeated_headers_are_names(tmp_path):
    file = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    rows = "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in rng.normal(size=(50, 4)).round(3))
    file.write_text("x,,x,price\n" + rows)
    assert [c.name for c in schema_of(file).columns] == ["x", "column 2", "x (2)", "price"]
    file.write_text("'x','y','it''s','price'\n" + rows)
    assert [c.name for c in schema_of(file).columns] == ["x", "y", "it''s", "price"]


@pytest.mark.parametrize("order", ["in order", "shuffled", "restarting"])
def test_a_pandas_index_is_set_aside(tmp_path, order):
    df = frame()
    df.index = {
        "in order": np.arange(N), "shuffled": np.random.default_rng(0).permutation(N),
        "restarting": np.arange(N) % 50,
    }[order]  # fmt: skip
    df.to_csv(tmp_path / "t.csv")
    assert kinds(schema_of(tmp_path / "t.csv"))["column 1"] == "index"


def test_row_names_without_a_header_and_delimiters_at_the_end_are_read(tmp_path):
    lines = frame().to_csv(index=False).splitlines()
    (tmp_path / "r.csv").write_text("\n".join([lines[0], *(f"row{i},{x}" for i, x in enumerate(lines[1:]))]))
    assert kinds(schema_of(tmp_path / "r.csv"))["column 1"] == "identifier"
    (tmp_path / "t.csv").write_text("\n".join([lines[0], *(x + "," for x in lines[1:])]))
    assert kinds(schema_of(tmp_path / "t.csv"))["column 5"] == "empty"


def test_missing_numbers_become_the_mean_and_words_a_category(tmp_path):
    df = frame()
    df.loc[::7, "age"] = np.nan
    df.loc[::5, "city"] = np.nan
    stream = read(write(tmp_path / "t.csv", df), target="price")
    X = np.concatenate([block.X.toarray() for block in stream])
    at = stream.feature_names.index("age")
    assert_allclose(X[::7, at], df["age"].mean())
    assert "city=missing" in stream.feature_names
    assert_array_equal(X[:, stream.feature_names.index("city=missing")], df["city"].isna())
    shown = read(tmp_path / "t.csv", target="price", missing="indicator")
    X = np.concatenate([block.X.toarray() for block in shown])
    assert_array_equal(X[:, shown.feature_names.index("age=missing")], df["age"].isna())


@pytest.mark.parametrize("word", ["?", "NA", "n/a", "NULL", "-", "unknown", "None", " "])
def test_words_for_nothing_among_numbers_are_missing(tmp_path, word):
    df = frame().astype({"age": object})
    df.loc[::4, "age"] = word
    column = schema_of(write(tmp_path / "t.csv", df)).columns[1]
    assert (column.kind, column.missing, column.odd) == ("number", N // 4, 0)


def test_a_few_words_among_numbers_are_missing_and_counted_more_are_an_error(tmp_path):
    df = frame().astype({"age": object})
    df.loc[[3, 80, 200], "age"] = "twelve"
    file = write(tmp_path / "t.csv", df)
    stream = read(file, target="price")
    assert sum(len(block.y) for block in stream) == N
    assert stream.odd_cells == {"age": 3}
    assert good("select", file, "--target", "price").stderr.count("read as missing: age (3)") == 1
    rows = {row["column"]: row for row in table(good("select", file, "--target", "price", "--schema"))}
    assert rows["age"]["missing"] == "3"
    assert rows["age"]["note"].startswith("3 missing, 3 of them words, replaced by ")
    df.loc[::30, "age"] = "twelve"
    with pytest.raises(
        BadData, match=r"t.csv: line 2, column 'age': 'twelve' is not a number, as 383 of the 400"
    ):
        list(read(write(file, df), target="price"))
    done = run("select", file, "--target", "price")
    assert done.exit_code == 3
    assert "--numeric" in done.stderr
    assert kinds(schema_of(file, numeric=["age"]))["age"] == "number"
    assert kinds(schema_of(file, categorical=["age"]))["age"] == "category"


def test_numbers_among_words_are_words(tmp_path):
    df = frame()
    df.loc[::50, "city"] = "4711"
    assert kinds(schema_of(write(tmp_path / "t.csv", df)))["city"] == "category"


DATES = {
    "2024-03-05": "%Y-%m-%d", "2024-03-05 14:30:00": "%Y-%m-%d %H:%M:%S", "03/05/2024": "%m/%d/%Y",
    "25.03.2024": "%d.%m.%Y", "5 March 2024": "%d %B %Y", "Mar 05, 2024": "%b %d, %Y", "20240305": "%Y%m%d",
    "20240305T143000": "%Y%m%dT%H%M%S", "03/05/24 2:30 PM": "%m/%d/%y %I:%M %p",
    "Mar-5-2024": "%b-%d-%Y",
}  # fmt: skip


@pytest.mark.parametrize("format", DATES.values(), ids=DATES)
def test_dates_become_days_month_weekday_and_hour(tmp_path, format):
    df = frame()
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) * 25.5, unit="h")
    df["day"] = times.strftime(format)
    stream = read(write(tmp_path / "t.csv", df), target="price")
    X = np.concatenate([block.X.toarray() for block in stream])
    names = stream.feature_names
    days = X[:, names.index("day days")]
    exact = "%H" in format or "%I" in format
    expected = times if exact else times.normalize()
    assert_allclose(days, (expected - pd.Timestamp(0)).total_seconds() / 86400, atol=1e-6)
    monday = [name for name in names if name.startswith("day weekday=")]
    assert len(monday) == 6
    month = [names.index(name) for name in names if name.startswith("day month=")]
    assert month
    for j in month:
        assert_array_equal(X[:, j], times.strftime("%b") == names[j].split("=")[1])
    assert any(name.startswith("day hour=") for name in names) == exact


def test_quarters_and_months_are_dates_without_a_weekday(tmp_path):
    df = frame()
    for format in ("{0.year}Q{0.quarter}", "{0.year}-Q{0.quarter}", "{0:%Y-%m}", "{0:%b %Y}"):
        df["when"] = [format.format(day) for day in pd.date_range("1980-01-15", periods=N, freq="MS")]
        (column,) = schema_of(write(tmp_path / "t.csv", df)).kind("date")
        assert [part.name for part in column.parts] == ["when month"]


def test_identifiers_constants_empty_columns_and_copies_are_left_out_and_said(tmp_path):
    df = frame()
    df["key"] = [f"k-{i:05d}" for i in range(N)]
    df["Id"] = np.arange(N) + 17
    df["user_id"] = np.random.default_rng(0).permutation(10 * N)[:N]
    df["one"], df["nothing"], df["again"] = 1, np.nan, 2.54 * df["size"] + 1
    df["town"] = df["city"].map({"Oslo": "O", "Rome": "R", "Lima": "L"})
    df["label"] = df["price"]
    file = write(tmp_path / "t.csv", df)
    found = kinds(schema_of(file))
    assert {name: found[name] for name in df.columns[4:]} == {
        "key": "identifier", "Id": "identifier", "user_id": "identifier", "one": "constant",
        "nothing": "empty", "again": "copy", "town": "copy", "label": "copy",
    }  # fmt: skip
    said = good("select", file, "--target", "price").stderr
    assert "left out: key (400 values in 400 rows)" in said
    rows = table(good("select", file, "--target", "price", "--schema"))
    assert {row["column"]: row["became"] for row in rows} == found
    notes = {row["column"]: row["note"] for row in rows}
    assert notes["again"] == "a copy of size but for its unit or sign"
    assert (notes["town"], notes["label"]) == ("a copy of city", "a copy of the target")
    named = kinds(schema_of(file, columns=["size", "one", "key"]))
    assert (named["one"], named["key"]) == ("number", "category")


def test_categories_of_the_same_rows_and_their_complements_have_one_feature(tmp_path):
    df = frame()
    df["abroad"] = np.where(df["city"] == "Rome", "yes", "no")
    df["flag"] = (df["city"] != "Lima").astype(int)
    schema = schema_of(write(tmp_path / "t.csv", df))
    assert sum("Rome" in name or "abroad" in name for name in schema.feature_names) == 1
    assert sum("Lima" in name or "flag" in name for name in schema.feature_names) == 1
    assert "identical columns" in str(schema)


def test_rare_categories_are_pooled_and_new_ones_are_like_them(tmp_path):
    df = frame()
    df["street"] = [f"s{i % 5}" if i % 3 else f"rare {i}" for i in range(N)]
    schema = schema_of(write(tmp_path / "t.csv", df))
    column = next(column for column in schema.columns if column.name == "street")
    assert column.kind == "category"
    assert len(column.levels) == 5  # and the sixth is what they are compared with
    assert "other" in (*column.levels, column.reference)
    new = frame()
    new["street"] = "never seen"
    (block,) = read(new, target="price", schema=schema)
    feature = schema.feature_names.index("street=other") if "other" in column.levels else None
    street = block.X.toarray()[
        :, [j for j, name in enumerate(schema.feature_names) if name.startswith("street=")]
    ]
    assert street.sum() == (N if feature is not None else 0)


@pytest.mark.parametrize("words", ["counts", "tfidf"])
def test_texts_become_words(tmp_path, words):
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"word{i}" for i in range(40)])
    texts = [" ".join(rng.choice(vocabulary, 8)) for _ in range(N)]
    df = frame().assign(text=texts)
    df["price"] += [50 * text.split().count("word7") for text in texts]
    file = write(tmp_path / "t.csv", df)
    stream = read(file, target="price", words=words)
    X = np.concatenate([block.X.toarray() for block in stream])
    at = stream.feature_names.index("text:word7")
    counts = np.array([text.split().count("word7") for text in texts])
    assert_array_equal(X[:, at] > 0, counts > 0)
    if words == "counts":
        assert_array_equal(X[:, at], counts)
    rows = table(good("select", file, "--target", "price", "--words", words))
    assert "text:word7" in {row["feature"] for row in rows}


def test_too_many_words_share_features_by_their_hash(tmp_path, monkeypatch):
    from streamsieve.sources import infer

    monkeypatch.setattr(infer, "MOST_WORDS", 10)
    monkeypatch.setattr(infer, "BUCKETS", 4)
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{i}" for i in rng.integers(0, 40, 8)) for _ in range(N)]
    df = frame().assign(text=texts)
    schema = schema_of(write(tmp_path / "t.csv", df))
    names = [name for name in schema.feature_names if name.startswith("text:")]
    assert len(names) == 14
    assert all("word" in name for name in names)  # those that share a feature are in its name


def test_rows_without_a_target_are_left_out_and_counted(tmp_path):
    df = frame()
    df.loc[::8, "price"] = np.nan
    done = good("select", write(tmp_path / "t.csv", df), "--target", "price")
    assert f"Left out {N // 8} rows without a target." in done.stderr


@pytest.mark.parametrize(
    "kind", ["csv", "csv.gz", "csv.xz", "jsonl", "jsonl.xz", "parquet", "pandas", "polars"]
)
def test_the_same_table_has_the_same_schema_from_everywhere(tmp_path, kind):
    import polars as pl

    df = frame()
    df.loc[::7, "age"] = np.nan
    df.loc[::9, "city"] = None
    file = tmp_path / f"t.{kind}"
    text = df.to_csv(index=False) if kind.startswith("csv") else df.to_json(orient="records", lines=True)
    if kind == "parquet":
        df.to_parquet(file)
    elif kind in ("pandas", "polars"):
        file = df if kind == "pandas" else pl.from_pandas(df)
    else:
        pack = {"gz": gzip.compress, "xz": lzma.compress}.get(kind.rpartition(".")[2], bytes)
        file.write_bytes(pack(text.encode()))
    stream, plain = read(file, target="price"), read(write(tmp_path / "plain.csv", df), target="price")
    for a, b in zip(stream, plain):
        assert_allclose(a.X.toarray(), b.X.toarray(), rtol=1e-12)
        assert_allclose(a.y, b.y)
    assert stream.schema.coding() == plain.schema.coding()


def test_a_large_file_is_looked_at_in_all_its_parts(tmp_path, monkeypatch):
    from streamsieve.sources import files

    monkeypatch.setattr(files, "SIZE", 1 << 14)
    n = 20_000
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.normal(size=n).round(3), "country": np.sort(rng.choice(list("ABCDE"), n))})
    df["price"] = df["x"] + (df["country"] == "E") + 0.1 * rng.normal(size=n).round(2)
    schema = schema_of(write(tmp_path / "t.csv", df))
    assert schema.coverage == "spread"
    column = next(column for column in schema.columns if column.name == "country")
    assert {*column.levels, column.reference} == set("ABCDE")


def test_a_schema_is_plain_data_and_a_damaged_one_is_named():
    schema = schema_of(frame())
    plain = json.loads(json.dumps(schema.plain()))
    assert Schema.from_plain(plain) == schema
    for damage in (
        {"columns": 3}, {"columns": [{"name": "a", "kind": "spoon"}]}, {"mean": [1.0]}, {"rows": None},
        {"columns": [{"name": "a", "kind": "date", "format": "when"}]},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="the schema of the columns is damaged"):
            Schema.from_plain({**plain, **damage})


# ---------------------------------------------------------------- all together


def messy(folder, seed=0):
    """Everything at once, as bytes: semicolons, latin-1, decimal commas, an index, gaps, dates, ids, text."""
    df = frame(seed)
    rng = np.random.default_rng(seed + 1)
    df["client id"] = [f"c{i:05d}" for i in range(N)]
    df["signed"] = (pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, N), "D")).strftime(
        "%d.%m.%Y"
    )
    df["notes"] = [
        " ".join(rng.choice(["gut", "schön", "laut", "klein", "groß", "alt"], 6)) for _ in range(N)
    ]
    df["empty"], df["one"] = np.nan, "x"
    df["age"] = df["age"].astype(object)
    df.loc[::11, "age"], df.loc[::13, "city"] = "?", ""
    df.loc[[7, 77], "age"] = "alt"
    df.index.name = None
    file = folder / f"messy{seed}.csv"
    df.to_csv(file, sep=";", decimal=",", encoding="latin-1")
    return file, df


@pytest.mark.parametrize("verb", ["select", "fit", "evaluate", "path", "report"])
def test_a_table_of_all_troubles_is_learned_without_an_option(tmp_path, verb):
    file, _ = messy(tmp_path)
    if verb == "report":
        pytest.importorskip("jinja2", reason="the extra 'report' is not installed")
        good("fit", file, "--target", "price", "-o", tmp_path / "m", "-q")
        good("report", tmp_path / "m", "-o", tmp_path / "m.html")
        assert "How good is it?" in (tmp_path / "m.html").read_text()
        return
    more = ("-o", tmp_path / "m") if verb == "fit" else ()
    done = good(verb, file, "--target", "price", *more)
    assert "nan" not in done.stdout.lower()
    assert "delimiter semicolon, encoding latin-1, decimal comma" in done.stderr


def test_rows_to_predict_are_read_as_those_learned(tmp_path):
    train, _ = messy(tmp_path)
    test, df = messy(tmp_path, seed=5)
    done = good("fit", train, "--target", "price", "-o", tmp_path / "m")
    assert "R2 0.9" in done.stderr
    rows = table(good("predict", tmp_path / "m", test))
    predicted = np.array([float(row["prediction"]) for row in rows])
    assert np.isfinite(predicted).all()
    assert np.corrcoef(predicted, df["price"])[0, 1] > 0.97
    clean = tmp_path / "clean.csv"  # other delimiter, encoding, decimal mark and order, and no target
    df[df.columns[::-1]].drop(columns="price").to_csv(clean, index=False)
    again = table(good("predict", tmp_path / "m", clean))
    assert_allclose([float(row["prediction"]) for row in again], predicted, rtol=1e-9)
    assert_allclose(load(tmp_path / "m").predict(df.drop(columns="price")), predicted, rtol=1e-9)


def test_a_frame_a_stream_and_the_command_line_give_the_same_model(tmp_path):
    df = frame()
    df.loc[::7, "age"] = np.nan
    file = write(tmp_path / "t.csv", df)
    good("fit", file, "--target", "price", "-o", tmp_path / "m", "-q")
    command, stream = load(tmp_path / "m"), SieveRegressor().fit(read(file, target="price"))
    in_memory = SieveRegressor().fit(df.drop(columns="price"), df["price"])
    names = command.get_feature_names_out().tolist()
    assert "city=Rome" in names
    for model in (stream, in_memory):
        assert model.get_feature_names_out().tolist() == names
        assert_allclose(model.coef_, command.coef_, rtol=1e-9)
    assert in_memory.feature_names_in_.tolist() == ["size", "age", "city"]


# ---------------------------------------------------------------- wrong answers, put right


def test_what_arrow_streams_is_read_block_by_block_and_named_where_a_frame_is_expected():
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow (extra io)")
    data = pa.Table.from_pandas(frame(), preserve_index=False)

    class Relation:  # as DuckDB's, which can be asked for its rows again
        def __arrow_c_stream__(self, requested_schema=None):
            return data.to_reader(max_chunksize=90).__arrow_c_stream__(requested_schema)

    model = SieveRegressor().fit(read(Relation(), target="price"))
    assert "size" in model.get_feature_names_out()
    with pytest.raises(TypeError, match=r"X is a Relation, .*pass read\(X, target=...\) to fit"):
        SieveRegressor().fit(Relation(), frame()["price"])


def test_units_do_not_decide_what_is_strongest(tmp_path):
    df = frame()
    rows = table(good("select", write(tmp_path / "a.csv", df), "--target", "price", "-k", 2))
    df["size"] *= 1e6
    scaled = table(good("select", write(tmp_path / "b.csv", df), "--target", "price", "-k", 2))
    assert [row["feature"] for row in rows] == [row["feature"] for row in scaled]
    assert rows[0]["feature"] == "size"
    # folds follow from what rows hold, and the ridge from the folds
    assert_allclose(float(rows[0]["effect"]), float(scaled[0]["effect"]), rtol=0.01)
    assert float(rows[0]["weight"]) > 1e5 * float(scaled[0]["weight"])


def test_errors_of_categories_are_those_of_least_squares_and_columns_are_tested_whole(tmp_path):
    df = frame()
    done = good(
        "select", write(tmp_path / "t.csv", df), "--target", "price", "--method", "olsth", "--json", "-q"
    )
    rows = {row["feature"]: row for row in json.loads(done.stdout)["rows"]}
    X = np.column_stack(
        [np.ones(N), df["size"], df["age"], df["city"] == "Rome", df["city"] == "Lima"]
    ).astype(float)
    y = df["price"].to_numpy()
    names = ["size", "age", "city=Rome", "city=Lima"]
    used = [0, *(1 + names.index(name) for name in names if name in rows)]
    X = X[:, used]
    b, rss, *_ = np.linalg.lstsq(X, y)
    V = np.linalg.inv(X.T @ X) * rss[0] / (N - X.shape[1])
    for place, name in enumerate([name for name in names if name in rows], 1):
        assert_allclose(rows[name]["weight"], b[place], rtol=1e-6)
        assert_allclose(rows[name]["stderr"], V[place, place] ** 0.5, rtol=1e-3)
    if {"city=Rome", "city=Lima"} <= rows.keys():
        at = [1 + [n for n in names if n in rows].index(name) for name in ("city=Rome", "city=Lima")]
        F = b[at] @ np.linalg.solve(V[np.ix_(at, at)], b[at]) / 2
        assert_allclose(rows["city=Rome"]["column F"], F, rtol=1e-3)


def test_a_path_begins_with_the_best_single_feature(tmp_path):
    df = frame()
    rows = table(good("path", write(tmp_path / "t.csv", df), "--target", "price", "-q"))
    best = max(np.corrcoef(df[name], df["price"])[0, 1] ** 2 for name in ("size", "age"))
    assert float(rows[1]["r2"]) >= best - 1e-6


def test_what_is_odd_about_a_target_is_said(tmp_path):
    df = frame()
    df.loc[3, "price"] = 99_999_999_999
    with pytest.warns(UserWarning, match="One target, 99,999,999,999, alone decides the model"):
        good("select", write(tmp_path / "t.csv", df), "--target", "price")
    df["price"] = np.random.default_rng(0).normal(size=N)
    assert (
        "No feature was selected" in good("select", write(tmp_path / "t.csv", df), "--target", "price").stderr
    )
    df.loc[:99, "price"] = 7.0
    words = ("select", write(tmp_path / "t.csv", df), "--target", "price", "--limit", 80)
    assert "The first 80 targets are all 7" in good(*words).stderr
    df["price"] = np.where(np.arange(N) < 200, "no", "yes")
    assert "sorted by label" in good("evaluate", write(tmp_path / "t.csv", df), "--target", "price").stderr


def test_the_quality_of_a_model_is_always_said_beside_a_constant(tmp_path):
    file = write(tmp_path / "t.csv", frame())
    for verb in (("select",), ("fit", "-o", tmp_path / "m")):
        done = good(verb[0], file, "--target", "price", *verb[1:])
        assert "On 80 held-out rows, by a model of the other 320 rows: R2 0.9" in done.stderr
    done = good("select", file, "--target", "price", "--hold-out", 4, "--json")
    result = json.loads(done.stdout)
    assert (result["test_rows"], result["rows_learned"]) == (100, 300)
    assert result["test_rmse"] < result["test_baseline_rmse"]
    assert "held out" not in good("select", file, "--target", "price", "--hold-out", 0).stderr
    again = good("select", file, "--target", "price", "--passes", 3).stderr  # no row is learned and held out
    assert "On 80 held-out rows, by a model of the other 320 rows" in again


@pytest.mark.parametrize("verb", ["select", "fit"])
def test_the_quality_of_a_model_of_a_sorted_table_is_that_of_all_its_parts(verb, tmp_path):
    rng, share = np.random.default_rng(0), np.repeat([0.02, 0.38], 15_000)
    df = pd.DataFrame(
        {"x": rng.normal(size=30_000).round(3), "y": np.where(rng.random(30_000) < share, "yes", "no")}
    )
    words = (verb, write(tmp_path / "t.csv", df), "--target", "y", "-k", 1, "--json")
    words += ("-o", tmp_path / "m", "--report", tmp_path / "r.html") if verb == "fit" else ()
    done = good(*words)
    assert json.loads(done.stdout)["test_baseline_accuracy"] == pytest.approx(0.8, abs=0.02)
    assert "held-out rows" in done.stderr
    done = good(*words, "--limit", 28_000)  # of these, only the first are measured, and a note says so
    assert json.loads(done.stdout)["test_baseline_accuracy"] > 0.97
    assert "of the first 1" in done.stderr
    assert verb == "select" or "--hold-out 10" in (tmp_path / "r.html").read_text()


def test_options_that_the_default_method_lacks_switch_it_and_names_are_checked_first(tmp_path):
    file = write(tmp_path / "t.csv", frame())
    words = (file, "--target", "price")
    for option in (("--half-life", 200), ("--se", "folds")):
        assert "Method: olsth" in good("select", *words, *option).stderr
    assert "Method: sieve" in good("select", *words, "--keep", "age").stderr
    done = run("select", *words, "--keep", "aeg")
    assert done.exit_code == 2
    assert "--keep aeg" in done.stderr
    assert "100%" not in done.stderr  # no row was learned


# ---------------------------------------------------------------- ten tables

TARGETS = {
    "adult": "salary", "avocado": "AveragePrice", "bank-full": "y", "diamonds": "price",
    "houseprices": "SalePrice", "spam": "v1", "taxis": "tip", "telco": "Churn", "titanic_raw": "survived",
    "winered": "quality",
}  # fmt: skip
LEFT = {
    "adult": {"column 1"}, "avocado": {"column 1"}, "houseprices": {"Id"}, "spam": {"column 5"},
    "telco": {"customerID"}, "titanic_raw": {"ticket"},
}  # fmt: skip


@pytest.mark.skipif(FOUND is None, reason="the ten tables are not in ../shared/tables")
@pytest.mark.parametrize("name", TARGETS)
def test_real_tables_are_learned_with_their_target_alone(tmp_path, name):
    file, model = FOUND / f"{name}.csv", tmp_path / "m"
    done = good("fit", file, "--target", TARGETS[name], "-o", model, "--json")
    result = json.loads(done.stdout)
    assert result["selected"] > 0
    better = "test_accuracy" if result["task"] == "classification" else "test_r2"
    assert result[better] >= result.get("test_baseline_accuracy", 0.0)
    schema = load(model).schema_
    left = {column.name for column in schema.columns if column.kind in ("identifier", "index", "empty")}
    assert LEFT.get(name, set()) <= left | {c.name for c in schema.columns if c.kind == "constant"}
    predicted = good("predict", model, file, "--limit", 500, "-q").stdout.split("\n")
    assert len(predicted) == 502
    assert "nan" not in predicted
