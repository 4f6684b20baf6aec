"""Tables as spreadsheets and people leave them: read as meant, or refused in one sentence."""

import os
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import streamsieve
from cli_data import good
from streamsieve.sources.bad_data import BadData
from streamsieve.sources.cells import as_days, as_numbers, is_missing
from tests.hostile import written

SPREADSHEET_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A")


@pytest.mark.parametrize(
    ("text", "style", "value"),
    [
        ("\u22125.5", "grouped", -5.5),  # typeset minus
        ("\u20131,234", "grouped", -1234),
        ("(1,234.50)", "grouped", -1234.5),
        ("($5)", "grouped", -5),
        ("-€ 3", "grouped", -3),
        ("1’234’567.5", "grouped", 1234567.5),
        ("1.234,5", "comma", 1234.5),
        ("1.234", "comma", 1234),
        ("0,125", "grouped", np.nan),  # no group of thousands begins with 0
        ("12\u202f000,366", "grouped", np.nan),  # nor are groups parted in two ways
        ("5–10", "grouped", np.nan),  # a range
        ("5–100", "grouped", np.nan),
        ("10²", "grouped", np.nan),
        ("第3", "grouped", np.nan),
        ("½", "grouped", np.nan),
        ("(-5)", "grouped", np.nan),
        ("()", "grouped", np.nan),
    ],
)
def test_numbers_are_read_as_they_are_written(text, style, value):
    assert_array_equal(as_numbers([text], style).x, [value])


def test_errors_of_spreadsheets_are_missing_values():
    assert as_numbers(SPREADSHEET_ERRORS).missing.all()
    assert all(map(is_missing, SPREADSHEET_ERRORS))


@pytest.mark.parametrize("number", range(40))
def test_a_table_reads_the_same_however_it_is_written(number, tmp_path):
    written.run(number, 1, tmp_path)


def rows_of(folder, text, **options):
    file = folder / "table.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    blocks = list(streamsieve.read(file, target="y", **options))
    return np.vstack([block.X for block in blocks]), np.concatenate([block.y for block in blocks])


@pytest.mark.parametrize(
    "before", ["", "sep=,\n", "SEP=,\r\n", "# made by a program\n# today, at noon\n", "\n# a note\n\n"]
)
def test_lines_before_the_header_are_left_out(tmp_path, before):
    X, y = rows_of(tmp_path, before + "a,b,y\n1,2,3\n4,5,6\n")
    assert_array_equal(np.column_stack([X, y]), [[1, 2, 3], [4, 5, 6]])


def test_a_header_that_begins_with_a_hash_is_one(tmp_path):
    X, y = rows_of(tmp_path, "## version 1\n#a,b,y\n1,2,3\n4,5,6\n")
    assert_array_equal(np.column_stack([X, y]), [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1.5,2,3\n4,5,6\n", "if this is a row and not the header, pass header=False"),
        ("a title\na,b,y\n1,2,3\n", "there is no target 'y'"),
        ("a,b,y\n1,2,\n3,4,NA\n", "not a single row to learn: 2 rows without a target left out"),
        (b"PK\x03\x04" + bytes(99), "the zip is truncated or damaged"),
        (b"SQLite format 3\0" + bytes(99), "expected text, found an SQLite database"),
        ('[{"a":1,"y":2},{"a":3,"y":4}]', "found a JSON array; write one object per line"),
    ],
)
def test_what_is_no_table_is_refused_with_advice(tmp_path, text, words):
    with pytest.raises(BadData, match=words):
        rows_of(tmp_path, text)


def test_a_workbook_is_refused_as_one(tmp_path):
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    for options, words in (
        ({}, "unpack it, or save the sheet as CSV"),
        ({"format": "csv"}, "of several files"),
    ):
        with pytest.raises(BadData, match=words):
            next(iter(streamsieve.read(tmp_path / "book.xlsx", target="y", **options)))


