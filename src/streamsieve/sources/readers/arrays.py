"""NumPy arrays in files: .npy, .npz, and scipy's sparse .npz, some rows at a time."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ...core.rows import Rows, from_scipy
from ..bad_data import BadData
from ..examples import Examples
from ..files import File, for_arrow, open_bytes
from ..infer import plain_schema
from ..table import Table
from .base import Batch, Format, Options
from .text import Files

VALUES = 1 << 18  # read at a time
EMPTY_COLUMNS = 1 << 16  # of an array without rows: no bytes of the file stand for them, and names take 33 MB
DEFLATE = 1032  # bytes that one byte of a packed member becomes at most, by the format


class _Array:
    """An array in a file, read from the first row on; pickled data are never loaded.

    `room` is the number of bytes that can follow its header, which may declare any shape.
    """

    def __init__(self, name: str, file: str, shape: tuple[int, ...], dtype: np.dtype[Any], room: int) -> None:
        self.name, self.file, self.shape, self.dtype = name, file, shape, dtype
        if dtype.kind not in "fiubUS":
            raise BadData(f"{name} has type {dtype}; save numbers, or labels as strings", file)
        if min(shape, default=1) < 0:
            raise BadData(f"{name} has shape {shape}; the file is damaged", file)
        self.width = math.prod(shape[1:])
        needed = math.prod(shape) * dtype.itemsize
        if needed > room:
            raise BadData(
                f"{name} ends before its last row: {needed:,} bytes of shape {shape} and type {dtype} are "
                f"declared, at most {room:,} are there; the file is truncated",
                file,
            )
        if not needed and max(self.width, dtype.itemsize) > EMPTY_COLUMNS:  # a type may declare any size
            raise BadData(f"{name} has shape {shape}; expected an array that holds values", file)

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1

    def read(self, n: int) -> NDArray[Any]:
        """The next n rows."""
        raise NotImplementedError

    def skip(self, n: int) -> None:
        raise NotImplementedError


class _File(_Array):
    """A .npy file in either order, read by position: a mapped file that is truncated ends the process."""

    def __init__(self, raw: BinaryIO, file: str) -> None:
        shape, self._column_order, dtype = _header(raw, "the array", file)
        room = os.fstat(raw.fileno()).st_size - raw.tell()
        super().__init__("the array", file, shape, dtype, room)
        self._raw, self._start, self._row = raw, raw.tell(), 0

    def read(self, n: int) -> NDArray[Any]:
        first, self._row = self._row, self._row + n
        if not self._column_order or len(self.shape) < 2:
            return self._values(first * self.width, n * self.width).reshape(n, *self.shape[1:])
        columns = [self._values(j * len(self) + first, n) for j in range(self.width)]
        return np.column_stack(columns) if columns else np.empty((n, 0), dtype=self.dtype)

    def _values(self, at: int, count: int) -> NDArray[Any]:
        self._raw.seek(self._start + at * self.dtype.itemsize)
        out = np.empty(count, dtype=self.dtype)
        if self._raw.readinto(out.view(np.uint8).data) < out.nbytes:  # type: ignore[attr-defined]
            raise BadData("ends before its last row: the file is truncated", self.file)
        return out

    def skip(self, n: int) -> None:
        self._row += n


def _header(raw: Any, name: str, file: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in column order, and type of an array."""
    try:
        version = npy.read_magic(raw)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, column_order, dtype = read(raw)
    except ValueError as error:
        raise BadData(f"{name} is not a NumPy array of numbers, or truncated ({error})", file) from error
    return shape, column_order, dtype


class _Packed(_Array):
    """A member of an .npz file, unpacked as it is read."""

    def __init__(self, raw: Any, name: str, file: str, room: int) -> None:
        self._raw = raw
        shape, fortran, dtype = _header(raw, name, file)
        if fortran and len(shape) > 1:
            raise BadData(f"{name} is in Fortran order; save np.ascontiguousarray of it", file)
        super().__init__(name, file, shape, dtype, room)

    def read(self, n: int) -> NDArray[Any]:
        size = n * self.width * self.dtype.itemsize
        raw = self._raw.read(size)
        if len(raw) < size:
            raise BadData(f"{self.name} ends before its last row: the file is truncated", self.file)
        return np.frombuffer(raw, dtype=self.dtype).reshape(n, *self.shape[1:])

    def skip(self, n: int) -> None:
        self._raw.seek(n * self.width * self.dtype.itemsize, 1)


