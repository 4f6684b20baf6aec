"""One cell: a method on a split of a set at k, fitted in a process of its own, its result in a cache.

The process is forked, so that imports and data are paid once; processor time and address space are limited.
Seconds are those of the processor; memory is the peak beyond what the process had before the fit.
"""

import hashlib
import json
import os
import resource
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from .datasets import Data, Set
from .methods import Method, Problem

MB = 2**20
OK = "ok"


@dataclass(frozen=True)
class Cell:
    set: Set
    split: int
    k: int
    method: Method

    def key(self) -> str:
        """Equal where the result is: a method that takes no k has one result for all of them."""
        m = self.method
        what = [self.set.name, self.split, self.k if m.takes_k else None, m.name, m.settings, m.version]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Result:
    """A line of the cache; `score` is accuracy or R², `chance` that of the best constant."""

    key: str
    set: str
    split: int
    k: int
    method: str
    settings: dict[str, Any]
    status: str  # "ok", "time", "memory", "refused: why" or the error
    limit: float  # processor seconds that it was given
    chance: float
    n_test: int
    score: float | None = None
    detection: float | None = None
    n_features: int | None = None
    seconds: float | None = None
    memory: float | None = None  # MB
    memory_limit: float = 0.0  # MB of address space that the fit was given
    log_loss: float | None = None  # of labels, where there are probabilities
    auc: float | None = None  # of two classes
    columns: list[int] | None = None  # selected

    def is_error(self) -> bool:
        return self.status not in (OK, "time", "memory") and not self.status.startswith("refused")


class Cache:
    """Results by key in a file of JSON lines; the last line of a key counts, processes may share the file."""

    def __init__(self, path: Path, retry: bool = False):
        self.path = path
        self.results: dict[str, Result] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                result = Result(**json.loads(line))
                self.results[result.key] = result
        if retry:
            self.results = {key: r for key, r in self.results.items() if not r.is_error()}

    def find(self, cell: Cell, limit: float = 0, memory: float = 0) -> Result | None:
        """The result, unless it ran out of less time or memory than it would be given now."""
        found = self.results.get(cell.key())
        if found and found.status == "time" and found.limit < limit:
            return None
        if found and found.status == "memory" and found.memory_limit < memory:
            return None
        return found

    def add(self, result: Result) -> None:
        self.results[result.key] = result
        with open(self.path, "a") as file:
            file.write(json.dumps(asdict(result)) + "\n")


def run(cells: list[Cell], cache: Cache, limit: float, memory: float) -> Iterator[Result]:
    """Compute what the cache lacks, split by split."""
    loaded: tuple[str, int] | None = None
    for cell in cells:
        if cache.find(cell, limit, memory):
            continue
        if loaded != (cell.set.name, cell.split):
            data = cell.set.load(cell.split)
            loaded = (cell.set.name, cell.split)
        result = compute(cell, data, limit, memory)
        cache.add(result)
        yield result


def compute(cell: Cell, data: Data, limit: float, memory: float) -> Result:
    method, task = cell.method, cell.set.task
    about = {
        "key": cell.key(),
        "set": cell.set.name,
        "split": cell.split,
        "k": cell.k,
        "method": method.name,
        "settings": method.settings,
        "limit": limit,
        "memory_limit": memory,
        "chance": 0.0 if task == "targets" else majority(data),
        "n_test": len(data.y_test),
    }
    if reason := method.refuses(Problem(data.X, data.y, cell.k, task)):
        return Result(**about, status=f"refused: {reason}")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = 1
        try:
            report = measure(cell, data, limit, memory)
            with os.fdopen(writer, "w") as pipe:
                json.dump(report, pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    if not text:
        spent = usage.ru_utime + usage.ru_stime >= limit - 1
        return Result(**about, status="time" if spent else f"died: {os.waitstatus_to_exitcode(status)}")
    report = json.loads(text)
    base = report.pop("base")
    return Result(**about, **report, memory=round(usage.ru_maxrss / 1024 - base, 1))


def majority(data: Data) -> float:
    classes, counts = np.unique(data.y, return_counts=True)
    return float(np.mean(data.y_test == classes[counts.argmax()]))


def measure(cell: Cell, data: Data, limit: float, memory: float) -> dict[str, Any]:
    """In the child: fit, predict, score."""
    warnings.simplefilter("ignore")
    size, base = footprint()
    seconds = int(limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (int((size + memory) * MB),) * 2)
    report: dict[str, Any] = {"base": base}
    start = time.process_time()
    try:
        with open(os.devnull, "w") as quiet:
            os.dup2(quiet.fileno(), 1)
            os.dup2(quiet.fileno(), 2)
        problem = Problem(data.X, data.y, cell.k, cell.set.task)
        fitted = cell.method.fit(problem, **cell.method.settings)
        report["seconds"] = round(time.process_time() - start, 3)
        guess = np.asarray(fitted.predict(data.X_test))
    except MemoryError:
        return {**report, "status": "memory"}
    except Exception as error:
        return {**report, "status": f"{type(error).__name__}: {error}"[:200]}
    y = data.y_test
    if cell.set.task == "labels":
        score = np.mean(guess == y)
        if fitted.probabilities is not None:
            report |= rank_and_loss(np.unique(data.y), y, np.asarray(fitted.probabilities(data.X_test)))
    else:
        score = 1 - np.sum((y - guess) ** 2) / np.sum((y - y.mean()) ** 2)
    report |= {"status": OK, "score": round(float(score), 5), "n_features": len(fitted.columns)}
    report["columns"] = [int(j) for j in fitted.columns]
    if data.truth is not None:
        report["detection"] = round(float(np.isin(data.truth, fitted.columns).mean()), 5)
    return report


def rank_and_loss(classes: np.ndarray, y: np.ndarray, share: np.ndarray) -> dict[str, float]:
    """Log-loss and, of two classes, the area under the ROC curve."""
    out = {"log_loss": round(float(log_loss(y, share, labels=classes)), 5)}
    if len(classes) == 2 and len(np.unique(y)) == 2:
        out["auc"] = round(float(roc_auc_score(y == classes[1], share[:, 1])), 5)
    return out


def footprint() -> tuple[float, float]:
    """MB of address space and of memory of this process."""
    pages = Path("/proc/self/statm").read_text().split()[:2]
    size, resident = (int(n) * resource.getpagesize() / MB for n in pages)
    return size, resident
