"""Files that are damaged, mutated or changed meanwhile, and calls that are wrong: named, never misread."""

import bz2
import gzip
import io
import os
import shutil
import tracemalloc
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from stream_data import OPTIONS, frame, rows_of, write_sources
from streamsieve import read
from streamsieve.persist import is_checkpoint
from streamsieve.sources import BadData, files
from streamsieve.sources import inputs as read_module
from streamsieve.sources.readers import frames as frames_reader
from streamsieve.sources.readers import text as text_reader


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("streams")


@pytest.fixture(scope="module")
def sources(folder):
    return write_sources(folder)


# ---------------------------------------------------------------- bad data

BAD_SVMLIGHT = {
    "1 3:x": (5, "'x' is not a number"),
    "one 3:1": (1, "the label 'one' is not a number"),
    "1,2 3:1": (1, "several labels, '1,2'"),
    "1 0:3": (3, "index 0, but indices count from one; pass zero_based=True"),
    "1 5:1 x:3": (7, "expected index:value, found 'x:3'"),
    "1 2147483648:1": (3, "the index in '2147483648:1' is beyond 2,147,483,647"),
    "1 3:1 3:2": (1, "an index occurs twice"),
    "1 3:nan": (5, "a missing value, 'nan'"),
    "1 3:-inf": (5, "'-inf' is infinite"),
    "1 3:1 4:": (9, "'' is not a number"),
    "1 3:1\x002": (5, r"'1\\x002' is not a number"),
    "nan 3:1": (1, "a missing value, 'nan'"),
}


@pytest.mark.parametrize("line", BAD_SVMLIGHT)
def test_bad_svmlight_is_named(folder, line):
    column, words = BAD_SVMLIGHT[line]
    (folder / "bad.svm").write_text(f"1 1:2\n# note\n\n{line}\n1 1:3\n")
    with pytest.raises(BadData, match=rf"bad\.svm: line 4, column {column}: .*") as caught:
        list(read(folder / "bad.svm", n_jobs=2))
    assert words.replace("\\\\", "\\") in str(caught.value)
    assert (caught.value.line, caught.value.column) == (4, column)
    stream = read(folder / "bad.svm", on_bad_row="skip", n_jobs=2)
    assert [b.X.data.tolist() for b in stream] == [[2, 3]]
    assert stream.rows_bad == 1


BAD_CSV = {
    "1,2": ("b", "fewer cells than the 3 columns"),
    "1,2,3,4": ("y", "continues with '4': more cells than the 3"),
    "1,two,3": ("b", "'two' is not a number, as in the rows before; pass categorical for"),
    "1,,3": ("b", "a missing value, ''"),
    "1,2,NA": ("y", "a missing value, 'NA'"),
    '1,"2"x,3': ("b", "goes on after its closing quote"),
    "1,1e999,3": ("b", "'1e999' is infinite or too large"),
    "1,-inf,3": ("b", "'-inf' is infinite"),
    "1,2\x00,3": ("b", "a NUL byte"),
}


@pytest.mark.parametrize("line", BAD_CSV)
def test_bad_csv_is_named(folder, line):
    column, words = BAD_CSV[line]
    rows = "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(1200))
    (folder / "bad.csv").write_text("a,b,y\n" + rows + line + "\n7,8,9\n")
    with pytest.raises(BadData, match=rf"bad\.csv: line 1202, column '{column}': ") as caught:
        list(read(folder / "bad.csv", target="y", n_jobs=2, missing="error"))
    assert words in str(caught.value)
    stream = read(folder / "bad.csv", target="y", on_bad_row="skip", n_jobs=2, missing="error")
    assert sum(len(b.y) for b in stream) == 1201
    assert stream.rows_bad == 1


@pytest.mark.parametrize("cell", ["0x10", "1_000", "3,5"])
def test_a_misspelt_number_is_no_category(folder, cell):
    rows = [f"{i}.5,{i % 7},{i}" for i in range(60)]
    rows[20] = f'"{cell}",1,2'
    (folder / "x.csv").write_text("a,b,y\n" + "\n".join(rows) + "\n")
    said = f"line 22, column 'a': '{cell}' is not a number, as 59 of the 60 cells of its column are"
    with pytest.raises(BadData, match=said):
        list(read(folder / "x.csv", target="y"))
    with pytest.raises(BadData, match="column 'a'"):  # nor is a label
        list(read(folder / "x.csv", target="a"))
    (block,) = read(folder / "x.csv", target="y", categorical=["a"])
    assert block.X.shape == (60, 60)
    for options in (dict(on_bad_row="skip"), dict(numeric=["a"])):
        stream = read(folder / "x.csv", target="y", **options)
        assert sum(len(block.y) for block in stream) == 60
        assert (stream.feature_names, stream.odd_cells) == (["a", "b"], {"a": 1})
    assert sum(len(block.y) for block in read(folder / "x.csv", target="y", drop=["a"])) == 60


