"""The state of shapes and pairs: counts by level, and a uniform sample of rows as 8-bit levels.

A level is an interval of the values of a feature. The first rows set the edges of the levels. Counts and sums
by level are integers, and the sample holds the rows whose numbers have the smallest hashes. Merged states are
therefore the same bytes in any order.
"""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...core.rows import Array, Rows, threads
from ...core.state import RowBuffer, State, array, optional, resized, zeros

LEVELS = 64  # the means of 63 levels keep 99.6 % of the variance of a normal variable; the last level is NaN
EDGES = LEVELS - 1
FIRST = 2000  # rows that set the edges: a level then holds 31 of them
FINE = 1 << 20  # sums are counted in this share of the unit of a feature
CODES = 1 << 20  # bytes of levels computed at a time: few beside `memory`, many for one call
SAMPLE = ("codes", "y", "weight", "hash")
ROW_BITS = (
    40  # of a hashed number: the row within its part of a stream; the other 24: a hash of its first row
)

Codes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]
Part = tuple[Rows, Array, Array | None]
Fields = dict[str, Any]


class Rows8(NamedTuple):
    """Rows that enter the sample."""

    codes: Codes
    y: Array
    weight: Array
    hash: Hashes


class Step(NamedTuple):
    """What a call changes, computed before anything is changed, so that a call that fails changes nothing."""

    fields: Fields
    slots: NDArray[np.intp]
    rows: Rows8 | None
    first: Part | None = None  # rows to buffer until the edges are set


