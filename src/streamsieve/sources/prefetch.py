"""Iterators whose items are computed in advance by threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


def prefetch(items: Iterator[T], depth: int) -> Generator[T]:
    """The same items, computed by another thread, at most `depth` items in advance.

    Errors are raised when the item is used. Closing it also closes `items` before it returns. An exception of
    a signal handler does not wait for this, because the thread may wait for input forever.
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
    signalled = True
    try:
        thread.start()
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


def parallel_map(work: Callable[[S], T], items: Generator[S], threads: int) -> Generator[T]:
    """`work(item)` for each item, in the order of the items, computed by several threads.

    The items are produced in a separate thread. Closing it also closes `items`.
    """
    pool = ThreadPoolExecutor(threads, "streamsieve-parser")

    def begun() -> Generator[Future[T]]:
        with closing(items):
            for item in items:
                yield pool.submit(work, item)

    try:
        with closing(prefetch(begun(), threads)) as futures:
            for future in futures:
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
