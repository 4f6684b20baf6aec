"""Learners that keep O(p) weights and update them row by row."""

from .adafobos import AdaFOBOSClassifier, AdaFOBOSRegressor
from .bamd import BAMDClassifier, BAMDRegressor
from .barda import BARDAClassifier, BARDARegressor
from .fobos import FOBOSClassifier, FOBOSRegressor
from .l1arda import L1ARDAClassifier, L1ARDARegressor
from .ofs import OFSClassifier
from .olst import OLSTClassifier, OLSTRegressor
from .olst_then_tsgd import OLSTThenTSGDClassifier, OLSTThenTSGDRegressor
from .rda import RDAClassifier, RDARegressor
from .sadmm import SADMMClassifier, SADMMRegressor
from .sfsa import SFSAClassifier, SFSARegressor
from .sgd import SGDClassifier, SGDRegressor
from .siht import SIHTClassifier, SIHTRegressor
from .sofs import SOFSClassifier
from .stabilized import StabilizedSGDClassifier, StabilizedSGDRegressor
from .truncated_gradient import TruncatedGradientClassifier, TruncatedGradientRegressor
from .tsgd import TSGDClassifier, TSGDRegressor

__all__ = [
    "AdaFOBOSClassifier",
    "AdaFOBOSRegressor",
    "BAMDClassifier",
    "BAMDRegressor",
    "BARDAClassifier",
    "BARDARegressor",
    "FOBOSClassifier",
    "FOBOSRegressor",
    "L1ARDAClassifier",
    "L1ARDARegressor",
    "OFSClassifier",
    "OLSTClassifier",
    "OLSTRegressor",
    "OLSTThenTSGDClassifier",
    "OLSTThenTSGDRegressor",
    "RDAClassifier",
    "RDARegressor",
    "SADMMClassifier",
    "SADMMRegressor",
    "SFSAClassifier",
    "SFSARegressor",
    "SGDClassifier",
    "SGDRegressor",
    "SIHTClassifier",
    "SIHTRegressor",
    "SOFSClassifier",
    "StabilizedSGDClassifier",
    "StabilizedSGDRegressor",
    "TSGDClassifier",
    "TSGDRegressor",
    "TruncatedGradientClassifier",
    "TruncatedGradientRegressor",
]
