"""Pace: the mean of all teams follows how much is scored in the league."""

import numpy as np
import pandas as pd
import pytest

from dpmf import Games
from dpmf.sports import score_model

FASTER = 20.0  # points that every team scores more in the second half of the season


def speeding(seed=0) -> pd.DataFrame:
    """One season of 30 weeks, in the middle of which scores rise."""
    random = np.random.default_rng(seed)
    rows = []
    for week in range(30):
        date = pd.Timestamp("2001-09-02") + pd.Timedelta(weeks=week)
        order = random.permutation(list("ABCDEF"))
        for home, away in zip(order[:3], order[3:], strict=True):
            scores = 50 + FASTER * (week >= 15) + random.normal(0, 3, 2)
            rows.append((date, home, away, *scores))
    return pd.DataFrame(rows, columns=["date", "home", "away", "home_score", "away_score"])


def test_forecasts_follow_the_league():
    games = Games(speeding())
    last = games.frame.iloc[-1]
    ahead = pd.DataFrame(
        {"date": [last["date"] + pd.Timedelta(days=7)], "home": "A", "away": "B"}
    )
    upcoming = Games(ahead, upcoming=True, after=games)
    means = {}
    for side in ((), ("pace",)):
        model = score_model(side=side)
        fit = model.fit(games, chains=2, warmup=150, draws=50, progress=False)
        means[model.name] = model.predict(fit, upcoming).mean[0]
    assert set(means) == {"PMF", "DPMF(p)"}
    np.testing.assert_allclose(means["PMF"], 50 + FASTER / 2, atol=4)
    np.testing.assert_allclose(means["DPMF(p)"], 50 + FASTER, atol=4)


@pytest.mark.filterwarnings("ignore:games. no team played the day before")
def test_it_is_a_matter_of_the_mean_alone():
    games = Games(speeding())
    spec = (
        score_model(side=("home", "rest", "pace"))
        .model()
        .spec(games.dyads(("season", "week", "home", "rest")))
    )
    assert spec.rows.pooled.columns == ("home", "rest", "season", "week")
    assert spec.rows.kernel.columns == ("home",)
    assert spec.cols.pooled is None
