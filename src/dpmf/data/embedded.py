"""The games that come with the package, as a pandas frame."""

from importlib import resources

import pandas as pd


def nfl() -> pd.DataFrame:
    """NFL regular seasons 2009 to 2018: 2,559 games in order of date.

    The facts are those of the MIT-licensed package melo 1.1.2, left as they are. The
    league's record differs in three places: MIA-TB of 2017-11-19 (20-30) is missing,
    CIN scored 14 at BAL on 2016-11-27, and BUF met NYJ on 2014-11-24, a day later.

    Returns:
        One game per line: `date`; `season`, the year in which it starts; `home` and
        `away`, one code per franchise through all moves; `home_score` and `away_score`
        in points. Games on neutral ground are not marked.
    """
    path = resources.files("dpmf.data") / "nfl_2009_2018.csv.gz"
    with path.open("rb") as file:
        return pd.read_csv(file, compression="gzip", parse_dates=["date"])
