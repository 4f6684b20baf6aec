"""Several machines with any engine: partitions are learned independently and merged, to the same bytes.

>>> import numpy as np
>>> from streamsieve import OLSthRegressor, distributed
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(10_000, 5))
>>> y = X[:, 1] - X[:, 3]
>>> task = distributed.task(OLSthRegressor(2), p=5)
>>> cuts = [(0, 3000), (3000, 7001), (7001, 10_000)]
>>> parts = [task.zero(row=a).update((X[a:b], y[a:b])) for a, b in cuts]
>>> distributed.merge_in_order(parts).finish().get_support(indices=True)
array([1, 3])

`distributed.fit` does this for files, frames and Arrow streams on this machine; `streamsieve.dask`, `spark`
and `ray` do it on a cluster. `partial.py` describes the protocol.
"""

from .fit import fit, fit_task, learn, prepare, task
from .jobs import Job, accumulate
from .partial import Partial, Task, merge, merge_in_order
from .parts import Part, PartError, UnitError
from .plan import Plan, Unit, plan

__all__ = [
    "Job", "Part", "PartError", "Partial", "Plan", "Task", "Unit", "UnitError", "accumulate", "fit",
    "fit_task", "learn", "merge", "merge_in_order", "plan", "prepare", "task",
]  # fmt: skip
