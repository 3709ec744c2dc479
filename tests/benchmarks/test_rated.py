"""Splits hold out what they say, and forecasts become probabilities of the rating levels."""

import numpy as np
import pandas as pd
import pytest
import rated
from scipy.stats import norm

LEVELS = np.arange(0.5, 5.5, 0.5)


def made(count: int = 400) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "user": generator.integers(7, size=count),
            "item": generator.integers(30, size=count),
            "value": generator.choice(LEVELS, count),
            "moment": generator.integers(90, size=count),  # with ties
        },
        index=generator.permutation(count) + 1000,
    )


@pytest.mark.parametrize("how", ["last", "random"])
def test_a_split_takes_every_rating_once(how):
    frame = made()
    train, held = rated.split(frame, how)
    assert sorted([*train.index, *held.index]) == sorted(frame.index)
    pd.testing.assert_frame_equal(frame.loc[held.index], held)


def test_the_last_ratings_of_each_user_are_held_out():
    frame = made()
    train, held = rated.split(frame, "last")
    for user, own in frame.groupby("user"):
        mine, theirs = train[train["user"] == user], held[held["user"] == user]
        assert len(theirs) == len(own) // 10
        assert mine["moment"].max() <= theirs["moment"].min()


def test_a_random_split_takes_a_tenth_and_depends_on_its_seed():
    one, other = (rated.split(made(), "random", seed)[1] for seed in (0, 1))
    assert len(one) == len(other) == 40
    assert set(one.index) != set(other.index)


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="expected 'last' or 'random'"):
        rated.split(made(), "first")


def test_normal_forecasts_fill_open_bins():
    mean, sd = np.array([3.2, -4.0, 9.0]), np.array([0.7, 1.0, 0.5])
    probs = rated.gaussian_probs(mean, sd, LEVELS)
    assert probs.shape == (3, 10)
    np.testing.assert_allclose(probs.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(probs[0, 0], norm.cdf(0.75, 3.2, 0.7), rtol=1e-12)
    np.testing.assert_allclose(probs[0, -1], norm.sf(4.75, 3.2, 0.7), rtol=1e-12)
    inside = norm.cdf(3.25, 3.2, 0.7) - norm.cdf(2.75, 3.2, 0.7)
    np.testing.assert_allclose(probs[0, 5], inside, rtol=1e-12)
    assert probs[1, 0] > 0.99  # far below the scale: all of it is the lowest level
    assert probs[2, -1] > 0.99


def test_the_tuned_sd_is_that_of_the_noise():
    generator = np.random.default_rng(2)
    mean = generator.uniform(2, 4, 20_000)
    seen = np.clip(mean + 0.6 * generator.standard_normal(len(mean)), 0.5, 5)
    level = np.searchsorted(LEVELS, np.round(2 * seen) / 2)
    assert rated.tuned_sd(mean, level, LEVELS) == pytest.approx(0.6, rel=0.03)


def test_rounds_count_the_ratings_that_a_user_gave_before():
    frame = made(2000)
    frame["moment"] = frame.index  # no ties
    found = rated.rounds(frame)
    for row in (1000, 1700, 2999):
        one = frame.loc[row]
        before = (frame["user"] == one["user"]) & (frame["moment"] < one["moment"])
        assert found[row] == before.sum() // rated.ROUND
    assert found.max() > 0


def ratings(frame: pd.DataFrame) -> rated.Ratings:
    return rated.Ratings(frame, LEVELS, (), ("last", "random"))


def test_scores_of_a_forecast_that_knows_all_and_of_one_that_knows_nothing():
    frame = made(2000)
    level = ratings(frame).level(frame)
    sure = rated.Forecast(frame["value"].to_numpy(), np.eye(10)[level])
    assert rated.scores(sure, frame, ratings(frame)) == pytest.approx(
        {"rmse": 0, "mean_log_prob": 0, "calibration": 0}
    )
    flat = rated.Forecast(np.full(len(frame), 2.75), np.full((len(frame), 10), 0.1))
    found = rated.scores(flat, frame, ratings(frame))
    assert found["mean_log_prob"] == pytest.approx(np.log(0.1))
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((frame["value"] - 2.75) ** 2)))
    assert found["calibration"] < 0.02  # levels are equally frequent


def test_calibration_sees_chances_that_are_too_sure():
    frame = made(2000)
    level = ratings(frame).level(frame)
    probs = np.full((len(frame), 10), 0.2 / 9)
    probs[np.arange(len(frame)), np.where(np.arange(len(frame)) % 2, level, 0)] = 0.8
    found = rated.scores(rated.Forecast(np.zeros(len(frame)), probs), frame, ratings(frame))
    assert found["calibration"] > 0.1
