"""Rows from files and other sources, in blocks, read ahead of the learner in bounded memory."""

from .bad_data import BadData
from .inputs import read
from .stream import Block, Stream

__all__ = ["BadData", "Block", "Stream", "read"]
