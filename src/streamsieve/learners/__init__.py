"""Learners that keep O(p) weights and update them row by row."""

from .olst import OLSTClassifier, OLSTRegressor
from .olst_then_tsgd import OLSTThenTSGDClassifier, OLSTThenTSGDRegressor
from .sgd import SGDClassifier, SGDRegressor
from .siht import SIHTClassifier, SIHTRegressor
from .tsgd import TSGDClassifier, TSGDRegressor

__all__ = [
    "OLSTClassifier",
    "OLSTRegressor",
    "OLSTThenTSGDClassifier",
    "OLSTThenTSGDRegressor",
    "SGDClassifier",
    "SGDRegressor",
    "SIHTClassifier",
    "SIHTRegressor",
    "TSGDClassifier",
    "TSGDRegressor",
]