@pytest.mark.parametrize("name", ["table.csv.zip", "table.zip"])
def test_a_zip_archive_of_one_table_is_read(name, tmp_path):
    rng = np.random.default_rng(0)
    text = "a,b,y\n" + "".join(f"{a},{b},{a - b}\n" for a, b in rng.normal(size=(80_000, 2)))
    assert len(text) > 4 << 20  # more than is inspected
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("data/table.csv", text)
        pack.writestr("__MACOSX/data/._table.csv", "of a Mac")
    stream = streamsieve.read(tmp_path / name, target="y", block_size=10_000)
    blocks = iter(stream)
    X = [next(blocks).X, next(blocks).X]
    position = stream.position()
    X += [block.X for block in blocks]
    file = tmp_path / "table.csv"
    file.write_text(text)
    assert_array_equal(np.vstack(X), np.vstack([block.X for block in streamsieve.read(file, target="y")]))
    again = streamsieve.read(tmp_path / name, target="y", block_size=10_000)
    again.seek(position)
    assert_array_equal(np.vstack([block.X for block in again]), np.vstack(X[2:]))


def test_a_zip_archive_in_a_pipe_is_refused(tmp_path, monkeypatch):
    """Its list of contents is at its end; the error was that the zip is damaged after 0 bytes."""
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as pack:
        pack.writestr("t.csv", "a,y\n1,2\n")
    end, begin = os.pipe()
    os.write(begin, (tmp_path / "t.zip").read_bytes())
    os.close(begin)
    with open(end, encoding="utf-8") as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        with pytest.raises(ValueError, match="cannot be read from a pipe; pass the file"):
            next(iter(streamsieve.read("-", target="y", format="csv")))


def kinds_of(frame):
    stream = streamsieve.read(frame, target="y")
    next(iter(stream))
    return {column.name: column.kind for column in stream.schema.columns}


def test_numbers_with_signs_between_them_are_not_text():
    order = [f"2015-{i // 2:06d}" for i in range(300)]
    frame = pd.DataFrame({"order": order, "x": np.arange(300) % 7, "y": np.arange(300) % 5 + 0.5})
    assert kinds_of(frame)["order"] == "identifier"


def test_years_in_order_are_a_feature_and_row_numbers_are_not():
    names = {"Year": 1900, "time": -6000, "n": 1, "from0": 0, "visit_id": 500}
    frame = pd.DataFrame({name: np.arange(100) + start for name, start in names.items()})
    shuffled = {"rownames": np.random.default_rng(0).permutation(1000)[:100]}
    frame = frame.assign(**shuffled, y=np.arange(100) % 7 + 0.5)
    found = kinds_of(frame)
    assert found["Year"] == "number"
    assert {found[name] for name in ("n", "from0", "visit_id", "rownames")} == {"identifier"}


def test_a_new_word_among_numbers_is_refused_with_advice():
    x = np.arange(60) % 7
    model = streamsieve.SieveRegressor().fit(pd.DataFrame({"x": x.astype(str), "z": x[::-1]}), x + 0.5)
    with pytest.raises(BadData, match="1 word so far; replace it by a number or a missing value"):
        model.predict(pd.DataFrame({"x": ["rotary"], "z": [1]}))


def test_a_second_column_with_the_name_of_the_target_is_noted(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("y,a,y\n" + "".join(f"{i},{i % 7},{i % 5}\n" for i in range(30)))
    stream = streamsieve.read(file, target="y")
    next(iter(stream))
    assert "two columns are called 'y'" in str(stream.schema)


def test_weights_beside_a_column_of_targets_are_a_column():
    import pandas as pd

    table = pd.DataFrame({"a": np.arange(30.0) % 7, "y": np.arange(30.0)})
    for verb in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="sample_weight is of type ndarray, expected the name of one"):
            getattr(streamsieve.SGDRegressor(), verb)(table, "y", np.ones(30))
    with pytest.raises(ValueError, match="cluster is of type ndarray, expected None"):
        streamsieve.OLSthRegressor(1, se="folds").fit(table, "y", cluster=np.arange(30))


def test_a_long_cell_before_a_word_among_numbers_is_no_error_of_its_own(tmp_path):
    rows = "".join(
        f"{'x' * 200_000 if i == 3 else 'z'},{'word' if i % 15 == 9 else i},{i}\n" for i in range(60)
    )
    with pytest.raises(BadData, match="'word' is not a number, as 56 of the 60 cells of its column are"):
        rows_of(tmp_path, "t,a,y\n" + rows)


