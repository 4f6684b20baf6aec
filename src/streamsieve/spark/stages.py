"""Estimators as stages of `pyspark.ml` pipelines, saved and loaded with them."""

from __future__ import annotations

import os
import tempfile
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
        Params._dummy(), "featuresCol", "column of vectors; without it all other columns are features",
        TypeConverters.toString,
    )  # fmt: skip
    predictionCol = Param(
        Params._dummy(),
        "predictionCol",
        "column for predictions; without it there are none",
        TypeConverters.toString,
    )

    def _column(self, name: str) -> str | None:
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None

    def setParams(self, **columns: Any) -> Self:
        """Set columns by name."""
        return self._set(**{name: value for name, value in columns.items() if value is not None})


class _Stored(MLWritable, MLReadable):
    """A stage that is saved with an estimator of this library beside its parameters."""

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        return _Reader(cls)


class _Writer(MLWriter):
    def __init__(self, stage: Any) -> None:
        super().__init__()
        self.stage = stage

    def saveImpl(self, path: str) -> None:
        DefaultParamsWriter.saveMetadata(self.stage, path, self.sparkSession)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.sieve")
            save(self.stage.estimator, file)
            with open(file, "rb") as stream:
                data = stream.read()
        frame = self.sparkSession.createDataFrame([(bytearray(data),)], "model binary")
        frame.coalesce(1).write.mode("overwrite").parquet(os.path.join(path, "estimator"))


class _Reader(MLReader[Any]):
    def __init__(self, cls: Any) -> None:
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        data = self.sparkSession.read.parquet(os.path.join(path, "estimator")).head()
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.sieve")
            with open(file, "wb") as stream:
                stream.write(data.model)
            stage = self.cls(load(file))
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage


class SelectorModel(Model, _Columns, _Stored):
    """What `Selector` has fitted: adds the selected features as a vector, and predictions where asked.

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
        if features is not None:
            chosen = [int(j) for j in estimator.get_support(indices=True)]
            out = VectorSlicer(inputCol=features, outputCol=output, indices=chosen).transform(dataset)
            return out if predicted is None else out.withColumn(predicted, self._predict(features))
        skip = {self.getLabelCol(), self._column("weightCol")}
        names = [
            name for name in getattr(estimator, "feature_names_in_", dataset.columns) if name not in skip
        ]
        columns = F.struct(*(F.col(f"`{name}`") for name in names))
        select = F.pandas_udf(lambda frame: _series(estimator.transform(frame)), "array<double>")
        out = dataset.withColumn(output, array_to_vector(select(columns)))
        if predicted is not None:
            predict = F.pandas_udf(lambda frame: _series(estimator.predict(frame)), self._type)
            out = out.withColumn(predicted, predict(columns))
        return out

    def _predict(self, features: str) -> Any:
        estimator = self.estimator
        predict = F.pandas_udf(lambda rows: _series(estimator.predict(np.stack(rows.to_list()))), self._type)
        return predict(vector_to_array(F.col(features)))

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
        Of any method.
    featuresCol : str or None
        Column of vectors, dense or sparse; None for all columns that are not the label or the weight, with
        categories, dates and missing values, as `read` takes them.
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
        As of `SieveRegressor`.
    **columns
        As of `Selector`.
    """

    def __init__(
        self, k: Any = "auto", task: str = "regression", memory: Any = "256MB", **columns: Any
    ) -> None:
        from ..estimators import SieveClassifier, SieveRegressor

        made: dict[str, Any] = {"regression": SieveRegressor, "classification": SieveClassifier}
        if task not in made:
            raise ValueError(f"task={task!r}; expected one of {', '.join(map(repr, made))}.")
        given = (
            k if hasattr(k, "get_params") else made[task](k, memory=memory)
        )  # an estimator, where it is loaded
        super().__init__(given, **columns)
