"""The format of model files: named arrays and a tree of plain data, written atomically."""

from .files import CheckpointError, is_checkpoint

__all__ = ["CheckpointError", "is_checkpoint"]
