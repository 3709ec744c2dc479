"""A table of games in; the side information of each game out: season, week and venue."""

import pandas as pd

from dpmf.data import Dyads

AT_HOME = 0.5  # venue of the home team's cell; the visitors' is its mirror image


def with_inputs(games: pd.DataFrame) -> pd.DataFrame:
    """Games with the columns that a score model reads.

    Args:
        games: Columns `date`, `season`, `home`, `away`, and the scores if known.

    Returns:
        The teams as `home_team` and `away_team`, whole weeks since the season's first game
        as `week`, and the venue as `home`: 1/2 for the home team's cell.
    """
    renamed = games.rename(columns={"home": "home_team", "away": "away_team"})
    days = renamed["date"] - renamed.groupby("season")["date"].transform("min")
    return renamed.assign(week=(days.dt.days // 7).astype(float), home=AT_HOME)


def dyads(games: pd.DataFrame, *, source: str = "games") -> Dyads:
    """One event per game: what each attack scores against the other team's defence."""
    return Dyads.from_frame(
        games,
        row="home_team",
        col="away_team",
        value=("home_score", "away_score"),
        inputs=["season", "week", "home"],
        mirrored=["home"],
        source=source,
    )
