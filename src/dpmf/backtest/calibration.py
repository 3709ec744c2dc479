"""Scores of single events in; how often what was said came true out."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.stats import binom, norm

BINS = 10
BAND = 0.9  # probability of the error bars, and of the band around a flat histogram


class Reliability(NamedTuple):
    """Games binned by the chance that was given to the home team; empty bins are left out."""

    said: Float[np.ndarray, " bins"]  # mean chance
    won: Float[np.ndarray, " bins"]  # share of home wins; a tie is half of one
    low: Float[np.ndarray, " bins"]  # where the true share may lie (Wilson's interval)
    high: Float[np.ndarray, " bins"]
    games: np.ndarray


class Flatness(NamedTuple):
    """Counts of PIT values in bins of equal width; a calibrated forecaster's are level."""

    counts: np.ndarray
    expected: float  # in each bin
    low: float  # nine bins of ten lie between these if it is calibrated
    high: float


def reliability(scores: pd.DataFrame, bins: int = BINS) -> Reliability:
    """Chances against what happened.

    Args:
        scores: Rows of one forecaster.
        bins: Of equal width between 0 and 1.
    """
    known = scores[scores["p_home"].notna()]
    said = known["p_home"].to_numpy(float)
    margin = (known["home_score"] - known["away_score"]).to_numpy(float)
    won = np.where(margin == 0, 0.5, margin > 0)
    place = np.minimum((said * bins).astype(int), bins - 1)
    games = np.bincount(place, minlength=bins)
    used = games > 0
    count = games[used].astype(float)
    share = np.bincount(place, won, bins)[used] / count
    low, high = _wilson(share, count)
    mean = np.bincount(place, said, bins)[used] / count
    return Reliability(mean, share, low, high, games[used])


def flatness(pit: pd.Series, bins: int = BINS) -> Flatness:
    """The histogram of one forecaster's PIT values; those that are missing do not count."""
    values = pit.dropna().to_numpy(float)
    counts, _ = np.histogram(values, bins=bins, range=(0.0, 1.0))
    tail = (1 - BAND) / 2
    low, high = binom.ppf([tail, 1 - tail], len(values), 1 / bins)
    return Flatness(counts, len(values) / bins, float(low), float(high))


def _wilson(
    share: Float[np.ndarray, " bins"], count: Float[np.ndarray, " bins"]
) -> tuple[np.ndarray, np.ndarray]:
    z = norm.ppf((1 + BAND) / 2)
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    half = z * half / (1 + z**2 / count)
    return middle - half, middle + half
