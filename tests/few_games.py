"""NFL games of a few teams, so few that a fit takes seconds."""

import pandas as pd

from dpmf import datasets

TEAMS = ["BUF", "MIA", "NE", "NYJ", "CIN", "PIT"]
CUTOFF = "2018-11-01"
TINY = ["--engine", "slice", "--chains", "2", "--warmup", "5", "--draws", "12"]


def few_games() -> pd.DataFrame:
    """Games of six teams against each other, in two seasons."""
    frame = datasets.nfl()
    own = frame["home"].isin(TEAMS) & frame["away"].isin(TEAMS)
    return frame[own & (frame["season"] >= 2017)]
