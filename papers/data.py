"""The papers' real data, in the form in which their owners distribute them, outside the repository."""

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

from streamsieve import read

Rows = Iterator[tuple[Any, Any]]
Reader = Callable[[list[Path], int], Rows]


def svmlight(files: list[Path], p: int, **options: Any) -> Rows:
    """Any number of files, packed or not."""
    for X, y, _ in read(files, format="svmlight", n_features=p, **options):
        yield X, y


def dense_rows(files: list[Path], p: int) -> Rows:
    """The feature selection challenge of 2003: rows of numbers in .data, a label a line in .labels."""
    X, labels = np.loadtxt(files[0], ndmin=2), np.loadtxt(files[1], ndmin=1)
    yield check_width(X, p, files[0]), labels


def one_indices(files: list[Path], p: int) -> Rows:
    """The same challenge's binary form (dorothea): the indices, from 1, of the ones of each row."""
    rows = [np.array(line.split(), dtype=np.int64) - 1 for line in files[0].read_text().splitlines()]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows)
    yield sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), p)), np.loadtxt(files[1])


def songs(files: list[Path], p: int, **options: Any) -> Rows:
    """The year of each song, then its features, separated by commas."""
    for X, y, _ in read(files, format="csv", header=False, target=0, **options):
        yield check_width(X, p, files[0]), y


def matlab(files: list[Path], p: int) -> Rows:
    """X and Y of a .mat file; of two classes the larger number is +1."""
    from scipy.io import loadmat

    loaded = loadmat(files[0])
    X, y = loaded["X"], loaded["Y"].ravel()
    yield sp.csr_array(check_width(X, p, files[0]), dtype=np.float64), np.where(y == y.max(), 1.0, -1.0)


def arrays(files: list[Path], p: int) -> Rows:
    """X and y of an .npz file."""
    with np.load(files[0]) as loaded:
        X, y = loaded["X"], loaded["y"]
    yield check_width(X, p, files[0]), y.astype(np.float64)


def check_width(X: Any, p: int, file: Path) -> Any:
    if X.shape[1] != p:
        raise ValueError(f"{file.name} has {X.shape[1]} features where {p} are expected.")
    return X


@dataclass(frozen=True)
class Dataset:
    """Number of features, source, and by part the alternatives: a reader and the names of its files."""

    p: int
    source: str
    parts: dict[str, list[tuple[Reader, list[str]]]] = field(default_factory=dict)


def _svmlight_gz(name: str, p: int) -> Dataset:
    parts: dict[str, list[tuple[Reader, list[str]]]] = {
        part: [(svmlight, [f"{name}.{part}.svm.gz"])] for part in ("train", "test")
    }
    return Dataset(p, "the NIPS 2003 challenge or the 20 newsgroups, as gzipped svmlight", parts)


def _challenge(name: str, p: int, reader: Reader, source: str) -> Dataset:
    files = {part: [f"{name}_{part}.data", f"{name}_{part}.labels"] for part in ("train", "valid")}
    return Dataset(p, source, {"train": [(reader, files["train"])], "test": [(reader, files["valid"])]})