def test_a_file_changed_in_the_middle_is_another_source(folder):
    rows = ["1 1:2"] * 200_000
    file = folder / "long.svm"
    file.write_text("\n".join(rows) + "\n")
    stream = read(file)
    next(iter(stream))
    position, then = stream.position(), file.stat()
    with file.open("r+b") as text:
        text.seek(6 * 100_003 + 4)
        text.write(b"3")
    with pytest.raises(ValueError, match=r"long.svm has been written to since"):
        read(file).seek(position)
    with file.open("r+b") as text:  # and, with its time put back, by the samples
        text.write("\n".join(["1 1:3"] * 150_000).encode())
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))
    with pytest.raises(ValueError, match=r"long.svm has changed since"):
        read(file).seek(position)


def touched_file(folder):
    """A file, a position in it, and what changes a byte between the samples and puts its time back."""
    file = folder / "long.svm"
    file.write_text("1 1:2\n" * 200_000)
    stream = read(file)
    next(iter(stream))
    then = file.stat()

    def edit():
        with file.open("r+b") as text:
            text.seek(6 * 100_003 + 4)
            text.write(b"3")
        os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))

    return file, stream.position(), edit


@pytest.mark.skipif(os.name == "nt", reason="Windows has no time at which the record of a file changed")
def test_a_change_between_the_samples_with_its_time_put_back_is_warned_of(folder):
    file, position, edit = touched_file(folder)
    edit()
    with pytest.warns(UserWarning, match=r"long.svm was touched since"):
        read(file).seek(position)


def test_a_file_written_again_with_the_same_content_has_not_grown(folder):
    file = folder / "again.csv"
    file.write_text("a,y\n1,2\n3,4\n")
    stream = read(file, target="y")
    list(stream)
    position = stream.position()
    os.utime(file, (1, 1))
    again = read(file, target="y")
    assert not again.has_grown(position)
    with pytest.raises(ValueError, match="has been written to since"):  # half-way it might matter
        again.seek(position)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "has been touched since"
        again.seek(position, finished=True)
    file.write_text("a,y\n1,2\n3,4\n5,6\n")
    assert read(file, target="y").has_grown(position)


def test_a_copy_of_a_file_and_a_position_without_its_record_are_resumed(folder):
    file, position, _ = touched_file(folder)
    read(file).seek(position)
    other = folder / "other"
    other.mkdir()
    shutil.copy2(file, other / "long.svm")
    read(other / "long.svm").seek(position)  # warnings are errors here
    for mark in position["mark"]["source"]:
        del mark["record"]  # as positions were before it was noted
    read(file).seek(position)


def test_the_file_that_differs_is_named_not_the_one_that_was_touched(folder):
    first, second = folder / "a.svm", folder / "b.svm"
    for file in (first, second):
        file.write_text("1 1:2\n" * 9)
    stream = read([first, second])
    next(iter(stream))
    first.chmod(0o600)
    second.write_text("1 1:3\n" * 9)
    with pytest.raises(ValueError, match=r"b.svm has changed since"):
        read([first, second]).seek(stream.position())


def test_a_header_cell_of_a_megabyte_is_bad_data(folder):
    for length in (100_000, 1_000_000):
        (folder / "h.csv").write_text("a" * length + ",b,y\n1,x,3\n")
        with pytest.raises(BadData, match="line 1") as caught:
            list(read(folder / "h.csv", target="z"))
        assert len(str(caught.value)) < 1000


def test_a_negative_weight_is_bad(folder):
    (folder / "w.csv").write_text("x,w,y\n1,1,1\n2,-1,2\n")
    with pytest.raises(BadData, match="line 3, column 'w': the weight '-1' is negative"):
        list(read(folder / "w.csv", target="y", weight="w"))


