"""Estimators on a Dask cluster: workers accumulate units or partitions and merge them in their order."""

from .fit import fit, fit_plan
from .run import import_distributed
from .selector import DaskSelector

__all__ = ["DaskSelector", "fit", "fit_plan", "import_distributed"]