_LIBSVM = "the LIBSVM data page, binary classification"
DATASETS = {
    "dexter": _svmlight_gz("dexter", 19_999),
    "basehock": _svmlight_gz("basehock", 26_214),
    "arcene": _svmlight_gz("arcene", 10_000),
    "url": Dataset(
        3_231_961,
        "the UCI repository, URL Reputation: url_svmlight.tar.gz, unpacked",
        {
            "train": [(svmlight, [f"url_svmlight/Day{day}.svm" for day in range(100)])],
            "test": [(svmlight, ["url_svmlight/Day100.svm"])],
        },
    ),
    "webspam": Dataset(
        16_609_143,
        f"{_LIBSVM}, webspam (trigram), unpacked from .xz",
        {
            "train": [(partial(svmlight, limit=200_000), ["webspam_wc_normalized_trigram.svm"])],
            "test": [(partial(svmlight, skip=200_000, limit=50_000), ["webspam_wc_normalized_trigram.svm"])],
        },
    ),
    "news20": Dataset(
        1_355_191,
        f"{_LIBSVM}, news20.binary",
        {"all": [(svmlight, ["news20.binary.bz2"]), (svmlight, ["news20.binary"])]},
    ),
    "rcv1": Dataset(
        47_236,
        f"{_LIBSVM}, rcv1.binary",
        {
            part: [(svmlight, [f"rcv1_{part}.binary.bz2"]), (svmlight, [f"rcv1_{part}.binary"])]
            for part in ("train", "test")
        },
    ),
    "gisette": _challenge("gisette", 5_000, dense_rows, "the UCI repository, Gisette"),
    "dorothea": _challenge("dorothea", 100_000, one_indices, "the UCI repository, Dorothea"),
    "farm_ads": Dataset(
        54_877,
        "the UCI repository, Farm Ads: farm-ads.zip, unpacked",
        {  # [Zhai] learns the first rows and is tested on the others
            "train": [(partial(svmlight, limit=3_313), ["farm-ads-vect"])],
            "test": [(partial(svmlight, skip=3_313), ["farm-ads-vect"])],
        },
    ),
    "pcmac": _svmlight_gz("pcmac", 26_214),
    "pcmac_asu": Dataset(  # the same newsgroups with another vocabulary
        3_289,
        "the feature selection repository of Arizona State University",
        {"all": [(matlab, ["PCMAC.mat"])]},
    ),
    "msd": Dataset(
        90,
        "the UCI repository, YearPredictionMSD: YearPredictionMSD.txt.zip, unpacked",
        {
            "all": [(songs, ["YearPredictionMSD.txt"])],
            "train": [(partial(songs, limit=463_715), ["YearPredictionMSD.txt"])],
            "test": [(partial(songs, skip=463_715), ["YearPredictionMSD.txt"])],
        },
    ),
    "wikiface": Dataset(
        4_096,
        "nowhere in this form: VGG-16 features (X, 53,040 rows) and ages (y) of the Wikiface images, as .npz",
        {"all": [(arrays, ["wikiface.npz"])]},
    ),
}


def data_directory() -> Path:
    """The folder that STREAMSIEVE_DATA names, or ../shared/data beside the repository.

    Raises FileNotFoundError where there is none.
    """
    named = os.environ.get("STREAMSIEVE_DATA")
    directory = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if directory.is_dir():
        return directory
    where = named or "../shared/data beside the repository"
    raise FileNotFoundError(
        f"no data in {where}; name its folder in the environment variable STREAMSIEVE_DATA."
    )


def missing_files(name: str, *parts: str) -> str | None:
    """Which files of a dataset (of all its parts, or of those named) are missing, and their source.

    None where all are there.
    """
    parts = parts or tuple(DATASETS[name].parts)
    try:
        for part in parts:
            _files(name, part)
    except FileNotFoundError:
        names = dict.fromkeys(_file_names(name, part) for part in parts)
        return f"{name} is not at hand: {', '.join(names)}, from {DATASETS[name].source}."
    return None


def blocks(name: str, part: str) -> Rows:
    """Rows and targets (labels -1, +1) of a part of a dataset, block by block."""
    reader, files = _files(name, part)
    return reader(files, DATASETS[name].p)


def load(name: str, part: str) -> tuple[Any, NDArray[np.float64]]:
    """`blocks` in one: CSR or dense. "all" is every part there is."""
    parts = list(DATASETS[name].parts) if part == "all" and "all" not in DATASETS[name].parts else [part]
    loaded = [block for each in parts for block in blocks(name, each)]
    X = [X for X, _ in loaded]
    joined = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
    return joined, np.concatenate([y for _, y in loaded])


def _files(name: str, part: str) -> tuple[Reader, list[Path]]:
    directory = data_directory()
    for reader, names in DATASETS[name].parts[part]:
        if all((directory / file).exists() for file in names):
            return reader, [directory / file for file in names]
    raise FileNotFoundError(
        f"{_file_names(name, part)} is not in {directory}; download it from {DATASETS[name].source}."
    )


def _file_names(name: str, part: str) -> str:
    choices = [names for _, names in DATASETS[name].parts[part]]
    return " or ".join(names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}" for names in choices)
