"""The small fixed workloads that counts.py counts.

It runs `workloads.py GROUP FOLDER PATH...` under callgrind. A group is a task, `text` or a verb. FOLDER holds
a copy of the package (`site/`), callgrind's requests (`requests.so`) and the files that workloads read; other
packages are in PATH. Each workload runs once before it is counted, so that imports and caches do not count.
The start of a verb is all imports: these do count, but for NumPy's own, which take as long as ours.
"""

import ctypes
import gc
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

LINES = 200
#: The verbs, and what each is given: rows of FOLDER, or models made of them before.
VERBS = {
    "--help": [],
    "select": ["rows.csv", "--target", "y", "-k", "3"],
    "fit": ["rows.csv", "--target", "y", "-k", "3", "-o", "new.model"],
    "path": ["rows.csv", "--target", "y"],
    "predict": ["ofsa.model", "rows.csv"],
    "evaluate": ["rows.csv", "--target", "y", "-k", "3"],
    "compare": ["rows.csv", "--target", "y", "-k", "3"],
    "merge": ["ofsa.model", "other.model", "-o", "new.model"],
    "inspect": ["ofsa.model"],
    "report": ["ofsa.model", "-o", "new.html"],
    "export": ["ofsa.model", "--format", "json"],
    "watch": ["ofsa.model", "--port", "0"],
    "demo": ["--rows", "100", "--features", "10", "-k", "3"],
}
#: Where the start of a verb ends: before a row is learned or predicted, a page drawn, or the server waits.
FIRST_ROW = {
    "streamsieve.training.model": [("Model", "update"), ("Model", "scores")],
    "streamsieve.statistics.running": [("RunningAverages", "update")],
    "streamsieve.cli.pages": [("report_html",)],
    "streamsieve.cli.page_server": [("PageServer", "serve_forever")],
}

Workload = tuple[str, Callable[[], Any]]  # `name`, and what prepares a call and returns it


class Requests:
    """Callgrind's requests, or nothing where no callgrind runs."""

    def __init__(self, folder: Path) -> None:
        self.library = ctypes.CDLL(str(folder / "requests.so"))

    def start(self) -> None:
        self.library.start()

    def zero(self) -> None:
        self.library.zero()

    def dump(self, name: str) -> None:
        self.library.dump(name.encode())


class StopAtFirstRow(importlib.abc.MetaPathFinder):
    """Ends the process, counted, where a verb calls one of FIRST_ROW."""

    def __init__(self, stop: Callable[..., None]) -> None:
        self.stop = stop

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name not in FIRST_ROW:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            run(module)
            for *kind, function in FIRST_ROW[name]:
                setattr(getattr(module, kind[0]) if kind else module, function, self.stop)

        spec.loader.exec_module = exec_module
        return spec


def start_verb(verb: str, folder: Path) -> None:
    """Count the start of a verb."""
    requests = Requests(folder)

    def stop(*_: Any, **__: Any) -> None:
        requests.dump(f"start of {verb}")
        os._exit(0)

    sys.meta_path.insert(0, StopAtFirstRow(stop))
    os.chdir(folder)
    if verb != "--help":  # which loads no NumPy
        import numpy  # noqa: F401
    requests.start()
    from streamsieve.cli import main

    main([verb, *VERBS[verb]], standalone_mode=False)
    stop()


def rows(classes: int, n: int = 140, p: int = 30) -> tuple[Any, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.5)
    target = X[:, 3] - 2 * X[:, 7] + X[:, 11] + 0.1 * rng.normal(size=n)
    return X, np.digitize(target, np.quantile(target, np.arange(1, classes) / classes)) if classes else target


