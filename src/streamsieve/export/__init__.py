"""Fitted models for systems without Python: SQL, C, ONNX, and JSON with a reader of 35 lines.

Every export is written from one `Formula`: a sum of terms, each of which reads one column.
"""

from .c import to_c
from .card import to_card
from .formula import Formula, Term, formula_of
from .onnx import to_onnx
from .pipelines import register_converters
from .plain import to_json
from .sql import to_sql

__all__ = [
    "Formula", "Term", "formula_of", "register_converters", "to_c", "to_card", "to_json", "to_onnx", "to_sql",
]  # fmt: skip