@pytest.mark.slow
def test_the_command_line_prints_warnings_as_sentences(tmp_path):
    file, model = tmp_path / "table.csv", tmp_path / "m"
    rows = "".join(f"{i % 7},{i % 11},{i % 5}\n" for i in range(400))
    file.write_text("a,b,y\n" + rows + "1e12,3,1\n" + rows)
    words = ["fit", file, "--target", "y", "--task", "regression", "--method", "tsgd", "-k", "1", "-o", model]
    done = subprocess.run(
        [sys.executable, "-m", "streamsieve", *words], capture_output=True, text=True, check=True
    )
    assert "Warning: 1 value of X will not be learned" in done.stderr
    assert "UserWarning" not in done.stderr
    assert ".py:" not in done.stderr


@pytest.mark.filterwarnings("error")
def test_time_zones_are_left_out_whatever_the_other_cells_are():
    """NumPy warned of them and converted to UTC, but only if no cell had another format."""
    noon = [f"2020-01-01T12:00{zone}" for zone in (":00+02:00", ":00Z", "", " UTC", " GMT")]
    for cell in noon:
        assert as_days([cell], "year-month-day").tolist() == [18262.5]
    assert as_days([*noon, "?"], "year-month-day")[:5].tolist() == [18262.5] * 5


def test_a_column_read_as_words_says_how_many_of_its_cells_are_numbers(tmp_path):
    """'<0.1' in every ninth cell made a column of numbers one of rare words, without a word."""
    rng = np.random.default_rng(0)
    x = rng.normal(5, 1, 200).round(3)
    cells = [("<0.1" if i % 9 == 0 else str(v), str(v)) for i, v in enumerate(x)]
    file = tmp_path / "a.csv"
    file.write_text("level,y\n" + "\n".join(",".join(row) for row in cells) + "\n")
    stream = streamsieve.read(file, target="y")
    next(iter(stream))
    told = str(stream.schema)
    assert "'level' is read as words: 177 of 200 cells are numbers, others like '<0.1'" in told


def schema_of(frame, **options):
    stream = streamsieve.read(frame, target="y", **options)
    next(iter(stream))
    return stream.schema


def test_the_delimiter_is_the_one_that_the_header_has_too(tmp_path):
    """Rows of 1;1,68 are two cells by the comma as well; a whole number has none."""
    rows = "".join(f"{i % 7};{i % 5},{i}\n" for i in range(40))
    X, y = rows_of(tmp_path, "a;y\n" + rows)
    assert X.shape == (40, 1)
    assert y[12] == 2.12


def test_a_name_may_be_given_with_the_blanks_that_its_header_has(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("a, b, y\n1,2,3\n4,5,6\n")
    assert [block.y.tolist() for block in streamsieve.read(file, target=" y", drop=[" b"])] == [[3, 6]]


def test_times_that_count_from_one_are_features():
    times, others = ("t", "Time", "day_of_year", "Week"), ("patient", "weekly_id", "timer")
    for name in (*times, *others):
        frame = pd.DataFrame(
            {name: np.arange(100) + 1, "x": np.arange(100) % 3, "y": np.arange(100) % 7 + 0.5}
        )
        assert kinds_of(frame)[name] == ("number" if name in times else "identifier")


def test_an_identifier_with_a_few_letters_is_left_out_and_not_refused():
    number = [str(i) if i % 20 else f"{i}A" for i in range(1, 101)]
    frame = pd.DataFrame({"ID": number, "x": np.arange(100) % 7, "y": np.arange(100) % 5 + 0.5})
    assert kinds_of(frame)["ID"] == "identifier"
    with pytest.raises(BadData, match="'20A' is not a number"):
        kinds_of(frame.rename(columns={"ID": "dose"}))


@pytest.mark.parametrize("kind", ["file", "frame"])
def test_infinite_numbers_are_refused_with_advice(kind, tmp_path):
    frame = pd.DataFrame({"end": [1.5, 2.5, np.inf], "y": [1, 2, 3]})
    with pytest.raises(BadData, match=r"leave the column out \(drop\), or pass on_bad_row='skip'"):
        rows_of(tmp_path, frame.to_csv(index=False)) if kind == "file" else schema_of(frame)


def test_a_missing_date_is_a_category():
    """The date of a death is missing for the living."""
    days = pd.Series(pd.date_range("2020-01-01", periods=200)).where(np.arange(200) % 3 > 0)
    frame = pd.DataFrame({"left": days.astype(str).replace("NaT", ""), "x": np.arange(200) % 7})
    frame["y"] = 2.0 * days.isna() + frame.x
    schema = schema_of(frame)
    assert "left=missing" in schema.feature_names
    assert "missing dates are a separate category" in str(schema)
    model = streamsieve.SieveRegressor().fit(frame[["left", "x"]], frame.y)
    assert model.score(frame[["left", "x"]], frame.y) > 0.999


def test_rare_values_are_counted_in_whole_rows():
    words = np.where(np.arange(602) < 6, "b", "a")
    schema = schema_of(pd.DataFrame({"c": words, "x": np.arange(602) % 7, "y": np.arange(602) % 5 + 0.5}))
    assert "c (2 values, all but one in fewer than 7 rows)" in str(schema)


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["1939 Jan", "1970-Feb", "2020 December"], [-11323, 31, 18597]),
        (["1992 W01", "2020-W53", "1970W2"], [8033, 18624, 4]),
    ],
)
def test_months_and_weeks_after_their_year_are_dates(cells, days):
    found = {name: as_days(cells, name).tolist() for name in ("year month", "year week")}
    assert days in found.values()
    assert np.isnan(as_days(["2019 W53"], "year week")).all()  # that year has 52
    table = pd.DataFrame({"at": cells * 10, "x": np.arange(30) % 7, "y": np.arange(30) % 4 + 0.5})
    assert kinds_of(table)["at"] == "date"


