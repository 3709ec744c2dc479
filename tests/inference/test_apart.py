"""Chains by themselves, also on a device each, do what they do as one array."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np

from dpmf.inference import apart

TWO_DEVICES = """
import jax
jax.config.update("jax_num_cpu_devices", 2)
import jax.numpy as jnp
import numpy as np
from dpmf.inference.apart import each_chain

def one(shared, own):
    return {"sum": jnp.sum(shared * own), "own": own + 1.0}

own = jnp.arange(12.0).reshape(4, 3)
run = jax.jit(lambda own: each_chain(one, jnp.arange(3.0), own, apart=True))
found, alone = run(own), each_chain(one, jnp.arange(3.0), own, apart=False)
jax.tree.map(np.testing.assert_array_equal, found, alone)
assert len(found["own"].sharding.device_set) == 2, found["own"].sharding
print("same")
"""


def one(shared, own):
    return {"sum": jnp.sum(shared * own), "own": own + 1.0}


def test_one_after_another_is_side_by_side():
    own = jnp.arange(12.0).reshape(4, 3)
    alone, together = (
        apart.each_chain(one, jnp.arange(3.0), own, apart=each) for each in (True, False)
    )
    jax.tree.map(np.testing.assert_array_equal, alone, together)


def test_devices_share_the_chains():
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES], capture_output=True, text=True, check=False
    )
    assert done.stdout == "same\n", done.stderr


def test_large_problems_run_apart_on_a_cpu():
    assert not apart.chains_apart(apart.LARGE - 1)
    assert apart.chains_apart(apart.LARGE) == (jax.default_backend() == "cpu")
