"""A report about a model: one HTML file that needs no other files and no network."""

from .page import page

__all__ = ["page"]
