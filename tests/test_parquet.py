"""Parquet files are decoded once, and the sample that the schema is made of is bounded."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamsieve import read
from streamsieve.sources import BadData
from streamsieve.sources.readers import frames
from streamsieve.sources.schema import Schema

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

rng = np.random.default_rng(0)
n = 9000
TABLE = pa.table({
    "a": rng.normal(size=n),
    "b": rng.integers(0, 9, n),
    "c": np.where(np.arange(n) % 7, rng.normal(size=n), np.nan),
    "city": rng.choice(["Rome", "Oslo", "Bern"], n),
    "y": rng.normal(size=n),
})  # fmt: skip


def rows_of(source, **options):
    X, y, w = zip(*read(source, target="y", missing="mean", **options))
    assert w[0] is None
    return np.vstack([block.toarray() if hasattr(block, "toarray") else block for block in X]), np.hstack(y)


@pytest.fixture
def decoded(monkeypatch):
    """The row groups from which batches were decoded, in order."""
    found, opened = [], frames._parquet

    def counting(file):
        total, schema, groups = opened(file)

        def batches(group, inner):
            found.append(group)
            yield from inner

        return total, schema, lambda names: (batches(g, b) for g, b in enumerate(groups(names)))

    monkeypatch.setattr(frames, "_parquet", counting)
    return found


@pytest.mark.parametrize("size", [n, 4096, 1000])
def test_row_groups_read_for_the_schema_are_not_decoded_again(tmp_path, decoded, size):
    file = str(tmp_path / "rows.parquet")
    parquet.write_table(TABLE, file, row_group_size=size)
    found = rows_of(file)
    assert sorted(decoded) == list(range(-(-n // size)))
    for mine, theirs in zip(found, rows_of(TABLE)):
        assert_array_equal(mine, theirs)


def test_groups_of_which_only_some_rows_are_sampled_are_read_whole(tmp_path, decoded, monkeypatch):
    file = str(tmp_path / "rows.parquet")
    parquet.write_table(TABLE, file, row_group_size=4500)
    monkeypatch.setattr(frames, "SAMPLE", 1000)
    stream = read(file, target="y", missing="mean")
    assert sum(len(y) for _, y, _ in stream) == n
    assert decoded == [0, 1, 0, 1]
    assert stream.schema.rows == 1000


def test_a_second_pass_reads_the_same_rows(tmp_path):
    file = str(tmp_path / "rows.parquet")
    parquet.write_table(TABLE, file, row_group_size=2000)
    stream = read(file, target="y", missing="mean")
    first, second = ([y for _, y, _ in stream] for _ in range(2))
    assert_array_equal(np.hstack(first), np.hstack(second))
    assert_array_equal(np.hstack(first), TABLE["y"].to_numpy())


@pytest.mark.parametrize(
    ("columns", "rows"), [(1, 100_000), (167, 100_000), (500, 33_554), (5000, 3355), (10**6, 1000)]
)
def test_the_sample_of_a_wide_table_is_at_most_128_megabytes(columns, rows):
    assert frames.sample_rows(columns) == rows


def test_a_stream_of_wide_frames_is_sampled_within_the_bound(monkeypatch):
    monkeypatch.setattr(frames, "SAMPLE_VALUES", 5 * 2000)
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=500))
    stream = read(reader, target="y", missing="mean")
    assert sum(len(y) for _, y, _ in stream) == n
    assert stream.schema.rows == 2000


def test_the_schema_is_made_plain_once_and_not_for_every_block(tmp_path, monkeypatch):
    file = str(tmp_path / "rows.parquet")
    parquet.write_table(TABLE, file)
    calls, plain = [], Schema.plain
    monkeypatch.setattr(Schema, "plain", lambda self: calls.append(1) or plain(self))
    stream = read(file, target="y", missing="mean", block_size=100)
    positions = [stream.position() for _ in stream]
    assert len(positions) == n // 100
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "a missing value"), (np.inf, "a number that is infinite")]
)
@pytest.mark.parametrize("type", ["float64", "float32"])
def test_a_bad_value_in_a_late_batch_is_named(tmp_path, value, words, type):
    x = np.arange(10_000, dtype=type)
    x[8765] = value
    file = str(tmp_path / "rows.parquet")
    parquet.write_table(pa.table({"x": x, "y": rng.normal(size=10_000)}), file)
    stream = read(file, target="y", missing="error")
    with pytest.raises(BadData, match=f"row 8,766 holds {words}"):
        list(stream)


@pytest.mark.parametrize("type", [str(kind) for kind in frames._NUMBERS])
def test_numbers_of_arrow_are_those_that_its_own_conversion_makes(type):
    values = [0, 1, 2, 127, 126]
    whole = pa.chunked_array([pa.array(values[:2], type), pa.array([], type), pa.array(values, type)])
    for column in (whole, whole[1:], whole[3:5], whole[:1]):
        found = frames.doubles_of(column)
        assert found.dtype == np.float64
        assert_array_equal(found, column.cast("double").to_numpy())
    for other in (pa.chunked_array([pa.array([1, None], type)]), pa.chunked_array([], type)):
        assert frames.doubles_of(other) is None


@pytest.mark.parametrize("type", ["int64", "uint64"])
def test_integers_are_read_up_to_the_largest_that_is_exact(type):
    for value, exact in ((2**53, True), (2**53 + 1, False)):
        column = pa.chunked_array([pa.array([1, value], type)])
        assert (frames.doubles_of(column) is not None) == exact


def test_reading_parquet_does_not_import_pandas(tmp_path):
    file = str(tmp_path / "rows.parquet")
    parquet.write_table(TABLE.select(["a", "b", "y"]), file)
    code = (
        "import sys; from streamsieve import read\n"
        f"sum(len(y) for _, y, _ in read({file!r}, target='y'))\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
