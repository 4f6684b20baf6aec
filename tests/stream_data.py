"""Sources of all kinds, and what was read from them, for the tests of streams."""

import bz2
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

from streamsieve import read
from streamsieve.sources import inputs as read_module

N = 6000


def rows_of(source, **options):
    """Everything that is read: X as one CSR or dense array, y, weight, and the stream."""
    stream = read(source, **options)
    blocks = list(stream)
    return joined(blocks, stream.n_features), stream


def joined(blocks, width):
    if sp.issparse(blocks[0].X):
        parts = [
            sp.csr_array((b.X.data, b.X.indices, b.X.indptr), shape=(len(b.X.indptr) - 1, width))
            for b in blocks
        ]
        X = sp.vstack(parts, format="csr")
    else:
        X = np.vstack([b.X for b in blocks])
    return X, *(None if a[0] is None else np.concatenate(a) for a in zip(*((b.y, b.weight) for b in blocks)))


def assert_same_blocks(one, other):
    assert [len(b.X.indptr) if sp.issparse(b.X) else len(b.X) for b in one] == [
        len(b.X.indptr) if sp.issparse(b.X) else len(b.X) for b in other
    ]
    for a, b in zip(one, other):
        assert a.X.shape == b.X.shape
        for left, right in [(a.y, b.y), (a.weight, b.weight)] + (
            [(a.X.data, b.X.data), (a.X.indices, b.X.indices), (a.X.indptr, b.X.indptr)]
            if sp.issparse(a.X)
            else [(a.X, b.X)]
        ):
            assert (left is None and right is None) or left.dtype == right.dtype
            assert_array_equal(left, right)


def small(source, chunk, **options):
    """`read` with chunks of a few bytes."""
    before, read_module._CHUNK = read_module._CHUNK, chunk
    try:
        return read(source, **options)
    finally:
        read_module._CHUNK = before


def made_csv(folder, n=3000):
    rng = np.random.default_rng(0)
    lines = ["a,colour,b,w,y"]
    for i in range(n):
        colour = ["red", '"sea\nblue"', '"the ""old"" one"', "", f"c{i // 500}"][rng.integers(5)]
        label = "undecided" if i == 1000 else "yes" if i % 2 else "no"
        lines.append(f"{rng.normal()!r},{colour},{rng.integers(100)},{i % 3},{label}")
    (folder / "made.csv").write_text("\n".join(lines) + "\n")
    return folder / "made.csv"


def frame():
    i = np.arange(N)
    return pd.DataFrame(
        {"a": i / 7, "c": [f"v{k % 5}" for k in i], "b": i % 11 - 5.0, "w": i % 3 + 0.5, "y": i % 2 * 1.0}
    )


TABLES = ["d.csv", "d.tsv", "d.csv.gz", "d.csv.bz2", "d.csv.zst", "d.parquet", "d.arrow", "d.arrows",
          "part*.csv", "list", "pandas", "polars", "dicts"]  # fmt: skip
OPTIONS = {
    **{kind: dict(target="y", weight="w") for kind in [*TABLES, "d.npz"]},
    "d.npy": dict(target=3, weight=2),
    **{kind: {} for kind in ("sparse.npz", "d.svm", "d.svm.gz")},
}


def write_sources(folder):
    """Every kind of source of the same 6,000 rows, with the options that read it."""
    df = frame()
    table = pa.Table.from_pandas(df, preserve_index=False)
    raw = df.to_csv(index=False).encode()
    (folder / "d.csv").write_bytes(raw)
    (folder / "d.tsv").write_text(df.to_csv(index=False, sep="\t"))
    (folder / "d.csv.gz").write_bytes(gzip.compress(raw))
    (folder / "d.csv.bz2").write_bytes(bz2.compress(raw))
    with pa.CompressedOutputStream(str(folder / "d.csv.zst"), "zstd") as out:
        out.write(raw)
    lines = raw.split(b"\n")
    for k, part in enumerate((lines[1:2500], lines[2500:-1])):
        (folder / f"part{k}.csv").write_bytes(b"\n".join([lines[0], *part]))
    df.to_parquet(folder / "d.parquet", row_group_size=2500)
    with pa.OSFile(str(folder / "d.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=1700)
    with pa.OSFile(str(folder / "d.arrows"), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=900)
    matrix = df[["a", "b", "w", "y"]].to_numpy()
    np.save(folder / "d.npy", matrix)  # in Fortran order, as pandas has it
    np.savez_compressed(
        folder / "d.npz", X=np.ascontiguousarray(matrix[:, :2]), y=df["c"].to_numpy(str), w=matrix[:, 2]
    )
    sparse = sp.random_array((N, 40), density=0.1, format="csr", rng=np.random.default_rng(1))
    sp.save_npz(folder / "sparse.npz", sparse)
    dump_svmlight_file(sparse, df["y"], str(folder / "d.svm"), zero_based=False)
    (folder / "d.svm.gz").write_bytes(gzip.compress((folder / "d.svm").read_bytes()))
    python = {
        "list": [folder / "part0.csv", str(folder / "part1.csv")],
        "pandas": df,
        "polars": [pl.from_pandas(df[:1000]), pl.from_pandas(df[1000:])],
        "dicts": df.to_dict("records"),
    }
    return {kind: (python.get(kind, str(folder / kind)), options) for kind, options in OPTIONS.items()}
