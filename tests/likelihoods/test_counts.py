"""Counts: their link, scales, and draws and moments against sums over all counts."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from chance import FALSE_ALARM
from dpmf.errors import DataError
from dpmf.likelihoods import NegativeBinomial, PairedPoisson, Poisson
from dpmf.likelihoods.counts import TANGENT, count_centre, count_scales, log_rate, rate
from dpmf.likelihoods.negative_binomial import NegativeBinomialNoise, log_rising
from dpmf.likelihoods.paired_poisson import PairedPoissonNoise
from dpmf.likelihoods.poisson import PoissonNoise
from planted import planted

DRAWS = 40_000
Y = np.array([[0.4, -0.5]])  # rates 1.5 and 0.6
NOISES = {
    "Poisson": (PoissonNoise, []),
    "overdispersed": (NegativeBinomialNoise, [0.7]),
    "pairs": (PairedPoissonNoise, [0.8]),
    "pairs, little shared": (PairedPoissonNoise, [0.02]),
}


@pytest.fixture(params=NOISES)
def noise(request):
    kind, parameters = NOISES[request.param]
    return kind(*map(jnp.asarray, parameters))


def with_bug(name, old, new):
    kind, parameters = NOISES[name]
    return planted(kind, old, new)(*map(jnp.asarray, parameters))


def table(noise, most):
    """Probabilities of all pairs of counts below `most`, and the pairs."""
    pairs = np.array(list(itertools.product(range(most), repeat=2)), float)
    at = jnp.broadcast_to(Y, pairs.shape)
    return np.exp(jax.jit(noise.log_prob)(at, jnp.asarray(pairs))), pairs


def assert_moments_are_sums(noise):
    chance, pairs = table(noise, 90)
    mean = chance @ pairs
    centred = pairs - mean
    assert chance.sum() == pytest.approx(1, abs=1e-10)
    np.testing.assert_allclose(noise.mean(jnp.asarray(Y))[0], mean, rtol=1e-9)
    covariance = np.einsum("s,si,sj->ij", chance, centred, centred)
    np.testing.assert_allclose(
        noise.covariance(jnp.asarray(Y))[0], covariance, rtol=1e-8, atol=1e-9
    )


def test_moments_are_sums_over_all_counts(noise):
    assert_moments_are_sums(noise)


def assert_draws_follow_the_probabilities(noise, key):
    chance, _ = table(noise, 60)
    y = jnp.broadcast_to(Y, (DRAWS, 2))
    draws = np.asarray(jax.jit(noise.sample)(key, y)).astype(int)
    assert draws.max() < 60  # beyond, less than 1e-9 is left
    found = np.bincount(draws[:, 0] * 60 + draws[:, 1], minlength=len(chance))
    common = DRAWS * chance >= 10  # rarer pairs are counted together
    observed = np.append(found[common], found[~common].sum())
    expected = DRAWS * np.append(chance[common], 1 - chance[common].sum())
    assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM


def test_draws_follow_the_probabilities(noise, key):
    assert_draws_follow_the_probabilities(noise, key)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("Poisson", "jr.poisson(key, rate(y))", "jr.poisson(key, 1.05 * rate(y))"),
        ("overdispersed", "size = 1 / self._alpha", "size = self._alpha"),
        ("overdispersed", "factor * rate(y)", "rate(y)"),
        ("pairs", "own + shared[:, None]", "own"),
        ("pairs", "self.shared, y.shape[:1])", "1.1 * self.shared, y.shape[:1])"),
        ("pairs", "key_own, rate(y))", "key_own, rate(y[:, ::-1]))"),
    ],
    ids=["5 % more", "inverse", "no factor", "nothing shared", "10 % more shared", "swapped"],
)
def test_wrong_draws_are_found(name, old, new, key):
    with pytest.raises(AssertionError):
        assert_draws_follow_the_probabilities(with_bug(name, old, new), key)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("Poisson", "return rate(y)[:, :, None]", "return jnp.sqrt(rate(y))[:, :, None]"),
        ("overdispersed", "* mean**2", "* mean"),
        ("overdispersed", "values + 1 / alpha", "1 / alpha"),
        ("pairs", "return rate(y) + self.shared", "return rate(y)"),
        ("pairs", "axis=1) - self.shared", "axis=1)"),
        ("pairs", "jnp.eye(2)[None] + self.shared", "(jnp.eye(2)[None] + self.shared)"),
    ],
    ids=["root", "linear", "no counts", "own only", "no shared zero", "product"],
)
def test_wrong_formulas_are_found(name, old, new):
    with pytest.raises(AssertionError):
        assert_moments_are_sums(with_bug(name, old, new))


def test_the_rate_is_exponential_and_then_its_tangent():
    y = jnp.array([-700.0, -1.0, 3.0, TANGENT])
    np.testing.assert_allclose(rate(y), np.exp(y), rtol=1e-12)
    np.testing.assert_allclose(rate(TANGENT + jnp.array([1.0, 5.0])) / np.exp(TANGENT), [2, 6])
    everywhere = jnp.linspace(-30, 3000, 500)
    np.testing.assert_allclose(log_rate(everywhere), np.log(rate(everywhere)), rtol=1e-12)
    slope = jax.vmap(jax.grad(rate))(TANGENT + jnp.array([-1e-9, 0.0, 1e-9]))
    np.testing.assert_allclose(slope, np.exp(TANGENT), rtol=1e-8)


def test_scales_of_the_log_rate():
    """A log-normal variable with those scales has the mean and variance of the counts."""
    counts = np.array([[0.0, 1.0], [9.0, 4.0], [2.0, 2.0]])
    rms, spread = count_scales(counts)
    variance = (np.exp(spread**2) - 1) * counts.mean() ** 2
    assert variance == pytest.approx(counts.var())
    assert rms**2 == pytest.approx(np.log(3) ** 2 + spread**2)
    assert count_centre(counts) == pytest.approx(np.log(3))


@pytest.mark.parametrize("likelihood", [Poisson(), NegativeBinomial(), PairedPoisson()])
def test_every_likelihood_of_counts_has_the_scales_of_their_log_rate(likelihood):
    counts = np.array([[0.0, 1.0], [9.0, 4.0]])
    assert likelihood.scales(counts) == count_scales(counts)
    assert likelihood.centre(counts) == count_centre(counts)


@pytest.mark.parametrize("count", [0.0, 1.0, 7.0, 1e9])
def test_constant_counts_have_scales_too(count):
    rms, spread = count_scales(np.full((5, 1), count))
    assert np.isfinite(count_centre(np.full((5, 1), count)))
    assert 0 < spread <= rms < 25


@pytest.mark.parametrize("values", [np.zeros((0, 1)), np.array([[1.0], [np.nan]])])
def test_no_scales_without_counts(values):
    with pytest.raises(DataError, match=r"values are missing, expected counts .* give scale="):
        count_scales(values)


def test_without_overdispersion_counts_are_those_of_poisson():
    y, values = jnp.array([[-3.0, 1.0], [4.0, 15.0]]), jnp.array([[1.0, 0.0], [60.0, 3.3e6]])
    expected = PoissonNoise().log_prob(y, values)
    for alpha in (0.0, 1e-40, 1e-20):
        noise = NegativeBinomialNoise(jnp.array(alpha))
        np.testing.assert_allclose(noise.log_prob(y, values), expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-3, 2.0, 9_999.0, 10_001.0, 1e12])
def test_rising_factorial(size):
    """As a product of ratios, which loses no digits."""
    counts = np.array([[0.0, 1.0, 2.0, 50.0]])
    expected = [np.log1p(np.arange(n) / size).sum() for n in counts[0]]
    found = log_rising(jnp.asarray(counts), jnp.array(size))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_large_counts():
    values, y = np.array([[1e6, 1e6 + 900]]), np.log([[1e6, 1e6]])
    expected = stats.poisson.logpmf(values, 1e6).sum()
    found = PoissonNoise().log_prob(jnp.asarray(y), jnp.asarray(values))[0]
    assert found == pytest.approx(expected, abs=1e-7)
    k = np.arange(1e6 + 1)
    own = stats.poisson.logpmf(values.T - k[None], 5e5).sum(axis=0)
    expected = special.logsumexp(own + stats.poisson.logpmf(k, 5e5))
    noise = PairedPoissonNoise(jnp.array(5e5))
    found = jax.jit(noise.log_prob)(jnp.log(jnp.full((1, 2), 5e5)), jnp.asarray(values))[0]
    assert found == pytest.approx(expected, abs=1e-7)
