"""Estimators as stages of `pyspark.ml` pipelines, saved and loaded with them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from pyspark.ml import Estimator, Model
from pyspark.ml.feature import VectorSlicer
from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasOutputCol, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as F

from ..estimators.saved import load
from ..training.saved import save
from .run import fit


class _Columns(HasLabelCol, HasOutputCol, HasWeightCol):
    """Which columns a stage reads and writes."""

    featuresCol = Param(
        Params._dummy(), "featuresCol", "column of vectors; None: all other columns are features",
        TypeConverters.toString,
    )  # fmt: skip
    predictionCol = Param(
        Params._dummy(),
        "predictionCol",
        "column for predictions; None: no predictions are added",
        TypeConverters.toString,
    )

    def _column(self, name: str) -> str | None:
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None

    def setParams(self, **columns: Any) -> Self:
        """Set columns by name."""
        return self._set(**{name: value for name, value in columns.items() if value is not None})


class _Stored(MLWritable, MLReadable):
    """A stage that is saved with an estimator of this library and its parameters."""

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        return _Reader(cls)


class _Writer(DefaultParamsWriter):
    def saveImpl(self, path: str) -> None:
        super().saveImpl(path)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "model.sieve")
            save(self.instance.estimator, file)
            data = file.read_bytes()
        frame = self.sparkSession.createDataFrame([(bytearray(data),)], "model binary")
        frame.coalesce(1).write.mode("overwrite").parquet(f"{path}/estimator")


class _Reader(DefaultParamsReader):
    def load(self, path: str) -> Any:
        stage = super().load(path)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "model.sieve")
            file.write_bytes(self.sparkSession.read.parquet(f"{path}/estimator").head().model)
            stage.estimator = load(file)
        return stage


class SelectorModel(Model, _Columns, _Stored):
    """The fitted model of `Selector`: adds the selected features as a vector, and optionally predictions.

    Attributes
    ----------
    estimator : estimator
        The ordinary fitted estimator.
    """

    def __init__(self, estimator: Any = None) -> None:
        super().__init__()
        self.estimator = estimator

    def _transform(self, dataset: Any) -> Any:
        features, estimator = self._column("featuresCol"), self.estimator
        output, predicted = self.getOutputCol(), self._column("predictionCol")
        model = estimator if estimator.method_.interactions else estimator.slim()  # it is sent with each task
        if features is not None:
            chosen = [int(j) for j in estimator.get_support(indices=True)]
            out = VectorSlicer(inputCol=features, outputCol=output, indices=chosen).transform(dataset)
            predict = lambda rows: _series(model.predict(np.stack(rows.to_list())))  # noqa: E731
            columns = vector_to_array(F.col(features))
        else:
            skip = {self.getLabelCol(), self._column("weightCol")}
            names = getattr(estimator, "feature_names_in_", dataset.columns)
            columns = F.struct(*(F.col(f"`{name}`") for name in names if name not in skip))
            select = F.pandas_udf(lambda frame: _series(model.transform(frame)), "array<double>")
            out = dataset.withColumn(output, array_to_vector(select(columns)))
            predict = lambda frame: _series(model.predict(frame))  # noqa: E731
        if predicted is None:
            return out
        return out.withColumn(predicted, F.pandas_udf(predict, self._type)(columns))

    @property
    def _type(self) -> str:
        labels = getattr(self.estimator, "classes_", None)
        return "double" if labels is None else "string" if labels.dtype.kind in "UO" else "long"


def _series(values: Any) -> Any:
    import pandas as pd

    return pd.Series(values if values.ndim == 1 else list(values))


class Selector(Estimator, _Columns, _Stored):
    """An estimator of this library as a stage: it selects features, and predicts.

    Parameters
    ----------
    estimator : estimator
        An estimator of any method.
    featuresCol : str or None
        Column of vectors, dense or sparse. None: all columns except label and weight, with categories, dates
        and missing values encoded as by `read`.
    labelCol, weightCol, outputCol, predictionCol : str
        As in `pyspark.ml`: "label", None, "selected" and None by default.

    Examples
    --------
    >>> from pyspark.ml import Pipeline                                             # doctest: +SKIP
    >>> from streamsieve.spark import Selector                                      # doctest: +SKIP
    >>> stage = Selector(OLSthRegressor(10), labelCol="y", outputCol="selected")    # doctest: +SKIP
    >>> Pipeline(stages=[stage]).fit(frame).transform(frame)                        # doctest: +SKIP
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        featuresCol: str | None = None,
        labelCol: str | None = None,
        outputCol: str | None = None,
        weightCol: str | None = None,
        predictionCol: str | None = None,
    ) -> None:
        super().__init__()
        self.estimator = estimator
        self._setDefault(labelCol="label", outputCol="selected")
        self.setParams(featuresCol=featuresCol, labelCol=labelCol, outputCol=outputCol, weightCol=weightCol,
                       predictionCol=predictionCol)  # fmt: skip

    def _fit(self, dataset: Any) -> SelectorModel:
        features, weight = self._column("featuresCol"), self._column("weightCol")
        found = fit(self.estimator, dataset, self.getLabelCol(), weight=weight, features=features)
        model = SelectorModel(found)
        model._resetUid(self.uid)
        return self._copyValues(model)


class SieveSelector(Selector):
    """`Sieve`, the default method, as a stage.

    Parameters
    ----------
    k : int or "auto", default="auto"
        Features to select.
    task : {"regression", "classification"}, default="regression"
    memory : int or str, default="256MB"
        As in `SieveRegressor`.
    **columns
        As in `Selector`.
    """

    def __init__(
        self, k: Any = "auto", task: str = "regression", memory: Any = "256MB", **columns: Any
    ) -> None:
        from ..estimators import SieveClassifier, SieveRegressor

        made: dict[str, Any] = {"regression": SieveRegressor, "classification": SieveClassifier}
        if task not in made:
            raise ValueError(f"task={task!r}; expected one of {', '.join(map(repr, made))}.")
        super().__init__(made[task](k, memory=memory), **columns)
