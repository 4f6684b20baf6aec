"""Adaptive forgetting: averages of blocks of a stream; old blocks are merged, and blocks are weighted when
read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.rows import Array, Rows
from ..core.state import LockedState, array, zeros
from .batch import check_batch
from .interactions import Pairs
from .moments import DenseBuffer, symmetric
from .running import DTYPE, INTERACTIONS, RunningAverages

HALF_LIVES = (*(100.0 * 2**i for i in range(8)), math.inf)
SMALLEST = 64  # rows of a block, or twice as many as there are features
LARGEST = 4096
PER_SIZE = 3  # maximum number of blocks of one size; if exceeded, the two oldest are merged
CANDIDATES = 50  # maximum number of features on which members are compared
RATE = 1 / 8  # learning rate eta times the noise variance
SHARE = 0.001  # share of the weight that is redistributed after each block
NOISE_RATE = 0.1  # weight of the latest value in the noise estimate
CHOW = 1e-4  # level of the test for a change, over all boundaries of blocks
TRACE = 2000  # maximum number of points of the trace


class AveragesBank(LockedState):
    """Averages of a stream whose half-life adapts to the drift.

    The rows are stored as averages of blocks. Old blocks of the same size are merged, so that there are O(log
    n) blocks. Each member of the bank forgets with one of `half_lives`; it is a weighted sum of the blocks
    and is computed only when it is read. The members predict each block before it is learned, and their
    shares are updated by `exp(-eta loss)`, eta = 1 / (8 sigma^2), with a fixed minimum share so that they can
    recover (Herbster and Warmuth, 1998). Models are extracted from `total`, in which the rows are weighted by
    the mixture of the members.

    If the coefficients differ before and after a boundary of blocks (Chow test at level 1e-4 over all
    boundaries), all rows before it are dropped, and the row is stored in `drift_`.

    Rows cost as much as in `RunningAverages`, plus one sum of m^2 numbers for each block. Memory is that of
    up to 3 log2(n / block) averages.

    Parameters
    ----------
    half_lives : sequence of float > 0
        Half-lives of the members, in rows; inf: no forgetting.
    reset : bool, default=True
        If True, test for abrupt changes and drop the rows before a change.
    dtype, interactions
        As in `RunningAverages`.

    Attributes
    ----------
    half_life_ : float
        Current half-life: weighted geometric mean; inf if the member with inf has more than half the weight.
    shares_ : ndarray
        Shares of the members, in the order of `half_lives`.
    drift_ : list of int
        Detected change points.
    trace_ : ndarray of shape (blocks, 3)
        For each block (in a long stream, for some blocks): rows so far, half-life, and mean squared error of
        the block before it was learned.

    Notes
    -----
    Members are compared by least squares on at most 50 features, those with the largest correlations under
    the mixture: O(50^3) per block. A block has 64 rows, or twice the number of features, up to 4,096, because
    fewer rows hardly determine the weights. All rows of a block have the same weight.
    """

    blocks: list[RunningAverages]
    n_samples_: int
    n_features_in_: Any
    half_lives: Any
    log_shares: Any
    noise: Any
    trace_: Any
    _changes = 0

    def __init__(
        self,
        half_lives: Sequence[float] = HALF_LIVES,
        *,
        reset: bool = True,
        dtype: Any = "float64",
        interactions: bool = False,
    ) -> None:
        lives = np.asarray(half_lives, dtype=np.float64)
        if lives.ndim != 1 or len(lives) == 0 or not (lives > 0).all():
            raise ValueError(f"half_lives={half_lives!r}; pass at least one number of rows above 0.")
        super().__init__(
            half_lives=array(lives, "slot"),
            reset=bool(reset),
            dtype=DTYPE.check("dtype", np.dtype(dtype).name),
            interactions=INTERACTIONS.check("interactions", interactions),
            blocks=[],  # complete blocks, the oldest first, and at the end the block that is being filled
            n_samples_=0,
            n_features_in_=None,
            n_targets_=None,
            log_shares=array(np.full(len(lives), -math.log(len(lives))), "slot"),
            noise=zeros(slot=0),  # residual variance of each target under the mixture
            drift_=[],
            trace_=zeros(slot=0, fixed=3),
        )

    def begin(self, p: int, q: int) -> Self:
        """Allocate the state for p columns and q targets."""
        self.n_features_in_, self.n_targets_, self.noise = p, q, np.zeros(q)
        self.blocks = [self._new_block()]
        return self

    def _new_block(self) -> RunningAverages:
        block = RunningAverages(dtype=self.dtype, interactions=self.interactions)
        block.begin(self.n_features_in_, self.n_targets_)
        if self.blocks:
            last = self.blocks[-1]
            block.moments.place_as(last.moments)
            block.dense, last.dense = last.dense, DenseBuffer(last.dense.rows.shape[1], self.dtype)
        return block

    # ---------------------------------------------------------------- adding rows

    @property
    def block_rows(self) -> int:
        """Number of rows of a complete block."""
        width = self.blocks[-1].n_features_ or 1
        return int(min(max(SMALLEST, 1 << (2 * width - 1).bit_length()), LARGEST))

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows, as `RunningAverages.update` does."""
        with self._lock:
            first = self.blocks[-1] if self.blocks else RunningAverages(
                dtype=self.dtype, interactions=self.interactions
            )  # fmt: skip
            rows, y, w, _ = check_batch(first, X, y, sample_weight)
            return self.add(rows, y, w)

    def add(self, rows: Rows, y: Array, w: Array | None = None) -> Self:
        """Add validated rows with targets (n, q), without rows of weight 0; additional columns are new
        features."""
        with self._lock:
            if self.n_features_in_ is None:
                self.begin(rows.p, y.shape[1])
            self.widen(max(rows.p, self.n_features_in_))
            self._changes += 1
            start = 0
            while start < len(y):
                room = self.block_rows - self.blocks[-1].n_samples_
                part = slice(start, min(len(y), start + max(room, 1)))
                self.blocks[-1].add(rows[part], y[part], None if w is None else w[part])
                self.n_samples_ += part.stop - start
                start = part.stop
                if self.blocks[-1].n_samples_ >= self.block_rows:
                    self._close()
        return self

    def _close(self) -> None:
        """Complete the block: compare the members on it, test for a change, merge old blocks, start the
        next."""
        self.blocks[-1].flush()
        if len(self.blocks) > 1:
            weight = self._kernel(closing=True) @ np.exp(self.log_shares)
            self._weigh(Compared(self.blocks, weight))
            if self.reset:
                # features chosen on all rows, so that the choice does not bias the test
                at = Compared(self.blocks, np.ones(len(self.blocks))).change(CHOW)
                if at:
                    self._drop(at)
        self.blocks.append(self._new_block())
        self._merge_old()

    def _drop(self, at: int) -> None:
        """Drop the blocks before a change and store its row; a change within a block is detected twice."""
        row = self.n_samples_ - sum(b.n_samples_ for b in self.blocks[at:])
        if self.drift_ and row - self.drift_[-1] <= 2 * self.block_rows:
            self.drift_.pop()
        self.drift_.append(row)
        self.blocks = self.blocks[at:]

    def _weigh(self, view: Compared) -> None:
        """Update the shares of the members by their errors on the last block."""
        n = self.blocks[-1].n_samples_
        errors = view.errors(self._kernel(closing=True))  # (members, q)
        mixed = np.exp(self.log_shares) @ errors
        first = not self.noise.any()
        self.noise = np.maximum(mixed if first else self.noise + NOISE_RATE * (mixed - self.noise), 1e-300)
        log = self.log_shares - RATE * n * (errors / self.noise).sum(axis=1)
        log -= log.max()
        shares = np.exp(log)
        shares = (1 - SHARE) * shares / shares.sum() + SHARE / len(shares)
        self.log_shares = np.log(shares)
        trace = np.vstack([self.trace_, [self.n_samples_, self.half_life_, float(mixed.mean())]])
        self.trace_ = trace if len(trace) <= TRACE else np.ascontiguousarray(trace[1::2])

    def _merge_old(self) -> None:
        """Merge the two oldest blocks of every size that has too many blocks; sizes double."""
        rows = self.block_rows
        while True:
            size = [int(math.log2(max(b.n_samples_ / rows, 1.0)) + 0.5) for b in self.blocks[:-1]]
            crowded = [s for s in set(size) if size.count(s) > PER_SIZE]
            if not crowded:
                return
            at = size.index(min(crowded))
            self.blocks[at].merge(self.blocks.pop(at + 1))

    def widen(self, p: int, where: NDArray[np.int64] | None = None) -> Self:
        """Add features, as `RunningAverages.widen` does."""
        if self.n_features_in_ is not None and (p != self.n_features_in_ or where is not None):
            for block in self.blocks:
                block.widen(p, where)
            self.n_features_in_ = p
            self._changes += 1
        return self

    def resize(self, p: int) -> None:
        self.widen(p)

    def merge(self, other: Any) -> Self:
        """Raises an error: rows of two streams have no common order."""
        raise ValueError(
            f"Averages with half_life='auto' cannot be merged with {type(other).__name__}: rows of two "
            "streams have no common order. Pass half_life=None, or read them one after the other."
        )

    subtract = append = merge

    # ---------------------------------------------------------------- reading

    def _kernel(self, *, closing: bool = False) -> Array:
        """Mean weight of the rows of each block, shape (blocks, members); the weights of a member sum to 1.

        The last block has weight 0 while the members predict it.
        """
        n = np.array([b.n_samples_ for b in self.blocks], dtype=np.float64)
        if closing:
            n[-1] = 0.0
        age = n[::-1].cumsum()[::-1] - n  # of the latest row of each block
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = math.log(2) / self.half_lives
            length = np.where(n > 0, n, 1.0)[:, None] * rate
            mean = np.where(length > 0, -np.expm1(-length) / np.where(length > 0, length, 1.0), 1.0)
        weight = np.where(n[:, None] > 0, np.exp(-age[:, None] * rate) * mean, 0.0)
        total = n @ weight
        return weight / np.where(total > 0, total, 1.0)

    @property
    def shares_(self) -> Array:
        return np.exp(self.log_shares)

    @property
    def half_life_(self) -> float:
        shares = self.shares_
        finite = np.isfinite(self.half_lives)
        if shares[~finite].sum() > 0.5 or not finite.any():
            return math.inf
        return float(np.exp(shares[finite] @ np.log(self.half_lives[finite]) / shares[finite].sum()))

    def total(self) -> RunningAverages:
        """The current averages: rows weighted by the mixture of the members."""
        return self._weighted(self._kernel() @ self.shares_)

    def member(self, half_life: float) -> RunningAverages:
        """The averages of one member of the bank."""
        at = np.flatnonzero(self.half_lives == half_life)
        if len(at) == 0:
            raise ValueError(f"half_life={half_life!r} is not one of {self.half_lives.tolist()}.")
        return self._weighted(self._kernel()[:, at[0]])

    def _weighted(self, weight: Array) -> RunningAverages:
        with self._lock:
            if self.n_features_in_ is None or self.n_samples_ == 0:
                raise ValueError("These averages hold no rows of positive weight; call update first.")
            out = RunningAverages(dtype=self.dtype, interactions=self.interactions)
            out.begin(self.n_features_in_, self.n_targets_)
            out.forgets = True
            out.moments.place_as(self.blocks[0].moments)
            for block, by in zip(self.blocks, weight / weight.max()):
                if by > 0 and block.n_samples_:
                    block.flush()
                    out.moments.merge(block.moments, float(by))
                    out.forgetting.total += float(by) * block.forgetting.total
                    out.squares += float(by) ** 2 * block.squares
                    out.n_samples_ += block.n_samples_
            out.moments.recentre()
            return out

    @property
    def n_features_(self) -> int | None:
        return self.blocks[-1].n_features_ if self.blocks else None

    @property
    def pairs(self) -> Pairs | None:
        """The products, with `interactions`."""
        return self.blocks[-1].pairs if self.blocks else None

    def __repr__(self) -> str:
        about = f"{self.n_samples_} rows, half-life {self.half_life_:.6g}, drift at {self.drift_}"
        return f"AveragesBank({about})"

    def plot(self, ax: Any = None) -> Any:
        """Draw half-life and error along the stream, and the detected change points (needs matplotlib)."""
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(7, 3), layout="constrained")[1]
        rows, life, error = self.trace_.T
        longest = self.half_lives[np.isfinite(self.half_lives)].max(initial=1.0)
        ax.step(rows, np.minimum(life, 2 * longest), where="post", color="C0")
        ax.set_yscale("log")
        ax.set_xlabel("rows")
        ax.set_ylabel("half-life (rows)", color="C0")
        beside = ax.twinx()
        beside.plot(rows, error, color="C7", lw=0.8)
        beside.set_ylabel("squared error before learning", color="C7")
        for i, row in enumerate(self.drift_):
            ax.axvline(row, color="C3", ls="--", lw=1, label="drift" if i == 0 else None)
        if self.drift_:
            ax.legend(loc="upper left", frameon=False)
        return ax

    # ---------------------------------------------------------------- files

    def bytes_at(self, p: int, now: int) -> float:
        block = RunningAverages(dtype=self.dtype, interactions=self.interactions)
        return max(len(self.blocks), 2 * PER_SIZE) * block.bytes_at(p, now)

    def check(self) -> None:
        """Raise ValueError for an inconsistent state from a file."""
        lives = self.half_lives
        if not isinstance(lives, np.ndarray) or not len(lives) or not (lives > 0).all():
            raise ValueError("the half-lives are not numbers of rows.")
        self.verify(self._fresh())
        if len(self.log_shares) != len(lives) or abs(float(np.exp(self.log_shares).sum()) - 1) > 1e-6:
            raise ValueError("the shares of the members do not add up to 1.")
        if not all(isinstance(block, RunningAverages) for block in self.blocks):
            raise ValueError("a block has no averages.")
        for block in self.blocks:
            block.check()
            if (block.n_features_in_, block.n_targets_) != (self.n_features_in_, self.n_targets_):
                raise ValueError("the blocks are not from one stream.")
            if (block.dtype, block.interactions) != (self.dtype, self.interactions) or block.forgets:
                raise ValueError("the blocks are averages of another kind.")
        rows = sum(block.n_samples_ for block in self.blocks)
        if not 0 <= rows <= self.n_samples_ or (self.n_features_in_ is not None) != bool(self.blocks):
            raise ValueError("the blocks do not match the number of rows.")
        if not all(type(row) is int and 0 <= row <= self.n_samples_ for row in self.drift_):
            raise ValueError("the change points are not rows of the stream.")
        finite = (self.noise, self.trace_[:, [0, 2]], self.log_shares)
        if len(self.noise) != (self.n_targets_ or 0) or not all(np.isfinite(a).all() for a in finite):
            raise ValueError("noise or shares are not finite.")

    def _fresh(self) -> AveragesBank:
        fresh = AveragesBank(
            self.half_lives, reset=self.reset, dtype=self.dtype, interactions=self.interactions
        )
        if self.n_features_in_ is not None:
            if not all(type(n) is int and n >= 0 for n in (self.n_features_in_, self.n_targets_)):
                raise ValueError(f"the blocks have {self.n_features_in_!r} columns.")
            fresh.n_features_in_, fresh.n_targets_ = 0, 1
        return fresh