@dataclass
class Arrays(Files):
    """Rows of arrays: a place is a row."""

    from_stdin = False

    def read_file(self, file: File, at: dict[str, Any]) -> Iterator[Batch]:
        assert file.path is not None  # standard input was refused
        try:
            if self.options.format == "npy":
                with open_bytes(file.path) as raw:
                    yield from self._dense(file, {"X": _File(raw, file.name)}, at)
                return
            with zipfile.ZipFile(for_arrow(file.path)) as pack, ExitStack() as members:
                names = [name.removesuffix(".npy") for name in pack.namelist()]
                opened = {name: members.enter_context(pack.open(name + ".npy")) for name in names}
                most = DEFLATE * (file.size or 0)
                arrays = {
                    name: _Packed(raw, name, file.name, min(pack.getinfo(name + ".npy").file_size, most))
                    for name, raw in opened.items()
                }
                sparse = {"indptr", "indices", "data", "shape"} <= set(names)
                yield from self._sparse(file, arrays, at) if sparse else self._dense(file, arrays, at)
        except BadData:
            raise
        except Exception as error:  # a damaged archive fails in any of a dozen ways
            raise BadData(
                f"not a readable {self.options.format} file: {_reason(file.path, error)}", file.name
            ) from error

    def _beside(
        self, arrays: Mapping[str, _Array], n: int, file: File
    ) -> tuple[_Array | None, _Array | None]:
        """The arrays of targets and of weights, if they are separate arrays."""
        out = []
        for name in (self.options.target, self.options.weight):
            array = arrays.get(name) if isinstance(name, str) else None
            if array is not None and (len(array) != n or array.width != 1):
                raise BadData(
                    f"{name} has shape {array.shape} for {n:,} rows; expected one value per row", file.name
                )
            out.append(array)
        return out[0], out[1]

    def _dense(self, file: File, arrays: Mapping[str, _Array], at: dict[str, Any]) -> Iterator[Batch]:
        flat = [name for name, array in arrays.items() if len(array.shape) == 2]
        if "X" not in arrays and len(flat) != 1:
            raise BadData(
                f"holds arrays {', '.join(arrays)}; the rows must be called X or be the only matrix",
                file.name,
            )
        X = arrays["X" if "X" in arrays else flat[0]]
        if len(X.shape) != 2 or X.dtype.kind not in "fiub":
            raise BadData(
                f"{X.name} has shape {X.shape} and type {X.dtype}; expected a matrix of numbers", file.name
            )
        y, w = self._beside(arrays, len(X), file)
        inside = dict(target=None if y else self.options.target, weight=None if w else self.options.weight)
        options = self.options.but(**inside)
        names = [str(j) for j in range(X.width)]
        table = Table(names, plain_schema(names, options, file.name), options, file.name)
        self.width = len(table.numbers)
        start = at.get("row", 0)
        for array in filter(None, (X, y, w)):
            array.skip(start)
        step = max(1, VALUES // max(1, X.width))
        for row in range(start, len(X), step):
            n = min(step, len(X) - row)
            block = X.read(n).astype(np.float64)
            features = block if len(table.numbers) == X.width else block[:, table.numbers]
            others = block[:, table.others]
            keep, bad = good_rows(features, others, table, self.options, row, file.name)
            examples = table.examples(features, others, np.empty((n, 0), np.int32), [])
            examples = Examples(examples.rows, *self._values(y, w, n, examples))
            read = int((file.size or 0) * (row + n) / len(X))
            yield Batch({"row": row}, examples.pick(keep) if bad else examples, bad, read)

    def _values(self, y: _Array | None, w: _Array | None, n: int, found: Examples) -> tuple[Any, Any]:
        targets: Any = found.y if y is None else y.read(n).reshape(n)
        if y is not None and y.dtype.kind in "fiub":
            targets = targets.astype(np.float64)
            if not np.isfinite(targets).all():
                raise BadData("a target is missing or infinite", y.file, column=y.name)
        elif y is not None and y.dtype.kind == "S":
            targets = np.char.decode(targets, "utf-8", "backslashreplace")
        weights: Any = found.weight if w is None else w.read(n).reshape(n).astype(np.float64)
        if w is not None and not (np.isfinite(weights) & (weights >= 0)).all():
            raise BadData("a weight is missing, infinite or negative", w.file, column=w.name)
        return targets, weights

    def _sparse(self, file: File, arrays: Mapping[str, _Array], at: dict[str, Any]) -> Iterator[Batch]:
        kind = arrays["format"].read(1)[0] if "format" in arrays else b"csr"
        if bytes(kind) != b"csr":
            raise BadData(
                f"a sparse matrix in format {bytes(kind).decode()!r}; save .tocsr() of it", file.name
            )
        n_rows, width = (int(v) for v in arrays["shape"].read(2))
        if n_rows < 0 or not 0 <= width <= np.iinfo(np.int32).max:
            raise BadData(
                f"a sparse matrix of shape ({n_rows}, {width}); at most {np.iinfo(np.int32).max} columns can "
                "be read: hash the features to fewer",
                file.name,
            )
        y, w = self._beside(arrays, n_rows, file)
        for name, found in (("target", y), ("weight", w)):
            if found is None and getattr(self.options, name) is not None:
                raise BadData(
                    f"there is no array {getattr(self.options, name)!r} ({name}) next to the sparse matrix",
                    file.name,
                )
        self.width = width
        row, entry = at.get("row", 0), at.get("entry", 0)
        ends, indices, data = arrays["indptr"], arrays["indices"], arrays["data"]
        ends.skip(row + 1)
        for array, by in ((indices, entry), (data, entry), (y, row), (w, row)):
            if array is not None:
                array.skip(by)
        while row < n_rows:
            n = min(1024, n_rows - row)
            indptr = np.concatenate([[0], ends.read(n).astype(np.int64) - entry])
            used = int(indptr[-1])
            if used < 0 or (np.diff(indptr) < 0).any() or used > len(data) - entry:
                raise BadData("indptr is not a valid row index; the matrix is damaged", file.name)
            columns, values = indices.read(used), data.read(used).astype(np.float64)
            if used and not (int(columns.min()) >= 0 and int(columns.max()) < width):
                raise BadData(f"an index is outside the {width} columns; the matrix is damaged", file.name)
            X = _sorted(indptr.astype(np.int32), columns.astype(np.int32), values, width, file.name)
            wrong = fill_missing(X.data, self.options.missing)
            bad = np.unique(np.searchsorted(X.indptr, np.flatnonzero(wrong), side="right") - 1)
            if len(bad) and not self.options.skip_bad:
                raise BadData(
                    f"row {row + bad[0] + 1:,} holds a missing or infinite value",
                    file.name,
                    row + int(bad[0]) + 1,
                )
            examples = Examples(X, *self._values(y, w, n, Examples(X, None, None)))
            examples = examples.pick(np.setdiff1d(np.arange(n), bad)) if len(bad) else examples
            read = int((file.size or 0) * (row + n) / n_rows)
            yield Batch({"row": row, "entry": entry}, examples, len(bad), read)
            row, entry = row + n, entry + used


def _reason(path: str, error: Exception) -> str:
    """The reason why a file cannot be read, if the library does not give one."""
    if isinstance(error, zipfile.BadZipFile) and not zipfile.is_zipfile(path):
        with open(path, "rb") as raw:
            begins = raw.read(2) == b"PK"
        if begins and path.lower().endswith((".xlsx", ".xlsm", ".ods")):
            return "it is a workbook of a spreadsheet; save its sheet as CSV"
        if begins:
            return "it is truncated: the list of its arrays is missing at the end; copy or save it again"
        return "it is not a zip archive written by numpy.savez; save it again, or pass its format"
    if isinstance(error, KeyError) and zipfile.is_zipfile(path):
        return "it is a zip archive of several files, or a workbook; unpack it, or save the sheet as CSV"
    return str(error) or type(error).__name__


def _sorted(indptr: Any, indices: Any, data: Any, width: int, file: str) -> Rows:
    from scipy.sparse import csr_array

    matrix = csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))
    if not matrix.has_sorted_indices:
        matrix.sort_indices()
    same = np.diff(matrix.indices) == 0
    same[matrix.indptr[1:-1][(matrix.indptr[1:-1] > 0) & (matrix.indptr[1:-1] < len(matrix.indices))] - 1] = (
        False
    )
    if same.any():
        raise BadData("an index occurs twice in a row; call sum_duplicates() before saving", file)
    return from_scipy(matrix)


