"""Files elsewhere, by fsspec: as local ones, with units and resume; and results of queries."""

import http.server
import os
import re
import sqlite3
import threading

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal

from streamsieve import OLSthRegressor, distributed, read
from streamsieve.cli import main
from test_distributed import write_csv, write_parquet

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'streamsieve[remote]'")


def same(a, b):
    return not list(a.method_.state.differences(b.method_.state))


@pytest.fixture
def memory(tmp_path):
    """What copies a local file to fsspec's memory."""
    system = fsspec.filesystem("memory")

    def put(file):
        name = f"/{tmp_path.name}/{os.path.basename(file)}"
        with open(file, "rb") as local:
            system.pipe(name, local.read())
        return f"memory:/{name}"

    yield put
    if system.exists(f"/{tmp_path.name}"):
        system.rm(f"/{tmp_path.name}", recursive=True)


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Serves ranges of bytes, as stores do."""

    def do_GET(self):
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(match[1]), int(match[2] or len(data) - 1)) if match else (0, len(data) - 1)
        part = data[first : last + 1]
        self.send_response(206 if match else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(part)))
        if match:
            self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path):
    """The folder of the test on the loopback address."""
    pytest.importorskip("aiohttp", reason="aiohttp is not installed: pip install 'streamsieve[remote]'")

    def handler(*args):
        return Ranges(*args, directory=str(tmp_path))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()
        thread.join()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_memory_and_http_are_read_as_local_files(tmp_path, memory, server, kind):
    write = write_csv if kind == "csv" else write_parquet
    file = write(tmp_path / f"rows.{kind}")
    local = list(read(file, target="y"))
    plan = distributed.plan(file, "60KB", target="y")
    model = distributed.fit(OLSthRegressor(2), plan)
    for name in (memory(file), f"{server}/rows.{kind}"):
        for (X, y, _), (Z, z, _) in zip(local, read(name, target="y"), strict=True):
            assert_array_equal(X, Z)
            assert_array_equal(y, z)
        units = distributed.plan(name, "60KB", target="y")
        assert len(units) == len(plan)
        assert same(distributed.fit(OLSthRegressor(2), units, folder=tmp_path / f"units{len(name)}"), model)


def test_a_run_on_a_remote_file_is_resumed(tmp_path, memory):
    name = memory(write_csv(tmp_path / "rows.csv"))
    stream = read(name, target="y", block_size=500)
    blocks = iter(stream)
    first = [next(blocks) for _ in range(2)]
    again = read(name, target="y", block_size=500)
    again.seek(stream.position())
    rest = list(again)
    y = np.concatenate([block.y for block in (*first, *rest)])
    assert_array_equal(y, np.concatenate([block.y for block in read(name, target="y")]))
    fsspec.filesystem("memory").pipe(name.removeprefix("memory:/"), b"x0,y\n1,2\n")
    with pytest.raises(ValueError, match="another stream"):
        read(name, target="y", block_size=500).seek(stream.position())


def test_names_and_globs(tmp_path, memory):
    for i in range(3):
        name = memory(write_csv(tmp_path / f"part{i}.csv", n=100, seed=i))
    folder = name.rpartition("/")[0]
    assert sum(len(y) for _, y, _ in read(f"{folder}/part*.csv", target="y")) == 300
    with pytest.raises(FileNotFoundError, match="No file matches"):
        read(f"{folder}/none*.csv", target="y")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read(f"{folder}/none.csv", target="y")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read("nowhere://a/b.csv", target="y")


def test_the_command_line_reads_remote_files_and_queries(tmp_path, memory):
    file = write_csv(tmp_path / "rows.csv", n=500)
    outputs = []
    names = [file, memory(file)]
    if _has("duckdb"):
        names.append(f"duckdb:SELECT * FROM '{file}'")
    for name in names:
        run = CliRunner().invoke(main, ["select", name, "--target", "y", "-k", "2", "--quiet"])
        assert run.exit_code == 0, run.output
        outputs.append([line.split("\t")[0] for line in run.stdout.splitlines()])
    assert all(output == outputs[0] for output in outputs)
    assert outputs[0][1:] == ["x4", "x1"]


def test_sqlite_by_adbc(tmp_path):
    pytest.importorskip("adbc_driver_sqlite", reason="adbc-driver-sqlite is not installed")
    X = np.random.default_rng(0).normal(size=(300, 3))
    with sqlite3.connect(tmp_path / "rows.db") as connection:
        connection.execute("CREATE TABLE t (a REAL, b REAL, c REAL, y REAL)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?)", np.c_[X, 2 * X[:, 1] + 0.1 * X[:, 2]].tolist()
        )
    connection.close()
    source = f"sqlite:{tmp_path / 'rows.db'} SELECT * FROM t"
    model = distributed.fit(OLSthRegressor(1), source, target="y")
    assert list(model.get_feature_names_out()) == ["b"]
    blocks = list(read(source, target="y"))
    assert_array_equal(np.vstack([block.X for block in blocks]), X)


def _has(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None
