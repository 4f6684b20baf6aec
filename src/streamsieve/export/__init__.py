"""Fitted models for places without Python: SQL, C, and JSON with a reader of fifty lines.

Every export is written from one `Formula`: a sum of terms, each of which reads one column.
"""

from .c import to_c
from .formula import Formula, Term, formula_of
from .plain import to_json
from .sql import to_sql

__all__ = ["Formula", "Term", "formula_of", "to_c", "to_json", "to_sql"]