def test_a_few_codes_most_of_which_are_numbers_are_words():
    quarter = ["1OT" if i % 30 == 7 else str(i % 4 + 1) for i in range(120)]
    frame = pd.DataFrame({"quarter": quarter, "x": np.arange(120) % 7, "y": np.arange(120) % 5 + 0.5})
    schema = schema_of(frame)
    assert "quarter=1OT" in schema.feature_names
    assert "'quarter' is read as words: 116 of 120 cells are numbers, others like '1OT'" in str(schema)
    frame["quarter"] = [cell if cell == "1OT" else str(i // 5) for i, cell in enumerate(quarter)]
    with pytest.raises(BadData, match="'1OT' is not a number"):  # these are 24 values
        schema_of(frame)


def test_codes_of_rows_are_left_out():
    code = np.random.default_rng(0).permutation(10_000)[:100]
    frame = pd.DataFrame({"zip_code": code, "decode": code[::-1] ** 2, "y": np.arange(100) % 7 + 0.5})
    assert kinds_of(frame) == {"zip_code": "identifier", "decode": "number", "y": "target"}


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "c": rng.choice(["u", "v", "w"], 300)})
    frame["y"] = 2 * frame.a + (frame.c == "u")
    frame.to_csv(folder / "rows.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("method", "how"),
    [("sieve", "values far outside were clipped"), ("olsth", "their predictions are extrapolations")],
)
def test_predictions_say_what_the_model_does_not_know(training, method, how):
    model, table = training / f"{method}.model", training / "new.csv"
    good("fit", training / "rows.csv", "--target", "y", "--method", method, "-k", 3, "-o", model)
    table.write_text("a,c\n0,u\n1e9,v\n.5,new\n.5,new\nword,w\n")
    done = good("predict", model, table)
    assert len(done.stdout.splitlines()) == 6
    assert (
        "1 of 5 rows lie outside the range of the training rows in a selected feature: " + how in done.stderr
    )
    assert "--check marks them" in done.stderr
    assert "2 rows with values of c that the model does not know, such as 'new'" in done.stderr
    assert "Words among numbers, read as missing: a (1)." in done.stderr
    assert "marks" not in good("predict", model, table, "--check").stderr
    assert good("predict", model, table, "--quiet").stderr == ""
    clean = good("predict", model, training / "rows.csv").stderr
    assert "outside" not in clean
    assert "know" not in clean


def test_unknown_values_are_those_without_a_category():
    """The rare ones are 'other', if there are enough of them, and so are unknown ones."""
    words = ["a"] * 150 + ["b"] * 100 + [f"rare{i}" for i in range(50)]
    schema = schema_of(pd.DataFrame({"c": words, "y": np.arange(300) % 7 + 0.5}))
    stream = streamsieve.read(pd.DataFrame({"c": ["a", "new"], "y": [1, 2]}), schema=schema, target="y")
    next(iter(stream))
    assert stream.unknown_values == {}
