"""Rows from files and elsewhere, in blocks, ahead of the learner and in bounded memory."""

from .bad_data import BadData
from .inputs import read
from .stream import Block, Stream

__all__ = ["BadData", "Block", "Stream", "read"]
