"""Streams: what is read equals plain Python's reading, whatever the threads, chunks and interruptions."""

import csv
import io
import json
import struct
import subprocess
import sys
import threading
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from reference import streams as slow
from stream_data import OPTIONS, TABLES, N, assert_same_blocks, frame, made_csv, rows_of, small, write_sources
from streamsieve import OFSARegressor, SGDClassifier, read
from streamsieve.sources import BadData
from streamsieve.sources import inputs as read_module


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("streams")


@pytest.fixture(scope="module")
def sources(folder):
    return write_sources(folder)


# ---------------------------------------------------------------- numbers


def spelled():
    """Numbers as people and programs write them, and the hard ones: long, halfway between two doubles."""
    digits = st.text("0123456789", min_size=1, max_size=25)
    plain = st.builds(
        lambda sign, a, b, e: f"{sign}{a}{b}{e}",
        st.sampled_from(["", "-", "+"]),
        digits,
        st.one_of(st.just(""), digits.map(lambda d: "." + d), st.just(".")),
        st.one_of(
            st.just(""),
            st.integers(-400, 290).map(lambda e: f"e{e}"),
            st.integers(0, 20).map(lambda e: f"E+{e}"),
        ),
    )
    finite = st.floats(allow_nan=False, allow_infinity=False)
    halfway = st.floats(1e-18, 1e20).map(
        lambda x: format((Decimal(x) + Decimal(np.nextafter(x, np.inf))) / 2, "f")
    )
    return st.one_of(
        plain,
        finite.map(repr),
        finite.map(lambda x: f"{x:.17g}"),
        st.floats(-10, 10).map(lambda x: f"{x:.16g}"),
        st.floats(-0.01, 0.01).map(lambda x: f"{x:.19f}"),
        halfway,
    )


@given(texts=st.lists(spelled(), min_size=1, max_size=40))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_equal_python_floats_to_the_last_bit(folder, texts):
    texts = [text for text in texts if abs(float(text)) < np.inf] or ["0"]
    (folder / "n.svm").write_text("".join(f"{text} 1:{text}\n" for text in texts))
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{text},{text}\n" for text in texts))
    bits = [struct.pack("d", float(text)) for text in texts]
    (X, y, _), _ = rows_of(folder / "n.svm")
    assert [struct.pack("d", v) for v in y] == bits
    assert [struct.pack("d", v) for v in X.data] == bits
    (folder / "n.svm").write_text("0 " + " ".join(f"{j}:{text}" for j, text in enumerate(texts, 1)) + "\n")
    (X, _, _), _ = rows_of(folder / "n.svm")
    assert [struct.pack("d", v) for v in X.data] == bits
    (X, y, _), _ = rows_of(folder / "n.csv", target="y", columns=["x"])
    assert [struct.pack("d", v) for v in X[:, 0]] == bits == [struct.pack("d", v) for v in y]


@pytest.mark.parametrize("text", ["1e999", "-1e400", "9" * 400, "1" + "0" * 309 + ".0"])
def test_what_python_reads_as_infinite_is_refused(folder, text):
    assert np.isinf(float(text))
    (folder / "inf.svm").write_text(f"1 1:{text}\n")
    with pytest.raises(BadData, match="infinite or too large"):
        list(read(folder / "inf.svm"))


# ---------------------------------------------------------------- svmlight


@given(seed=st.integers(0, 1000), zero_based=st.booleans(), block_size=st.integers(1, 60))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_svmlight_reads_what_scikit_learn_writes(folder, seed, zero_based, block_size):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((50, 30)) < 0.2, rng.normal(size=(50, 30)), 0)
    X[0, 29] = 1.0
    y = rng.integers(-1, 2, 50)
    file = str(folder / "s.svm")
    dump_svmlight_file(X, y, file, zero_based=zero_based)
    theirs, labels = load_svmlight_file(file, n_features=30, zero_based=zero_based)
    (ours, targets, weight), stream = rows_of(file, zero_based=zero_based, block_size=block_size)
    assert_array_equal(ours.toarray(), theirs.toarray())
    assert_array_equal(targets, labels)
    assert weight is None
    assert stream.rows_read == 50
    assert stream.bytes_read == stream.bytes_total


