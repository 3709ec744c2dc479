"""The paper's table beside ours."""

import pandas as pd
import pytest

from dpmf.backtest.cutoffs import cutoffs
from dpmf.sports import read_games
from dpmf.sports.published import GAMES, KEYS, METRICS, published, with_published


def test_it_is_the_papers_table(shared_data):
    path = shared_data("README.md").parents[1] / "reference" / "table1.csv"
    if not path.exists():
        pytest.skip("table1.csv is not in ../shared/reference")
    source = pd.read_csv(path).rename(columns={"model": "forecaster", "K": "rank"})
    source["forecaster"] = source["forecaster"].replace("Expert", "line")
    wide = source.pivot_table(
        index=["forecaster", "rank", "season"], columns="metric", values="value", dropna=False
    )
    ours = published().set_index(KEYS)
    for key, row in wide.dropna(how="all").iterrows():
        pd.testing.assert_series_equal(
            ours.loc[[key], METRICS].iloc[0], row[METRICS], check_names=False
        )
    assert len(ours) == 189


def summary(games):
    rows = [("PMF", 1.0, season, count) for season, count in games.items()]
    table = pd.DataFrame(rows, columns=[*KEYS, "games"])
    return table.assign(mean_log_prob=-7.6, winner_error_pct=38.0, score_rmse=16.0)


def test_published_values_stand_beside_the_same_seasons():
    table = with_published(summary({"2002": 1189, "2004": 1230, "All": 2419}))
    found = table.set_index("season")["mean_log_prob_published"]
    assert found["2002"] == -7.644
    assert found["All"] == pytest.approx((found["2002"] + found["2004"]) / 2)


def test_other_games_have_no_published_values():
    table = with_published(summary({"2002": 256, "2004": 1230, "All": 1486}))
    found = table.set_index("season")["score_rmse_published"]
    assert found.isna().tolist() == [True, False, True]


def test_the_counts_are_those_of_the_real_games(shared_data):
    games = read_games(shared_data("nba_games.csv.gz"))
    for season, expected in GAMES.items():
        days = cutoffs(games.frame, [int(season)])
        blocks = days[:1] if season == "2009" else days
        assert sum(day.upcoming(games.frame).sum() for day in blocks) == expected
