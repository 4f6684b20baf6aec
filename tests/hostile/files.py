"""Damaged and forged files: models, checkpoints, and input of every format."""

import bz2
import gzip
import io
import itertools
import json
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import safetensors.numpy
import scipy.sparse as sp

import streamsieve
from streamsieve import CheckpointError, load, read_checkpoint, save
from streamsieve.core.rows import Rows
from streamsieve.methods import METHODS
from streamsieve.persist import files as model_files
from streamsieve.training.saved import read_plain

from . import command
from .rules import Failure, check_refusal, strict_warnings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import forge

N, P = 80, 6
_MADE: dict[Path, tuple[dict, dict]] = {}  # models and inputs of this process, by folder
_FORGED: dict[str, tuple] = {}  # model files taken apart, by method
_DECLARED: dict[str, tuple] = {}


def make(folder):
    """Whole files: models with their estimators, and inputs with the words of the command that reads them."""
    model_files.os.fsync = lambda _: None  # these files need not outlive the process
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)).round(3)
    y = (X[:, 1] - 2 * X[:, 4]).round(3)
    models = {}
    for name in (
        "SGDRegressor",
        "SFSARegressor",
        "OLSthRegressor",
        "SieveRegressor",
        "StabilizedSGDRegressor",
    ):
        estimator = getattr(streamsieve, name)().fit(X, y)
        estimator.coef_  # noqa: B018
        save(estimator, folder / name)
        models[name] = (folder / name).read_bytes()
    names = [f"x{j}" for j in range(P)]
    table = "\n".join([",".join([*names, "y"]), *(",".join(map(str, [*x, t])) for x, t in zip(X, y))]) + "\n"
    lines = [f"{t} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x, t in zip(X, y)]
    svm = ("\n".join(lines) + "\n").encode()
    (folder / "whole.csv").write_text(table)
    checkpoint = folder / "checkpoint"
    learn = ["--target", "y", "--method", "sgd"]
    words = ["fit", folder / "whole.csv", *learn, "-o", folder / "out", "--checkpoint", checkpoint, "-q"]
    if command.run(*words, "--every", "1rows").exit_code == 0 and checkpoint.exists():
        models["checkpoint"] = checkpoint.read_bytes()
    inputs = {
        "rows.csv": (table.encode(), learn),
        "rows.tsv": (table.replace(",", "\t").encode(), learn),
        "rows.csv.gz": (gzip.compress(table.encode(), mtime=0), learn),
        "rows.csv.bz2": (bz2.compress(table.encode()), learn),
        "rows.svm": (svm, learn[2:]),
        "rows.svm.gz": (gzip.compress(svm, mtime=0), learn[2:]),
    }
    np.save(folder / "a.npy", np.column_stack([X, y]))
    inputs["rows.npy"] = (folder / "a.npy").read_bytes(), ["--target", str(P), "--method", "sgd"]
    sp.save_npz(folder / "a.npz", sp.csr_array(X))
    inputs["rows.npz"] = (folder / "a.npz").read_bytes(), learn
    np.savez(folder / "b.npz", X=X, y=y)
    inputs["arrays.npz"] = (folder / "b.npz").read_bytes(), learn
    try:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        return models, inputs
    arrow = pa.table({**{name: X[:, j] for j, name in enumerate(names)}, "y": y})
    pyarrow.parquet.write_table(arrow, folder / "a.parquet")
    pyarrow.feather.write_feather(arrow, folder / "a.arrow", compression="uncompressed")
    for name in ("parquet", "arrow"):
        inputs[f"rows.{name}"] = (folder / f"a.{name}").read_bytes(), learn
    return models, inputs


def damage(rng, data):
    """The bytes with some of them gone, added, moved or changed; and how."""
    n = len(data)
    a, b = sorted(rng.integers(0, n + 1, 2))
    how = str(
        rng.choice(["cut", "flip", "flip", "flip", "zero", "delete", "repeat", "insert", "swap", "append"])
    )
    if how == "cut":
        return data[: rng.integers(0, n)], how
    if how == "flip":
        out = bytearray(data)
        for _ in range(rng.integers(1, 9)):
            out[rng.integers(n)] ^= 1 << rng.integers(8)
        return bytes(out), how
    if how == "zero":
        return data[:a] + bytes(b - a) + data[b:], how
    if how == "delete":
        return data[:a] + data[b:], how
    if how == "repeat":
        return data[:b] + data[a:], how
    if how == "insert":
        return data[:a] + rng.bytes(rng.integers(1, 40)) + data[a:], how
    if how == "swap":
        return data[b:] + data[a:b] + data[:a], how
    return data + rng.bytes(rng.integers(1, 40)), how


def run_model(rng, models, folder):
    name = str(rng.choice(list(models)))
    data, how = damage(rng, models[name])
    if data == models[name]:
        return
    file = folder / "damaged"
    file.write_bytes(data)
    try:
        with strict_warnings():
            model = load(file) if name != "checkpoint" else read_checkpoint(file)
    except Exception as error:
        check_refusal(error)
        return
    raise Failure(f"{name} was loaded after {how}: {model}")


def run_input(rng, inputs, folder):
    name = str(rng.choice(list(inputs)))
    data, words = inputs[name]
    data, _ = damage(rng, data)
    source = folder / f"damaged-{name}"
    source.write_bytes(data)
    if rng.random() < 0.3:
        words = [*words, "--on-bad-row", "skip"]
    command.fit([source], folder / "out", *words)
    if source.read_bytes() != data:
        raise Failure(f"{name} has been written to")


def run_forged(rng, folder):
    name = str(rng.choice(list(METHODS)))
    file = folder / "forged"
    if name not in _FORGED:
        save(forge.fitted(name), file)
        tensors = safetensors.numpy.load_file(file)
        text = tensors.pop("state.json").tobytes()
        _FORGED[name] = text, tensors, list(forge.forgeries(json.loads(text), tensors))
    text, tensors, forgeries = _FORGED[name]
    what, arrays, change = forgeries[rng.integers(len(forgeries))]
    tree = json.loads(text)
    if change is not None:
        forge.put(tree, *change)
    forge.write(file, tree, {**tensors, **arrays})
    X = np.random.default_rng(1).normal(size=(40, forge.P))
    try:
        model = read_plain(file).object
        y = X[:, 1] > 0 if model.classes is not None else X[:, 1]
        with np.errstate(all="ignore"):
            model.scores(Rows(X))
            model.learn(Rows(X), y)
            model.scores(Rows(X))
    except (ValueError, FloatingPointError, ZeroDivisionError, OverflowError, MemoryError):
        return  # of wild numbers that fit together, a sentence is too much to ask
    except Exception as error:
        raise Failure(f"{name}, {what}: {type(error).__name__}: {error}") from error


def run_declared(rng, folder):
    """A model file, with a checksum that is right, that declares sizes which it does not have."""
    name = str(rng.choice(list(METHODS)))
    file = folder / "declared"
    if name not in _DECLARED:
        save(forge.fitted(name), file)
        tensors = safetensors.numpy.load_file(file)
        text = tensors.pop("state.json").tobytes()
        _DECLARED[name] = text, tensors, sum(1 for _ in forge.declared(json.loads(text)))
    text, tensors, n = _DECLARED[name]
    what, tree = next(itertools.islice(forge.declared(json.loads(text)), int(rng.integers(n)), None))
    if rng.random() < 0.3:  # more features and outputs than the file has bytes for, if only it were longer
        tree["model"]["p"] = int(10 ** rng.uniform(0, 12))
    if rng.random() < 0.3 and "n_targets" in str(tree["model"]["target"]):
        tree["model"]["target"]["values"] = [int(10 ** rng.uniform(0, 6)), False]
    pad = {"pad": np.zeros(int(10 ** rng.uniform(0, 6)))} if rng.random() < 0.3 else {}
    forge.write(file, tree, {**tensors, **pad})
    times, least = forge.MOST
    peak, size = forge.peak_of_loading(file), file.stat().st_size
    if peak > least + times * size:
        raise Failure(f"{name}, {what}: {peak:,} bytes were taken to load a file of {size:,}")
    try:
        with np.errstate(all="ignore"):
            load(file).predict(np.ones((2, forge.P)))
    except (CheckpointError, ValueError, MemoryError):
        return
    except Exception as error:
        raise Failure(f"{name}, {what}, is loaded: {type(error).__name__}: {error}") from error


def run_header(rng, folder):
    """Arrays whose headers declare shapes and types that the file does not have."""
    shape = tuple(int(10 ** rng.uniform(0, 13)) * int(rng.choice([1, 1, 1, 0, -1])) for _ in range(2))
    dtype = str(rng.choice(["<f8", "<f8", "<f4", "<i8", "|b1", "<U500000000", "|S99999999", ">f8", "|V8"]))
    header = {"descr": dtype, "fortran_order": bool(rng.random() < 0.3), "shape": shape}
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, header)
    stream.write(rng.bytes(int(rng.integers(0, 400))))
    words = ["--target", str(rng.choice(["0", "1", "y"])), "--method", str(rng.choice(["sgd", "sieve"]))]
    if rng.random() < 0.4:
        source = folder / "declared.npy"
        source.write_bytes(stream.getvalue())
    else:
        source = folder / "declared.npz"
        good = {name: io.BytesIO() for name in ("X", "y", "indptr", "indices", "data", "shape")}
        S = sp.csr_array(np.ones((5, 2)))
        parts = dict(X=np.ones((5, 2)), y=np.arange(5.0), indptr=S.indptr, indices=S.indices, data=S.data)
        for name, raw in good.items():
            np.save(raw, parts.get(name, np.array([10**12, 2**40] if rng.random() < 0.5 else [5, 2])))
        names = ["X", "y"] if rng.random() < 0.5 else ["indptr", "indices", "data", "shape", "y"]
        forged = str(rng.choice(names))
        with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as pack:
            for name in names:
                pack.writestr(f"{name}.npy", (stream if name == forged else good[name]).getvalue())
    tracemalloc.start()
    try:
        command.fit([source], folder / "out", *words)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > 64 << 20:
        raise Failure(f"{header}: {peak:,} bytes were taken to read {source.stat().st_size:,}")


def run(number, seed, folder):
    if folder not in _MADE:
        _MADE[folder] = make(folder)
    models, inputs = _MADE[folder]
    rng = np.random.default_rng([seed, number])
    kind = rng.random()
    if kind < 0.35:
        run_model(rng, models, folder)
    elif kind < 0.55:
        run_forged(rng, folder)
    elif kind < 0.7:
        run_declared(rng, folder)
    elif kind < 0.75:
        run_header(rng, folder)
    else:
        run_input(rng, inputs, folder)