def method_workloads(wanted: str) -> Iterator[Workload]:
    """`partial_fit` of every estimator of a task in both layouts; reading; `predict` and `learn_one`."""
    import scipy.sparse as sp

    import streamsieve
    from streamsieve.methods import ESTIMATORS

    X, y = rows(3 if wanted == "classification" else 0)
    for name, (entry, task) in ESTIMATORS.items():
        if task == wanted:
            kind = getattr(streamsieve, name)
            yield f"{name} dense partial_fit", partial(second_call, kind, X, y)
            yield f"{name} csr partial_fit", partial(second_call, kind, sp.csr_array(X), y)
            if entry.family in ("flagship", "averages"):
                yield f"{name} read", partial(reading, kind, X, y)
    kind = streamsieve.SGDRegressor if wanted == "regression" else streamsieve.SGDClassifier
    yield f"{kind.__name__} predict one row", partial(one_prediction, kind, X, y)
    if wanted == "regression":
        yield f"{kind.__name__} learn_one", partial(one_row, kind, X, y)


def learned(kind: Any, X: Any, y: Any) -> Any:
    given = {"k": 3} if "k" in kind().get_params() else {}
    return kind(**given).partial_fit(X, y, **({"classes": range(3)} if y.dtype == int else {}))


def second_call(kind: Any, X: Any, y: Any) -> Callable[[], Any]:
    model = learned(kind, X[:70], y[:70])
    return partial(model.partial_fit, X[70:], y[70:])


def reading(kind: Any, X: Any, y: Any) -> Callable[[], Any]:
    model = learned(kind, X, y)
    return lambda: model.coef_


def one_prediction(kind: Any, X: Any, y: Any) -> Callable[[], Any]:
    model = learned(kind, X, y)
    model.predict(X[:1])  # reads the model
    return partial(model.predict, X[:1])


def one_row(kind: Any, X: Any, y: Any) -> Callable[[], Any]:
    row = {f"x{j}": x for j, x in enumerate(X[0].tolist())}
    return partial(kind().learn_one(row, y[0]).learn_one, row, y[1])


def text_workloads() -> Iterator[Workload]:
    """Reading LINES lines of each text format."""
    for name in sorted(write_texts(Path.cwd())):
        given = {} if name.endswith("svm") else {"target": "y"}
        yield f"read {LINES} lines of {name}", partial(partial, read_all, name, **given)


def read_all(name: str, **given: Any) -> None:
    from streamsieve import read

    for _ in read(name, **given):
        pass


def write_texts(folder: Path) -> list[str]:
    """Write the rows in each text format; the names of the files."""
    import json

    X, y = rows(0, LINES)
    names = [f"x{j}" for j in range(X.shape[1])]
    texts = {
        "rows.svm": [
            " ".join([f"{t:.6g}", *(f"{j + 1}:{x:.6g}" for j, x in enumerate(row) if x)])
            for row, t in zip(X, y, strict=True)
        ],
        "rows.jsonl": [
            json.dumps({"y": t, **{name: x for name, x in zip(names, row, strict=True) if x}})
            for row, t in zip(X.tolist(), y.tolist(), strict=True)
        ],
    }
    for ending, comma in (("csv", ","), ("tsv", "\t")):
        texts[f"rows.{ending}"] = [
            comma.join(["y", *names]),
            *(comma.join(f"{x:.6g}" for x in (t, *row)) for row, t in zip(X, y, strict=True)),
        ]
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return list(texts)


def write_files(folder: Path) -> None:
    """What the verbs read: rows, and models of them."""
    from streamsieve import OFSARegressor, save

    write_texts(folder)
    X, y = rows(0)
    for name, some in (("ofsa", slice(70)), ("other", slice(70, None))):
        save(OFSARegressor(k=3).fit(X[some], y[some]), folder / f"{name}.model")


def count(workloads: list[Workload], requests: Requests) -> None:
    """Run each workload twice and count the second time."""
    gc.disable()
    for _, prepare in workloads:
        prepare()()
    requests.start()
    for name, prepare in workloads:
        call = prepare()
        requests.zero()
        call()
        requests.dump(name)


def main() -> None:
    group, folder = sys.argv[1], Path(sys.argv[2])
    sys.path[:0] = [str(folder / "site"), *sys.argv[3:]]
    if group == "files":
        write_files(folder)
    elif group in VERBS:
        start_verb(group, folder)
    else:
        os.chdir(folder)
        count(list(text_workloads() if group == "text" else method_workloads(group)), Requests(folder))


if __name__ == "__main__":
    main()
