"""An iterator that works ahead of its user, in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T], depth: int) -> Generator[T]:
    """The same items, made by another thread at most `depth` of them ahead.

    Errors are raised where the items are used. Closing it closes `items` too, before it returns. What a
    signal's handler raises does not wait for that: the thread may wait for input that never comes.
    """
    ready: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def put(item: tuple[T] | BaseException | None) -> bool:
        while not stop.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                pass
        return False

    def run() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                if not put((item,)):
                    break
        except BaseException as error:
            end = error
        finally:
            if isinstance(items, Generator):
                items.close()
        put(end)

    thread = threading.Thread(target=run, name="streamsieve-reader", daemon=True)
    thread.start()
    signalled = True
    try:
        while isinstance(item := ready.get(), tuple):
            signalled = False
            yield item[0]
            signalled = True
        signalled = False
        if item is not None:
            raise item
    finally:
        stop.set()
        if not signalled:
            thread.join()
