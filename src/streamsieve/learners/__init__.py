"""Learners that keep O(p) weights and update them row by row."""

from .sfsa import SFSAClassifier, SFSARegressor
from .sgd import SGDClassifier, SGDRegressor
from .siht import SIHTClassifier, SIHTRegressor
from .tsgd import TSGDClassifier, TSGDRegressor

__all__ = [
    "SFSAClassifier",
    "SFSARegressor",
    "SGDClassifier",
    "SGDRegressor",
    "SIHTClassifier",
    "SIHTRegressor",
    "TSGDClassifier",
    "TSGDRegressor",
]
