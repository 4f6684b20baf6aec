"""What all tests share: one Hypothesis profile, and learners as the papers have them."""

import os
import signal

# Each process of tests has a core: threads of linear algebra would only wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

# No deadlines: on a busy machine they measure the machine.
settings.register_profile("streamsieve", deadline=None)
settings.load_profile("streamsieve")

# A shell lets what it runs in the background ignore Ctrl-C, which some tests send.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def without_centering():
    """Learners take columns as they come, as the slow twins do."""
    from streamsieve.training import prepare as centering

    before, centering.ROWS = centering.ROWS, 0
    yield
    centering.ROWS = before


@pytest.fixture(scope="module")
def one_pass():
    """`fit` learns every row once, in order, as the papers and the slow twins do."""
    from streamsieve.estimators.base import Estimator

    def learn_once(self, X, y, sample_weight, cluster=None):
        return self._begin(X, y, None, sample_weight, cluster)

    before, Estimator._fit = Estimator._fit, learn_once
    yield
    Estimator._fit = before
