"""The embedded games against their source and against the league's record."""

import importlib.metadata

import pandas as pd
import pytest

from dpmf import datasets

GAME = ["date", "home", "away", "home_score", "away_score"]


@pytest.fixture(scope="module")
def games() -> pd.DataFrame:
    return datasets.nfl()


def melo_games() -> pd.DataFrame:
    """The file inside the installed melo, found without importing it."""
    try:
        files = importlib.metadata.files("melo") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("melo, the source of the embedded games, is not installed")
    (path,) = [file.locate() for file in files if file.name == "nfl.dat"]
    names = ["date", "home", "home_score", "away", "away_score"]
    return pd.read_csv(
        path, sep=r"\s+", skiprows=1, header=None, names=names, parse_dates=["date"]
    )


def test_every_game_is_that_of_melo(games):
    source = melo_games()
    assert len(games) == len(source) == 2559
    pd.testing.assert_frame_equal(games[GAME], source[GAME])


def test_columns_and_types(games):
    assert list(games.columns) == ["date", "season", *GAME[1:]]
    assert pd.api.types.is_datetime64_any_dtype(games["date"])
    for name in ["season", "home_score", "away_score"]:
        assert pd.api.types.is_integer_dtype(games[name])


def test_seasons_start_in_september(games):
    counts = games["season"].value_counts().to_dict()
    missing = {2017: 1}  # MIA-TB
    assert counts == {year: 256 - missing.get(year, 0) for year in range(2009, 2019)}
    for year, season in games.groupby("season"):
        assert season["date"].min() >= pd.Timestamp(year, 9, 1)
        assert season["date"].max() <= pd.Timestamp(year + 1, 1, 31)
    assert games["date"].is_monotonic_increasing


def test_january_belongs_to_the_season_before(games):
    january = games[games["date"] == "2010-01-03"]
    assert len(january) > 0
    assert (january["season"] == 2009).all()


def test_every_team_plays_every_season(games):
    for _, season in games.groupby("season"):
        played = pd.concat([season["home"], season["away"]]).value_counts()
        assert len(played) == 32
        assert played.between(15, 16).all()
    assert (games["home"] != games["away"]).all()


def test_the_record_differs_only_where_the_docstring_says(games, shared_data):
    record = pd.read_csv(shared_data("nfl_games.csv.gz"), parse_dates=["date"])
    record = record[(record["is_playoff"] == 0) & record["season"].between(2009, 2018)]
    codes = {"JAX": "JAC", "LA": "LAR", "LV": "OAK"}
    record = record.replace({"home": codes, "away": codes})[GAME]
    both = games[GAME].merge(record, how="outer", indicator="found")
    only = both[both["found"] != "both"].drop(columns="found")
    assert {(f"{game.date:%Y-%m-%d}", *game[1:]) for game in only.itertuples(index=False)} == {
        ("2017-11-19", "MIA", "TB", 20, 30),
        ("2016-11-27", "BAL", "CIN", 19, 12),
        ("2016-11-27", "BAL", "CIN", 19, 14),
        ("2014-11-23", "BUF", "NYJ", 38, 3),
        ("2014-11-24", "BUF", "NYJ", 38, 3),
    }
