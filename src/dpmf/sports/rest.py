"""Days of games in; which teams played the day before out."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

TEAMS = ["home_team", "away_team"]
EVEN = 0.0  # rest of both teams, if both played the day before or neither
FRESHER = 0.5  # rest of a team that did not play the day before, against one that did
DAY = pd.Timedelta(days=1)


def last_days(
    frame: pd.DataFrame, known: Mapping[str, pd.Timestamp]
) -> dict[str, pd.Timestamp]:
    """The day of every team's last game.

    Args:
        frame: Games with date, home_team and away_team.
        known: The same of games before them.
    """
    found = _played(frame).groupby("team")["date"].max()
    later = {team: max(day, known.get(team, day)) for team, day in found.items()}
    return {**known, **later}


def rest(frame: pd.DataFrame, known: Mapping[str, pd.Timestamp]) -> np.ndarray:
    """The edge in rest of each game's home team: 1/2, 0 or -1/2; the visitors' is its negative.

    A team is tired that played the day before. Scores are not looked at, only the schedule.

    Args:
        frame: Games with date, home_team and away_team, some perhaps not played yet.
        known: Days of each team's last game before them.
    """
    before = pd.DataFrame({"team": list(known), "date": list(known.values())})
    played = pd.concat([_played(frame), before]) if known else _played(frame)
    days = set(zip(played["team"], played["date"], strict=True))
    home, away = (
        np.array(
            [(team, day - DAY) in days for team, day in zip(teams, frame["date"], strict=True)]
        )
        for teams in (frame[name] for name in TEAMS)
    )
    return FRESHER * (away.astype(float) - home)


def _played(frame: pd.DataFrame) -> pd.DataFrame:
    """Every team and day of a game."""
    each = [frame[[name, "date"]].set_axis(["team", "date"], axis=1) for name in TEAMS]
    return pd.concat(each, ignore_index=True)
