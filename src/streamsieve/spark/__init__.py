"""Estimators on Spark: `fit` for data frames and files, stages of `pyspark.ml` pipelines, and micro-batches.

Needs the extra `spark`. Executors learn partitions (`mapInArrow`), neighbours merge in a tree, and the driver
collects a few states, never rows.
"""

try:
    import pyspark  # noqa: F401
except ImportError:
    raise ImportError("streamsieve.spark needs pyspark: pip install 'streamsieve[spark]'.") from None

from .run import fit
from .stages import Selector, SelectorModel, SieveSelector
from .stream import MicroBatches

__all__ = ["MicroBatches", "Selector", "SelectorModel", "SieveSelector", "fit"]
