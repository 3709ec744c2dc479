"""Kernels of one's own, and what cannot be loaded."""

import dataclasses
import json
import re
import textwrap

import jax.numpy as jnp
import numpy as np
import pytest

import dpmf.kernels
from dpmf.errors import ConfigError
from dpmf.kernels import Constant, Kernel, Matern12, SeasonGap, registry


def documented_example():
    """What the code blocks in the package's docstring define."""
    blocks = re.findall(r"(?:^    .*\n|^\n)+", dpmf.kernels.__doc__, flags=re.MULTILINE)
    names = {"__name__": "documented"}
    exec("\n".join(textwrap.dedent(block) for block in blocks), names)
    return names


def test_the_documented_kernels_work_as_the_built_in_ones():
    names = documented_example()
    kernel = names["Cauchy"]("time", length=(1, 9)) * names["Cosine"]("week", 4.0, 60.0)
    assert list(kernel.priors()) == ["time.length", "week.period"]
    theta = {"time.length": jnp.array([2.0]), "week.period": jnp.array([8.0])}
    pair = kernel.at(theta).pair(jnp.zeros(2), jnp.ones(2))
    assert pair == pytest.approx(1 / (1 + 0.25) * np.cos(np.pi / 4), rel=1e-12)
    assert Kernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel
    assert len(kernel.bounded({"time": np.arange(3.0)}).factors()) == 2


def test_an_unknown_kernel_asks_for_its_module():
    with pytest.raises(
        ConfigError, match=r"named 'Nobody'; .* import the module that defines it"
    ):
        Kernel.from_dict({"type": "Nobody", "fields": {}})


def test_other_fields_are_refused():
    saved = Matern12("time").to_dict()
    saved["fields"]["height"] = 1.0
    with pytest.raises(
        ConfigError, match=r"saved Matern12 has fields .*'height'.* another version"
    ):
        Kernel.from_dict(saved)


def test_a_warp_is_no_kernel():
    with pytest.raises(ConfigError, match="SeasonGap is not a kernel"):
        Kernel.from_dict(registry.to_dict(SeasonGap("season", "week")))


def test_something_else_is_no_kernel():
    with pytest.raises(ConfigError, match="expected keys 'type' and 'fields'"):
        Kernel.from_dict({"name": "Matern12"})


def test_names_of_dpmf_are_taken():
    with pytest.raises(ConfigError, match="dpmf has a class named 'Matern12' of its own"):
        type("Matern12", (Constant,), {"__module__": "elsewhere"})
    assert Kernel.from_dict(Matern12("time").to_dict()) == Matern12("time")


def test_a_class_may_be_defined_again():
    for _ in range(2):
        again = type("Again", (Constant,), {"__module__": "elsewhere"})
    assert type(Kernel.from_dict(again().to_dict())) is again


def test_fields_that_json_does_not_know_are_refused():
    @dataclasses.dataclass(frozen=True)
    class Table(Constant):
        values: np.ndarray

    with pytest.raises(ConfigError, match=r"Table: field 'values' holds ndarray, .* be saved"):
        Table(np.zeros(2)).to_dict()
