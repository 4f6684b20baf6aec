"""Estimators of this library in scikit-learn pipelines that skl2onnx converts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..methods import ESTIMATORS
from .formula import formula_of
from .onnx import to_onnx


def register_converters() -> None:
    """Make skl2onnx convert the estimators of this library, alone and as steps of a `Pipeline`.

    Call it once, before `skl2onnx.convert_sklearn` or `skl2onnx.to_onnx`. The last step of a pipeline
    predicts; any other step selects its columns. In other places, for instance in a `ColumnTransformer`, pass
    the option `select` for the latter: ``options={id(estimator): {"select": True}}``. The input is a tensor
    of floats or doubles. A model of a table with categories or dates is converted by `to_onnx`, alone.

    Examples
    --------
    >>> from skl2onnx import convert_sklearn                                                  # doctest: +SKIP
    >>> from skl2onnx.common.data_types import FloatTensorType                                # doctest: +SKIP
    >>> from streamsieve.export import register_converters
    >>> register_converters()                                                                 # doctest: +SKIP
    >>> convert_sklearn(pipeline, initial_types=[("X", FloatTensorType([None, p]))])          # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
        from skl2onnx._parse import sklearn_parsers_map as parsers
    except ImportError:
        raise ImportError("register_converters needs skl2onnx: pip install skl2onnx.") from None
    from sklearn.pipeline import Pipeline

    import streamsieve

    for name, (_, task) in ESTIMATORS.items():
        zipmap = {"zipmap": [True, False, "columns"]} if task == "classification" else {}
        update_registered_converter(
            getattr(streamsieve, name), f"Streamsieve{name}", _shapes, _convert, parser=_parse,
            options={"select": [False, True], **zipmap},
        )  # fmt: skip
    if not hasattr(parsers[Pipeline], "streamsieve"):
        parsers[Pipeline] = _pipeline_parser(parsers[Pipeline])


def _pipeline_parser(parse_pipeline: Any) -> Any:
    """That of skl2onnx, which does not know that a step before the last one selects."""

    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        for _, step in model.steps[:-1]:
            if type(step).__name__ in ESTIMATORS and hasattr(step, "method_"):
                scope.add_options(id(step), {"select": True})
        return parse_pipeline(scope, model, inputs, custom_parsers=custom_parsers)

    parse.streamsieve = True  # type: ignore[attr-defined]
    return parse


def _selects(scope: Any, model: Any) -> bool:
    return bool(scope.get_options(model, {"select": False})["select"])


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare what a step gives: columns, targets, or labels and probabilities."""
    from skl2onnx._parse import _parse_sklearn_classifier
    from skl2onnx.common.data_types import Int64TensorType

    if len(inputs) != 1 or hasattr(model, "schema_"):
        raise ValueError(
            f"{type(model).__name__} has {len(inputs)} inputs, or was fitted on a table with categories or "
            "dates; pass one tensor of numbers, or convert it alone by streamsieve.export.to_onnx."
        )
    selects, kind = _selects(scope, model), type(inputs[0].type)
    if not selects and hasattr(model, "classes_") and formula_of(model).link != "sign":
        return _parse_sklearn_classifier(scope, model, inputs, custom_parsers)
    labels = hasattr(model, "classes_") and not selects
    operator = scope.declare_local_operator(f"Streamsieve{type(model).__name__}", model)
    operator.inputs = inputs
    name, kind = ("label", Int64TensorType) if labels else ("variable", kind)
    operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def _shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    model, out, n = operator.raw_operator, operator.outputs, operator.inputs[0].get_first_dimension()
    if _selects(operator.scope_inst, model):
        out[0].type.shape = [n, int(model.get_support().sum())]
    elif hasattr(model, "classes_"):
        words = isinstance(model.classes_.tolist()[0], str)
        out[0].set_type((StringTensorType if words else Int64TensorType)([n]))
        for probabilities in out[1:]:
            probabilities.type.shape = [n, len(model.classes_)]
    else:
        out[0].type.shape = [n, len(formula_of(model).intercept)]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    from skl2onnx.helpers import add_onnx_graph
    from skl2onnx.proto import onnx_proto

    model, given = operator.raw_operator, operator.inputs[0]
    if not isinstance(given.type, DoubleTensorType | FloatTensorType):
        raise ValueError(f"{type(model).__name__} has an input of {given.type}; pass floats or doubles.")
    if _selects(scope, model):
        columns = scope.get_unique_variable_name("columns")
        chosen = np.flatnonzero(model.get_support())
        container.add_initializer(columns, onnx_proto.TensorProto.INT64, [len(chosen)], chosen)
        name, out = scope.get_unique_operator_name("Gather"), operator.outputs[0].full_name
        container.add_node("Gather", [given.full_name, columns], out, name=name, axis=1)
        return
    double = isinstance(given.type, DoubleTensorType)
    add_onnx_graph(scope, operator, container, to_onnx(model, "float64" if double else "float32"))
