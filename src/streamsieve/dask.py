"""Estimators on a Dask cluster: `fit`, and `DaskSelector` with lazy predictions. Needs the extra `dask`."""

from .distributed.dask import DaskSelector, fit

__all__ = ["DaskSelector", "fit"]