@pytest.mark.parametrize(
    ("name", "content", "options", "words"),
    [
        ("e.csv", b"", dict(target="y"), "the file is empty"),
        ("e.svm", b"", {}, "not a single row"),
        ("h.csv", b"a,y\n", dict(target="y"), "not a single row"),
        ("c.svm", b"# nothing\n\n", {}, "not a single row"),
        ("t.csv", b"price,sold\n1,2\n", dict(target="prices"), "no target 'prices'; did you mean 'price'"),
        ("o.csv", b'a,y\n1,2\n"3,4\n5,6\n', dict(target="y"), "not closed"),
        (
            "b.csv",
            b"a,y\n1\n2\n",
            dict(target="y", on_bad_row="skip"),
            "not a single row to learn: 2 rows that cannot be read left out",
        ),
        ("f.csv", b"a,y\n1,2\n", dict(target="y", drop=["a"]), "no column is left as a feature"),
        ("tw.csv", b"a,y\n1,2\n", dict(target="y", weight="y"), "cannot be both target and weight"),
        ("k.csv", b"a,y\nx,2\n", dict(target="y", categories="error"), "1 columns are not numbers"),
        (
            "z.csv.gz",
            gzip.compress(b"a,y\n" + b"1,2\n" * 9999, mtime=0)[:60],
            dict(target="y"),
            "the gzip is truncated",
        ),
        ("z.svm.bz2", bz2.compress(b"1 1:2\n" * 9999)[:40], {}, "the bz2 is truncated"),
        ("z.parquet", b"PAR1 but not quite", dict(target="y"), "not a readable parquet"),
        ("z.arrow", b"ARROW1 but not quite", dict(target="y"), "not a readable arrow"),
        ("z.npy", b"\x93NUMPY but not quite", dict(target=0), "not a NumPy array"),
        ("z.npz", b"PK but not quite", dict(target=0), "not a readable npz file: it is truncated"),
        ("w.npz", b"no archive", dict(target=0, format="npz"), "it is not a zip archive"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_and_empty_files_are_named(folder, name, content, options, words):
    (folder / name).write_bytes(content)
    with pytest.raises(BadData, match=words) as caught:
        list(read(folder / name, **options))
    assert name in str(caught.value)


def test_a_truncated_archive_of_arrays_says_that_it_is_truncated(folder):
    np.savez(folder / "x.npz", X=np.ones((100, 3)), y=np.ones(100))
    whole = (folder / "x.npz").read_bytes()
    for size in (len(whole) // 2, len(whole) - 10):
        (folder / "x.npz").write_bytes(whole[:size])
        with pytest.raises(BadData, match=r"x.npz: .*truncated: .* copy or save it again"):
            list(read(folder / "x.npz", target="y"))


@pytest.mark.usefixtures("sources")
def test_truncated_zstd_is_named(folder):
    (folder / "x.csv.zst").write_bytes((folder / "d.csv.zst").read_bytes()[:9000])
    with pytest.raises(BadData, match="the zstd is truncated"):
        list(read(folder / "x.csv.zst", target="y"))


def test_a_line_without_end_is_refused_in_bounded_memory(folder, monkeypatch):
    monkeypatch.setattr(text_reader, "LONGEST", 1 << 16)
    monkeypatch.setattr(read_module, "_CHUNK", 1 << 12)
    (folder / "long.svm").write_text("1 1:2\n1 " + "3:4 " * 100_000 + "\n1 1:3\n")
    with pytest.raises(BadData, match="line 2: a row of more than 0 MB, which begins with '1'"):
        list(read(folder / "long.svm"))
    stream = read(folder / "long.svm", on_bad_row="skip")
    assert [b.X.data.tolist() for b in stream] == [[2, 3]]
    assert stream.rows_bad == 1
    (folder / "open.csv").write_text('a,y\n1,"2\n' + "".join(f"{i % 7},{i % 5}\n" for i in range(100_000)))
    with pytest.raises(BadData, match=r"line 2: .*a quote that is not closed"):
        list(read(folder / "open.csv", target="y"))


def test_a_byte_order_mark_and_a_missing_last_newline_are_no_data(folder):
    (folder / "bom.csv").write_bytes(b'\xef\xbb\xbf"a",y\n1,2\n3,4')
    (X, y, _), stream = rows_of(folder / "bom.csv", target="y")
    assert (X.tolist(), y.tolist(), stream.feature_names) == ([[1], [3]], [2, 4], ["a"])
    (folder / "bom.svm").write_bytes(b"\xef\xbb\xbf1 1:2")
    assert rows_of(folder / "bom.svm")[0][1].tolist() == [1]


@pytest.mark.usefixtures("sources")
def test_wrong_calls_say_what_to_pass(folder):
    for options, words in (
        (dict(format="xls"), "format='xls'; expected one of"),
        (dict(missing="guess"), "missing='guess'; expected one of"),
        (dict(block_size=0), "block_size=0; expected an integer of at least 1"),
        (dict(hold_out=1), "hold_out=1; expected at least 2"),
        (dict(held=True), "hold_out=0; expected at least 2"),
        (dict(drop="a"), "drop='a'; expected a list"),
        (dict(n_features=3), "n_features=3; expected for svmlight only"),
        (dict(delimiter="::"), "delimiter='::'; expected one character"),
        (dict(delimiter=""), "delimiter=''; expected one character"),
    ):
        with pytest.raises(ValueError, match=words):
            read(folder / "d.csv", target="y", **options)
    with pytest.raises(ValueError, match=r"target='y'; expected for csv .* only; the source is svmlight"):
        read(folder / "d.svm", target="y")
    with pytest.raises(ValueError, match="have several formats"):
        read([folder / "d.csv", folder / "d.svm"])
    with pytest.raises(IsADirectoryError, match="is a directory; pass its files"):
        read(folder)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read(folder / "none.csv")
    with pytest.raises(FileNotFoundError, match="No file matches"):
        read(str(folder / "none*.csv"))
    with pytest.raises(TypeError, match="pass an iterable of dicts"):
        read([1, 2])
    with pytest.raises(TypeError, match="pass a path"):
        read(3)


def test_files_with_other_columns_are_refused(folder):
    (folder / "m1.csv").write_text("a,y\n1,2\n")
    (folder / "m2.csv").write_text("b,y\n1,2\n")
    with pytest.raises(BadData, match=r"m2.csv: line 1: the columns are not those of .*m1.csv, first at 'b'"):
        list(read(str(folder / "m?.csv"), target="y"))


def test_the_format_is_detected_from_the_content(folder):
    for content, columns in ((b"1 1:2 3:4\n", 3), (b"-1\n+1 2:1\n", 2), (b"# c\n1 qid:2 4:1\n", 4)):
        (folder / "data").write_bytes(content)
        assert rows_of(folder / "data")[1].n_features == columns
    for content in (b"a,b,y\n1,2,3\n", b"a\tb\ty\n1\t2\t3\n"):
        (folder / "data").write_bytes(content)
        assert rows_of(folder / "data", target="y")[1].feature_names == ["a", "b"]
    (folder / "data").write_bytes(b"")
    with pytest.raises(ValueError, match="cannot be detected"):
        read(folder / "data")


# ---------------------------------------------------------------- mutations


def assert_named(file, error):
    assert file.name in str(error)


@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(["d.csv", "d.svm", "d.csv.gz", "d.npy", "d.npz", "sparse.npz", "d.arrow"]),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("sources")
def test_mutated_files_give_rows_or_bad_data(folder, seed, kind):
    rng = np.random.default_rng(seed)
    raw = bytearray((folder / kind).read_bytes()[: None if kind[-1] in "yzw" else 5000])
    for place in rng.random(rng.integers(1, 8)):
        at = int(place * len(raw))
        change = rng.integers(3)
        if change == 0:
            raw[at] = rng.integers(256)
        elif change == 1:
            raw[at:at] = bytes(rng.choice(list(b'0123456789:,."\n\r #e-\x00'), 3).tolist())
        else:
            del raw[at : at + rng.integers(1, 20)]
    file = folder / f"mutated.{kind}"
    file.write_bytes(raw)
    stream = read(file, **OPTIONS[kind], on_bad_row=["error", "skip"][seed % 2], block_size=97)
    try:
        for block in stream:
            assert block.X.shape[1] == stream.n_features
            if sp.issparse(block.X):
                block.X.check_format()
                assert block.X.has_canonical_format
    except BadData as error:
        assert_named(file, error)


def test_the_words_for_faults_match_the_compiled_ones():
    source = (__import__("pathlib").Path(__file__).parent.parent / "cpp" / "text" / "text.hpp").read_text()
    faults = source.split("enum class Fault {")[1].split("};")[0].split("\n")
    names = [line.split("//")[0].strip(" ,") for line in faults if line.strip()]
    from streamsieve.sources.bad_data import FAULTS

    assert len(names) == len(FAULTS)


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_truncated_while_it_is_read_is_bad_data(tmp_path, order):
    X = np.asarray(np.arange(3_000_000.0).reshape(-1, 10), order=order)
    np.save(tmp_path / "x.npy", X)
    blocks = iter(read(tmp_path / "x.npy"))
    assert_array_equal(next(blocks).X, X[:4096])
    os.truncate(tmp_path / "x.npy", 2_000_000)
    with pytest.raises(BadData, match="truncated"):
        list(blocks)


def declared(shape, dtype="<f8", fortran=False, raw=b""):
    """An .npy file of this header, and of these bytes whatever the header says."""
    out = io.BytesIO()
    header = {"descr": dtype, "fortran_order": fortran, "shape": shape}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + raw


def zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, raw in members.items():
            pack.writestr(f"{name}.npy", raw)
    return out.getvalue()


def ints(*values):
    return declared((len(values),), "<i8", raw=np.array(values, "<i8").tobytes())


SPARSE = {"indptr": ints(0, 1), "indices": ints(0), "data": declared((1,), raw=np.ones(1).tobytes())}
DECLARED = {
    "wide.npy": (declared((2, 10**12)), "16,000,000,000,000 bytes of shape .* are declared, at most 0 are"),
    "columns.npy": (declared((2, 10**12), fortran=True), "are declared, at most 0 are there"),
    "long.npy": (declared((10**15, 3), raw=bytes(240)), "at most 240 are there; the file is truncated"),
    "empty.npy": (declared((0, 10**12)), "expected an array that holds values"),
    "empty and wide.npy": (declared((0, 901_932)), "expected an array that holds values"),
    "empty words.npy": (declared((9, 0), "|S99999999"), "expected an array that holds values"),
    "negative.npy": (declared((-3, 3)), r"has shape \(-3, 3\)"),
    "wide.npz": (zipped(X=declared((2, 10**12))), "are declared, at most 128 are there"),
    "words.npz": (
        zipped(X=declared((3, 2), raw=bytes(48)), y=declared((3,), "<U500000000")),
        "y ends before its last row: 6,000,000,000 bytes",
    ),
    "wide-sparse.npz": (zipped(**SPARSE, shape=ints(1, 2**40)), "shape .1, 1099511627776.; at most 21474836"),
    "long-sparse.npz": (zipped(**SPARSE, shape=ints(10**12, 3)), "truncated"),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_shape_that_a_file_declares_and_does_not_have_takes_no_memory(name, folder):
    raw, words = DECLARED[name]
    (folder / name).write_bytes(raw)
    target = "y" if name == "words.npz" else None
    tracemalloc.start()
    try:
        with pytest.raises(BadData, match=words):
            list(read(folder / name, target=target))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_members_of_a_zip_are_not_unpickled(folder):
    with zipfile.ZipFile(folder / "obj.npz", "w") as pack:
        out = io.BytesIO()
        np.save(out, np.array([{}, None], dtype=object), allow_pickle=True)
        pack.writestr("X.npy", out.getvalue())
    with pytest.raises(BadData, match="X has type object"):
        list(read(folder / "obj.npz"))


def test_the_sample_that_tells_kinds_is_what_is_documented():
    assert f"{files.SIZE >> 20} MB of text" in read.__doc__
    assert f"{frames_reader.SAMPLE:,} rows" in read.__doc__


def test_columns_of_a_frame_may_be_called_by_numbers():
    (X, y, _), stream = rows_of(pd.DataFrame(np.arange(12.0).reshape(4, 3)), target="1")
    assert stream.feature_names == ["0", "2"]
    assert_array_equal(X, [[0, 2], [3, 5], [6, 8], [9, 11]])
    assert_array_equal(y, [1, 4, 7, 10])


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs pipes that have a name")
def test_no_row_of_a_pipe_is_lost_by_looking_at_it():
    end, begin = os.pipe()
    os.write(begin, b"1 1:2\n" * 20)
    os.close(begin)
    pipe = f"/dev/fd/{end}"
    assert not is_checkpoint(pipe)
    with pytest.raises(
        ValueError, match=r"format='auto'; the format of .*, a pipe, cannot be detected; name it"
    ):
        read(pipe)
    assert sum(len(block.y) for block in read(pipe, format="svmlight")) == 20
    os.close(end)


def test_of_a_packed_arrow_file_no_more_is_unpacked_than_is_in_use(folder):
    batch = pa.RecordBatch.from_pydict({f"x{j}": np.zeros(4096) for j in range(32)})
    packed = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(str(folder / "packed.arrow"), batch.schema, options=packed) as writer:
        for _ in range(40):
            writer.write_batch(batch)
    before = pa.total_allocated_bytes()
    for _ in read(folder / "packed.arrow", target="x0"):
        assert pa.total_allocated_bytes() - before < 10 * batch.nbytes


def test_of_parquet_only_the_columns_in_use_are_read(sources, monkeypatch):
    from pyarrow import parquet

    asked, whole = [], parquet.ParquetFile.iter_batches

    def iter_batches(self, *args, **options):
        asked.append(options["columns"])
        return whole(self, *args, **options)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", iter_batches)
    blocks = list(read(sources["d.parquet"][0], target="y", columns=["a"]))
    assert_array_equal(np.concatenate([block.X for block in blocks])[:, 0], frame()["a"])
    assert asked == [["a", "y"]] * 6  # row groups, for the schema and for the rows
