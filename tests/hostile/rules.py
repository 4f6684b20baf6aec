"""What a case may end in: a result, or an exception that says what came."""

import re
import warnings
from contextlib import contextmanager

import numpy as np
from sklearn.exceptions import DataConversionWarning

from streamsieve import CheckpointError

#: A refusal is one of these, with a sentence.
REFUSALS = (ValueError, TypeError, CheckpointError, OSError, MemoryError)
#: Sentences of the interpreter or of NumPy about their own affairs, which tell a user nothing.
RAW = re.compile(
    r"unsupported operand|not supported between instances|has no attribute|NoneType|not subscriptable|ufunc '"
    r"|incompatible function arguments|only length-1 arrays|unhashable|std::|the kernel expects"
    r"|cannot unpack|not iterable|could not be broadcast|truth value|object too deep|bad operand"
)


class Failure(AssertionError):
    """The library has broken a rule."""


def check_refusal(error):
    """Raise Failure unless an exception is one that a user can act on."""
    name, message = type(error).__name__, str(error)
    if not isinstance(error, REFUSALS):
        raise Failure(f"{name}: {message}") from error
    if len(message) < 15 or RAW.search(message):
        raise Failure(f"a message that says nothing: {name}: {message}") from error


@contextmanager
def strict_warnings():
    """Warnings of NumPy are errors; those for users are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", DataConversionWarning)
        yield


def check_finite(what, values):
    values = np.asarray(values)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise Failure(f"{what} is not finite")