TOKENS = st.sampled_from(
    ["1", "-1", "2.5", "nan", "inf", "1,2", "abc", "1:2", "2:3", "3:0.5", "2:1e3", "7:NA", "9:nan", "0:1",
     "10:x", ":5", "4:", "2147483647:1", "2147483648:2", "-1:2", "1:+.5", "qid:3", "qid:x", "#", "5:1#c",
     "99999999999999999999:1", "6:1e400", "8:1:1", "3:1_0", "\x00", "\xe9", "00012:1"]
)  # fmt: skip
LINE = st.lists(TOKENS, max_size=6).map(" ".join)
TEXT = st.lists(st.one_of(LINE, LINE.map(lambda line: "1 " + line)), max_size=12)


@given(
    lines=TEXT,
    end=st.sampled_from(["\n", "\r\n"]),
    skip=st.booleans(),
    zero_based=st.booleans(),
    missing=st.sampled_from(["error", "keep", "zero"]),
    threads=st.integers(1, 4),
    chunk=st.integers(16, 64),
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_svmlight_equals_its_slow_twin(folder, lines, end, skip, zero_based, missing, threads, chunk):
    text = end.join(lines)
    (folder / "t.svm").write_bytes(text.encode("latin-1"))
    rows, bad, stopped = slow.svmlight(text, skip, zero_based=zero_based, missing=missing)
    rules = dict(
        format="svmlight", zero_based=zero_based, missing=missing, on_bad_row=("error", "skip")[skip]
    )
    stream = small(folder / "t.svm", chunk, **rules, block_size=1, n_jobs=threads)
    found = []
    try:
        for X, y, _ in stream:
            found += [(y.item(), list(zip(X.indices.tolist(), X.data.tolist())))]
        refused = False
    except BadData:
        refused = True
    assert refused == (stopped or not rows)  # a file without a row is refused too
    assert repr(found) == repr(rows)
    assert stream.rows_bad == bad


# ---------------------------------------------------------------- CSV

CELL = st.one_of(
    st.sampled_from(
        ["", "NA", "null", "red", "blue", 'a "b"', "x,y", "two\nlines", "é", " pad ", "3rd", '""', "1 2"]
    ),
    st.floats(-1e300, 1e300).map(repr),  # so that their sum is a number
)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    cells = [draw(st.sampled_from([st.integers(-9, 9).map(str), CELL])) for _ in range(width)]
    target = draw(st.sampled_from([st.integers(0, 3).map(str), st.sampled_from(["yes", "no", "a,b"])]))
    rows = draw(st.lists(st.tuples(*cells, target), min_size=1, max_size=25))
    kinds = {f"c{j}": draw(st.sampled_from(["number", "category"])) for j in range(width)}
    return [*kinds, "y"], rows, kinds


@given(
    table=tables(),
    delimiter=st.sampled_from([",", "\t", ";"]),
    end=st.sampled_from(["\n", "\r\n"]),
    quote=st.booleans(),
    missing=st.sampled_from(["keep", "zero", "mean"]),
    threads=st.integers(1, 4),
    block_size=st.integers(1, 30),
)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_csv_equals_its_slow_twin(folder, table, delimiter, end, quote, missing, threads, block_size):
    header, rows, kinds = table
    out = io.StringIO()
    style = csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=style)
    writer.writerows([header, *rows])
    (folder / "t.csv").write_bytes(out.getvalue().encode())
    names, X, y = slow.csv_rows(out.getvalue(), "y", kinds, missing, delimiter)
    options = dict(
        target="y", delimiter=delimiter, missing=missing, n_jobs=threads, block_size=block_size,
        numeric=[name for name in kinds if kinds[name] == "number"],
        categorical=[name for name in kinds if kinds[name] == "category"],
    )  # fmt: skip
    if not names:
        with pytest.raises(BadData, match="no column is left as a feature"):
            list(read(folder / "t.csv", **options))
        return
    (ours, targets, _), stream = rows_of(folder / "t.csv", **options)
    assert stream.feature_names == names
    ours = ours.toarray() if sp.issparse(ours) else ours
    # the sum of the known numbers is rounded in another order
    assert_allclose(ours, np.array(X).reshape(len(rows), len(names)), rtol=1e-13 if missing == "mean" else 0)
    assert targets.tolist() == y


