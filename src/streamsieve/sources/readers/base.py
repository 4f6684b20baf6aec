"""Base class of readers: batches of rows from a place on, with the data to return to each batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..bad_data import BadData
from ..examples import Examples


@dataclass(frozen=True)
class Format:
    """A format of sources: how files are recognised, its options of `read`, and its reader."""

    name: str
    reader: Callable[..., Reader]
    takes: tuple[str, ...]
    endings: tuple[str, ...] = ()
    magic: bytes = b""
    with_tables: bool = False  # whether files after the first may be of other formats: tables to join


#: Options of all tables.
TABLE = ("target", "weight", "cluster", "columns", "drop", "feature_names")
#: Options of tables that are read with a schema.
SCHEMA = (*TABLE, "categorical", "numeric", "text", "date", "schema")


@dataclass(frozen=True)
class Options:
    """The options of `read` that a reader needs; see `read`."""

    target: Any
    weight: Any
    cluster: Any
    format: str
    feature_names: tuple[str, ...] | None
    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    numeric: tuple[str, ...]
    text: tuple[str, ...]
    date: tuple[str, ...]
    words: str
    schema: Any  # a `Schema`, or None
    categories: str
    max_categories: int
    missing: str
    skip_bad: bool
    n_features: int | None
    zero_based: bool
    delimiter: str | None
    header: bool
    threads: int
    chunk: int  # bytes of text parsed at a time

    def but(self, **changes: Any) -> Options:
        return replace(self, **changes)

    def bad(self, error: BadData) -> int:
        """Returns 1, for one more bad row, if bad rows are skipped; otherwise raises the error."""
        if not self.skip_bad:
            raise error
        return 1


class Batch(NamedTuple):
    at: dict[str, Any]  # JSON: where the batch begins, as `Reader.batches` takes it
    examples: Examples
    bad: int  # rows skipped in it
    read: int  # bytes read so far in this pass
    error: BadData | None = None  # what follows the rows
    unlabelled: int = 0  # rows without a target, left out


@dataclass
class Reader:
    """Base class of all readers. `names` and `width` only grow while batches are read."""

    options: Options
    names: list[str] | None = field(default=None, init=False)  # of the features met so far
    width: int = field(default=0, init=False)  # features known before any row: a block is at least so wide
    again: bool = field(default=True, init=False)  # whether the source can be read twice

    def fingerprint(self) -> Any:
        """JSON that identifies the source of a position."""
        raise NotImplementedError

    def title(self) -> str:
        """Name of the source in errors."""
        raise NotImplementedError

    def bytes_total(self) -> int | None:
        return None

    def batches(self, at: dict[str, Any]) -> Iterator[Batch]:
        """Batches from the place at which a batch began, or from the start for {}."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """JSON of the state of the reader (columns, categories), for `restore`."""
        return {}

    def restore(self, state: dict[str, Any], at: dict[str, Any]) -> None:
        """Restore the state at the beginning of the batch at `at`; {} for the initial state."""
