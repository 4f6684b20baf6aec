"""Models as ONNX graphs: one input for arrays, one for each column of a table. Needs the extra `onnx`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .formula import Formula, Term, formula_of

_ARRAYS, _TEXTS = 13, 19  # opsets: one that runtimes have for long, and the first that compares texts


def to_onnx(model: Any, dtype: str = "float32") -> Any:
    """A fitted estimator or model as an ONNX model.

    A model fitted on arrays has the input `X` (n, p). A model fitted on a table has an input (n, 1) for each
    column that it uses: numbers, or strings for categories, with an empty string for a missing value. The
    outputs are `variable` (n, q) for targets, or `label` (n,) and, if the loss gives probabilities,
    `probabilities` (n, classes).

    Parameters
    ----------
    model : estimator or Model
    dtype : {"float32", "float64"}, default="float32"
        Type of the numbers. float32 is the default of ONNX runtimes.
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise ImportError("to_onnx needs onnx: pip install 'streamsieve[onnx]'.") from None
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype={dtype!r}; expected 'float32' or 'float64'.")
    formula = formula_of(model)
    by_column = getattr(model, "schema_", None) is not None or "schema" in getattr(model, "about", {})
    refused = [
        term for term in formula.terms if term.kind not in ("number", "missing", "category") or term.numeric
    ]
    if refused:
        raise ValueError(
            f"The model reads {refused[0].column!r} as a date or a coded number, which ONNX cannot compute."
        )
    number = TensorProto.FLOAT if dtype == "float32" else TensorProto.DOUBLE
    graph = _Graph(helper, numpy_helper, np.dtype(dtype))
    if by_column:
        inputs = _columns(graph, formula, number, TensorProto.STRING)
    else:
        inputs = [_array(graph, model, formula, number)]
    outputs = _outputs(graph, formula, number, TensorProto)
    made = helper.make_graph(graph.nodes, "streamsieve", inputs, outputs, graph.constants)
    opset = [helper.make_opsetid("", _TEXTS if by_column else _ARRAYS)]
    found = helper.make_model(made, opset_imports=opset, producer_name="streamsieve", ir_version=9)
    checker.check_model(found)
    return found


class _Graph:
    """Nodes and constants under construction."""

    def __init__(self, helper: Any, numpy_helper: Any, dtype: Any) -> None:
        self.helper, self.numpy_helper, self.dtype = helper, numpy_helper, dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, op: str, *inputs: str, to: str | None = None, **attributes: Any) -> str:
        name = to or f"n{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(op, list(inputs), [name], f"{op} {name}", **attributes))
        return name

    def constant(self, values: Any, dtype: Any = None) -> str:
        name = f"c{len(self.constants)}"
        array = np.asarray(values, dtype=self.dtype if dtype is None else dtype)
        self.constants.append(self.numpy_helper.from_array(array, name))
        return name

    def bounded(self, x: str, terms: list[Term]) -> str:
        """Numbers with missing ones filled and others clipped, a column for each term."""
        fills = [term.fill for term in terms]
        if any(fill is not None for fill in fills):
            filled = self.constant([[np.nan if fill is None else fill for fill in fills]])
            x = self.add("Where", self.add("IsNaN", x), filled, x)
        for op, limits in (("Max", [t.low for t in terms]), ("Min", [t.high for t in terms])):
            if np.isfinite(limits).any():
                x = self.add(op, x, self.constant([limits]))
        return x


def _array(graph: _Graph, model: Any, formula: Formula, number: int) -> Any:
    held = model if hasattr(model, "method") else model._model
    at = np.flatnonzero(held.coefficients()[0].any(axis=0))
    x = graph.add("Gather", "X", graph.constant(at, np.int64), axis=1)
    graph.add("Identity", graph.bounded(x, list(formula.terms)) if len(at) else x, to="features")
    return graph.helper.make_tensor_value_info("X", number, [None, held.p])


def _columns(graph: _Graph, formula: Formula, number: int, text: int) -> list[Any]:
    """The features of each term, from the inputs of its column."""
    inputs: dict[str, Any] = {}
    features = []
    for term in formula.terms:
        kind = text if term.kind == "category" else number
        inputs[term.column] = graph.helper.make_tensor_value_info(term.column, kind, [None, 1])
        if term.kind == "number":
            features.append(graph.bounded(term.column, [term]))
            continue
        if term.kind == "missing":
            found = graph.add("IsNaN", term.column)
        else:
            levels = [*term.levels, *([""] if term.missing != term.others else [])]
            found = graph.constant([[False]], bool)
            for level in levels:
                same = graph.add("Equal", term.column, graph.constant([[level]], object))
                found = graph.add("Or", found, same)
            found = graph.add("Not", found) if term.others else found
        cast = graph.helper.np_dtype_to_tensor_dtype(graph.dtype)
        features.append(graph.bounded(_cast(graph, found, cast), [term]))
    if not features:
        raise ValueError("The model has selected no features, so that its graph would have no input.")
    graph.add("Concat", *features, to="features", axis=1)
    return list(inputs.values())


def _cast(graph: _Graph, x: str, kind: int) -> str:
    name = f"n{len(graph.nodes)}"
    graph.nodes.append(graph.helper.make_node("Cast", [x], [name], f"Cast {name}", to=kind))
    return name


def _outputs(graph: _Graph, formula: Formula, number: int, kinds: Any) -> list[Any]:
    """From features to what is predicted."""
    helper, q = graph.helper, len(formula.intercept)
    weights = np.array([term.weight for term in formula.terms]).reshape(-1, q)
    scores = graph.add(
        "Add", graph.add("MatMul", "features", graph.constant(weights)), graph.constant([formula.intercept])
    )
    if not formula.classes:
        graph.add("Exp" if formula.link == "exp" else "Identity", scores, to="variable")
        return [helper.make_tensor_value_info("variable", number, [None, q])]
    if q == 1:
        best = _cast(graph, graph.add("Greater", scores, graph.constant([[0.0]])), kinds.INT64)
        best = graph.add("Squeeze", best, graph.constant([1], np.int64))
    else:
        best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    words = isinstance(formula.classes[0], str)
    labels = graph.constant(list(formula.classes), object if words else np.int64)
    graph.add("Gather", labels, best, to="label")
    out = [helper.make_tensor_value_info("label", kinds.STRING if words else kinds.INT64, [None])]
    if formula.link == "sign":
        return out
    if formula.link == "softmax":
        graph.add("Softmax", scores, to="probabilities", axis=1)
    else:
        p = graph.add("Sigmoid", scores)
        if q == 1:
            graph.add("Concat", graph.add("Sub", graph.constant([[1.0]]), p), p, to="probabilities", axis=1)
        else:
            total = graph.add("ReduceSum", p, graph.constant([1], np.int64), keepdims=1)
            graph.add("Div", p, total, to="probabilities")
    return [*out, helper.make_tensor_value_info("probabilities", number, [None, len(formula.classes)])]
