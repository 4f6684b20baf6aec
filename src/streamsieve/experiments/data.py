"""The papers' real data, as their owners distribute them, in a folder outside the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..streams import read

Rows = Iterator[tuple[Any, Any]]
Reader = Callable[[list[Path], int], Rows]


def svmlight(files: list[Path], p: int, **options: Any) -> Rows:
    """Any number of files, packed or not."""
    for X, y, _ in read(files, format="svmlight", n_features=p, **options):
        yield X, y


def nips(files: list[Path], p: int) -> Rows:
    """The feature selection challenge of 2003: rows of numbers in .data, a label a line in .labels."""
    X, labels = np.loadtxt(files[0], ndmin=2), np.loadtxt(files[1], ndmin=1)
    yield _wide(X, p, files[0]), labels


def ones(files: list[Path], p: int) -> Rows:
    """The same challenge's binary form (dorothea): the indices, from 1, of the ones of each row."""
    rows = [np.array(line.split(), dtype=np.int64) - 1 for line in files[0].read_text().splitlines()]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows)
    yield sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), p)), np.loadtxt(files[1])


def year(files: list[Path], p: int, **options: Any) -> Rows:
    """The year of each song, then its features, separated by commas."""
    for X, y, _ in read(files, format="csv", header=False, target=0, **options):
        yield _wide(X, p, files[0]), y


def matlab(files: list[Path], p: int) -> Rows:
    """X and Y of a .mat file; of two classes the larger number is +1."""
    from scipy.io import loadmat

    held = loadmat(files[0])
    X, y = held["X"], held["Y"].ravel()
    yield sp.csr_array(_wide(X, p, files[0]), dtype=np.float64), np.where(y == y.max(), 1.0, -1.0)


def arrays(files: list[Path], p: int) -> Rows:
    """X and y of an .npz file."""
    with np.load(files[0]) as held:
        X, y = held["X"], held["y"]
    yield _wide(X, p, files[0]), y.astype(np.float64)


def _wide(X: Any, p: int, file: Path) -> Any:
    if X.shape[1] != p:
        raise ValueError(f"{file.name} has {X.shape[1]} features where {p} are expected.")
    return X


@dataclass(frozen=True)
class Data:
    """Number of features, where the data are to be had, and what is looked for.

    `parts` has, by name, the files of that part and how they are read; a second choice of files follows.
    """

    p: int
    source: str
    parts: dict[str, list[tuple[Reader, list[str]]]] = field(default_factory=dict)


def _here(name: str, p: int) -> Data:
    parts: dict[str, list[tuple[Reader, list[str]]]] = {
        part: [(svmlight, [f"{name}.{part}.svm.gz"])] for part in ("train", "test")
    }
    return Data(p, "the NIPS 2003 challenge or the 20 newsgroups, as gzipped svmlight", parts)


def _challenge(name: str, p: int, reader: Reader, source: str) -> Data:
    files = {part: [f"{name}_{part}.data", f"{name}_{part}.labels"] for part in ("train", "valid")}
    return Data(p, source, {"train": [(reader, files["train"])], "test": [(reader, files["valid"])]})


