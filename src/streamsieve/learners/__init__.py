"""Learners that keep O(p) weights and update them row by row."""

from .sgd import SGDClassifier, SGDRegressor
from .siht import SIHTClassifier, SIHTRegressor
from .tsgd import TSGDClassifier, TSGDRegressor

__all__ = [
    "SGDClassifier",
    "SGDRegressor",
    "SIHTClassifier",
    "SIHTRegressor",
    "TSGDClassifier",
    "TSGDRegressor",
]
