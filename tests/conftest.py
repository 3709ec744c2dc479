"""Fixtures for all tests; none of them touches jax's global settings."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import jaxtyping
import pytest

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def key() -> jax.Array:
    """The same random key in every test."""
    with jax.enable_x64(True):
        return jax.random.key(0)


@pytest.fixture
def x64() -> Iterator[None]:
    """Double precision while the test runs, for tests that call pure functions."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def unchecked() -> Iterator[None]:
    """What a user meets: types are checked at run time in these tests only."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True, scope="module")
def few_programs() -> Iterator[None]:
    """Forget what a file of tests compiled.

    Every compiled program holds dozens of memory maps, and a process may have 65,530; all
    tests in one process need more, and then it dies. And some files compile in haste, whose
    programs have other last digits than those of the rest.
    """
    yield
    jax.clear_caches()
    gc.collect()


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The path of a file that may not be copied into the project."""

    def path(name: str) -> Path:
        if not (SHARED_DATA / name).exists():
            pytest.skip(f"{name} is not in ../shared/data")
        return SHARED_DATA / name

    return path
