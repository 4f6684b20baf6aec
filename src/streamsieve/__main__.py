"""`python -m streamsieve`: the command line."""

from .cli import program

program()
