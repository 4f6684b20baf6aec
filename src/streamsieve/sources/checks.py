"""Checks of values that do not come from text: finite, missing values by option, weights >= 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .bad_data import BadData
from .readers.base import Options

if TYPE_CHECKING:
    from .table import Table


def fill_missing(features: NDArray[np.float64], missing: str) -> NDArray[np.bool_]:
    """Which values are bad; missing ones become 0 in place with missing='zero'."""
    gone = np.isnan(features)
    if missing == "zero":
        features[gone] = 0.0
    wrong = np.isinf(features)
    return wrong if missing in ("zero", "keep") else wrong | gone  # without a schema there is no mean


def describe(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "a missing value"
    return (
        f"{value!r} is infinite"
        if isinstance(value, float) and np.isinf(value)
        else f"the weight {value!r} is negative"
    )


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
        for wrong, values, places in (
            (bad_features, features, table.numbers),
            (bad_others, others, table.others),
        ):
            if wrong[i].any():
                j = int(np.argmax(wrong[i]))
                reason = describe(float(values[i, j]))
                raise BadData(
                    f"row {first + i + 1:,} holds {reason}"
                    if "missing" in reason
                    else f"row {first + i + 1:,}: {reason}",
                    file,
                    first + i + 1,
                    table.columns[places[j]],
                    reason,
                )
    return np.flatnonzero(~bad), int(bad.sum())
