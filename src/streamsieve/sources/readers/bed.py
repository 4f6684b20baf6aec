"""PLINK genotypes (.bed, .bim and .fam), with tables of phenotypes and covariates joined by sample id."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.rows import Rows
from ..bad_data import BadData
from ..examples import Examples
from ..files import Bytes, File
from .arrays import fill_missing
from .base import Batch, Format, Options, Reader

MAGIC = b"\x6c\x1b"
PACKED = 1 << 28  # bytes of packed genotypes held at a time
ALIGNED = 1 << 14  # rows whose genotypes of one variant fill a page of 4,096 bytes
VALUES = 1 << 18  # genotypes unpacked at a time
_COUNTS = np.array([2.0, np.nan, 1.0, 0.0])  # copies of allele 1, by the two bits of a genotype
_PHENOTYPE = "phenotype"  # what the sixth column of .fam is called
_IDS = ("iid", "#iid", "id", "sample", "sample_id")


class Sample(NamedTuple):
    iid: str
    phenotype: float


@dataclass
class Bed(Reader):
    """One .bed file, variants by samples in blocks of two bits, read as rows of samples.

    A row is a sample, and a feature is a variant: the count 0, 1 or 2 of the first allele of .bim. Further
    files are tables (CSV or TSV with a header) joined by sample id; their columns are covariates, `target`
    and `weight`. The default target is the phenotype of .fam.

    The file stores variants one after another, so that a block of rows is a stripe of each variant. A stripe
    has as many rows as fit into 256 MB of packed genotypes; in larger files it consists of whole pages, so
    that pages are read twice only at the boundary of two stripes.
    """

    files: list[File]

    def __post_init__(self) -> None:
        bed = self.files[0]
        if bed.path is None or bed.size is None:
            raise ValueError("bed cannot be read from standard input; pass the .bed file.")
        stem = bed.path.removesuffix(".bed")
        self._samples = [Sample(line[1], _number(line[5])) for line in _lines(stem + ".fam", 6)]
        variants = _variant_names(_lines(stem + ".bim", 6))
        tables = [_Table(file) for file in self.files[1:]]
        self._join(self.options, variants, tables)
        self._stride = -(-len(self._samples) // 4)
        with open(bed.path, "rb") as raw:
            start = raw.read(3)
        if start[:2] != MAGIC or start[2:] != b"\x01":
            raise BadData("not a .bed file with variants one after the other (plink --make-bed)", bed.name)
        expected = 3 + self._stride * len(variants)
        if bed.size != expected:
            raise BadData(
                f"{bed.size:,} bytes, but {len(variants):,} variants (.bim) of {len(self._samples):,} "
                f"samples (.fam) need {expected:,}: the files do not match, or it is truncated",
                bed.name,
            )

    def _join(self, options: Options, variants: list[str], tables: list[_Table]) -> None:
        """Which variants and covariates are features, and each sample's covariates, target and weight."""
        covariates = {name: table for table in tables for name in table.columns}
        known = {*variants, *covariates, _PHENOTYPE}
        for name in (options.target, options.weight, *(options.columns or ()), *options.drop):
            if name is not None and name not in known:
                raise BadData(
                    f"there is no {name!r} among the variants, {_PHENOTYPE!r} and the tables' columns "
                    f"({', '.join(list(covariates)[:8]) or 'no table was given'})",
                    self.files[0].name,
                )
        unused = {options.target, options.weight, *options.drop}
        wanted = [name for name in (*variants, *covariates) if name not in unused]
        if options.columns is not None:
            chosen = set(options.columns)
            wanted = [name for name in wanted if name in chosen]
        if options.feature_names is not None:
            absent = [name for name in options.feature_names if name not in known]
            if absent:
                raise BadData(f"there is no feature {absent[0]!r}", self.files[0].name)
            wanted = list(options.feature_names)
        at = {name: j for j, name in enumerate(variants)}
        self.names, self.width = wanted, len(wanted)
        self._variants = np.array([at[name] for name in wanted if name in at], dtype=np.int64)
        self._is_variant = np.array([name in at for name in wanted])
        beside = [name for name in wanted if name not in at]
        target = _PHENOTYPE if options.target is None else options.target
        self._covariates = np.column_stack(
            [self._column(name, covariates) for name in beside] or [self._none()]
        )
        self._covariates = self._covariates[:, : len(beside)]
        self._y = self._column(target, covariates)
        self._weight = None if options.weight is None else self._column(options.weight, covariates)
        if np.isnan(self._y).all():
            raise BadData(
                f"{target!r} is missing for all samples; pass a table with the phenotype, and target",
                self.files[0].name,
            )

    def _none(self) -> NDArray[np.float64]:
        return np.full(len(self._samples), np.nan)

    def _column(self, name: str, covariates: dict[str, _Table]) -> NDArray[np.float64]:
        """One value for each sample, NaN if missing."""
        if name in covariates:
            return covariates[name].values(name, [sample.iid for sample in self._samples])
        found = np.array([sample.phenotype for sample in self._samples])
        if set(np.unique(found)) <= {-9.0, 0.0, 1.0, 2.0}:  # controls and cases; 0 and -9 are missing
            return np.where(found > 0, found, np.nan)
        return np.where(found == -9, np.nan, found)

    def fingerprint(self) -> Any:
        return [file.fingerprint for file in self.files]

    def title(self) -> str:
        return self.files[0].name

    def bytes_total(self) -> int | None:
        return self.files[0].size

    def batches(self, at: dict[str, Any]) -> Iterator[Batch]:
        n, p = len(self._samples), len(self._variants)
        rows = PACKED // max(1, p) * 4
        stripe = n if rows >= n else max(ALIGNED, rows // ALIGNED * ALIGNED)
        step = max(4, VALUES // max(1, p) // 4 * 4)
        first = at.get("row", 0)
        for start in range(first // stripe * stripe, n, stripe):
            stop = min(n, start + stripe)
            packed = self._packed(start // 4, -(-stop // 4))
            for row in range(max(start, first), stop, step):
                end = min(stop, row + step)
                genotypes = _unpack(packed[:, (row - start) // 4 : -(-(end - start) // 4)])[: end - row]
                examples, bad = self._examples(genotypes, row, end)
                yield Batch({"row": row}, examples, bad, int((self.files[0].size or 0) * end / n))

    def _packed(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Bytes start to stop of every variant, (p, stop - start)."""
        path, p, width = self.files[0].path, len(self._variants), stop - start
        assert path is not None
        out = np.empty((p, width), dtype=np.uint8)
        raw = os.open(path, os.O_RDONLY)
        try:
            whole = width == self._stride and np.array_equal(self._variants, np.arange(p))
            for at in range(0, p, max(1, (1 << 24) // max(1, width))) if whole else range(p):
                view = out[at : at + max(1, (1 << 24) // max(1, width))] if whole else out[at]
                offset = 3 + int(self._variants[at]) * self._stride + start
                if os.preadv(raw, [view.reshape(-1).data], offset) < view.size:
                    raise BadData("the file was truncated while it was read", self.files[0].name)
        finally:
            os.close(raw)
        return out

    def _examples(self, genotypes: NDArray[np.float64], row: int, end: int) -> tuple[Examples, int]:
        X = np.empty((end - row, self.width))
        X[:, self._is_variant] = genotypes
        X[:, ~self._is_variant] = self._covariates[row:end]
        y, w = self._y[row:end], None if self._weight is None else self._weight[row:end]
        bad = fill_missing(X, self.options.missing)
        wrong = bad.any(axis=1) | ~np.isfinite(y)
        if w is not None:
            wrong |= ~(np.isfinite(w) & (w >= 0))
        if wrong.any() and not self.options.skip_bad:
            self._raise_bad(bad, y, w, row, int(np.argmax(wrong)))
        keep = np.flatnonzero(~wrong)
        return Examples(Rows(X), y, w).pick(keep) if len(keep) < len(X) else Examples(Rows(X), y, w), int(
            wrong.sum()
        )

    def _raise_bad(self, bad: Any, y: Any, w: Any, row: int, i: int) -> None:
        assert self.names is not None
        column = self.names[int(np.argmax(bad[i]))] if bad[i].any() else None
        what = (
            f"a missing value of {column!r}; pass missing='keep' or 'zero'"
            if column is not None
            else "no phenotype"
            if not np.isfinite(y[i])
            else f"the weight {w[i]}"
        )
        raise BadData(f"sample {self._samples[row + i].iid!r} has {what}", self.title(), row + i + 1, column)


class _Table:
    """A small table of numbers with a column of sample ids, kept in memory."""

    def __init__(self, file: File) -> None:
        self.file = file
        source = Bytes(file)
        try:
            text = b"".join(iter(lambda: _some(source), b"")).decode("utf-8-sig")
        finally:
            source.close()
        lines = text.splitlines()
        delimiter = "\t" if lines and "\t" in lines[0] else ","
        header, *rows = csv.reader(lines, delimiter=delimiter) if lines else [[]]
        ids = [c for c, name in enumerate(header) if name.strip().lower() in _IDS]
        if not ids:
            raise BadData(f"no column of sample ids; expected one called {', '.join(_IDS)}", file.name, 1)
        self._header = [name.strip() for name in header]
        self.columns = [name for name in self._header if name.lower() not in (*_IDS, "fid", "#fid")]
        self._rows = {row[ids[0]].strip(): row for row in rows if row}

    def values(self, name: str, iids: list[str]) -> NDArray[np.float64]:
        at, out = self._header.index(name), np.full(len(iids), np.nan)
        for i, iid in enumerate(iids):
            row = self._rows.get(iid)
            text = row[at].strip() if row is not None and at < len(row) else ""
            if text not in ("", "NA", "nan", "NaN", "N/A", "null"):
                try:
                    out[i] = float(text)
                except ValueError:
                    raise BadData(
                        f"{text!r} of sample {iid!r} is not a number", self.file.name, None, name
                    ) from None
        return out


def _some(source: Bytes) -> bytes:
    buffer = bytearray(1 << 20)
    return bytes(buffer[: source.into(memoryview(buffer))])


def _lines(path: str, columns: int) -> list[list[str]]:
    if not os.path.exists(path):
        raise FileNotFoundError(f"There is no file {path!r}, which belongs to the .bed file.")
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip()]
    short = next((i for i, line in enumerate(lines) if len(line) < columns), None)
    if short is not None:
        raise BadData(f"expected {columns} columns, found {len(lines[short])}", path, short + 1)
    return lines


def _variant_names(lines: list[list[str]]) -> list[str]:
    """The ids of .bim; chromosome:position:alleles if an id is missing or not unique."""
    times: dict[str, int] = {}
    for line in lines:
        times[line[1]] = times.get(line[1], 0) + 1
    return [
        line[1] if line[1] != "." and times[line[1]] == 1 else ":".join((line[0], line[3], line[4], line[5]))
        for line in lines
    ]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _unpack(packed: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Genotypes (4 m, p) of bytes (p, m), four in each, the first in the lowest bits."""
    bits = (packed[:, :, None] >> np.array([0, 2, 4, 6], dtype=np.uint8)) & 3
    return _COUNTS[bits.reshape(len(packed), -1).T]


FORMATS = [
    Format(
        "bed",
        Bed,
        ("target", "weight", "columns", "drop", "feature_names"),
        ("bed",),
        MAGIC,
        with_tables=True,
    )
]
