"""Forged model files: `python tests/forge.py FOLDER MOST METHOD...`; prints the number tried of each method.

Every array and number of a state is replaced by wild ones, with a checksum that is right; of each method at
most MOST files are tried, evenly spaced (0: all). Each file must be refused, or the model must learn and
predict on: a crash or a hang is what the caller looks for.
"""

import faulthandler
import json
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import safetensors.numpy

import streamsieve
from streamsieve import CheckpointError, methods, save
from streamsieve.core.rows import Rows
from streamsieve.persist import files
from streamsieve.training.saved import read_plain

P = 9
WILD = (-1, 0, 7, 2**40, 1e300, float("nan"), float("inf"))
EVERYWHERE = (-1, 0, 1e300)  # of these, what also replaces a whole array


def fitted(name):
    task = methods.METHODS[name].tasks[0]
    kind = getattr(streamsieve, methods.METHODS[name].estimators[task])
    X = np.random.default_rng(0).normal(size=(150, P))
    model = kind(**({"k": 2} if "k" in kind().get_params() else {}))
    model.partial_fit(X, X[:, 1] > 0, classes=[False, True]) if task == "classification" else model.fit(
        X, X[:, 1]
    )
    return model


def nodes(tree, path=""):
    """Every JSON value below a state, with the container that holds it and its key."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(items):
        yield tree, key, value, f"{path}.{key}"
        yield from nodes(value, f"{path}.{key}")


def forgeries(tree, tensors):
    """Functions that change the tree and tensors, by name."""
    state = tree["model"]["state"]
    for _, key, value, path in nodes(state):
        if key == "tensor" or (isinstance(key, int) and ".tensors." in path):
            a = tensors[value]
            for wild in WILD:
                with np.errstate(all="ignore"):
                    if a.size > 1:
                        one = a.copy()
                        one.flat[a.size // 2] = np.array(wild).astype(a.dtype)
                        yield f"{path} one {wild}", {value: one}, None
                    if a.size == 1 or wild in EVERYWHERE:
                        yield f"{path} all {wild}", {value: np.full(a.shape, wild).astype(a.dtype)}, None
            if a.ndim:
                yield f"{path} shorter", {value: a[:-1].copy()}, None
                yield f"{path} longer", {value: np.concatenate([a, a[-1:]])}, None
                yield f"{path} reversed", {value: np.ascontiguousarray(a[::-1])}, None
            yield f"{path} as float32", {value: a.astype(np.float32)}, None
        elif isinstance(value, int | float | None) and "." in path and not isinstance(key, int):
            for wild in (-1, 7, 2**40, "word", None, [], True):
                yield f"{path} is {wild!r}", {}, (path, wild)


#: Sizes that no file of a few kilobytes can have.
HUGE = (2**20, 2**31 - 1, 10**12, 10**30)
#: Bytes that loading may take: what a file of plain numbers becomes as Python objects, and a little.
MOST = 64, 16 << 20


def declared(tree, wrap=1000):
    """Trees, each with one size, number or type declared anew, by name; all of a file, not only its state.

    In place of the first `wrap` nodes stands also what no honest file holds.
    """
    for holder, key, value, path in nodes(tree):
        huge = ()
        if type(value) in (int, float) or value is None:
            huge = HUGE
        elif key == "dtype":
            huge = ("<U500000000", "<U100000", "<V900000000")
        elif key == "values" and isinstance(value, list):
            huge = ([[]] * 20_000,)
        for other in huge:
            holder[key] = other
            yield f"{path} is {str(other)[:20]}", tree
        holder[key] = value
        if isinstance(value, dict) and "~" in value and (wrap := wrap - 1) >= 0:
            for what, other in WRAPPED.items():
                holder[key] = other(value)
                yield f"{path} {what}", tree
            holder[key] = value


def _deep(node):
    for _ in range(300):
        node = {"~": "tuple", "values": [node]}
    return node


#: What stands in place of a node, whose declared sizes are beyond what follows.
WRAPPED = {
    "is words of 2 GB": lambda _: {"~": "words", "dtype": "<U500000000", "shape": [1], "values": ["a"]},
    "is words, one long": lambda _: {
        "~": "words",
        "dtype": "<U1",
        "shape": [9001],
        "values": ["a"] * 9000 + ["b" * 9000],
    },
    "is records of no columns": lambda _: {
        "~": "records", "shape": [10**12], "columns": [], "tensors": [],
    },
    "is records of many rows": lambda _: {
        "~": "records", "shape": [10**9], "columns": [["a", "F64"]], "tensors": ["0"],
    },
    "is in 300 tuples": _deep,
    "is keys of one hash": lambda _: {
        "~": "dict", "keys": [i * (2**61 - 1) for i in range(1, 5000)], "values": [0] * 4999,
    },
}  # fmt: skip


def peak_of_loading(file):
    """Bytes that Python and NumPy took to load a file, or to refuse it."""
    tracemalloc.start()
    try:
        read_plain(file)
    except CheckpointError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def put(tree, path, value):
    *outer, last = path.split(".")[1:]
    node = tree["model"]["state"]
    for key in outer:
        node = node[int(key)] if isinstance(node, list) else node[key]
    node[int(last) if isinstance(node, list) else last] = value


def write(file, tree, tensors):
    table = sorted(tensors.items(), key=lambda item: -item[1].itemsize)
    table.append(("state.json", np.frombuffer(json.dumps(tree).encode(), np.uint8)))
    files.write_tensors(file, table, "forged", "0")


def main(folder, most, *names):
    faulthandler.enable()
    files.os.fsync = lambda _: None  # these files need not outlive the process
    for name in names:
        print(name, flush=True)
        print(f"{name}: {forge(name, Path(folder) / name, int(most))} files")


def forge(name, file, most=0):
    """Try the forged files of a method, all or at most so many; how many there were."""
    save(fitted(name), file)
    tensors = safetensors.numpy.load_file(file)
    text = tensors.pop("state.json").tobytes()
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, P))
    count = 0
    found = list(forgeries(json.loads(text), tensors))
    step = -(-len(found) // most) if most else 1
    # methods of a family share much of their state: each begins at another file
    for what, arrays, change in found[list(methods.METHODS).index(name) % step :: step]:
        print(what, flush=True)
        tree = json.loads(text)
        if change is not None:
            put(tree, *change)
        write(file, tree, {**tensors, **arrays})
        count += 1
        faulthandler.dump_traceback_later(10, exit=True)
        try:
            model = read_plain(file).object
            y = X[:, 1] > 0 if model.classes is not None else X[:, 1]
            with np.errstate(all="ignore"):
                model.scores(Rows(X))
                model.learn(Rows(X), y)
                model.scores(Rows(X))
        except (CheckpointError, ValueError, FloatingPointError, ZeroDivisionError, OverflowError):
            continue
        finally:
            faulthandler.cancel_dump_traceback_later()
    return count


if __name__ == "__main__":
    main(*sys.argv[1:])
