"""When forecasts are made, and what is known then."""

import pandas as pd
import pytest

from dpmf import ConfigError
from dpmf.backtest.cutoffs import cutoffs, duration


def frame(days, season=2001, first="2001-11-01"):
    dates = pd.Timestamp(first) + pd.to_timedelta(days, unit="D")
    return pd.DataFrame({"date": dates, "season": season})


def test_the_last_block_takes_the_odd_days():
    games = frame(range(170))  # 24 weeks and 2 days, as a basketball season has
    found = cutoffs(games, [2001])
    assert [c.block for c in found] == [1, 2, 3, 4, 5, 6]
    assert [(c.stop - c.start).days for c in found] == [28] * 5 + [30]
    assert sum(c.upcoming(games).sum() for c in found) == len(games)


def test_a_long_rest_is_a_block_of_its_own():
    found = cutoffs(frame(range(50)), [2001])
    assert [(c.stop - c.start).days for c in found] == [28, 22]


def test_days_without_games_make_no_block():
    found = cutoffs(frame([0, 3, 4]), [2001], "1d")
    assert [c.block for c in found] == [1, 4, 5]


def test_the_past_is_what_was_played_before_within_the_window():
    games = pd.concat(
        [frame([0, 45], season, f"{season}-11-01") for season in (1999, 2000, 2001)],
        ignore_index=True,
    )
    second = cutoffs(games, [2001], "4w")[1]
    assert second.past(games, 2).tolist() == [False, False, True, True, True, False]
    assert second.past(games, None).tolist() == [True] * 5 + [False]
    assert second.upcoming(games).tolist() == [False] * 5 + [True]


def test_the_first_blocks_only():
    assert len(cutoffs(frame(range(170)), [2001], blocks=1)) == 1


def test_refusals():
    with pytest.raises(ConfigError, match=r"no games of 1950 .the file has 2001 to 2001"):
        cutoffs(frame([0]), [1950])
    for text in ("4", "w", "0w", "1m", "-1d"):
        with pytest.raises(ConfigError, match="expected a number of days or weeks"):
            duration(text, "block")
    assert duration("4w", "block") == 28
