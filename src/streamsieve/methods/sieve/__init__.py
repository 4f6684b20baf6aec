"""The default method: keep the rows of the candidates, eliminate features, read a model at any time."""

from .sieve import Sieve

__all__ = ["Sieve"]
