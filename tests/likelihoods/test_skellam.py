"""Which of two Poisson counts is larger: closed forms against sums over all counts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dpmf.likelihoods import skellam
from dpmf.likelihoods.paired_poisson import PairedPoissonNoise
from dpmf.likelihoods.poisson import PoissonNoise
from planted import planted

RATES = np.array(
    [
        [0.0, 0.0],
        [1.0, 0.0],
        [0.0, 0.7],
        [1.4, 1.1],
        [1.3, 1.3],
        [0.01, 3.0],
        [20.0, 25.0],
        [3.0, 80.0],
        [310.0, 300.0],
        [1e4, 1.01e4],
    ]
)


def sums(first, second):
    """P(X > Y) and P(X = Y), adding up over Y."""
    middle, width = second, 12 * np.sqrt(second + 1) + 30
    n = np.arange(max(0, int(middle - width)), int(middle + width))
    chance = stats.poisson.pmf(n, second)
    return chance @ stats.poisson.sf(n, first), chance @ stats.poisson.pmf(n, first)


def assert_sums(positive, zero):
    expected = np.array([sums(*pair) for pair in RATES])
    np.testing.assert_allclose(
        positive(*jnp.asarray(RATES.T)), expected[:, 0], rtol=0, atol=3e-12
    )
    np.testing.assert_allclose(
        zero(*jnp.asarray(RATES.T)), expected[:, 1], rtol=1e-10, atol=1e-30
    )


def test_closed_forms_are_the_sums():
    assert_sums(jax.jit(skellam.positive), jax.jit(skellam.zero))


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        (skellam._integral, "0.5, 1.0)", "1.0, 1.0)"),
        (skellam._integral, "apart + 2 * depth", "apart + depth"),
        (skellam.positive, "first - second", "second - first"),
        (skellam.positive, "1 - zero(first, second) + lead", "1 + lead"),
        (skellam.zero, "2 * jnp.sqrt(first * second)", "jnp.sqrt(first * second)"),
    ],
    ids=["end of the rule", "depth", "sign", "ties", "argument of the Bessel function"],
)
def test_wrong_forms_are_found(function, old, new):
    wrong = planted(function, old, new)
    if function is skellam._integral:
        wrong = planted(skellam.positive, "positive", "positive", _integral=wrong)
    zero = wrong if function is skellam.zero else skellam.zero
    positive = skellam.positive if function is skellam.zero else wrong
    with pytest.raises(AssertionError):
        assert_sums(jax.jit(positive), jax.jit(zero))


@pytest.mark.parametrize("rate", [1e6, 4e8])
def test_large_rates_are_all_but_normal(rate):
    """The difference has mean m and variance v; Edgeworth's next term is about m / v."""
    first, second = jnp.array([rate + 2 * np.sqrt(rate)]), jnp.array([rate])
    mean, variance = float(first[0] - second[0]), float(first[0] + second[0])
    expected = stats.norm.sf(0.5, mean, np.sqrt(variance))  # 0 is not exceeded, 1 is
    found = skellam.positive(first, second)
    assert found[0] == pytest.approx(expected, abs=3 * mean / variance)
    tie = stats.norm.pdf(0, mean, np.sqrt(variance))
    assert skellam.zero(first, second)[0] == pytest.approx(tie, rel=10 * mean / variance)


def test_outcomes_of_a_pair_add_up_to_one():
    y = jnp.array([[0.4, -0.2], [1.0, 1.0], [3.0, -50.0], [800.0, 700.0], [-800.0, -900.0]])
    for noise in (PoissonNoise(), PairedPoissonNoise(jnp.array(0.3))):
        won, drawn = noise.first_exceeds(y), noise.equal(y)
        lost = noise.first_exceeds(y[:, ::-1])
        np.testing.assert_allclose(won + drawn + lost, 1, rtol=1e-11)
    assert won[2] == pytest.approx(stats.poisson.sf(0, np.exp(3.0)), abs=1e-12)


def test_outcomes_of_a_pair_are_sums_over_its_probabilities():
    """What both share cancels in the difference, but not in the probabilities themselves."""
    y = jnp.array([[0.4, -0.5]])
    first, second = np.indices((60, 60)).reshape(2, -1)
    pairs = jnp.asarray(np.stack([first, second], axis=1), float)
    for noise in (PoissonNoise(), PairedPoissonNoise(jnp.array(0.8))):
        chance = np.exp(jax.jit(noise.log_prob)(jnp.broadcast_to(y, pairs.shape), pairs))
        assert noise.first_exceeds(y)[0] == pytest.approx(chance[first > second].sum())
        assert noise.equal(y)[0] == pytest.approx(chance[first == second].sum())
