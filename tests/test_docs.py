"""What the documentation shows is what happens."""

import doctest
import importlib
import pkgutil

import pytest

import streamsieve

MODULES = [
    m.name for m in pkgutil.walk_packages(streamsieve.__path__, "streamsieve.") if "._core" not in m.name
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(str(error))  # an engine that is not installed
    assert doctest.testmod(module).failed == 0


def test_every_public_name_is_there():
    assert streamsieve.OFSARegressor is importlib.import_module("streamsieve.estimators").OFSARegressor
    for name in streamsieve.__all__:
        assert getattr(streamsieve, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Lasso'"):
        _ = streamsieve.Lasso
