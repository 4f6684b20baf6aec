"""Files of models and checkpoints: `save` any estimator or averages, `load` them, and go on bit for bit."""

from .files import CheckpointError, is_checkpoint
from .models import Checkpoint, load, read_checkpoint, read_plain, save

__all__ = ["Checkpoint", "CheckpointError", "is_checkpoint", "load", "read_checkpoint", "read_plain", "save"]
