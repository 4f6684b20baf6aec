"""Learners that keep O(p) weights and update them row by row."""

from .bamd import BAMDClassifier, BAMDRegressor
from .barda import BARDAClassifier, BARDARegressor
from .ofs import OFSClassifier
from .olst import OLSTClassifier, OLSTRegressor
from .olst_then_tsgd import OLSTThenTSGDClassifier, OLSTThenTSGDRegressor
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
    "OLSTClassifier",
    "OLSTRegressor",
    "OLSTThenTSGDClassifier",
    "OLSTThenTSGDRegressor",
    "SGDClassifier",
    "SGDRegressor",
    "SIHTClassifier",
    "SIHTRegressor",
    "SOFSClassifier",
    "TSGDClassifier",
    "TSGDRegressor",
]
