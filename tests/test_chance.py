"""The statistical tests pass on the truth, fail on 5 %, and alarm as rarely as stated."""

import numpy as np
import pytest

import chance
from chance import assert_mean, assert_same_mean, assert_uniform

SPREAD = 0.1  # of one chain's average, where the truth is 1


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)


def averages(random, *, mean: float = 1.0, chains: int = 400) -> np.ndarray:
    return mean + SPREAD * random.standard_normal((chains, 2, 3))


def ranks(random, *, scale: float = 1.0, shift: float = 0.0) -> np.ndarray:
    """Ranks of a standard normal among 19 draws from what should be the same."""
    truth = random.standard_normal((20_000, 2, 1))
    draws = shift + scale * random.standard_normal((20_000, 2, 19))
    return (draws < truth).sum(axis=-1)


def test_assert_mean_passes_on_the_truth(random):
    assert_mean(averages(random), np.ones((2, 3)))


def test_assert_mean_fails_on_five_percent(random):
    with pytest.raises(AssertionError, match="standard errors"):
        assert_mean(averages(random, mean=1.05), 1.0)


def test_assert_mean_fails_if_one_entry_is_off(random):
    expected = np.ones((2, 3))
    expected[1, 2] = 1.05
    with pytest.raises(AssertionError, match="standard errors"):
        assert_mean(averages(random), expected)


def test_assert_mean_fails_on_nan(random):
    per_chain = averages(random)
    per_chain[7, 0, 0] = np.nan
    with pytest.raises(AssertionError):
        assert_mean(per_chain, 1.0)


def test_assert_mean_refuses_another_shape(random):
    with pytest.raises(ValueError, match="dimensions"):
        assert_mean(averages(random), np.ones((400, 2, 3)))


def test_assert_same_mean_passes_on_the_truth(random):
    assert_same_mean(averages(random), averages(random, chains=100))


def test_assert_same_mean_fails_on_five_percent(random):
    with pytest.raises(AssertionError, match="standard errors"):
        assert_same_mean(averages(random), averages(random, mean=1.05))


def test_assert_same_mean_refuses_another_shape(random):
    with pytest.raises(AssertionError, match="do not match"):
        assert_same_mean(averages(random), averages(random)[:, :1])


def test_assert_uniform_passes_on_the_truth(random):
    assert_uniform(ranks(random), bins=20)


@pytest.mark.parametrize("bug", [{"scale": 1.05}, {"scale": 0.95}, {"shift": 0.05}])
def test_assert_uniform_fails_on_five_percent(random, bug):
    with pytest.raises(AssertionError, match="not uniform"):
        assert_uniform(ranks(random, **bug), bins=20)


def test_assert_uniform_refuses_ranks_out_of_range(random):
    with pytest.raises(ValueError, match="from 0 to 19, not 0 to 18"):
        assert_uniform(ranks(random), bins=19)


def test_assert_uniform_refuses_too_few_ranks():
    with pytest.raises(ValueError, match="199 ranks are too few for 20 bins"):
        assert_uniform(np.arange(199) % 20, bins=20)


@pytest.mark.parametrize(
    "check",
    [
        lambda random: assert_mean(random.standard_normal(4), 0.0),
        lambda random: assert_same_mean(
            random.standard_normal(6), 3 * random.standard_normal(6)
        ),
        lambda random: assert_uniform(random.integers(5, size=50), bins=5),
    ],
    ids=["assert_mean", "assert_same_mean", "assert_uniform"],
)
def test_alarms_are_as_rare_as_stated(monkeypatch, random, check):
    """At a rate of 5 % it can be counted; the limit is 5 standard errors above it."""
    monkeypatch.setattr(chance, "FALSE_ALARM", 0.05)
    alarms = 0
    for _ in range(1000):
        try:
            check(random)
        except AssertionError:
            alarms += 1
    assert 15 < alarms < 85
