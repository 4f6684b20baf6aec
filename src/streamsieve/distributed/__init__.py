"""More than one machine, whatever the engine: cut a source into units, accumulate each, merge in their order.

>>> from streamsieve import distributed                             # doctest: +SKIP
>>> plan = distributed.plan("rows-*.csv", target="y")               # doctest: +SKIP
>>> like = distributed.prepare(OLSthRegressor(10), plan)            # doctest: +SKIP
>>> parts = [distributed.accumulate(unit, like) for unit in plan]   # doctest: +SKIP
>>> whole = distributed.merge_in_order(parts)                       # doctest: +SKIP

Averages merge exactly, so the result depends on the plan alone: not on who did what, nor when.
"""

from .fit import fit, prepare
from .parts import Job, Part, PartError, UnitError, accumulate, merge, merge_in_order
from .plan import Plan, Unit, plan

__all__ = [
    "Job", "Part", "PartError", "Plan", "Unit", "UnitError", "accumulate", "fit", "merge", "merge_in_order",
    "plan", "prepare",
]  # fmt: skip