class Compared:
    """Sums of all blocks over a few features, the targets and a constant, about a common centre.

    Parameters
    ----------
    blocks : list of RunningAverages
        The members predict the last block.
    weight : ndarray of shape (blocks,)
        Weights of the rows of each block, used to find the features with the largest correlations.
    """

    def __init__(self, blocks: list[RunningAverages], weight: Array) -> None:
        last = blocks[-1].moments
        p, q = last.p, last.q
        at = np.arange(p) if p <= CANDIDATES else self._strongest(blocks, weight)
        self.d, self.q = len(at), q
        columns = np.append(at, np.arange(p, p + q + 1))
        self.n = np.array([block.n_samples_ for block in blocks])
        self.sums = np.empty((len(blocks), len(columns), len(columns)))
        center = np.append(last.center, 0.0)[columns]
        for block, S in zip(blocks, self.sums):
            moments = block.moments
            S[:] = symmetric(moments.sums[np.ix_(columns, columns)])
            e = np.append(moments.center, 0.0)[columns] - center
            s = S[:, -1].copy()
            S += np.outer(s, e) + np.outer(e, s) + s[-1] * np.outer(e, e)

    @staticmethod
    def _strongest(blocks: list[RunningAverages], weight: Array) -> NDArray[np.int64]:
        """The features with the largest correlations with the targets."""
        p, q = blocks[-1].moments.p, blocks[-1].moments.q
        center = blocks[-1].moments.center
        total, first, square, cross = 0.0, np.zeros(p + q), np.zeros(p + q), np.zeros((p, q))
        for block, by in zip(blocks, weight):
            m = block.moments
            e = m.center - center
            w, s, d = m.by_column()
            total += by * w
            first += by * (s + w * e)
            square += by * (d + e * (2 * s + w * e))
            cross += by * (m.sums[:p, p:-1] + np.outer(s[:p], e[p:]) + np.outer(e[:p], s[p:] + w * e[p:]))
        mean = first / total
        variance = np.maximum(square / total - mean**2, 0.0)
        cross = cross / total - np.outer(mean[:p], mean[p:])
        scale = np.sqrt(np.outer(variance[:p], variance[p:]))
        size = np.divide(cross, scale, out=np.zeros_like(cross), where=scale > 0)
        order = np.argsort(-np.round((size**2).sum(axis=1), 9), kind="stable")
        return np.sort(order[:CANDIDATES])

    def fits(self, sums: Array) -> Array:
        """Least squares (sets, d + 1, q) of sums (sets, ., .), with a ridge of one row."""
        d, q = self.d, self.q
        weight = np.maximum(sums[:, -1, -1], 1e-300)[:, None, None]
        x, y = sums[:, :d, -1:], sums[:, d : d + q, -1:]
        A = sums[:, :d, :d] - x @ x.transpose(0, 2, 1) / weight  # about the means, not the centre
        r = sums[:, :d, d : d + q] - x @ y.transpose(0, 2, 1) / weight
        diagonal = np.maximum(A.diagonal(axis1=1, axis2=2), 0.0)
        ridge = diagonal / np.maximum(weight[:, :, 0], 1.0) + 1e-10 * diagonal
        A[:, np.arange(d), np.arange(d)] += np.where(diagonal > 0, ridge, 1.0)
        b = np.linalg.solve(A, r)
        intercept = (y - b.transpose(0, 2, 1) @ x) / weight
        return np.concatenate([b, intercept.transpose(0, 2, 1)], axis=1)

    def residual_sums(self, fits: Array, sums: Array) -> Array:
        """Sums of squared residuals (sets, q) of fits on sums."""
        d, q = self.d, self.q
        v = np.zeros((len(fits), d + q + 1, q))
        v[:, :d], v[:, -1] = -fits[:, :d], -fits[:, d]
        v[:, d : d + q] = np.eye(q)
        return np.maximum(((sums @ v) * v).sum(axis=1), 0.0)

    def errors(self, kernel: Array) -> Array:
        """Mean squared errors (members, q) on the last block of fits to the blocks before."""
        n = self.n[:-1].sum()
        sums = np.tensordot(kernel[:-1].T, self.sums[:-1], 1) * n
        block = self.sums[-1]
        return self.residual_sums(self.fits(sums), block) / block[-1, -1]

    def change(self, level: float) -> int:
        """The first block after a change (Chow test at each boundary); 0 if there is no change."""
        from scipy.special import fdtrc

        before, after = self.sums.cumsum(axis=0)[:-1], self.sums[::-1].cumsum(axis=0)[::-1][1:]
        rows = self.n.cumsum()[:-1], self.n[::-1].cumsum()[::-1][1:]
        free = self.d + 1
        at = np.flatnonzero((rows[0] > 2 * free) & (rows[1] > 2 * free))
        if len(at) == 0:
            return 0
        whole = self.sums.sum(axis=0)[None]
        pooled = self.residual_sums(self.fits(whole), whole)
        apart = sum(self.residual_sums(self.fits(s[at]), s[at]) for s in (before, after))
        left = int(self.n.sum()) - 2 * free
        ratio = np.maximum(pooled - apart, 0.0) / free / np.maximum(apart / left, 1e-300)
        p = fdtrc(free, left, ratio).min(axis=1) * self.q * len(at)
        best = int(np.argmin(p))
        return int(at[best]) + 1 if p[best] < level else 0