def test_threads_and_chunks_do_not_matter(folder):
    options = dict(target="y", weight="w", missing="keep", block_size=700)
    file = made_csv(folder)
    first = read(file, n_jobs=1, **options)
    whole, names = list(first), first.feature_names
    frequent = {"colour=red", "colour=sea\nblue", 'colour=the "old" one', "colour=missing"}
    assert {"a", "b"} < set(names)
    assert len(frequent & set(names)) == 3  # the fourth is what they are compared with
    for threads, chunk in ((1, 200), (2, 1000), (3, 50_000), (4, 1 << 22)):
        stream = small(file, chunk, n_jobs=threads, **options)
        assert_same_blocks(list(stream), whole)
        assert stream.feature_names == names


def test_quoted_newlines_do_not_cut_a_row(folder):
    (folder / "q.csv").write_text('x,y\n1,"a\nb"\n2,"c\r\nd""\n"\n3,e\n')
    (X, y, _), _ = rows_of(folder / "q.csv", target="y", n_jobs=3)
    assert X.ravel().tolist() == [1, 2, 3]
    assert y.tolist() == ["a\nb", 'c\r\nd"\n', "e"]


# ---------------------------------------------------------------- every source


@pytest.mark.parametrize("kind", TABLES)
def test_tables_read_the_same_from_everywhere(sources, kind):
    source, options = sources[kind]
    (X, y, w), stream = rows_of(source, **options)
    df = frame()
    first = 0 if kind == "dicts" else 1  # they have no schema, and so nothing to compare with
    expected = df[["a", "b"]].assign(**{f"c=v{k}": (df["c"] == f"v{k}") * 1.0 for k in range(first, 5)})
    at = [stream.feature_names.index(name) for name in expected.columns]
    assert len(at) == stream.n_features
    assert_array_equal(X.toarray()[:, at], expected.to_numpy())
    assert_array_equal(y, df["y"])
    assert_array_equal(w, df["w"])


