"""svmlight: one label and sorted index:value pairs a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import _core
from ...core.rows import Rows
from ..examples import Examples
from ..files import Bytes, File
from ..prefetch import parallel_map
from .base import Batch, Format
from .text import MISSING, Chunk, Files, bad_text, newline_before


@dataclass
class Svmlight(Files):
    """`label [qid:n] index:value ... # comment`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.width = self.options.n_features or 0

    def read_file(self, file: File, at: dict[str, Any]) -> Iterator[Batch]:
        parse = partial(self._batch, file)
        return parallel_map(parse, self.chunks(Bytes(file), at, newline_before), self.options.threads)

    def _batch(self, file: File, chunk: Chunk) -> Batch:
        options = self.options
        width, entries = options.n_features or 2**31 - 1, _core.entries(chunk.text, chunk.n)
        y, indptr = np.empty(chunk.lines), np.zeros(chunk.lines + 1, dtype=np.int32)
        indices, data = np.empty(entries, dtype=np.int32), np.empty(entries)
        rows, used, bad, fault, where = _core.svmlight(
            chunk.text, chunk.n, 0 if options.zero_based else 1, width, MISSING[options.missing],
            options.skip_bad, y, indptr[1:], indices, data,
        )  # fmt: skip
        error = bad_text(file, chunk, fault, where, width=f"{width:,}") if fault else None
        X = Rows(p=0, csr=(indptr[: rows + 1], indices[:used], data[:used]))
        return Batch(chunk.place, Examples(X, y[:rows], None), bad + chunk.bad, chunk.read, error)


FORMATS = [Format("svmlight", Svmlight, ("n_features", "zero_based"), ("svm", "svmlight", "libsvm"))]
