"""Estimators on a Dask cluster: workers accumulate units or partitions and merge them in their order."""

from .fit import fit, plan_run
from .run import import_distributed
from .selector import DaskSelector

__all__ = ["DaskSelector", "fit", "import_distributed", "plan_run"]
