"""Cuts between levels that every row has for itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from dpmf.errors import ConfigError
from dpmf.likelihoods import Likelihood, Ordinal
from dpmf.likelihoods.base import OWN, OWNER
from dpmf.priors import HalfNormal, Normal

LEVELS, ROWS, EVENTS = 6, 20, 80
RANDOM = np.random.default_rng(0)
Y = 2 * RANDOM.normal(size=(EVENTS, 2))
VALUES = RANDOM.integers(1, LEVELS + 1, size=(EVENTS, 2)).astype(float)
OWNERS = RANDOM.integers(ROWS, size=(EVENTS, 2))
NUMBERS = RANDOM.normal(size=(ROWS, LEVELS - 2))
SHARED = {
    "middle_cut": np.array([0.4]),
    "log_gaps": np.array([0.3, -1.0, 0.2, -0.4]),
    "gap_sd": np.array([0.5, 2.0, 0.1, 1.0]),
}
pytestmark = pytest.mark.usefixtures("x64")


@pytest.fixture
def x64():
    with jax.enable_x64(True):
        yield


def noise(numbers=NUMBERS, owners=OWNERS):
    return Ordinal(LEVELS, own_cuts=True).at(
        {name: jnp.asarray(value) for name, value in SHARED.items()}
        | {OWN: jnp.asarray(numbers), OWNER: jnp.asarray(owners)}
    )


def test_log_prob_is_that_of_each_rows_cuts():
    found = noise().log_prob(jnp.asarray(Y), jnp.asarray(VALUES))
    expected = np.zeros(EVENTS)
    for event, cell in np.ndindex(VALUES.shape):
        gaps = np.exp(SHARED["log_gaps"] + SHARED["gap_sd"] * NUMBERS[OWNERS[event, cell]])
        cuts = np.cumsum([0.0, *gaps])
        cuts = np.array([-np.inf, *(cuts - cuts[2] + 0.4), np.inf])  # the third of five
        level = int(VALUES[event, cell])
        upper, lower = special.expit(cuts[[level, level - 1]] - Y[event, cell])
        expected[event] += np.log(upper - lower)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_one_level_is_as_among_all_with_its_slopes():
    level = jnp.asarray(VALUES, int)[..., None] - 1

    def chosen(numbers, y):
        return jnp.sum(noise(numbers).cell_log_prob(y, jnp.asarray(VALUES)))

    def among_all(numbers, y):
        every = noise(numbers).level_log_probs(y)
        return jnp.sum(jnp.take_along_axis(every, level, axis=2))

    at = jnp.asarray(NUMBERS), jnp.asarray(Y)
    found, expected = (jax.value_and_grad(one, (0, 1))(*at) for one in (chosen, among_all))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12), found, expected
    )
    assert np.abs(found[1][0]).min(axis=1).max() > 0  # rows do move


def test_a_level_that_is_never_given_has_slopes():
    """Its gap is lost in the digits of the cuts, and a NaN would stop the whole chain."""
    numbers = jnp.asarray(NUMBERS).at[0, 0].set(-20.0).at[0, 1].set(-300.0)

    def chosen(numbers):
        nobody_gives = jnp.where((OWNERS == 0) & (VALUES < 4), 1.0, VALUES)
        return jnp.sum(noise(numbers).cell_log_prob(jnp.asarray(Y), nobody_gives))

    value, slopes = jax.value_and_grad(chosen)(numbers)
    assert np.isfinite(value) and np.isfinite(slopes).all()


def test_the_smallest_gaps_keep_their_probability():
    numbers = np.zeros_like(NUMBERS)
    numbers[:, 1] = -20.0  # a logarithm of -41 between cuts of a size near one
    y, second = jnp.zeros((EVENTS, 2)), jnp.full((EVENTS, 2), 3.0)
    found = noise(numbers).cell_log_prob(y, second)
    at_cut = special.log_expit(0.4) + special.log_expit(-0.4)  # its two cuts are the middle one
    np.testing.assert_allclose(found, at_cut - 41.0, rtol=1e-12)


def test_rows_without_deviations_have_the_shared_cuts():
    gaps = SHARED["log_gaps"]
    first = SHARED["middle_cut"] - np.exp(gaps[:2]).sum()
    shared = Ordinal(LEVELS).at(
        {"first_cut": jnp.asarray(first), "log_gaps": jnp.asarray(gaps)}
    )
    same = noise(np.zeros_like(NUMBERS))
    for name in ("mean", "covariance", "level_log_probs"):
        there, here = (getattr(one, name)(jnp.asarray(Y)) for one in (same, shared))
        np.testing.assert_allclose(there, here, rtol=1e-10, atol=1e-12)


def test_priors_and_the_way_to_json():
    likelihood = Ordinal(5, own_cuts=True)
    assert likelihood.priors(4.0) == {
        "middle_cut": Normal(0.0, 3.0, (1,)),
        "log_gaps": Normal(0.0, 1.0, (3,)),
        "gap_sd": HalfNormal(1.0, (3,)),
    }
    assert Likelihood.from_dict(likelihood.to_dict()) == likelihood
    assert Likelihood.from_dict({"type": "Ordinal", "levels": 5}) == Ordinal(5)  # older files


def test_two_levels_have_no_gap():
    with pytest.raises(ConfigError, match=r"Ordinal: levels=2, .*3"):
        Ordinal(2, own_cuts=True)


def test_a_choice_that_is_none_is_refused(unchecked):
    with pytest.raises(ConfigError, match=r"own_cuts='yes', expected True or False"):
        Ordinal(5, own_cuts="yes")
