"""Warped time by hand: three seasons, then one that training never saw."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf.errors import ConfigError, DataError
from dpmf.kernels import Matern12, SeasonGap

INPUTS = {
    "season": np.array([2000.0, 2000.0, 2000.0, 2001.0, 2001.0, 2002.0, 2002.0]),
    "week": np.array([0.0, 1.0, 20.0, 0.0, 24.0, 0.0, 3.0]),
}
THETA = {"season+week.gap": jnp.array([9.0])}


def warped(warp, rows):
    return jax.vmap(warp.at(THETA))(jnp.asarray(rows, dtype=float))[:, 0]


def test_lengths_are_the_last_weeks_but_the_latest_season_may_go_on():
    warp = SeasonGap("season", "week").bounded(INPUTS)
    assert warp.lengths == ((2000.0, 20.0), (2001.0, 24.0), (2002.0, 22.0))


def test_a_single_season_has_its_own_length():
    warp = SeasonGap("season", "week").bounded(
        {"season": np.full(2, 2000.0), "week": np.array([0.0, 7.0])}
    )
    assert warp.lengths == ((2000.0, 7.0),)


def test_given_lengths_stay():
    warp = SeasonGap("season", "week", lengths={2001: 5, 2000: 4})
    assert warp.lengths == ((2000.0, 4.0), (2001.0, 5.0))
    assert warp.bounded(INPUTS) == warp


def test_warped_time_by_hand():
    warp = SeasonGap("season", "week").bounded(INPUTS)
    rows = [(2000, 0), (2000, 20), (2001, 0), (2001, 24), (2002, 3), (2003, 0), (1999, 2)]
    expected = [0, 20, 29, 53, 65, 20 + 24 + 22 + 27, 2]
    np.testing.assert_allclose(warped(warp, rows), expected)


def test_a_new_season_moves_no_old_position():
    warp = SeasonGap("season", "week").bounded(INPUTS)
    old = [(2000, 3), (2001, 4), (2002, 3)]
    both = warped(warp, [*old, (2003, 1), (2003, 2)])
    np.testing.assert_array_equal(both[:3], warped(warp, old))
    assert both[4] > both[3] > both[2]


def test_kernel_on_warped_time_by_hand():
    kernel = Matern12(SeasonGap("season", "week")).bounded(INPUTS)
    assert kernel.columns == ("season", "week")
    correlation = kernel.at({**THETA, "season+week.length": jnp.array([30.0])})
    pair = correlation.pair(jnp.array([2000.0, 20.0]), jnp.array([2001.0, 2.0]))
    assert pair == pytest.approx(np.exp(-(9 + 2) / 30), rel=1e-12)


def test_length_bounds_come_from_warped_time():
    kernel = Matern12(SeasonGap("season", "week", gap=(4, 9))).bounded(INPUTS)
    last = 20 + 6 + 24 + 6 + 3  # the gap is the geometric mean of its bounds
    assert kernel.length == ((0.5, pytest.approx(10 * last)),)
    assert list(kernel.priors()) == ["season+week.gap", "season+week.length"]
    assert kernel.priors()["season+week.gap"].shape == (1,)


def test_length_bounds_with_one_week_per_season():
    inputs = {"season": np.array([2000.0, 2001.0]), "week": np.zeros(2)}
    kernel = Matern12(SeasonGap("season", "week", gap=(4, 9))).bounded(inputs)
    assert kernel.length == ((pytest.approx(3), pytest.approx(60)),)


def test_length_bounds_with_a_single_time():
    inputs = {"season": np.array([2000.0]), "week": np.zeros(1)}
    assert Matern12(SeasonGap("season", "week")).bounded(inputs).length == ((0.1, 10.0),)


def test_lengths_must_be_known():
    with pytest.raises(
        ConfigError, match=r"SeasonGap\('season', 'week'\): the lengths .* bounded"
    ):
        SeasonGap("season", "week").at(THETA)


def test_lengths_must_make_sense():
    with pytest.raises(ConfigError, match="season 2000 has length -1; expected a finite"):
        SeasonGap("season", "week", lengths={2000: -1})
    with pytest.raises(ConfigError, match="repeat a season; expected each once"):
        SeasonGap("season", "week", lengths=[(2000, 1), (2000, 2)])


def test_weeks_start_at_zero():
    with pytest.raises(DataError, match="column 'week' goes down to -2; expected the time"):
        SeasonGap("season", "week").bounded({"season": np.ones(1), "week": np.array([-2.0])})


def test_season_and_week_are_two_columns():
    with pytest.raises(ConfigError, match="repeat a name"):
        SeasonGap("week", "week")
