"""The flag that GPUs need is asked for where there may be one, and nowhere else."""

import importlib.util
import os
import subprocess
import sys

import pytest

from dpmf.inference.deterministic import FLAG, PLUGINS, ask_for_determinism


@pytest.fixture(params=[False, True])
def plugin(request, monkeypatch):
    known = {PLUGINS[0]} if request.param else set()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in known or None)
    return request.param


@pytest.mark.parametrize("given", [None, "--xla_dump_to=here"])
def test_it_is_added_where_there_may_be_a_gpu(plugin, given, monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if given:
        monkeypatch.setenv("XLA_FLAGS", given)
    ask_for_determinism()
    own = f"--{FLAG}=true"
    expected = f"{given} {own}" if given else own
    assert os.environ.get("XLA_FLAGS") == (expected if plugin else given)


def test_a_user_who_has_decided_is_left_alone(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setenv("XLA_FLAGS", f"--{FLAG}=false")
    ask_for_determinism()
    assert os.environ["XLA_FLAGS"] == f"--{FLAG}=false"


def test_jax_knows_the_flag_and_reads_it():
    """It is there before jax starts, and flags that jax does not know end the process."""
    code = (
        "import importlib.util, os\n"
        "os.environ.pop('XLA_FLAGS', None)\n"
        "found = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *a: name in {PLUGINS!r} or found(name, *a)\n"
        "from jax._src import xla_bridge\n"
        "import dpmf\n"
        "dpmf.kernels.Matern12('time'), dpmf.likelihoods.PairedGaussian()\n"
        "import dpmf.inference.identity\n"
        "assert not xla_bridge.backends_are_initialized()\n"
        "importlib.util.find_spec = found\n"
        "import jax.numpy as jnp\n"
        "import dpmf.inference.engines\n"
        "print(os.environ['XLA_FLAGS'], jnp.ones(3).sum())\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.split() == [f"--{FLAG}=true", "3.0"], found.stderr
