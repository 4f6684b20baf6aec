"""Learners that keep O(p) weights and update them row by row."""

from .adafobos import AdaFOBOSClassifier, AdaFOBOSRegressor
from .fobos import FOBOSClassifier, FOBOSRegressor
from .l1arda import L1ARDAClassifier, L1ARDARegressor
from .rda import RDAClassifier, RDARegressor
from .sadmm import SADMMClassifier, SADMMRegressor
from .sgd import SGDClassifier, SGDRegressor
from .siht import SIHTClassifier, SIHTRegressor
from .truncated_gradient import TruncatedGradientClassifier, TruncatedGradientRegressor
from .tsgd import TSGDClassifier, TSGDRegressor

__all__ = [
    "AdaFOBOSClassifier",
    "AdaFOBOSRegressor",
    "FOBOSClassifier",
    "FOBOSRegressor",
    "L1ARDAClassifier",
    "L1ARDARegressor",
    "RDAClassifier",
    "RDARegressor",
    "SADMMClassifier",
    "SADMMRegressor",
    "SGDClassifier",
    "SGDRegressor",
    "SIHTClassifier",
    "SIHTRegressor",
    "TSGDClassifier",
    "TSGDRegressor",
    "TruncatedGradientClassifier",
    "TruncatedGradientRegressor",
]
