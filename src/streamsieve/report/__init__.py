"""A page about a model: one HTML file that needs nothing else, not even a network."""

from .page import page

__all__ = ["page"]
