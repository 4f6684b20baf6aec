"""Learners that keep O(p) weights and update them row by row."""

from .bamd import BAMDClassifier, BAMDRegressor
from .barda import BARDAClassifier, BARDARegressor
from .ofs import OFSClassifier
from .sgd import SGDClassifier, SGDRegressor
from .siht import SIHTClassifier, SIHTRegressor
from .sofs import SOFSClassifier
from .tsgd import TSGDClassifier, TSGDRegressor

__all__ = [
    "BAMDClassifier",
    "BAMDRegressor",
    "BARDAClassifier",
    "BARDARegressor",
    "OFSClassifier",
    "SGDClassifier",
    "SGDRegressor",
    "SIHTClassifier",
    "SIHTRegressor",
    "SOFSClassifier",
    "TSGDClassifier",
    "TSGDRegressor",
]
