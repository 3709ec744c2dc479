"""The log probability of one level, and its slopes, are those of all levels at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf.likelihoods import ordinal
from dpmf.likelihoods.ordinal import OrdinalNoise

CUTS = np.array([-3.0, -1.0, -0.9, 0.5, 4.0])
RANDOM = np.random.default_rng(0)
Y = 4 * RANDOM.normal(size=(60, 2))
VALUES = RANDOM.integers(1, len(CUTS) + 2, size=(60, 2)).astype(float)


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def chosen(cuts, y):
    return OrdinalNoise(cuts, jnp.log(jnp.diff(cuts))).cell_log_prob(y, jnp.asarray(VALUES))


def among_all(cuts, y):
    level = jnp.asarray(VALUES, int)[..., None] - 1
    every = OrdinalNoise(cuts, jnp.log(jnp.diff(cuts))).level_log_probs(y)
    return jnp.take_along_axis(every, level, axis=2)[..., 0]


def along(function):
    """Values, gradients, and second derivatives along one direction of y."""

    def total(cuts, y):
        return jnp.sum(function(cuts, y))

    cuts, y = jnp.asarray(CUTS), jnp.asarray(Y)
    bent = jax.jvp(lambda y: jax.grad(total, 1)(cuts, y), (y,), (jnp.ones_like(y),))[1]
    return function(cuts, y), *jax.grad(total, (0, 1))(cuts, y), bent


def test_values_slopes_and_curvatures_are_those_of_all_levels():
    for found, expected in zip(along(chosen), along(among_all), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_sums_of_a_gpu_are_those_of_a_cpu():
    level = jnp.asarray(RANDOM.integers(5, size=200))
    cotangent = jnp.asarray(RANDOM.normal(size=(3, 200)))
    sums = [one(level, jnp.arange(5), cotangent) for one in (ordinal._added, ordinal._compared)]
    np.testing.assert_allclose(*sums, rtol=1e-12, atol=1e-13)
    assert sums[0].shape == (3, 5)
