"""Nearly all the time here is compilation, so programs are compiled in haste."""

import jax
import pytest


@pytest.fixture(autouse=True)
def hasty_compiler():
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
