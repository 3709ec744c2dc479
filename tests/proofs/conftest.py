"""The proofs are importable, and everything is in double precision."""

import sys
from pathlib import Path

import jax
import pytest

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield
