"""One file that every example writes anew, and no checks of types: thousands of files."""

import warnings

import pytest


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "games.csv"


@pytest.fixture(autouse=True)
def in_haste(unchecked):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
