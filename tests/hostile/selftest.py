"""Cases that crash, hang and fail, for the tests of the harness itself."""

import ctypes
import time


def run(number, seed, folder):  # noqa: ARG001
    if number == 1:
        ctypes.string_at(0)
    if number == 2:
        time.sleep(60)
    if number == 3:
        [].pop()
