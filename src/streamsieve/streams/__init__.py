"""Rows from files and elsewhere, in blocks, ahead of the learner and in bounded memory."""

from ._bad import BadData
from ._read import read
from .stream import Block, Stream

__all__ = ["BadData", "Block", "Stream", "read"]
