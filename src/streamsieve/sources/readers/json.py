"""JSON lines: one object per row, whose keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..bad_data import BadData, shortened
from ..files import Bytes, File, sample_texts
from ..infer import MixedColumn, Sample
from ..prefetch import parallel_map
from ..table import TableReader
from ..values import column_of, rows_of
from .base import SCHEMA, Batch, Format
from .text import Chunk, Files, newline_before

DEEPEST = 20  # objects inside each other


@dataclass
class JsonLines(TableReader, Files):
    """Objects, one per line. Keys of a nested object are called ``outer.inner``."""

    def read_file(self, file: File, at: dict[str, Any]) -> Iterator[Batch]:
        source = Bytes(file)
        if self.table is None:
            try:
                self._settle_columns(source)
            except BaseException:
                source.close()
                raise
        parse = partial(self._objects, file)
        chunks = self.chunks(source, at, newline_before)
        with closing(parallel_map(parse, chunks, self.options.threads)) as parsed:
            for chunk, objects, lines, bad in parsed:
                yield self._batch(file, chunk, objects, lines, bad)

    def _settle_columns(self, source: Bytes) -> None:
        pieces, coverage = sample_texts(source, self.files)
        objects: list[dict[str, Any]] = []
        for piece in pieces:
            lines = piece.text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
            for line in lines if piece.end else lines[:-1]:
                with suppress(ValueError, TypeError, RecursionError):  # reading it raises an error
                    objects += [flat(json.loads(line))] if line.strip() else []
        if not objects:
            raise BadData("there are no rows: expected one JSON object per line", source.file.name)
        names = list(dict.fromkeys(name for row in objects for name in row))
        columns = [column_of([row.get(name) for row in objects]) for name in names]
        sample = Sample(names, columns, len(objects), coverage, {})
        try:
            self.table_of(names, lambda: sample, source.file.name)
        except MixedColumn as error:
            raise error.bad_data(names, source.file.name) from None

    def _objects(
        self, file: File, chunk: Chunk
    ) -> tuple[Chunk, list[dict[str, Any]], list[int], int | BadData]:
        """The objects of a chunk with their lines, and the number of bad lines, or the first error."""
        objects, lines, bad = [], [], 0
        text = chunk.text[: chunk.n].tobytes().removeprefix(b"\xef\xbb\xbf")
        for number, line in enumerate(text.split(b"\n"), chunk.line):
            if not line.strip():
                continue
            try:
                objects.append(flat(json.loads(line)))
                lines.append(number)
            except (ValueError, TypeError, RecursionError) as error:
                shown = repr(shortened(line.decode("utf-8", "backslashreplace"), 40))
                wrong = BadData(f"{shown} is not a JSON object ({error})", file.name, number, text=shown)
                if not self.options.skip_bad:
                    return chunk, objects, lines, wrong
                bad += 1
        return chunk, objects, lines, bad

    def _batch(
        self, file: File, chunk: Chunk, objects: list[dict[str, Any]], lines: list[int], bad: int | BadData
    ) -> Batch:
        assert self.table is not None
        values = [[row.get(name) for row in objects] for name in self.table.columns]
        found = rows_of(self, values, lines, file.name)
        error = found.error or (bad if isinstance(bad, BadData) else None)
        skipped = found.bad + chunk.bad + (0 if isinstance(bad, BadData) else bad)
        return Batch(chunk.place, found.examples, skipped, chunk.read, error, found.unlabelled)


def flat(value: Any, prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """An object without nested objects; TypeError for other input."""
    if not isinstance(value, dict):
        raise TypeError(f"a {type(value).__name__}")
    if depth > DEEPEST:
        raise ValueError("objects are nested too deeply")
    out: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, dict):
            out |= flat(inner, f"{prefix}{key}.", depth + 1)
        else:
            out[prefix + key] = inner
    return out


FORMATS = [Format("jsonl", JsonLines, SCHEMA, ("jsonl", "ndjson", "jsonlines"))]
