"""Adding and removing the rows of other running averages."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.rows import Array

if TYPE_CHECKING:
    from .running import RunningAverages

FEW_DIGITS = 4  # digits of a variance after subtraction below which users are warned


def combine(
    averages: RunningAverages, other: RunningAverages, sign: int, unit: float | None, warn: bool
) -> None:
    """Add (1) or remove (-1) the rows of `other`, which is not empty, in the units of `averages`."""
    with both_locks(averages, other):
        averages.forgetting.check_same_decay(other.forgetting)
        if averages.interactions != other.interactions:
            raise ValueError("Only one of the averages has interactions.")
        if averages.n_features_in_ is None:
            if sign < 0:
                raise ValueError("Nothing to subtract from: these averages hold no rows.")
            averages.begin(other.n_features_in_, other.n_targets_, other.names)
            averages.moments.place_as(other.moments)
        _check_compatible(averages, other)
        if sign < 0 and other.n_samples_ > averages.n_samples_:
            raise ValueError(f"Cannot subtract {other.n_samples_} rows from {averages.n_samples_}.")
        averages.flush()
        other.flush()
        if averages.forgetting.unit != 1.0:
            averages.scale(1.0 / averages.forgetting.unit)
        unit = other.forgetting.unit if unit is None else unit
        factor, total = sign / unit, other.forgetting.total
        digits = None
        if sign < 0:
            averages.unpack()
            rows_left = averages.n_samples_ - other.n_samples_
            digits = averages.moments.digits_without(other.moments, factor, rows_left)
        averages._changes += 1
        averages.moments.merge(other.moments, factor)
        # from the moments: `other` has its own sums only if it imputes
        averages.imputer_sums += factor * other.moments.column_sums(total)[: averages.n_features_in_]
        averages.squares += sign * other.squares / unit**2
        averages.forgetting.total += factor * total
        averages.n_samples_ += sign * other.n_samples_
        averages.n_imputed_ += sign * other.n_imputed_
        if averages.n_samples_ == 0:
            averages.moments.clear()
            averages.imputer_sums[:] = 0
            averages.squares = averages.forgetting.total = 0.0
        elif digits is not None:
            _round_off(averages, digits, warn)
        averages.recentre()


def _round_off(averages: RunningAverages, digits: Array, warn: bool) -> None:
    """Set variances that are only rounding error to 0; warn of variances with few digits."""
    averages.moments.make_constant(np.flatnonzero(digits < 1))
    worst, few = int(np.argmin(digits)), int(np.sum(digits < FEW_DIGITS))
    if warn and few:
        warnings.warn(
            f"Subtracting cancels nearly all of the variance of {few} columns: column {worst} has about "
            f"{digits[worst]:.0f} digits left. If they matter, average the remaining rows again.",
            stacklevel=5,
        )


def _check_compatible(averages: RunningAverages, other: RunningAverages) -> None:
    mine = (averages.n_features_in_, averages.n_features_, averages.n_targets_)
    theirs = (other.n_features_in_, other.n_features_, other.n_targets_)
    if mine != theirs:
        raise ValueError(
            f"These averages have {mine[1]} features and {mine[2]} targets, the others {theirs[1]} "
            f"and {theirs[2]}; only averages of the same columns can be merged."
        )
    if (averages.names is None) != (other.names is None):
        raise ValueError("Only one of the averages has column names; name the columns of both or of none.")
    if averages.names != other.names:
        raise ValueError("The averages have the same number of features, but other names or another order.")


@contextmanager
def both_locks(a: Any, b: Any) -> Iterator[None]:
    """The locks of two averages, always in the same order, to avoid deadlocks."""
    first, second = sorted((a._lock, b._lock), key=id)
    with first, second:
        yield
