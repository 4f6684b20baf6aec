"""`read`: open a source; the list of formats and all options for reading."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ..core.params import ParamError
from ..core.rows import is_frame, threads
from .dialect import wide_encoding
from .files import PACKINGS, Bytes, File, find, is_query
from .queries import query_frames
from .readers import arrays, bed, csv, frames, json, svmlight
from .readers.base import Format, Options, Reader
from .readers.dicts import DICTS
from .readers.frames import FRAMES, LAZY, lazy_frames
from .schema import Schema
from .stream import Selection, Stream

FORMATS = {
    format.name: format for module in (svmlight, csv, json, frames, arrays, bed) for format in module.FORMATS
}
_BY_ENDING = {ending: format.name for format in FORMATS.values() for ending in format.endings}
_BY_MAGIC = {format.magic: format.name for format in FORMATS.values() if format.magic}
_PACKED = ("gz", "bz2", "zst", "zstd", "gzip", "xz", "zip")


def detect_format(file: File) -> str:
    """The format of a file from its ending, or from its first bytes."""
    endings = os.path.basename(file.name).lower().split(".")[1:] if file.path is not None else []
    if endings and endings[-1] in _PACKED:
        endings.pop()
    if endings and endings[-1] in _BY_ENDING:
        return _BY_ENDING[endings[-1]]
    if file.path is None:
        start = _stdin_start()
    elif file.size is None:  # bytes read from a pipe cannot be read again
        raise ParamError("format", "auto", f"the format of {file.name}, a pipe, cannot be detected; name it.")
    else:
        bytes_ = Bytes(file)
        buffer = bytearray(4096)
        start = bytes(buffer[: bytes_.into(memoryview(buffer))])
        bytes_.close()
    return _from_start(start, file.name)


def _stdin_start() -> bytes:
    stdin: Any = sys.stdin.buffer
    start: bytes = stdin.peek(4096)[:4096]
    packing = next((name for magic, name in PACKINGS.items() if start.startswith(magic)), None)
    if packing == "gzip":
        return zlib.decompressobj(31).decompress(start, 4096)
    if packing is not None:
        raise ParamError(
            "format", "auto", f"the format of {packing} data on standard input cannot be detected; name it."
        )
    return start


def _from_start(start: bytes, name: str) -> str:
    for magic, known in _BY_MAGIC.items():
        if start.startswith(magic):
            return known
    wide = wide_encoding(start)
    if wide is not None:
        start = start.decode(wide, "ignore").encode("utf-8", "ignore")
    if start.lstrip().startswith(b'{"'):
        return "jsonl"
    for raw in start.removeprefix(b"\xef\xbb\xbf").splitlines():
        line = raw.split(b"#")[0].strip()
        if not line:
            continue
        label, *tokens = line.split()
        pairs = all(re.match(rb"(qid|\d+):", token) for token in tokens[:-1])
        if re.fullmatch(rb"[-+0-9.eE,]+", label) and pairs and (tokens or b"," not in line):
            return "svmlight"
        return "tsv" if b"\t" in line else "csv"
    raise ParamError(
        "format",
        "auto",
        f"the format of {name!r} cannot be detected from its name or first bytes; pass one of "
        f"{', '.join(FORMATS)}.",
    )


_PARSERS = 8  # threads at most: each holds a chunk, and one reads for all
_CHUNK = 1 << 22  # bytes of text parsed at a time: some 10 ms of work, and memory of a few times as much


def read(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Iterable[Any],
    *,
    target: str | int | None = None,
    weight: str | int | None = None,
    cluster: str | int | None = None,
    format: str = "auto",
    block_size: int = 4096,
    feature_names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    text: Sequence[str] = (),
    date: Sequence[str] = (),
    words: Literal["counts", "tfidf"] = "counts",
    schema: Schema | None = None,
    categories: Literal["onehot", "drop", "error"] = "onehot",
    max_categories: int = 1000,
    missing: Literal["mean", "indicator", "zero", "keep", "error"] = "mean",
    on_bad_row: Literal["error", "skip"] = "error",
    passes: int = 1,
    shuffle_buffer: int = 0,
    random_state: int = 0,
    skip: int = 0,
    limit: int | None = None,
    hold_out: int = 0,
    held: bool = False,
    n_features: int | None = None,
    zero_based: bool = False,
    delimiter: str | None = None,
    header: bool = True,
    n_jobs: int | None = None,
) -> Stream:
    """Read rows of a source in blocks ``(X, y, weight)``.

    Tables are read with a schema. For each column, the schema says how it is encoded (as a number, a
    category, a date or text), or why it is left out (an identifier, an index, empty, constant, a copy). The
    schema is inferred from 4 MB of text from all parts of the files. For compressed files and standard input,
    it is inferred from the first 4 MB, and for Parquet, Arrow and frames from 100,000 rows. `Stream.schema`
    shows it. `columns`, `drop`, `categorical`, `numeric`, `text` and `date` override it. Delimiter, encoding
    and decimal comma of CSV files are detected.

    Text (svmlight, CSV, TSV) is parsed by compiled code in several threads, while the estimator learns the
    previous block. Numbers are bit-for-bit equal to those of Python's `float`. Memory does not depend on the
    length of the source.

    Parameters
    ----------
    source : path, glob, list of them, "-", or iterable of dicts or data frames
        What to read. "-" is standard input. Text may be compressed with gzip, bz2, xz, zstd or zip (an
        archive of one file). Remote files (``s3://``, ``https://``, ...) are read by fsspec.
        ``duckdb:SELECT ...``, ``sqlite:FILE SELECT ...``
        and ``postgresql://... SELECT ...`` are the results of queries. A single frame is also a source; a
        polars LazyFrame, a DuckDB relation and any object with an Arrow stream (``__arrow_c_stream__``) are
        read block by block.
    target, weight : str or int, default=None
        The columns with the targets and with the sample weights: a name or an index, a key of dicts, or an
        array of an .npz file. svmlight files contain labels, so they do not need `target`. They have no
        weights. Targets are floats if all are numbers, otherwise strings. Without a target, `y` is None.
    cluster : str or int, default=None
        The column of a table with the ids of clusters of rows that depend on each other. It is not a feature;
        `Stream.blocks` numbers the ids.
    format : str, default="auto"
        A name in `streamsieve.sources.inputs.FORMATS` ("csv", "jsonl", "parquet", ...), or "auto": the format
        is detected from the ending of the name, or from the first bytes.
    block_size : int >= 1, default=4096
        Number of rows in a block. A block is shorter if it would otherwise have more than 2^20 values. The
        last block of a pass may be shorter, too.
    feature_names : sequence of str or None, default=None
        Features to read, in this order, for example those that a model has learned. Their names are those of
        `Stream.feature_names`. Other columns and categories are left out; a missing column is an error.
    columns, drop : sequence of str
        `columns`: columns to use as features (default: all that the schema does not leave out). `drop`:
        columns to leave out.
    categorical, numeric, text, date : sequence of str, default=()
        Columns to read as categories, numbers, text or dates, whatever their content is.
    words : {"counts", "tfidf"}, default="counts"
        Value of a word in a text column: the number of times it occurs, or TF-IDF.
    schema : Schema or None, default=None
        The schema of another source, used to read this one.
    categories : {"onehot", "drop", "error"}, default="onehot"
        "onehot": X is sparse, and a categorical column becomes features called ``column=value``, one for each
        value except the most frequent one. "drop": categorical columns are left out. "error": they raise an
        error. Values with fewer than 10 rows are pooled as ``column=other``. In tables with fewer than 1,000
        rows, the limit is 1 % of the rows.
    max_categories : int >= 1, default=1000
        Maximum number of values of a column that get their own feature. If there are more, the most frequent
        ones get it, and the others are pooled. For dicts, more values raise an error.
    missing : {"mean", "indicator", "zero", "keep", "error"}, default="mean"
        What to do with missing numbers: empty cells, NaN, NA, N/A, null or ?. "mean": replace them by the
        mean of the column in the schema. "indicator": the same, and add a feature that is 1 for missing
        values. "zero": replace them by 0. "keep": replace them by NaN, which the estimator imputes. "error":
        raise an error. With all values but "error", a missing category becomes a separate category, and rows
        without a target are left out. svmlight, arrays and dicts have no schema, so there is no mean: with
        "mean", their missing values raise an error.
    on_bad_row : {"error", "skip"}, default="error"
        "error": raise `BadData`, with file, line, column and text. "skip": leave the row out and count it.
    passes : int >= 1, default=1
        Number of times to read the source.
    shuffle_buffer : int >= 0, default=0
        Number of rows in a window. Rows are shuffled within consecutive windows, in a new order in each pass.
        0: do not shuffle.
    random_state : int >= 0, default=0
        Seed of the shuffling.
    skip, limit : int >= 0, int or None
        `skip`: number of rows to leave out at the start of each pass. `limit`: number of rows to read after
        them, including rows to hold out.
    hold_out : int, default=0
        Hold out every n-th row (n >= 2): rows n - 1, 2 n - 1, ... of the source.
    held : bool, default=False
        Read the held-out rows instead of the others.
    n_features : int or None, default=None
        svmlight: number of columns of X. Larger indices are errors, see `on_bad_row`. None: the number of
        columns grows with the indices.
    zero_based : bool, default=False
        svmlight: indices count from zero.
    delimiter : str or None, default=None
        CSV: character that separates cells; None: detected.
    header : bool, default=True
        CSV: whether the first row has the names; otherwise columns are called "0", "1", ...
    n_jobs : int or None, default=None
        Number of threads that parse; None: `OMP_NUM_THREADS`, or all processors. The result does not depend
        on it.

    Returns
    -------
    Stream
        An iterable of blocks, which can be iterated again if the source can be read again.

    Examples
    --------
    >>> import os, tempfile
    >>> from streamsieve import OLSthRegressor, read
    >>> file = os.path.join(tempfile.mkdtemp(), "shop.csv")
    >>> with open(file, "w") as f:
    ...     _ = f.write("price,colour,size,sold\\n1.5,red,3,7\\n2,blue,4,5\\n,red,5,9\\n")
    >>> stream = read(file, target="sold")
    >>> for X, y, weight in stream:
    ...     print(X.toarray(), y)
    [[1.5  3.   0.  ]
     [2.   4.   1.  ]
     [1.75 5.   0.  ]] [7. 5. 9.]
    >>> stream.feature_names
    ['price', 'size', 'colour=blue']
    >>> print(stream.schema)
    Looked at 3 rows: 3 features from 3 columns.
      2 numbers: price, size
      1 category: colour
      missing: price 1; missing numbers are replaced by the mean
    """
    _check_word("format", format, ("auto", *FORMATS))
    _check_word("categories", categories, ("onehot", "drop", "error"))
    _check_word("missing", missing, ("mean", "indicator", "zero", "keep", "error"))
    _check_word("words", words, ("counts", "tfidf"))
    _check_word("on_bad_row", on_bad_row, ("error", "skip"))
    for name, value, least in (
        ("block_size", block_size, 1), ("max_categories", max_categories, 1), ("passes", passes, 1),
        ("shuffle_buffer", shuffle_buffer, 0), ("random_state", random_state, 0), ("skip", skip, 0),
        ("limit", limit, 0), ("hold_out", hold_out, 0), ("n_features", n_features, 1), ("n_jobs", n_jobs, 1),
    ):  # fmt: skip
        if value is not None and (not isinstance(value, int | np.integer) or value < least):
            raise ParamError(name, value, f"expected an integer of at least {least}.")
    if hold_out == 1 or (held and not hold_out):
        raise ParamError("hold_out", hold_out, "expected at least 2: every second row, or fewer.")
    for name, names in (
        ("feature_names", feature_names),
        ("columns", columns),
        ("drop", drop),
        ("categorical", categorical),
        ("numeric", numeric),
        ("text", text),
        ("date", date),
    ):
        if isinstance(names, str):
            raise ParamError(name, names, "expected a list of names.")
    reader, kind = _reader(
        source,
        dict(
            target=target, weight=weight, cluster=cluster, format=format,
            feature_names=None if feature_names is None else tuple(feature_names),
            columns=None if columns is None else tuple(columns), drop=tuple(drop),
            categorical=tuple(categorical), numeric=tuple(numeric), text=tuple(text), date=tuple(date),
            words=words, schema=schema, categories=categories, max_categories=max_categories,
            missing=missing, skip_bad=on_bad_row == "skip", n_features=n_features, zero_based=zero_based,
            delimiter=delimiter, header=header, threads=min(n_jobs or threads(), _PARSERS),
            chunk=_CHUNK,
        ),
    )  # fmt: skip
    if passes > 1 and not reader.again:
        raise ParamError("passes", passes, "this source can be read only once; pass a file or a list.")
    fingerprint = {
        "source": reader.fingerprint(), "format": kind, "target": target, "weight": weight,
        "feature_names": _digest(feature_names),
        "columns": None if columns is None else list(columns), "drop": list(drop),
        "categorical": list(categorical), "numeric": list(numeric), "text": list(text), "date": list(date),
        "words": words, "categories": categories, "missing": missing,
        "on_bad_row": on_bad_row, "shuffle_buffer": shuffle_buffer, "random_state": random_state,
        "skip": skip, "limit": limit, "hold_out": hold_out, "held": held, "n_features": n_features,
        "zero_based": zero_based, "delimiter": delimiter, "header": header,
        **({} if cluster is None else {"cluster": cluster}),
    }  # fmt: skip
    selection = Selection(skip, limit, hold_out, held, shuffle_buffer, random_state)
    return Stream(reader, selection, passes, block_size, fingerprint)


def frame_reader(frame: Any, table: dict[str, Any], options: dict[str, Any]) -> Any:
    """Converts frames with the columns of a table (`Stream.layout`) to examples."""
    reader: Any = read([frame], **options)._reader
    reader.restore(table, {})
    return reader


def _digest(names: Sequence[str] | None) -> str | None:
    """Many names in one word."""
    return None if names is None else hashlib.sha256("\0".join(names).encode()).hexdigest()


def _check_word(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ParamError(name, value, f"expected one of {', '.join(map(repr, allowed))}.")


def _reader(source: Any, options: dict[str, Any]) -> tuple[Reader, str]:
    """The reader of a source, and the name of its format."""
    several = (
        isinstance(source, list | tuple) and source and all(isinstance(s, str | os.PathLike) for s in source)
    )
    if not several and not isinstance(source, str | os.PathLike):
        return _from_python(source, options)
    files = find(source)
    if any(is_query(file.name) for file in files):
        if len(files) > 1:
            raise ValueError("A query must be the only source; join tables in it.")
        return _make(LAZY, options, partial(query_frames, files[0].name))
    first = options["format"] if options["format"] != "auto" else detect_format(files[0])
    if FORMATS[first].with_tables:
        return _make(FORMATS[first], options, files)
    kinds = {first} if options["format"] != "auto" else {detect_format(file) for file in files}
    if len(kinds) > 1:
        raise ValueError(
            f"The files have several formats ({', '.join(sorted(kinds))}); read each separately."
        )
    return _make(FORMATS[kinds.pop()], options, files)


def _make(kind: Format, options: dict[str, Any], source: Any) -> tuple[Reader, str]:
    _check_options(kind, options)
    return kind.reader(Options(**{**options, "format": kind.name}), source), kind.name


def _from_python(source: Any, options: dict[str, Any]) -> tuple[Reader, str]:
    if options["format"] != "auto":
        raise ValueError(
            f"format={options['format']!r} is for files; the source is a {type(source).__name__}."
        )
    lazy = None if isinstance(source, Mapping | list | tuple) else lazy_frames(source)
    if lazy is not None:
        reader, name = _make(LAZY, options, lazy[0])
        reader.again = lazy[1]
        return reader, name
    if not isinstance(source, Mapping) and is_frame(source):
        source = [source]
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise TypeError(
            f"source is a {type(source).__name__}; pass a path, a frame, or an iterable of dicts or frames."
        )
    items = iter(source)
    first = next(items, None)
    if items is source:  # an iterator: what was taken from it is put back
        source = itertools.chain([] if first is None else [first], items)
    kind = DICTS if first is None or isinstance(first, Mapping) else FRAMES
    if kind is FRAMES and not is_frame(first):
        raise TypeError(f"source has a {type(first).__name__}; pass an iterable of dicts or data frames.")
    return _make(kind, options, source)


#: Options of only some formats, with their default values.
_SPECIAL = {
    "target": None,
    "weight": None,
    "cluster": None,
    "columns": None,
    "drop": (),
    "n_features": None,
    "zero_based": False,
    "delimiter": None,
    "header": True,
    "feature_names": None,
    "categorical": (),
    "numeric": (),
    "text": (),
    "date": (),
    "schema": None,
}


def _check_options(kind: Format, options: dict[str, Any]) -> None:
    for name, default in _SPECIAL.items():
        if options[name] != default and name not in kind.takes:
            able = [known.name for known in FORMATS.values() if name in known.takes]
            raise ParamError(
                name, options[name], f"expected for {' and '.join(able)} only; the source is {kind.name}."
            )
