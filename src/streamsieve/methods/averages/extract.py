"""Extractors: functions from running averages to a linear model, one file each."""

from ...statistics.least_squares import ols
from .oadaptivelasso import oadaptivelasso
from .obestsubset import obestsubset
from .oelasticnet import oelasticnet
from .ofsa import ofsa
from .olasso import olasso
from .olsth import olsth
from .omcp import omcp
from .oscad import oscad

__all__ = ["oadaptivelasso", "obestsubset", "oelasticnet", "ofsa", "olasso", "ols", "olsth", "omcp", "oscad"]
