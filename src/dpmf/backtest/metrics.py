"""Predictions and what happened in; one row per event out, the same for every forecaster."""

import numpy as np
import pandas as pd
from jaxtyping import Float

from dpmf.backtest.goals import Goals
from dpmf.backtest.prediction import Prediction

MARGIN, TOTAL = np.array([1.0, -1.0]), np.array([1.0, 1.0])
LEAST = 1e-12  # probability, so that a certainty that was wrong costs much but not all


def scored(
    prediction: Prediction | Goals, values: Float[np.ndarray, "events 2"]
) -> pd.DataFrame:
    """Every metric of every event.

    Args:
        prediction: Of one forecaster.
        values: Both scores of each game.

    Returns:
        log_prob, winner_error (a tie, predicted or real, counts one half), squared_error
        (of both scores together), p_home with its log_loss and brier (a tie counts half a
        win), crps_margin, crps_total, and the PIT of margin and total. Where a draw has a
        probability, also p_win, p_draw and p_loss of the home team, the ranked probability
        score of those three (`rps`) and their `outcome_log_loss`.
    """
    margin, total = values @ MARGIN, values @ TOTAL
    guess = prediction.scores
    certain = prediction.home_wins
    expected = guess @ MARGIN if certain is None else certain - 0.5
    p_home = np.clip(prediction.probability, LEAST, 1 - LEAST)
    won = np.where(margin == 0, 0.5, margin > 0)
    wrong = np.where(margin * expected == 0, 0.5, margin * expected < 0)
    columns = {
        "home_mean": guess[:, 0],
        "away_mean": guess[:, 1],
        "log_prob": prediction.log_prob(values),
        "winner_error": np.where(np.isnan(expected), np.nan, wrong),
        "squared_error": ((guess - values) ** 2).sum(axis=1),
        "p_home": p_home,
        "log_loss": -(won * np.log(p_home) + (1 - won) * np.log(1 - p_home)),
        "brier": (p_home - won) ** 2,
        "crps_margin": prediction.crps(MARGIN, margin),
        "crps_total": prediction.crps(TOTAL, total),
        "pit_margin": prediction.cdf(MARGIN, margin),
        "pit_total": prediction.cdf(TOTAL, total),
    }
    outcomes = prediction.outcomes
    if outcomes is not None:
        columns |= _of_outcomes(outcomes, margin)
    return pd.DataFrame(columns)


def _of_outcomes(
    chances: Float[np.ndarray, "events 3"], margin: Float[np.ndarray, " events"]
) -> dict[str, np.ndarray]:
    """Scores of the probabilities of win, draw and loss, in that order."""
    real = np.stack([margin > 0, margin == 0, margin < 0], axis=1).astype(float)
    apart = np.cumsum(chances - real, axis=1)[:, :2]
    told = np.clip(np.sum(chances * real, axis=1), LEAST, 1.0)
    return {
        "p_win": chances[:, 0],
        "p_draw": chances[:, 1],
        "p_loss": chances[:, 2],
        "rps": np.sum(apart**2, axis=1) / 2,
        "outcome_log_loss": -np.log(told),
    }