@pytest.mark.parametrize("kind", ["d.npy", "d.npz", "sparse.npz", "d.svm", "d.svm.gz"])
def test_arrays_read_what_was_written(sources, folder, kind):
    source, options = sources[kind]
    (X, y, w), stream = rows_of(source, **options)
    df = frame()
    if kind.startswith("d.n"):
        assert_array_equal(X, df[["a", "b"]])
        assert_array_equal(y, df["y"] if kind == "d.npy" else df["c"].to_numpy(str))
        assert_array_equal(w, df["w"])
    else:
        written = sp.load_npz(folder / "sparse.npz")
        if kind != "sparse.npz":  # 16 digits are written
            written = load_svmlight_file(str(folder / "d.svm"), n_features=40)[0]
        assert_array_equal(X.toarray(), written.toarray())
        assert y is None if kind == "sparse.npz" else (y == df["y"]).all()
    assert stream.feature_names is None


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("shuffle", [0, 1000])
def test_going_on_from_a_position_equals_an_uninterrupted_run(sources, kind, shuffle, monkeypatch):
    monkeypatch.setattr(read_module, "_CHUNK", 30_000)  # several chunks in a pass
    source, options = sources[kind]
    options = dict(
        options, block_size=370, passes=2, shuffle_buffer=shuffle, hold_out=4, skip=11, random_state=3
    )
    stream = read(source, **options)
    positions, blocks = [stream.position()], []
    for block in stream:
        blocks.append(block)
        positions.append(json.loads(json.dumps(stream.position())))
    assert len(blocks) > 20
    for at in (0, 1, 7, len(blocks) // 2, len(blocks) // 2 + 1, len(blocks) - 1, len(blocks)):
        again = read(source, **options)
        again.seek(positions[at])
        assert {**again.position(), "reader": 0} == {**positions[at], "reader": 0}
        assert_same_blocks(list(again), blocks[at:])
        assert (again.rows_read, again.n_features) == (stream.rows_read, stream.n_features)
        assert again.feature_names == stream.feature_names


@pytest.mark.usefixtures("sources")
def test_a_position_of_a_file_changed_in_place_is_refused(folder):
    file = folder / "rows.svm"
    file.write_text("1 1:2\n-1 2:3\n")
    stream = read(file)
    next(iter(stream))
    position = stream.position()
    file.write_text("1 1:2\n-1 2:4\n")
    with pytest.raises(ValueError, match=r"another stream: rows\.svm has changed since"):
        read(file).seek(position)


def test_a_position_of_another_source_is_refused(folder, sources):  # noqa: ARG001
    stream = read(folder / "d.csv", target="y")
    next(iter(stream))
    position = stream.position()
    for other in (
        read(folder / "d.csv", target="a"),
        read(folder / "part0.csv", target="y"),
        read(folder / "d.csv", target="y", shuffle_buffer=5),
    ):
        with pytest.raises(
            ValueError, match=r"from another stream: (its (target|shuffle_buffer) was|it was of d.csv)"
        ):
            other.seek(position)
    with pytest.raises(ValueError, match="version 7, expected 1"):
        stream.seek({**position, "version": 7})


@pytest.mark.usefixtures("sources")
def test_a_learner_that_goes_on_has_the_same_model(folder):
    def learn(stream, model, blocks=None):
        for number, (X, y, _) in enumerate(stream, 1):
            model.partial_fit(X, y, classes=[0, 1])
            if number == blocks:
                break
        return model

    options = dict(block_size=500, n_features=40, shuffle_buffer=800)
    whole = learn(read(folder / "d.svm", **options), SGDClassifier())
    first = read(folder / "d.svm", **options)
    model = learn(first, SGDClassifier(), blocks=5)
    rest = read(folder / "d.svm", **options)
    rest.seek(json.loads(json.dumps(first.position())))
    assert_array_equal(learn(rest, model).coef_, whole.coef_)


# ---------------------------------------------------------------- which rows, in which order


@given(
    skip=st.integers(0, 7000),
    limit=st.none() | st.integers(0, 7000),
    hold_out=st.sampled_from([0, 2, 3, 50]),
    block_size=st.integers(100, 5000),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("sources")
def test_held_out_rows_are_the_others(folder, skip, limit, hold_out, block_size):
    source, options = folder / "d.npy", OPTIONS["d.npy"]
    rows = np.arange(N)[skip : None if limit is None else skip + limit]
    is_held = rows % hold_out == hold_out - 1 if hold_out else np.zeros(len(rows), bool)
    for held in (False, True) if hold_out else (False,):
        stream = read(
            source, **options, skip=skip, limit=limit, hold_out=hold_out, held=held, block_size=block_size
        )
        found = [np.rint(b.X[:, 0] * 7) for b in stream]
        assert_array_equal(np.concatenate([*found, []]), rows[is_held == held])
        assert all(len(f) == block_size for f in found[:-1])


@pytest.mark.parametrize("buffer", [1, 7, 1000, 10_000])
def test_shuffling_permutes_each_window_anew_each_pass(sources, buffer):
    source, options = sources["d.npy"]
    runs = [
        np.concatenate(
            [np.rint(b.X[:, 0] * 7) for b in read(source, **options, shuffle_buffer=buffer, passes=2, **more)]
        )
        for more in (dict(block_size=64), dict(block_size=999), dict(random_state=1))
    ]
    assert_array_equal(runs[0], runs[1])
    for order in (runs[0][:N], runs[0][N:]):
        for at in range(0, N, buffer):
            assert_array_equal(np.sort(order[at : at + buffer]), np.arange(at, min(N, at + buffer)))
    if buffer > 1:
        assert (runs[0][:N] != runs[0][N:]).any()
        assert (runs[0] != runs[2]).any()


def test_blocks_are_cut_where_they_would_hold_too_much(folder):
    np.save(folder / "wide.npy", np.zeros((700, 5000)))
    assert [len(b.X) for b in read(folder / "wide.npy")] == [209, 209, 209, 73]
    (folder / "wide.svm").write_text(("1 " + " ".join(f"{j}:1" for j in range(1, 30_001)) + "\n") * 80)
    assert [b.X.shape[0] for b in read(folder / "wide.svm")] == [34, 34, 12]
    assert len(list(read(folder / "wide.svm", block_size=10))) == 8


def test_a_stream_can_be_read_again_unless_its_source_cannot(sources):
    stream = read(*sources["d.csv"][:1], target="y")
    assert_same_blocks(list(stream), list(stream))
    once = read(iter(frame().to_dict("records")), target="y")
    assert sum(len(b.y) for b in once) == N
    with pytest.raises(ValueError, match="read only once"):
        iter(once)
    with pytest.raises(ValueError, match="passes=2; this source can be read only once"):
        read(iter([{"y": 1}]), target="y", passes=2)


def test_a_new_iteration_ends_the_one_before(sources):
    stream = read(*sources["d.csv"][:1], target="y", block_size=100)
    first = iter(stream)
    next(first)
    assert sum(len(b.y) for b in stream) == N
    assert next(first, None) is None


def test_a_bad_row_after_the_limit_is_not_read(folder):
    (folder / "late.svm").write_text("1 1:1\n2 1:1\nbad\n")
    assert [b.y.tolist() for b in read(folder / "late.svm", limit=2)] == [[1, 2]]
    with pytest.raises(BadData, match="line 3"):
        list(read(folder / "late.svm", limit=3))


def test_empty_lines_take_no_memory(folder):
    header = ",".join(f"c{j}" for j in range(5000)) + "\n"
    (folder / "blank.csv").write_text(header + "\n" * 3_000_000 + "1," * 4999 + "2\n")
    ((X, y, _), _) = rows_of(folder / "blank.csv", target="c4999")
    assert (X.shape, y.tolist()) == ((1, 4999), [2])


def test_leaving_a_stream_early_ends_its_thread(sources, monkeypatch):
    monkeypatch.setattr(read_module, "_CHUNK", 10_000)
    for _ in read(*sources["d.csv"][:1], target="y", block_size=10):
        break
    assert not [t for t in threading.enumerate() if t.name == "streamsieve-reader"]


@pytest.mark.usefixtures("sources")
def test_standard_input_is_read_and_can_be_resumed(folder):
    code = (
        "import json, sys; from streamsieve import read\n"
        "s = read('-', target='y', block_size=1000); at = json.loads(sys.argv[1])\n"
        "s.seek(at) if at else None\n"
        "for b in s:\n"
        "    print(b.X.shape[0], b.y.sum(), b.X.sum())\n"
        "    if not at: print(json.dumps(s.position())); break\n"
    )

    def run(at, name):
        with open(folder / name, "rb") as file:
            done = subprocess.run(
                [sys.executable, "-c", code, at], stdin=file, capture_output=True, text=True, check=True
            )
        return done.stdout.splitlines()

    blocks = [
        f"{b.X.shape[0]} {b.y.sum()} {b.X.sum()}" for b in read(folder / "d.csv", target="y", block_size=1000)
    ]
    for name in ("d.csv", "d.csv.gz"):
        first, position = run("null", name)
        assert [first, *run(position, name)] == blocks


def test_blocks_feed_a_learner(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = X[:, 3] - 2 * X[:, 11] + 0.1 * rng.normal(size=3000)
    pd.DataFrame(X, columns=[f"x{j}" for j in range(20)]).assign(y=y).to_csv(folder / "l.csv", index=False)
    stream, model = read(folder / "l.csv", target="y"), OFSARegressor(2)
    for block in stream:
        model.partial_fit(block.X, block.y, sample_weight=block.weight)
    assert [stream.feature_names[j] for j in model.get_support(indices=True)] == ["x3", "x11"]


# ---------------------------------------------------------------- categories and missing values


@pytest.mark.parametrize("kind", ["csv", "frame", "dicts"])
def test_categories_are_capped_dropped_or_refused(folder, kind):
    n = 60
    df = pd.DataFrame(
        {"id": [f"u{i % 20}" for i in range(n)], "x": np.arange(n) ** 2 / 7, "y": 1.0 * (np.arange(n) > 9)}
    )
    df.to_csv(folder / "ids.csv", index=False)
    source = {"csv": folder / "ids.csv", "frame": df, "dicts": df.to_dict("records")}[kind]
    if kind == "dicts":
        with pytest.raises(
            BadData, match=r"column 'id': more than 19 different values, the last 'u19'.*\(drop\)"
        ):
            list(read(source, target="y", max_categories=19))
        assert rows_of(source, target="y", max_categories=20)[1].n_features == 21
    else:
        assert rows_of(source, target="y")[1].n_features == 20
        (X, _, _), stream = rows_of(source, target="y", max_categories=5)
        assert stream.feature_names == ["x", "id=u0", "id=u1", "id=u2", "id=u3", "id=u4"]  # than the other 15
        assert (X.toarray()[:, 1:].sum(axis=0) == 3).all()
    for options in (dict(drop=["id"]), dict(categories="drop"), dict(columns=["x"])):
        (X, _, _), stream = rows_of(source, target="y", **options)
        assert stream.feature_names == ["x"]
        assert (X.toarray() if sp.issparse(X) else X).shape == (n, 1)
    with pytest.raises(BadData, match=r"not (a )?number"):
        list(read(source, target="y", categories="error"))


def test_a_column_of_codes_can_be_taken_as_categories(folder):
    (folder / "zip.csv").write_text("zip,y\n08001,1\n3000,2\n08001,3\n")
    (X, _, _), stream = rows_of(folder / "zip.csv", target="y", categorical=["zip"])
    assert stream.feature_names == ["zip=3000"]
    assert X.toarray().tolist() == [[0], [1], [0]]
    assert stream.schema.columns[0].reference == "08001"


@pytest.mark.parametrize("kind", ["csv", "frame", "dicts"])
def test_features_of_a_model_are_found_in_another_source(folder, kind):
    df = pd.DataFrame(
        {"b": [1.0, 2.0], "c": ["new", "red"], "a": [3.0, 0.0], "extra": ["x", "y"], "y": [5.0, 6.0]}
    )
    df.to_csv(folder / "other.csv", index=False)
    source = {"csv": folder / "other.csv", "frame": df, "dicts": df.to_dict("records")}[kind]
    names = ["c=red", "a", "c=blue", "b"]
    (X, y, _), stream = rows_of(source, target="y", feature_names=names)
    assert X.toarray().tolist() == [[0, 3, 0, 1], [1, 0, 0, 2]]
    assert (stream.feature_names, y.tolist()) == (names, [5, 6])
    (X, _, _), _ = rows_of(source, target="y", feature_names=["a", "b"])
    assert (X.toarray() if sp.issparse(X) else X).tolist() == [[3, 1], [0, 2]]
    if kind != "dicts":  # of which any may lack any
        with pytest.raises(BadData, match="no column for the feature 'gone'"):
            list(read(source, target="y", feature_names=["a", "gone"]))


@pytest.mark.parametrize("kind", ["csv", "frame", "dicts", "npy"])
def test_missing_values_as_asked(folder, kind):
    df = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [4.0, 5.0, 6.0], "y": [0.0, 1.0, 0.0]})
    df.to_csv(folder / "miss.csv", index=False)
    np.save(folder / "miss.npy", df.to_numpy())
    source = {
        "csv": folder / "miss.csv",
        "frame": df,
        "dicts": df.to_dict("records"),
        "npy": folder / "miss.npy",
    }[kind]
    target = 2 if kind == "npy" else "y"
    means = () if kind in ("dicts", "npy") else (("mean", 2.0),)
    for missing, value in (("keep", np.nan), ("zero", 0.0), *means):
        (X, _, _), _ = rows_of(source, target=target, missing=missing)
        assert_array_equal(X.toarray() if sp.issparse(X) else X, [[1, 4], [value, 5], [3, 6]])
    for missing in ("error", *(() if means else ("mean",))):
        with pytest.raises(BadData, match="missing value"):
            list(read(source, target=target, missing=missing))
    (X, y, _), stream = rows_of(source, target=target, on_bad_row="skip", missing="error")
    assert (y.tolist(), stream.rows_bad) == ([0, 0], 1)
    bad = df.assign(a=[1.0, 2.0, 3.0], y=[0, np.nan, 1])
    if kind == "frame":
        with pytest.raises(BadData, match="column 'y': row 2 holds a missing value"):
            list(read(bad, target="y", missing="error"))
        (X, y, _), stream = rows_of(bad, target="y")
        assert (y.tolist(), stream.rows_unlabelled) == ([0, 1], 1)
