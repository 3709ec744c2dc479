"""Every noise model: log probabilities from scipy, and draws with the moments it states."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import special, stats

from chance import assert_mean
from dpmf.likelihoods import Bernoulli, Gaussian, Ordinal, PairedGaussian
from dpmf.likelihoods.gaussian import data_scales
from dpmf.likelihoods.ordinal import OrdinalNoise
from dpmf.likelihoods.paired import PairedGaussianNoise
from planted import planted

DRAWS = 20_000
LINK = [[0.3, -1.0], [2.0, 0.5], [-0.7, 1.2]]  # y of three events with two cells each

CASES = [
    (Gaussian(), {"sigma": 1.7}),
    (PairedGaussian(), {"sigma": 1.7, "rho": -0.6}),
    (PairedGaussian(), {"sigma": 0.4, "rho": 0.35}),
    (PairedGaussian(), {"sigma": 0.4, "rho": 0.0}),
    (Bernoulli(), {}),
    (Ordinal(2), {"first_cut": [0.4], "log_gaps": []}),
    (Ordinal(5), {"first_cut": [-1.5], "log_gaps": [0.3, -1.0, 0.6]}),
]
everywhere = pytest.mark.parametrize(("likelihood", "parameters"), CASES, ids=str)


def noise_at(likelihood, parameters):
    return likelihood.at({name: jnp.asarray(x, float) for name, x in parameters.items()})


@pytest.fixture
def y():
    return jnp.array(LINK)


def some_values(likelihood):
    match likelihood:
        case Bernoulli():
            return np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
        case Ordinal():
            return np.array([[1.0, 2.0], [2.0, likelihood.levels], [likelihood.levels, 1.0]])
    return np.array([[0.0, 0.1], [3.0, -1.0], [-5.0, 1.2]])


def scipy_log_prob(likelihood, parameters, y, values):
    """Log probability of one event."""
    match likelihood:
        case Gaussian():
            return stats.norm.logpdf(values, y, parameters["sigma"]).sum()
        case PairedGaussian():
            rho, variance = parameters["rho"], parameters["sigma"] ** 2
            covariance = variance * np.array([[1, rho], [rho, 1]])
            return stats.multivariate_normal.logpdf(values, y, covariance)
        case Bernoulli():
            return stats.bernoulli.logpmf(values, special.expit(y)).sum()
        case Ordinal():
            gaps = np.cumsum(np.exp(parameters["log_gaps"]))
            cuts = parameters["first_cut"][0] + np.array([-np.inf, 0, *gaps, np.inf])
            levels = np.asarray(values, int)
            below = special.expit(cuts[levels] - y) - special.expit(cuts[levels - 1] - y)
            return np.log(below).sum()


@everywhere
def test_log_prob(likelihood, parameters, y):
    noise, values = noise_at(likelihood, parameters), some_values(likelihood)
    found = jax.jit(noise.log_prob)(y, jnp.asarray(values))
    pairs = zip(np.array(LINK), values, strict=True)
    expected = [scipy_log_prob(likelihood, parameters, *pair) for pair in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def assert_draws_have_the_moments(noise, y, key):
    draws = jax.jit(jax.vmap(lambda k: noise.sample(k, y)))(jr.split(key, DRAWS))
    mean = np.asarray(noise.mean(y))
    centred = np.asarray(draws) - mean
    assert_mean(draws, mean)
    products = centred[:, :, :, None] * centred[:, :, None, :]
    assert_mean(products, noise.covariance(y))


@everywhere
def test_draws_have_the_stated_mean_and_covariance(likelihood, parameters, y, key):
    assert_draws_have_the_moments(noise_at(likelihood, parameters), y, key)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return y + self.sigma * jnp.stack", "return y + 1.05 * self.sigma * jnp.stack"),
        ("second = self.rho", "second = -self.rho"),
        ("jnp.sqrt(1 - self.rho**2) * white", "(1 - jnp.abs(self.rho)) * white"),
    ],
    ids=["5 % wider", "sign of rho", "too narrow"],
)
def test_wrong_draws_are_found(old, new, y, key):
    wrong = planted(PairedGaussianNoise, old, new)(jnp.array(1.7), jnp.array(-0.6))
    with pytest.raises(AssertionError):
        assert_draws_have_the_moments(wrong, y, key)


@everywhere
def test_draws_are_values_that_check_lets_through(likelihood, parameters, y, key):
    likelihood.check(np.asarray(noise_at(likelihood, parameters).sample(key, y)))


@pytest.mark.parametrize(
    ("likelihood", "parameters"),
    [case for case in CASES if not isinstance(case[0], PairedGaussian)],
    ids=str,
)
def test_independent_cells_split_as_they_are(likelihood, parameters, y, key):
    noise, values = noise_at(likelihood, parameters), jnp.asarray(some_values(likelihood))
    per_cell = noise.split(key, y, values)(2 * y)
    np.testing.assert_allclose(per_cell.sum(axis=1), noise.log_prob(2 * y, values), rtol=1e-12)


def test_probabilities_of_the_levels_sum_to_one():
    y = jnp.linspace(-30, 30, 60).reshape(-1, 2)
    total = jax.nn.logsumexp(noise_at(*CASES[-1]).level_log_probs(y), axis=2)
    np.testing.assert_allclose(total, 0, atol=1e-12)


@pytest.mark.parametrize("far", [-800.0, 800.0])
def test_far_out_log_probabilities_of_levels_are_linear(far):
    """The probabilities themselves underflow there."""
    cuts, values = noise_at(*CASES[-1]).cuts, jnp.arange(1.0, 6.0)[:, None]

    @jax.jit
    def found(cuts, y):
        def total(cuts, y):
            return jnp.sum(OrdinalNoise(cuts).log_prob(y, values))

        return jax.value_and_grad(total, argnums=(0, 1))(cuts, y)

    value, (to_cuts, to_y) = found(cuts, jnp.full((5, 1), far))
    assert -4000 < value < -3000
    assert jnp.isfinite(to_cuts).all()
    expected = [0, 1, 1, 1, 1] if far < 0 else [-1, -1, -1, -1, 0]
    np.testing.assert_allclose(to_y[:, 0], expected, atol=1e-12)


def test_scales_and_centre_of_values():
    values = np.array([[1.0, 3.0], [5.0, 7.0]])
    for likelihood in (Gaussian(), PairedGaussian()):
        assert likelihood.scales(values) == pytest.approx((np.sqrt(21), np.sqrt(5)))
        assert likelihood.centre(values) == 4
    for likelihood in (Bernoulli(), Ordinal(5)):
        assert likelihood.scales(values) == (2.5, 2.5)
        assert likelihood.centre(values) == 0


def test_scales_are_never_zero():
    assert data_scales(np.full((3, 1), 20.0)) == pytest.approx((20, 0.2))
    assert data_scales(np.zeros((3, 1))) == pytest.approx((1, 0.01))


def test_noise_may_be_vmapped_over_its_parameters(y):
    values = jnp.asarray(some_values(PairedGaussian()))
    sigma, rho = jnp.array([0.5, 2.0]), jnp.array([0.3, -0.4])
    both = jax.vmap(lambda s, r: PairedGaussianNoise(s, r).log_prob(y, values))(sigma, rho)
    one = PairedGaussianNoise(sigma[1], rho[1]).log_prob(y, values)
    np.testing.assert_allclose(both[1], one, rtol=1e-12)