_OPTIONS = ("target", "weight", "columns", "drop")
FORMATS = [
    Format("npy", Arrays, _OPTIONS, ("npy",), b"\x93NUMPY"),
    Format("npz", Arrays, _OPTIONS, ("npz",), b"PK\x03\x04"),
]


def fill_missing(features: NDArray[np.float64], missing: str) -> NDArray[np.bool_]:
    """Which values are bad; missing ones become 0 in place with missing='zero'."""
    gone = np.isnan(features)
    if missing == "zero":
        features[gone] = 0.0
    wrong = np.isinf(features)
    return wrong if missing in ("zero", "keep") else wrong | gone  # without a schema there is no mean


def good_rows(
    features: NDArray[np.float64],
    others: NDArray[np.float64],
    table: Table,
    options: Options,
    first: int,
    file: str,
) -> tuple[NDArray[np.int64], int]:
    """Numbers of the good rows, and how many are bad; BadData for the first unless they are skipped."""
    bad_features = fill_missing(features, options.missing)
    bad_others = ~np.isfinite(others)
    if table.weight is not None:
        bad_others[:, -1] |= others[:, -1] < 0
    bad = bad_features.any(axis=1) | bad_others.any(axis=1)
    if bad.any() and not options.skip_bad:
        i = int(np.argmax(bad))
        j = int(np.argmax(np.append(bad_features[i], bad_others[i])))
        x = float(np.append(features[i], others[i])[j])
        number, column = first + i + 1, table.columns[[*table.numbers, *table.others][j]]
        reason = "holds a missing value" if np.isnan(x) else f"has the negative weight {x!r}"
        reason = f"holds {x!r}, which is infinite" if np.isinf(x) else reason
        raise BadData(f"row {number:,} {reason}", file, number, column, reason)
    return np.flatnonzero(~bad), int(bad.sum())