_LIBSVM = "the LIBSVM data page, binary classification"
SETS = {
    "dexter": _here("dexter", 19_999),
    "basehock": _here("basehock", 26_214),
    "arcene": _here("arcene", 10_000),
    "url": Data(
        3_231_961,
        "the UCI repository, URL Reputation: url_svmlight.tar.gz, unpacked",
        {
            "train": [(svmlight, [f"url_svmlight/Day{day}.svm" for day in range(100)])],
            "test": [(svmlight, ["url_svmlight/Day100.svm"])],
        },
    ),
    "webspam": Data(
        16_609_143,
        f"{_LIBSVM}, webspam (trigram), unpacked from .xz",
        {
            "train": [(partial(svmlight, limit=200_000), ["webspam_wc_normalized_trigram.svm"])],
            "test": [(partial(svmlight, skip=200_000, limit=50_000), ["webspam_wc_normalized_trigram.svm"])],
        },
    ),
    "news20": Data(
        1_355_191,
        f"{_LIBSVM}, news20.binary",
        {"all": [(svmlight, ["news20.binary.bz2"]), (svmlight, ["news20.binary"])]},
    ),
    "rcv1": Data(
        47_236,
        f"{_LIBSVM}, rcv1.binary",
        {
            part: [(svmlight, [f"rcv1_{part}.binary.bz2"]), (svmlight, [f"rcv1_{part}.binary"])]
            for part in ("train", "test")
        },
    ),
    "gisette": _challenge("gisette", 5_000, nips, "the UCI repository, Gisette"),
    "dorothea": _challenge("dorothea", 100_000, ones, "the UCI repository, Dorothea"),
    "farm_ads": Data(
        54_877,
        "the UCI repository, Farm Ads: farm-ads.zip, unpacked",
        {"all": [(svmlight, ["farm-ads-vect"])]},
    ),
    "pcmac": Data(
        3_289,
        "the feature selection repository of Arizona State University",
        {"all": [(matlab, ["PCMAC.mat"])]},
    ),
    "msd": Data(
        90,
        "the UCI repository, YearPredictionMSD: YearPredictionMSD.txt.zip, unpacked",
        {
            "all": [(year, ["YearPredictionMSD.txt"])],
            "train": [(partial(year, limit=463_715), ["YearPredictionMSD.txt"])],
            "test": [(partial(year, skip=463_715), ["YearPredictionMSD.txt"])],
        },
    ),
    "wikiface": Data(
        4_096,
        "nowhere in this form: VGG-16 features (X, 53,040 rows) and ages (y) of the Wikiface images, as .npz",
        {"all": [(arrays, ["wikiface.npz"])]},
    ),
}


def folder() -> Path:
    """Where the files are: the folder that STREAMSIEVE_DATA names, or ../shared/data beside the repository.

    Raises FileNotFoundError, with what to do, where there is none.
    """
    named = os.environ.get("STREAMSIEVE_DATA")
    place = Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "data"
    if place.is_dir():
        return place
    where = named or "../shared/data beside the repository"
    raise FileNotFoundError(
        f"no data in {where}; name its folder in the environment variable STREAMSIEVE_DATA."
    )


def missing(name: str) -> str | None:
    """What is not there of a set, and where it is to be had; None where nothing is missing."""
    try:
        for part in SETS[name].parts:
            _files(name, part)
    except FileNotFoundError:
        wanted = dict.fromkeys(_wanted(name, part) for part in SETS[name].parts)
        return f"{name} is not at hand: {', '.join(wanted)}, from {SETS[name].source}."
    return None


def blocks(name: str, part: str) -> Rows:
    """Rows and targets (labels -1, +1) of a part of a set, block by block."""
    reader, files = _files(name, part)
    return reader(files, SETS[name].p)


def load(name: str, part: str) -> tuple[Any, NDArray[np.float64]]:
    """The same, as one: CSR or dense. "all" takes every part there is."""
    parts = list(SETS[name].parts) if part == "all" and "all" not in SETS[name].parts else [part]
    held = [block for each in parts for block in blocks(name, each)]
    X = [X for X, _ in held]
    joined = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
    return joined, np.concatenate([y for _, y in held])


def _files(name: str, part: str) -> tuple[Reader, list[Path]]:
    place = folder()
    for reader, names in SETS[name].parts[part]:
        if all((place / file).exists() for file in names):
            return reader, [place / file for file in names]
    raise FileNotFoundError(
        f"{_wanted(name, part)} is not in {place}; it is to be had from {SETS[name].source}."
    )


def _wanted(name: str, part: str) -> str:
    choices = [names for _, names in SETS[name].parts[part]]
    return " or ".join(names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}" for names in choices)
