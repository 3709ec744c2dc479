"""Every prior: a bijection, the density that scipy gives, and draws that match it."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import special, stats

from chance import FALSE_ALARM, assert_mean
from dpmf.priors import LKJ, Dirichlet, Gamma, HalfNormal, LogUniform, Normal, Uniform
from planted import planted

pytestmark = pytest.mark.usefixtures("x64")

PRIORS = [
    Normal(-0.5, 3.0, (2,)),
    HalfNormal(0.7, (3,)),
    Gamma(2.0, 0.1, 2.0),
    Gamma(3.5, 4.0),
    Uniform(2.0, 7.0, (2,)),
    LogUniform((0.1, 2.0), (10.0, 300.0)),
    Dirichlet(2),
    Dirichlet(4),
    LKJ(2),
    LKJ(3),
    LKJ(4),
]
LONE = [Dirichlet(1), LKJ(1)]  # one value is possible, so there is nothing to learn
DRAWS = 20_000

everywhere = pytest.mark.parametrize("prior", PRIORS, ids=str)


def coordinates(prior, value):
    """The entries of a value that determine it, and that its density is a density of."""
    match type(prior).__name__:  # a planted class has the same name
        case "Dirichlet":
            return value[:-1]
        case "LKJ":
            return (value @ value.T)[np.tril_indices(prior.size, -1)]
    return jnp.ravel(value)


def natural_log_density(prior, value):
    """Log density of `coordinates`, from scipy or the literature."""
    match type(prior).__name__:
        case "Normal":
            return stats.norm.logpdf(value, prior.mean, prior.sd).sum()
        case "HalfNormal":
            return stats.halfnorm.logpdf(value, scale=prior.sd).sum()
        case "Gamma":
            return marginal(prior).logpdf(value)
        case "Uniform":
            return stats.uniform.logpdf(value, prior.low, prior.high - prior.low).sum()
        case "LogUniform":
            return stats.loguniform.logpdf(value, prior.low, prior.high).sum()
        case "Dirichlet":
            return stats.dirichlet.logpdf(value / value.sum(), np.ones(prior.parts))
        case "LKJ":
            return -log_volume_of_correlations(prior.size)


def log_volume_of_correlations(size):
    """Lewandowski, Kurowicka and Joe (2009), equation 16: how large the set of them is."""
    k = np.arange(1, size)
    beta = special.betaln((k + 1) / 2, (k + 1) / 2)
    return np.sum(k**2 * math.log(2) + k * beta)


def some_free(prior):
    return jnp.asarray(np.random.default_rng(0).normal(0, 1.2, (4, *prior.free_shape)))


def assert_density_is_change_of_variables(prior):
    def everything(free):
        value = prior.value(free)
        jacobian = jax.jacfwd(lambda f: coordinates(prior, prior.value(f)))(free)
        return prior.log_density(free), value, jacobian

    found = jax.jit(jax.vmap(everything))(some_free(prior))
    for log_density, value, jacobian in zip(*map(np.asarray, found), strict=True):
        _, log_det = np.linalg.slogdet(jacobian.reshape(len(jacobian), -1))
        expected = natural_log_density(prior, value) + log_det
        assert log_density == pytest.approx(expected, rel=1e-10, abs=1e-10)


@functools.cache
def draws(prior):
    """Independent draws, as values and as free coordinates."""

    def draw(key):
        value = prior.sample(key)
        return value, prior.free(value)

    return jax.jit(jax.vmap(draw))(jr.split(jr.key(0), DRAWS))


def assert_draws_follow_density(prior):
    """For any density p on R^n, E[d_i log p] = 0 and E[x_j d_i log p] = -1 if i = j, else 0."""
    free = draws(prior)[1]
    slope = jax.jit(jax.vmap(jax.grad(prior.log_density)))(free).reshape(DRAWS, -1)
    free = free.reshape(DRAWS, -1)
    assert_mean(slope, 0.0)
    assert_mean(free[:, :, None] * slope[:, None, :], -np.eye(free.shape[1]))


@pytest.mark.parametrize("prior", PRIORS + LONE, ids=str)
def test_value_and_free_are_inverse(prior):
    free = some_free(prior)
    value, back = jax.jit(jax.vmap(lambda f: (prior.value(f), prior.free(prior.value(f)))))(
        free
    )
    assert value.shape[1:] == prior.shape
    np.testing.assert_allclose(back, free, rtol=1e-9, atol=1e-9)


@everywhere
def test_free_coordinates_of_draws(prior):
    value, free = draws(prior)
    assert value.shape[1:] == prior.shape
    assert free.shape[1:] == prior.free_shape
    again = jax.jit(jax.vmap(prior.value))(free)
    np.testing.assert_allclose(again, value, rtol=1e-9, atol=1e-12)


@everywhere
def test_log_density_is_that_of_the_value_times_the_jacobian(prior):
    assert_density_is_change_of_variables(prior)


@pytest.mark.parametrize("prior", LONE, ids=str)
def test_a_single_possible_value_has_log_density_zero(prior):
    assert prior.log_density(jnp.zeros(prior.free_shape)) == 0


@everywhere
def test_draws_follow_the_density(prior):
    assert_draws_follow_density(prior)


@pytest.mark.parametrize(
    ("prior", "step"),
    [
        (Normal(1.5, 2.0), 0.1),
        (HalfNormal(2.0), 0.1),
        (Gamma(2.0, 0.1, 2.0), 0.1),
        (Uniform(-1.0, 1.0), 0.1),
        (Dirichlet(2), 0.1),
        (Dirichlet(3), 0.2),
        (LKJ(2), 0.1),
        (LKJ(3), 0.3),
    ],
    ids=str,
)
def test_density_integrates_to_one(prior, step):
    """The trapezoid rule converges exponentially for smooth densities with thin tails."""
    assert np.sum(weights(prior, step)[1]) == pytest.approx(1, rel=1e-7)


def weights(prior, step):
    """A regular grid of free coordinates, and the probability around each of its points."""
    size = math.prod(prior.free_shape)
    axis = np.arange(-30, 30, step) if size < 3 else np.arange(-11, 11, step)
    grid = np.stack(np.meshgrid(*[axis] * size, indexing="ij"), axis=-1)
    grid = jnp.asarray(grid.reshape(-1, *prior.free_shape))
    return grid, np.exp(jax.jit(jax.vmap(prior.log_density))(grid)) * step**size


def marginal(prior):
    """The distribution of each of `coordinates`, in closed form."""
    match type(prior).__name__:
        case "Normal":
            return stats.norm(prior.mean, prior.sd)
        case "HalfNormal":
            return stats.halfnorm(scale=prior.sd)
        case "Gamma":
            return stats.gamma(prior.power, prior.low, 1 / prior.rate)
        case "Uniform":
            return stats.uniform(prior.low, prior.high - prior.low)
        case "LogUniform":
            return stats.loguniform(np.array(prior.low), np.array(prior.high))
        case "Dirichlet":
            return stats.beta(1, prior.parts - 1)
        case "LKJ":  # their Theorem 2: 2 Beta(d/2, d/2) - 1
            return stats.beta(prior.size / 2, prior.size / 2, loc=-1, scale=2)


def assert_marginals(prior):
    """Kolmogorov and Smirnov on each coordinate, at the stated rate for all of them."""
    values = draws(prior)[0]
    found = np.asarray(jax.jit(jax.vmap(lambda v: coordinates(prior, v)))(values))
    levels = marginal(prior).cdf(found)
    for column in levels.T:
        assert stats.kstest(column, "uniform").pvalue > FALSE_ALARM / levels.shape[1]


@everywhere
def test_marginals_of_draws(prior):
    assert_marginals(prior)


def test_marginal_of_every_correlation_under_the_density():
    """E r^2 and E r^4 under 2 Beta(3/2, 3/2) - 1 are 1/4 and 1/8."""
    grid, weight = weights(LKJ(3), 0.3)
    r = np.asarray(jax.jit(jax.vmap(lambda f: coordinates(LKJ(3), LKJ(3).value(f))))(grid))
    np.testing.assert_allclose(weight @ r, 0, atol=1e-7)
    np.testing.assert_allclose(weight @ r**2, 1 / 4, rtol=1e-7)
    np.testing.assert_allclose(weight @ r**4, 1 / 8, rtol=1e-7)


def test_factor_is_that_of_a_correlation_matrix():
    factor = np.asarray(draws(LKJ(4))[0][0])
    correlation = factor @ factor.T
    np.testing.assert_allclose(np.diag(correlation), 1, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.cholesky(correlation), factor, atol=1e-12)


def test_equal_parts_are_at_zero():
    np.testing.assert_allclose(Dirichlet(4).value(jnp.zeros(3)), 0.25, rtol=1e-12)


@everywhere
def test_far_out_the_density_is_small_but_no_nan(prior):
    far = jnp.stack([jnp.full(prior.free_shape, x) for x in (-300.0, 300.0)])
    log_density = jax.jit(jax.vmap(prior.log_density))(far)
    assert (log_density < -200).all()


def with_bug(prior, old, new):
    return planted(type(prior), old, new)(**dataclasses.asdict(prior))


@pytest.mark.parametrize(
    ("prior", "old", "new"),
    [
        (HalfNormal(2.0), "+ log_two + jacobian", "+ log_two"),
        (HalfNormal(2.0), "+ log_two + jacobian", "+ log_two - jacobian"),
        (Gamma(2.0, 0.1), "self.power * free", "(self.power - 1) * free"),
        (Dirichlet(3), "rest * jax.nn", "jax.nn"),
        (LKJ(3), "jnp.sum(beta * log_free)", "jnp.sum((beta - 1) * log_free)"),
    ],
    ids=["no jacobian", "its sign", "none of the gamma", "no power", "flat in the partials"],
)
def test_a_wrong_density_is_found_exactly_and_from_draws(prior, old, new):
    wrong = with_bug(prior, old, new)
    with pytest.raises(AssertionError):
        assert_density_is_change_of_variables(wrong)
    with pytest.raises(AssertionError):
        assert_draws_follow_density(wrong)


@pytest.mark.parametrize(
    ("prior", "old", "new"),
    [
        (HalfNormal(2.0), "self.sd * jnp.abs", "1.05 * self.sd * jnp.abs"),
        (Gamma(2.0, 0.1, 2.0), "self.low + jr.gamma", "jr.gamma"),
        (LKJ(3), "jr.beta(key, beta, beta)", "jr.beta(key, 1.2 * beta, 1.2 * beta)"),
        (LKJ(3), "size - 2 - given", "size - 1 - given"),
    ],
    ids=["5 % wider", "not above its bound", "9 % narrower", "another eta"],
)
def test_wrong_draws_are_found(prior, old, new):
    wrong = with_bug(prior, old, new)
    with pytest.raises(AssertionError):
        assert_marginals(wrong)
