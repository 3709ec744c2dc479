"""Elo ratings of games in the order of play, and the scores that they suggest."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import Forecasts, Plan, error_covariance, known_scores
from dpmf.backtest.prediction import Prediction

STEP = 20.0  # a win against an equal team moves both by half of it
SCALE = 400.0  # points that make a win ten times as likely as a loss
CARRIED = 2 / 3  # of a rating, from one season to the next
LEAST = 0.01  # share of home wins, so that a perfect record has a finite advantage


class Ratings(NamedTuple):
    """What games have taught."""

    points: dict[str, float]  # of every team seen, around 0
    season: int | None  # of the last game
    advantage: float  # of playing at home, in points
    before: Float[np.ndarray, " games"]  # lead of the home team before each game, in points

    def leads(self, games: pd.DataFrame) -> Float[np.ndarray, " games"]:
        """The lead of the home team in games to come; a team never seen has 0 points."""
        kept = np.where(games["season"] != self.season, CARRIED, 1.0)
        apart = [
            self.points.get(home, 0.0) - self.points.get(away, 0.0)
            for home, away in zip(games["home_team"], games["away_team"], strict=True)
        ]
        return kept * np.array(apart) + self.advantage * ~games["neutral"].to_numpy(bool)


def rated(games: pd.DataFrame) -> Ratings:
    """Ratings after games in the order of play.

    A game moves both teams by `STEP` times what its result (1, 1/2 or 0) differs from what was
    expected, 1 / (1 + 10^(-lead / `SCALE`)). The advantage of the home team is the lead at
    which the expectation is the share of wins that home teams had.
    """
    margins = (games["home_score"] - games["away_score"]).to_numpy(float)
    results = np.where(margins == 0, 0.5, margins > 0)
    at_home = ~games["neutral"].to_numpy(bool)
    share = np.clip(results[at_home].mean() if at_home.any() else 0.5, LEAST, 1 - LEAST)
    advantage = float(SCALE * np.log10(share / (1 - share)))
    points: dict[str, float] = {}
    season, before = None, np.zeros(len(games))
    pairs = zip(games["season"], games["home_team"], games["away_team"], strict=True)
    for place, (year, home, away) in enumerate(pairs):
        if season is not None and year != season:
            points = {team: CARRIED * own for team, own in points.items()}
        season = int(year)
        lead = points.get(home, 0.0) - points.get(away, 0.0) + advantage * at_home[place]
        before[place] = lead
        moved = STEP * (results[place] - 1 / (1 + 10 ** (-lead / SCALE)))
        points[home] = points.get(home, 0.0) + moved
        points[away] = points.get(away, 0.0) - moved
    return Ratings(points, season, advantage, before)


class Elo:
    """Margins in proportion to the lead in Elo points, and the total of all earlier games.

    The proportion is that of least squares in the games before a cutoff, each with its lead
    before it was played; errors there give the covariance.
    """

    def forecasts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Forecasts:
        def one(cutoff: Cutoff) -> Prediction:
            past = cutoff.past(frame, None)  # ratings remember all seasons, whatever the window
            values, found = known_scores(frame, past), rated(frame[past])
            margins, total = values @ np.array([1.0, -1.0]), values.sum(axis=1).mean()
            slope = found.before @ margins / max(found.before @ found.before, 1e-12)

            def guess(leads: np.ndarray) -> np.ndarray:
                return np.stack([total + slope * leads, total - slope * leads], axis=1) / 2

            covariance = error_covariance(values - guess(found.before))
            return Prediction.normal(
                guess(found.leads(frame[cutoff.upcoming(frame)])), covariance
            )

        return Forecasts([one(cutoff) for cutoff in cutoffs])
