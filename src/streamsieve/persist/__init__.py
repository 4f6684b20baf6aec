"""The format of model files: named arrays and a tree of plain data, written as a whole or not at all."""

from .files import CheckpointError, is_checkpoint

__all__ = ["CheckpointError", "is_checkpoint"]
