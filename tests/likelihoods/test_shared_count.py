"""The count that both values of a Poisson pair share: summed over, and drawn."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import special

from chance import assert_mean
from dpmf.likelihoods import shared_count
from dpmf.likelihoods.paired_poisson import PairedPoissonNoise
from dpmf.likelihoods.poisson import poisson_log_prob
from planted import planted

COUNTS = [(0, 0), (0, 7), (3, 0), (1, 1), (4, 2), (9, 9), (60, 45), (500, 480)]
LOG_ODDS = [-900.0, -30.0, -2.0, 0.0, 0.7, 5.0, 40.0, 900.0]
GRID = np.array([(t, x, z) for t in LOG_ODDS for x, z in COUNTS], float)


def terms(t, x, z):
    """Log of every term of the sum."""
    k = np.arange(min(x, z) + 1)
    return k * t - sum(special.gammaln(n + 1) for n in (k, x - k, z - k))


def moments(t, x, z):
    """Log of the sum; mean and variance of the shared count."""
    logs = terms(t, x, z)
    chance, k = np.exp(logs - special.logsumexp(logs)), np.arange(len(logs))
    mean = chance @ k
    return special.logsumexp(logs), mean, chance @ (k - mean) ** 2


def test_sums_over_all_shared_counts():
    expected = np.array([moments(*one) for one in GRID]).T
    summed, mean = jax.jit(shared_count.log_sum)(*jnp.asarray(GRID.T))
    np.testing.assert_allclose(summed, expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mean, expected[1], rtol=1e-9, atol=1e-12)
    variance = jax.jit(shared_count.variance)(*jnp.asarray(GRID.T))
    np.testing.assert_allclose(variance, expected[2], rtol=1e-7, atol=1e-12)


def test_derivatives_are_the_moments():
    """Once and twice, backwards and forwards, alone and for many problems at once."""
    t, x, z = jnp.asarray(GRID.T)
    _, mean, variance = np.array([moments(*one) for one in GRID]).T

    def summed(t):
        return jnp.sum(shared_count.log_sum(t, x, z)[0])

    slope = jax.grad(summed)
    curvature = jax.jit(lambda t: jax.jvp(slope, (t,), (jnp.ones_like(t),))[1])(t)
    many = jax.jit(jax.vmap(slope))(jnp.stack([t, t + 1]))
    np.testing.assert_allclose(many[0], mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(many[1], jax.jit(slope)(t + 1), rtol=1e-12)
    np.testing.assert_allclose(curvature, variance, rtol=1e-7, atol=1e-12)


def assert_shares_are_probabilities(inverse):
    """Equally spaced shares meet every shared count as often as its probability says."""
    shares = (np.arange(20_000) + 0.5) / 20_000
    for t, x, z in [(0.3, 4, 6), (-3.0, 2, 2), (-1.5, 30, 25), (2.0, 5, 1)]:
        logs = terms(t, x, z)
        same = [jnp.full(shares.shape, float(one)) for one in (t, x, z)]
        found = np.asarray(jax.jit(inverse)(jnp.asarray(shares), *same)).astype(int)
        often = np.bincount(found, minlength=len(logs)) / len(shares)
        np.testing.assert_allclose(often, special.softmax(logs), atol=1.1e-4)


def test_shares_are_probabilities():
    assert_shares_are_probabilities(shared_count.inverse)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("share * total - 1.0", "share - 1.0"),
        ("(walk.down, -walk.distance)", "(walk.down, walk.distance)"),
        ("left = left - term", "left = left - 1.1 * term"),
    ],
    ids=["forgets the total", "only upwards", "10 % too fast"],
)
def test_wrong_shares_are_found(old, new):
    with pytest.raises(AssertionError):
        assert_shares_are_probabilities(planted(shared_count.inverse, old, new))


def assert_split_averages_to_the_pair(noise, key):
    """E[p(values | y', C) / p(values | y, C)] over C given y is p(values | y') / p(values | y).

    That holds for every y' if and only if C has its conditional distribution, and the cells
    are those of what is left.
    """
    copies = 20_000
    for values in ([3.0, 2.0], [0.0, 4.0], [6.0, 7.0]):
        y = jnp.broadcast_to(jnp.array([0.6, 0.3]), (copies, 2))
        values = jnp.broadcast_to(jnp.array(values), (copies, 2))
        per_cell = noise.split(key, y, values)
        before = per_cell(y)
        for other in ([0.3, 0.3], [0.6, -0.1], [0.0, 0.5]):
            moved = jnp.broadcast_to(jnp.array(other), (copies, 2))
            ratio = np.exp(np.sum(per_cell(moved) - before, axis=1))
            expected = noise.log_prob(moved[:1], values[:1]) - noise.log_prob(y[:1], values[:1])
            if np.ptp(ratio) > 1e-12:
                assert_mean(ratio, np.exp(expected[0]))
            else:  # nothing to draw
                assert ratio[0] == pytest.approx(np.exp(expected[0]), rel=1e-9)


@pytest.mark.parametrize("shared", [0.02, 0.5, 3.0])
def test_split_averages_to_the_pair(shared, key):
    assert_split_averages_to_the_pair(PairedPoissonNoise(jnp.array(shared)), key)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("left = values - shared[:, None]", "left = values"),
        ("self._odds(y), values[:, 0]", "self._odds(y) + 0.3, values[:, 0]"),
        ("return poisson_log_prob(moved, left)", "return poisson_log_prob(moved, left + 1)"),
        ("- jnp.sum(log_rate(y), axis=1)", "- log_rate(y)[:, 0]"),
    ],
    ids=["nothing taken off", "other odds", "one too many", "one rate"],
)
def test_a_wrong_split_is_found(old, new, key):
    if old.startswith("return"):
        old, new = old.replace("return ", "moved: "), new.replace("return ", "moved: ")
    if "_odds" in old:
        old = f"shared_count.inverse(share, {old}"
        new = f"shared_count.inverse(share, {new}"
    wrong = planted(PairedPoissonNoise, old, new)(jnp.array(0.5))
    with pytest.raises(AssertionError):
        assert_split_averages_to_the_pair(wrong, key)


def test_where_nothing_is_shared_counts_are_independent():
    values, y = jnp.array([[2.0, 3.0], [0.0, 1.0]]), jnp.array([[0.5, -1.0], [2.0, 0.0]])
    expected = poisson_log_prob(y, values).sum(axis=1)
    for shared in (0.0, 1e-310, 1e-200):

        def total(y, shared):
            return jnp.sum(PairedPoissonNoise(shared).log_prob(y, values))

        found = PairedPoissonNoise(jnp.array(shared)).log_prob(y, values)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        slope = jax.grad(total)(y, jnp.array(shared))
        np.testing.assert_allclose(slope, values - jnp.exp(y), rtol=1e-12)


def test_what_is_left_is_a_count(key):
    """Also far out, and whatever the shared rate."""
    values = jr.poisson(key, 4.0, (200, 2)).astype(float)
    y = 300 * jr.normal(key, (200, 2))
    for shared in (0.0, 1e-300, 0.4, 1e8):
        per_cell = PairedPoissonNoise(jnp.array(shared)).split(key, y, values)
        slope = jax.grad(lambda at, per_cell=per_cell: jnp.sum(per_cell(at)))
        left = np.asarray(slope(jnp.zeros_like(y))) + 1  # at rate 1
        np.testing.assert_allclose(left, np.round(left), atol=1e-9)
        assert (left > -1e-9).all() and (left <= np.asarray(values) + 1e-9).all()
