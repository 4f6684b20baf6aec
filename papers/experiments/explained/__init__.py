"""Why figures of the other experiments are worse than published: each cause in `causes.toml` at work.

Of methods that learn row by row (`learners`):

- FOFS: the length of its step, and whether the weights after the last row are read or their average.
- SADMM: what is read of it, a support of at most k features or the k largest weights.
- SGD's RMSE at signal 0.01 is the noise of steps that do not fade.
- SFSA's own weights are those of features that have not learned alone.
- TSGD on sparse rows, [Sun] Table 4.4: one pass, ten passes, and logistic regression on all rows.

Of models read from running averages (`averages`):

- Signal 0.01, one row a feature: what ranks the features decides on the error, for chance does not fit noise.
- OFSA stopped early and OMCP with a large gamma find more where all true weights have one sign.
- OMCP as printed: a step just below that which diverges finds more where all true weights have one sign.
- OMCP's gamma: no single one has the published figures at all signals.
- OElnet's ridge counts for more where targets are large.
- OLSth up to four rows a feature takes the time of finding a ridge.

Of [Susan] Table 2 (`susan`): the length of TSGD's steps, the RMSE of whoever has all features, the features'
variance.
"""

from __future__ import annotations

from typing import Any

from ...report import Outcomes, Part
from . import averages, learners, susan

PARTS = learners.PARTS | averages.PARTS | susan.PARTS
LONG = ("sparse", "own")  # left out of a quick run
MORE = {"printed": 4}  # parts with so many times as many runs, as `classification` has of short streams


def jobs(runs: int, quick: bool) -> list[dict[str, Any]]:
    parts = [part for part in PARTS if part not in LONG or not quick]
    return [
        {"what": part, "seed": seed} for part in reversed(parts) for seed in range(runs * MORE.get(part, 1))
    ]


def measure(what: str, seed: int) -> dict[str, Any]:
    measure_part, _ = PARTS[what]
    outcome: dict[str, Any] = measure_part(seed)
    return outcome


def report(outcomes: Outcomes) -> list[Part]:
    by_part = {part: outcomes.where(what=part) for part in PARTS}
    return [make_table(by_part[part]) for part, (_, make_table) in PARTS.items() if by_part[part]]
