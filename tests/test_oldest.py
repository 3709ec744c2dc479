"""The oldest versions that `make test-versions` installs."""

import pytest

from oldest import PROJECT, pins


def test_pins_are_the_bounds():
    found = pins(PROJECT.read_text())
    assert any(one.startswith("jax==") for one in found)
    assert any(one.startswith("dask==") for one in found)
    project = '[project]\ndependencies = ["a>=1.2", "b-c[d]>=3"]'
    assert pins(project) == ["a==1.2", "b-c==3"]


@pytest.mark.parametrize("odd", ["a", "a>=1,<2", "a==1"])
def test_a_dependency_without_a_bound_is_found(odd):
    with pytest.raises(ValueError, match="no lower bound"):
        pins(f'[project]\ndependencies = ["{odd}"]')
