"""Everything in double precision, as in inference."""

import jax
import pytest


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield
