"""Loops that are traced no more often than they need to be give what plain loops give."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf.samplers.turns import beside, turns


@pytest.mark.parametrize("count", [1, 2, 5])
def test_turns_are_those_of_a_scan(count, x64):
    def one(carry, number):
        return carry * 1.5 + number, {"seen": carry, "number": number}

    carry, found = turns(one, jnp.asarray(2.0), count)
    last, scanned = jax.lax.scan(one, jnp.asarray(2.0), jnp.arange(count))
    np.testing.assert_array_equal(carry, last)
    jax.tree.map(np.testing.assert_array_equal, found, scanned)
    assert jax.tree.map(lambda x: x.dtype, found) == jax.tree.map(lambda x: x.dtype, scanned)


def test_a_constant_has_the_shape_of_the_other_whatever_that_holds(x64):
    other = jnp.array([[1.0, jnp.nan, -jnp.inf]])
    for value, kind in ((3, int), (0.5, float)):
        found = beside(other, value)
        np.testing.assert_array_equal(found, np.full((1, 3), value))
        assert found.dtype == kind and not found.weak_type


def test_a_constant_has_the_precision_of_the_other(x64):
    assert beside(jnp.zeros(2, jnp.float32), 0.0).dtype == jnp.float32


def test_every_chain_has_one_of_its_own(x64):
    """So that a loop that is given it need not find out that chains will differ."""
    program = jax.make_jaxpr(jax.vmap(lambda x: beside(x, 0)))(jnp.arange(4.0))
    assert program.out_avals[0].shape == (4,)
    selected = [one for one in program.eqns if one.outvars[0].aval.shape == (4,)]
    assert selected  # computed for each, not one for all that is copied at the end
    assert "broadcast_in_dim" not in str(program.eqns[-1].primitive)
