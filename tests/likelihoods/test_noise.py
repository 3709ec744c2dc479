"""Every noise model: log probabilities from scipy, and draws with the moments it states."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import special, stats

from chance import FALSE_ALARM, assert_mean
from dpmf.likelihoods import (
    Bernoulli,
    Gaussian,
    IndependentNoise,
    NegativeBinomial,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
    StudentT,
)
from dpmf.likelihoods.gaussian import data_scales
from dpmf.likelihoods.ordinal import OrdinalNoise
from dpmf.likelihoods.paired import PairedGaussianNoise
from dpmf.likelihoods.student import StudentTNoise
from planted import planted

DRAWS = 20_000
LINK = [[0.3, -1.0], [2.0, 0.5], [-0.7, 1.2]]  # y of three events with two cells each

CASES = [
    (Gaussian(), {"sigma": 1.7}),
    (PairedGaussian(), {"sigma": 1.7, "rho": -0.6}),
    (PairedGaussian(), {"sigma": 0.4, "rho": 0.35}),
    (PairedGaussian(), {"sigma": 0.4, "rho": 0.0}),
    (StudentT(), {"sigma": 1.7, "nu": 9.0}),
    (Bernoulli(), {}),
    (Poisson(), {}),
    (NegativeBinomial(), {"overdispersion": 0.4}),
    (NegativeBinomial(), {"overdispersion": 1e-9}),
    (PairedPoisson(), {"shared": 0.3}),
    (PairedPoisson(), {"shared": 4.0}),
    (PairedPoisson(), {"shared": 1e-12}),
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
        case Poisson() | NegativeBinomial() | PairedPoisson():
            return np.array([[0.0, 3.0], [12.0, 7.0], [4.0, 5.0]])
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
        case StudentT():
            return stats.t.logpdf(values, parameters["nu"], y, parameters["sigma"]).sum()
        case Bernoulli():
            return stats.bernoulli.logpmf(values, special.expit(y)).sum()
        case Poisson():
            return stats.poisson.logpmf(values, np.exp(y)).sum()
        case NegativeBinomial():
            size = 1 / parameters["overdispersion"]
            return stats.nbinom.logpmf(values, size, size / (size + np.exp(y))).sum()
        case PairedPoisson():
            return pair_log_prob(values, np.exp(y), parameters["shared"])
        case Ordinal():
            gaps = np.cumsum(np.exp(parameters["log_gaps"]))
            cuts = parameters["first_cut"][0] + np.array([-np.inf, 0, *gaps, np.inf])
            levels = np.asarray(values, int)
            below = special.expit(cuts[levels] - y) - special.expit(cuts[levels - 1] - y)
            return np.log(below).sum()


def pair_log_prob(values, rates, shared):
    """Of a bivariate Poisson pair: the sum over every count that both may share."""
    k = np.arange(min(values) + 1)
    own = stats.poisson.logpmf(np.asarray(values)[:, None] - k[None], rates[:, None]).sum(0)
    return special.logsumexp(own + stats.poisson.logpmf(k, shared))


@everywhere
def test_log_prob(likelihood, parameters, y):
    noise, values = noise_at(likelihood, parameters), some_values(likelihood)
    found = jax.jit(noise.log_prob)(y, jnp.asarray(values))
    pairs = zip(np.array(LINK), values, strict=True)
    expected = [scipy_log_prob(likelihood, parameters, *pair) for pair in pairs]
    # scipy's own sums lose digits where a size is as large as 1e9.
    rtol = 1e-6 if parameters.get("overdispersion") == 1e-9 else 1e-10
    np.testing.assert_allclose(found, expected, rtol=rtol)


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
    [case for case in CASES if case[0].pair is None],
    ids=str,
)
def test_independent_cells_split_as_they_are(likelihood, parameters, y, key):
    noise, values = noise_at(likelihood, parameters), jnp.asarray(some_values(likelihood))
    assert isinstance(noise, IndependentNoise)
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
            return jnp.sum(OrdinalNoise(cuts, jnp.log(jnp.diff(cuts))).log_prob(y, values))

        return jax.value_and_grad(total, argnums=(0, 1))(cuts, y)

    value, (to_cuts, to_y) = found(cuts, jnp.full((5, 1), far))
    assert -4000 < value < -3000
    assert jnp.isfinite(to_cuts).all()
    expected = [0, 1, 1, 1, 1] if far < 0 else [-1, -1, -1, -1, 0]
    np.testing.assert_allclose(to_y[:, 0], expected, atol=1e-12)


def test_scales_and_centre_of_values():
    values = np.array([[1.0, 3.0], [5.0, 7.0]])
    for likelihood in (Gaussian(), PairedGaussian(), StudentT()):
        assert likelihood.scales(values) == pytest.approx((np.sqrt(21), np.sqrt(5)))
        assert likelihood.centre(values) == 4
    for likelihood in (Bernoulli(), Ordinal(5)):
        assert likelihood.scales(values) == (2.5, 2.5)
    assert Bernoulli().centre(values) == 0
    assert Ordinal(5).centre(values) == 2.5  # chains start on one side of all cuts' level


def test_an_outlier_does_not_move_the_start():
    assert StudentT().centre(np.array([[1.0], [2.0], [3.0], [2.0], [9e9]])) == 2


def assert_draws_are_of_the_t(kind, key):
    noise = kind(jnp.array(1.7), jnp.array(3.0))  # too few for the moments of a square
    draws = np.asarray(jax.jit(noise.sample)(key, jnp.full((DRAWS, 1), 5.0)))[:, 0]
    assert stats.kstest(draws, stats.t(3.0, 5.0, 1.7).cdf).pvalue > FALSE_ALARM


def test_draws_with_few_degrees_of_freedom(key):
    assert_draws_are_of_the_t(StudentTNoise, key)


def test_draws_of_a_wrong_t_are_found(key):
    wrong = planted(StudentTNoise, "jr.t(key, self.nu,", "jr.t(key, 2 * self.nu,")
    with pytest.raises(AssertionError):
        assert_draws_are_of_the_t(wrong, key)


@everywhere
def test_derivatives_are_finite_wherever_a_sampler_strays(likelihood, parameters):
    """Of the log probability: in y once and twice, in the parameters, and their value."""
    values = jnp.asarray(np.repeat(some_values(likelihood), 6, axis=0))
    far = jnp.array([-1e5, -800.0, -40.0, 40.0, 800.0, 1e5])
    y = jnp.tile(jnp.stack([far, far[::-1]], axis=1), (3, 1))
    y = jnp.concatenate([y, jnp.tile(far[:, None], (3, 2))])
    values = jnp.concatenate([values, values])

    @jax.jit
    def found(parameters):
        def total(y, parameters):
            return jnp.sum(likelihood.at(parameters).log_prob(y, values))

        slope = jax.grad(total)
        return (
            jax.value_and_grad(total, argnums=(0, 1))(y, parameters),
            jax.jvp(lambda y: slope(y, parameters), (y,), (jnp.ones_like(y),)),
        )

    numbers = found({name: jnp.asarray(x, float) for name, x in parameters.items()})
    assert all(jnp.isfinite(x).all() for x in jax.tree.leaves(numbers))


def test_scales_are_never_zero():
    assert data_scales(np.full((3, 1), 20.0)) == pytest.approx((20, 0.2))
    assert data_scales(np.zeros((3, 1))) == pytest.approx((1, 0.01))


def test_noise_may_be_vmapped_over_its_parameters(y):
    values = jnp.asarray(some_values(PairedGaussian()))
    sigma, rho = jnp.array([0.5, 2.0]), jnp.array([0.3, -0.4])
    both = jax.vmap(lambda s, r: PairedGaussianNoise(s, r).log_prob(y, values))(sigma, rho)
    one = PairedGaussianNoise(sigma[1], rho[1]).log_prob(y, values)
    np.testing.assert_allclose(both[1], one, rtol=1e-12)
