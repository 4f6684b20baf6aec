"""Displays in scikit-learn's style: `from_...` computes and draws, `plot(ax=)` draws again.

They need matplotlib: ``pip install 'streamsieve[plot]'``.
"""

from .effect import EffectDisplay
from .path import PathDisplay
from .prequential import PrequentialDisplay
from .quality import CalibrationDisplay, ConfusionDisplay
from .selection import SelectionDisplay
from .stability import StabilityDisplay

__all__ = [
    "CalibrationDisplay",
    "ConfusionDisplay",
    "EffectDisplay",
    "PathDisplay",
    "PrequentialDisplay",
    "SelectionDisplay",
    "StabilityDisplay",
]
