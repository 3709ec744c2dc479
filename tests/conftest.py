"""Fixtures for all tests; none of them touches jax's global settings."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import jaxtyping
import pytest

TESTS = Path(__file__).parent
SHARED_DATA = TESTS.parents[1] / "shared" / "data"


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have one worker run all files that look at the same fits, and every other file whole.

    What tests share, such as `inference.fitted.fitted`, is then made by one worker alone.
    """
    for item in items:
        shared = "fitted" in vars(item.getparent(pytest.Module).obj)
        name = "fits" if shared else item.path.relative_to(TESTS).as_posix()
        item.add_marker(pytest.mark.xdist_group(name))


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
