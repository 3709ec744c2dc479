"""Draws from the prior: the stated moments, and a density that fits them."""

import functools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from chance import assert_mean
from dpmf.likelihoods import Ordinal, PairedGaussian
from dpmf.model import coordinates
from dpmf.model.coordinates import parameters
from dpmf.model.density import log_density
from dpmf.model.predictor import predictor
from dpmf.model.simulate import simulate_state, simulate_values, white_shapes
from dpmf.model.state import NOTHING, Fixed
from model.problem import problem, state
from planted import planted

DRAWS = 8000


@functools.cache
def case(likelihood=None):
    return problem(likelihood, rank=2, pooled=True)


@functools.cache
def simulated():
    """States from the prior: white blocks, and the values and free coordinates of the rest."""

    spec, _, _, arrays = case()  # made here: what is kept may not come from within a trace

    def draw(key):
        drawn = simulate_state(spec, arrays, key)
        return drawn, parameters(spec, drawn.free)

    return jax.jit(jax.vmap(draw))(jr.split(jr.key(0), DRAWS))


def test_means_and_scales_have_the_stated_moments():
    spec, (_, values) = case().spec, simulated()
    scale, spread = spec.scale / np.sqrt(2), spec.spread / np.sqrt(2)
    assert_mean(values.rows.mean, 0.0)
    assert_mean(values.rows.mean**2, scale**2)
    assert_mean(values.cols.mean, 0.54)
    assert_mean((values.cols.mean - 0.54) ** 2, 1.0)
    for side, unit in ((values.rows, spread), (values.cols, 1.0)):
        for sd in (side.sd, side.pooled_sd):
            assert_mean(sd, unit * np.sqrt(2 / np.pi))
            assert_mean(sd**2, unit**2)


def test_correlations_and_hyperparameters_are_spread_as_stated():
    values = simulated()[1]
    for side, gap in ((values.rows, (1, 50)), (values.cols, (2, 40))):
        assert_mean(side.corr[:, 1, 0], 0.0)
        assert_mean(side.corr[:, 1, 0] ** 2, 1 / 3)  # uniform on (-1, 1)
        for low_high, theta in (
            (gap, side.theta["season+week.gap"]),
            ((1, 90), side.theta["season+week.length"]),
            ((0.2, 9), side.theta["home.length"]),
            ((0.3, 7), side.pooled_theta["home.length"]),
        ):
            low, high = np.log(low_high)
            assert theta.shape == (DRAWS, 2, 1)
            assert_mean(np.log(theta), (low + high) / 2)
            assert_mean((np.log(theta) - (low + high) / 2) ** 2, (high - low) ** 2 / 12)


def test_noise_is_spread_as_stated():
    noise, spread = simulated()[1].noise, case().spec.spread
    assert_mean(noise["sigma"] ** 2, spread**2)
    assert_mean(noise["rho"], 0.0)
    assert_mean(noise["rho"] ** 2, 1 / 3)


def test_functions_are_white():
    white = [block for block in simulated()[0].white if block is not None]
    shapes = [one for one in white_shapes(case().spec, case().arrays) if one is not None]
    for block, shape in zip(white, shapes, strict=True):
        assert block.shape[1:] == shape
    flat = np.concatenate([np.asarray(b).reshape(DRAWS, -1) for b in white], axis=1)[:, ::7]
    assert_mean(flat, 0.0)
    assert_mean(flat[:, :, None] * flat[:, None, :], np.eye(flat.shape[1]))


def assert_draws_follow_the_prior(log_prior):
    """For any density p on R^n, E[d_i log p] = 0 and E[x_j d_i log p] = -1 if i = j, else 0."""

    @jax.jit
    @jax.vmap
    def slopes(free):
        slope = jax.grad(lambda free: log_prior(case().spec, free))(free)
        return ravel_pytree(free)[0], ravel_pytree(slope)[0]

    x, slope = map(np.asarray, slopes(simulated()[0].free))
    assert_mean(slope, 0.0)
    assert_mean(x[:, :, None] * slope[:, None, :], -np.eye(x.shape[1]))


def test_draws_follow_the_prior():
    assert_draws_follow_the_prior(coordinates.log_prior)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("jacobian = -jnp.sum(jnp.log(unit))", "jacobian = 0.0"),
        ("fixed.cols, jnp.log(slope))", "fixed.cols, jnp.log(unit))"),
    ],
    ids=["no jacobian", "slope"],
)
def test_a_prior_that_does_not_fit_the_draws_is_found(old, new):
    with pytest.raises(AssertionError, match="standard errors"):
        assert_draws_follow_the_prior(planted(coordinates.log_prior, old, new))


def test_drawn_states_have_finite_densities():
    """With values far out of reach of some of them."""
    some = jax.tree.map(lambda x: x[:200], simulated()[0])
    density = jax.value_and_grad(lambda s: log_density(case().spec, s, case().arrays))
    for leaf in jax.tree.leaves(jax.jit(jax.vmap(density))(some)):
        assert jnp.isfinite(leaf).all()


def test_a_state_has_no_coordinates_for_what_is_fixed(key):
    spec, _, _, arrays = case()
    theta = {name: jnp.ones((2, 1)) for name in spec.rows.theta()}
    fixed = Fixed(NOTHING._replace(theta=theta), NOTHING)
    drawn = jax.eval_shape(lambda k: simulate_state(spec, arrays, k, fixed), key)
    assert drawn.free.rows.theta is None
    assert drawn.free.cols.theta is not None


@pytest.mark.parametrize("likelihood", [PairedGaussian(), Ordinal(4)], ids=str)
def test_values_given_a_state_have_the_moments_of_the_noise(key, likelihood):
    spec, _, _, arrays = case(likelihood)
    one = state(case(likelihood))

    @jax.jit
    def found(keys):
        values = parameters(spec, one.free)
        y = predictor(spec, one.white, values, arrays)
        noise = spec.likelihood.at(values.noise)
        draws = jax.vmap(lambda k: simulate_values(spec, one, arrays, k))(keys)
        return noise.mean(y), noise.covariance(y), draws

    mean, covariance, draws = map(np.asarray, found(jr.split(key, DRAWS)))
    centred = draws - mean
    assert_mean(draws, mean)
    assert_mean(centred[:, :, :, None] * centred[:, :, None, :], covariance)