class Levels(State):
    """Edges, counts and sums by level, and the sample.

    Attributes
    ----------
    edges : float64 array (p, 63) or None
        Ascending; unused edges and the last one are infinite. None until there are enough rows to set them.
    origin, unit : arrays (p,)
        The sums of a feature are of (value - origin) / unit, in steps of 1 / `FINE`.
    rows, total : int64 arrays (p, 64)
        Number of rows in each level, and the sum of their values.
    n, shard : int
        Number of rows so far, and a number for this part of the stream, which its first row determines.
    alone : bool
        True if no sieve learns the same rows, as in merged states.
    codes : uint8 array (h, p)
    y, weight, hash : arrays (h, targets), (h,), (h,)
        The sample, by ascending hash.
    """

    first: RowBuffer
    edges: Array | None
    origin: Array
    unit: Array
    rows: NDArray[np.int64]
    total: NDArray[np.int64]
    n: int
    shard: int
    alone: bool
    codes: Codes
    y: Array
    weight: Array
    hash: Hashes
    _sorted = True

    @classmethod
    def of(cls, p: int, targets: int, edges: Array | None = None) -> Levels:
        self = cls(
            first=RowBuffer(),
            edges=optional(None),
            origin=zeros(feature=p),
            unit=array(np.ones(p), "feature"),
            rows=zeros(feature=p, fixed=LEVELS, dtype=np.int64),
            total=zeros(feature=p, fixed=LEVELS, dtype=np.int64),
            n=0,
            shard=0,
            alone=False,
            codes=zeros(slot=0, feature=p, dtype=np.uint8),
            y=zeros(slot=0, fixed=targets),
            weight=zeros(slot=0),
            hash=zeros(slot=0, dtype=np.uint64),
        )
        if edges is not None:
            self.place(edges)
        return self

    @property
    def p(self) -> int:
        return len(self.rows)

    def __len__(self) -> int:
        return len(self.hash)

    def fields(self) -> dict[str, Any]:
        """The fields, with the sample in the order of its hashes."""
        if not self._sorted:
            order = np.lexsort((self.weight, self.y[:, 0], self.hash))
            self.y, self.weight, self.hash = self.y[order], self.weight[order], self.hash[order]
            _core.effects_permute(self.codes, order.astype(np.int64))
            self._sorted = True
        return super().fields()

    def place(self, edges: Array) -> None:
        """Fix the edges, and with them the units of the sums."""
        inner = np.where(np.isfinite(edges), edges, np.nan)
        some = np.isfinite(edges[:, 0])
        low = np.where(some, edges[:, 0], 0.0)
        high = np.where(some, np.fmax.reduce(np.where(some[:, None], inner, 0.0), axis=1), 0.0)
        self.edges = np.ascontiguousarray(edges, dtype=np.float64)
        self.origin = (low + high) / 2
        self.unit = np.where(high > low, high - low, np.maximum(np.abs(high), 1e-30))

    # ---------------------------------------------------------------- learning

    def step(self, rows: Rows, y: Array, w: Array | None, first_rows: int, capacity: int, jobs: int) -> Step:
        """What these rows change; rows are buffered until `first_rows` of them can set the edges."""
        if self.edges is not None:
            return self._step([(rows, y, w)], capacity, jobs)
        held = len(self.first)
        if held + len(rows) < first_rows:
            return Step({}, np.empty(0, np.intp), None, (rows, y, w))
        head, cut = self.first.copy() if held else RowBuffer(), first_rows - held
        head.append(rows[:cut], y[:cut], None if w is None else w[:cut])
        parts = [head.joined(), (rows[cut:], y[cut:], None if w is None else w[cut:])]
        placed = Levels.of(max(self.p, rows.p), y.shape[1])
        placed.place(cut_points(parts[0][0], placed.p))
        step = placed._step(parts, capacity, jobs)
        more = {name: getattr(placed, name) for name in ("edges", "origin", "unit")}
        return Step({**more, **step.fields, "first": RowBuffer()}, step.slots, step.rows)

    def _step(self, parts: list[Part], capacity: int, jobs: int) -> Step:
        """The same once there are edges; levels are computed block by block."""
        n, (first, targets, _) = sum(len(y) for _, y, _ in parts), parts[0]
        shard = self.shard if self.n else first_row(self._codes(first[:1]), targets[0])
        hashes = row_hashes(shard, self.n, n)
        enter, slots, held = self._places(hashes, capacity)
        m = len(slots)
        new = Rows8(
            np.empty((m, self.p), np.uint8), np.empty((m, targets.shape[1])), np.ones(m), hashes[enter]
        )
        count, total, done, filled = self.rows.copy(), self.total.copy(), 0, 0
        block = np.empty((min(n, max(LEVELS, CODES // self.p)), self.p), dtype=np.uint8)
        for rows, y, w in parts:
            for start in range(0, len(y), len(block)):
                at = slice(start, min(start + len(block), len(y)))
                size = at.stop - start
                self._bin(rows[at], count, total, block[:size], jobs)
                some = np.flatnonzero(enter[done : done + size])
                to = slice(filled, filled + len(some))
                new.codes[to], new.y[to] = block[some], y[start + some]
                if w is not None:
                    new.weight[to] = w[start + some]
                done, filled = done + size, to.stop
        fields = {"rows": count, "total": total, "n": self.n + n, "shard": shard}
        return Step(fields | held, slots, new)

    def _bin(self, rows: Rows, count: Any, total: Any, codes: Codes, jobs: int) -> None:
        """Write the levels of rows to `codes`, and add the rows to counts and sums."""
        assert self.edges is not None
        for at, part in rows.in_row_order():
            _core.effects_bin(
                part.kernel, self.edges, self.origin, FINE / self.unit, count, total, codes[at],
                threads(jobs) if part.n_values > 1 << 19 else 1,
            )  # fmt: skip

    def _codes(self, rows: Rows) -> Codes:
        out = np.empty((len(rows), self.p), dtype=np.uint8)
        self._bin(rows, np.zeros_like(self.rows), np.zeros_like(self.total), out, 1)
        return out

    def _places(self, new: Hashes, capacity: int) -> tuple[NDArray[np.bool_], NDArray[np.intp], Fields]:
        """Which new rows enter the sample, and where: in the places of rows that leave, then at the end."""
        h, n = len(self), len(new)
        enter, left = np.ones(n, dtype=bool), np.empty(0, np.intp)
        if h + n > capacity:
            stay = np.zeros(h + n, dtype=bool)
            stay[np.argpartition(np.concatenate([self.hash, new]), capacity - 1)[:capacity]] = True
            enter, left = stay[h:], np.flatnonzero(~stay[:h])
        m, held = int(np.count_nonzero(enter)), {name: getattr(self, name) for name in SAMPLE}
        if len(left) > m:  # wider rows have made the sample shorter
            held, h, left = {name: a[stay[:h]] for name, a in held.items()}, h - len(left), left[:0]
        slots = np.concatenate([left, np.arange(h, h + m - len(left))])
        length = h + m - len(left)
        return enter, slots, {name: grown(a, length, max(capacity, length)) for name, a in held.items()}

    def apply(self, step: Step) -> None:
        if step.first is not None:
            self.first.append(*step.first)
        for name, value in step.fields.items():
            setattr(self, name, value)
        if step.rows is not None:
            for name, part in zip(SAMPLE, step.rows):
                getattr(self, name)[step.slots] = part
            self._sorted = False

    def resize(self, p: int) -> None:
        """Do nothing: `widened` copies, because a call that fails must not change the levels."""

    def widened(self, p: int) -> Levels:
        """A copy for p features. Rows so far have 0 in new ones; these have one level if there are edges."""
        out, before = self.copy(), self.p
        for name in ("origin", "unit", "rows", "total"):
            setattr(out, name, resized(getattr(self, name), self.axes(name), p))
        out.codes = resized(self.codes, ("slot", "feature"), p)
        out.unit[before:] = 1.0
        if out.edges is not None:
            out.edges = np.concatenate([out.edges[:p], np.full((max(p - before, 0), EDGES), np.inf)])
            out.rows[before:, 0] = out.n
        return out

    def settled(self, capacity: int, jobs: int) -> Levels:
        """These levels; if the edges are not set yet, a copy whose edges the buffered rows set."""
        if self.edges is not None or not len(self.first):
            self.fields()
            return self
        rows, y, w = self.first.joined()
        out = Levels.of(self.p, y.shape[1])
        out.apply(out.step(rows.with_width(self.p) if rows.sparse else rows, y, w, len(rows), capacity, jobs))
        out.fields()
        return out

    # ---------------------------------------------------------------- merging

    def merge(self, other: Levels, capacity: int) -> None:
        """Add another part of the stream, which must have the same edges."""
        if self.edges is None or other.edges is None or not np.array_equal(self.edges, other.edges):
            raise ValueError(
                "The parts have different levels; fit one, and pass its edges_ as edges to the others."
            )
        other.fields()
        enter, slots, held = self._places(other.hash, capacity)
        fields = held | {
            "rows": self.rows + other.rows,
            "total": self.total + other.total,
            "n": self.n + other.n,
            "shard": min(self.shard, other.shard),
        }
        new = Rows8(other.codes[enter], other.y[enter], other.weight[enter], other.hash[enter])
        self.apply(Step(fields, slots, new))

    def means(self, features: Any = slice(None)) -> Array:
        """The mean of the values in each level; 0 for levels without rows."""
        origin, unit, rows = self.origin[features], self.unit[features], self.rows[features]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = origin[:, None] + self.total[features] / rows * (unit / FINE)[:, None]
        return np.where(rows > 0, mean, 0.0)

    def check(
        self, p: int, targets: int, first_rows: int, capacity: int, limit: float, *, nan_ok: bool
    ) -> None:
        """Raise ValueError for levels from a file that kernels could not read."""
        h = len(self.hash)
        if len(self.y) != h or len(self.weight) != h or len(self.codes) != h or h > max(capacity, first_rows):
            raise ValueError("the parts of the sample differ in length, or are too long.")
        self.first.check(p, targets, first_rows, limit, nan_ok=nan_ok)
        numbered = 0 <= self.n < 1 << ROW_BITS and 0 <= self.shard < 1 << (64 - ROW_BITS)
        if not numbered or self.rows.min(initial=0) < 0 or (self.codes >= LEVELS).any():
            raise ValueError("counts or levels are out of range.")
        if not ((np.abs(self.y) <= limit).all() and ((self.weight > 0) & (self.weight <= limit)).all()):
            raise ValueError("targets or weights of the sample are out of range.")
        if not (np.isfinite(self.origin).all() and (self.unit > 0).all() and np.isfinite(self.unit).all()):
            raise ValueError("the units of the sums are not positive.")
        if self.edges is None:
            if h or self.n:
                raise ValueError("there is a sample without edges.")
            return
        check_edges(self.edges, p)
        self.edges = np.ascontiguousarray(self.edges)
        self._sorted = False


def check_edges(edges: Any, p: int) -> None:
    """Raise ValueError unless these are the edges of p features."""
    if not isinstance(edges, np.ndarray) or edges.dtype != np.float64 or edges.shape != (p, EDGES):
        raise ValueError(
            f"edges have shape {np.shape(edges)}, not {(p, EDGES)}; pass edges_ of another model."
        )
    if np.isnan(edges).any() or (edges[:, 1:] < edges[:, :-1]).any() or (edges[:, -1] != np.inf).any():
        raise ValueError("edges do not ascend to infinity; pass edges_ of another model.")


def first_row(x: NDArray[Any], y: Array) -> int:
    """A number of 24 bits for a part of a stream, from its first row: parts are sampled independently."""
    return zlib.crc32(x.tobytes() + y.tobytes()) >> (ROW_BITS - 32)


def row_hashes(shard: int, first: int, n: int) -> Hashes:
    """Hashes of n consecutive rows of a part."""
    return hash64(np.uint64(shard << ROW_BITS) + np.arange(first, first + n, dtype=np.uint64))


def hash64(number: Hashes) -> Hashes:
    """splitmix64 (Steele et al., 2014): a fixed pseudorandom permutation of 64-bit numbers."""
    z = number + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def cut_points(rows: Rows, p: int) -> Array:
    """Edges (p, 63): between all values of a feature with at most 62 of them, else at its quantiles.

    An edge is halfway between two values, so that rounding to float32 moves no row to another level.
    """
    out = np.full((p, EDGES), np.inf)
    part = max(1, (1 << 22) // max(len(rows), 1))
    for start in range(0, rows.p, part):
        columns = np.arange(start, min(rows.p, start + part))
        X = rows.columns(columns).to_array()
        for j, x in zip(columns, np.sort(X.T.astype(np.float64), axis=1)):
            x = x[: len(x) - np.count_nonzero(np.isnan(x))]
            above = np.flatnonzero(x[1:] > x[:-1]) + 1  # the first place of each value but the least
            if len(above) >= EDGES - 1:
                above = np.unique(np.searchsorted(x, x[(len(x) * np.arange(1, EDGES)) // EDGES]))
                above = above[above > 0]
            below = x[above - 1]
            cuts = below + (x[above] - below) / 2
            cuts = np.where(cuts > below, cuts, x[above])  # where nothing lies between
            out[j, : len(cuts)] = cuts + 0.0  # no negative zero
    return out


def grown(a: NDArray[Any], n: int, most: int) -> NDArray[Any]:
    """The array with n rows: a view of the array behind it if that is long enough, else of a copy with a
    quarter more rows, at most `most`."""
    if n <= len(a):
        return a
    owner = a.base if isinstance(a.base, np.ndarray) else a
    same = owner.ndim == a.ndim and owner.shape[1:] == a.shape[1:] and owner.ctypes.data == a.ctypes.data
    if not (same and len(owner) >= n and owner.dtype == a.dtype):
        owner = np.empty((min(n + n // 4, most), *a.shape[1:]), dtype=a.dtype)
        owner[: len(a)] = a
    return owner[:n]
