"""Progress messages from within a job to whoever runs it, across functions that know nothing of progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str], None]


def _ignore(message: str) -> None:
    pass


_listener: ContextVar[Listener] = ContextVar("listener", default=_ignore)


def emit(message: str) -> None:
    """Send a message to the current listener."""
    _listener.get()(message)


def listen(listener: Listener) -> None:
    """Make `listener` the current one, for good: the initializer of a worker process."""
    _listener.set(listener)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """`listener` is the current one within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """Messages within the block begin with `label`."""
    outer = _listener.get()
    with listening(lambda message: outer(f"{label}: {message}")):
        yield
