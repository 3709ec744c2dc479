"""Double precision through the context alone: the user's global flag stays as it is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf.likelihoods import Likelihood
from dpmf.model.density import log_density
from dpmf.model.simulate import simulate_state, simulate_values
from model.problem import LIKELIHOODS, problem, state


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
def test_everything_is_double(likelihood: Likelihood, key):
    case = problem(likelihood, rank=2, pooled=True)

    def everything(key):
        one = simulate_state(case.spec, case.arrays, key)
        values = simulate_values(case.spec, one, case.arrays, key)
        density = jax.value_and_grad(lambda s: log_density(case.spec, s, case.arrays))
        return one, values, density(one)

    found = [*jax.tree.leaves(jax.eval_shape(everything, key)), *jax.tree.leaves(case.arrays)]
    kinds = {x.dtype for x in found}
    assert kinds == {np.dtype("float64"), np.dtype("int64")}
    assert all(x.dtype == "float64" for x in found if jnp.issubdtype(x.dtype, jnp.floating))


def test_single_precision_is_near(key):
    case = problem(rank=2, pooled=True)
    one = state(case)
    density = jax.jit(lambda s, arrays: log_density(case.spec, s, arrays))
    double = density(one, case.arrays)
    single = jax.tree.map(
        lambda x: x.astype("float32") if x.dtype == "float64" else x.astype("int32"),
        (one, case.arrays),
    )
    with jax.enable_x64(False):
        near = density(*single)
    assert near.dtype == "float32"
    assert near == pytest.approx(float(double), rel=1e-4)


def test_the_global_flag_is_left_alone():
    with jax.enable_x64(False):  # as a user has it, whatever this test run does
        before = jax.config.jax_enable_x64
        with jax.enable_x64(True):
            case = problem(rank=1)
            jax.jit(lambda s: log_density(case.spec, s, case.arrays))(state(case))
        assert jax.config.jax_enable_x64 == before
        assert jnp.ones(1).dtype == "float32"
