"""A small league with everything a games file can have."""

import numpy as np
import pandas as pd

TEAMS = list("ABCDEF")
COST = 12.0  # points of margin that the day before costs, far more than in any league


def league(seed=0) -> pd.DataFrame:
    """Three seasons of eight weeks; each week every team plays once."""
    random = np.random.default_rng(seed)
    rows = []
    for season in (2001, 2002, 2003):
        for week in range(8):
            date = pd.Timestamp(f"{season}-09-02") + pd.Timedelta(weeks=week)
            order = random.permutation(TEAMS)
            for home, away in zip(order[:3], order[3:], strict=True):
                margin = random.normal(3, 10)
                total = random.normal(45, 10)
                rows.append((date, home, away, total + margin, total - margin))
    names = ["date", "home", "away", "home_score", "away_score"]
    frame = pd.DataFrame(rows, columns=names)
    scores = ["home_score", "away_score"]
    frame[scores] = frame[scores].round()
    frame["spread_home"] = random.normal(-3, 5, len(frame)).round()
    frame["total"] = random.normal(45, 5, len(frame)).round()
    frame["elo_home_prob"] = random.uniform(0.2, 0.8, len(frame))
    frame["neutral"] = (np.arange(len(frame)) % 17 == 0).astype(int)
    return frame


def tiring(seasons: tuple[int, ...] = (2001, 2002)) -> pd.DataFrame:
    """Seasons in which teams that played the day before lose by `COST` points more."""
    random = np.random.default_rng(0)
    rows = []
    for season in seasons:
        for week in range(10):
            first = pd.Timestamp(f"{season}-09-02") + pd.Timedelta(weeks=week)
            order = random.permutation(TEAMS)
            tired = {*order[:2]}
            rows.append((first, *order[:2], *_scores(random, 3.0)))
            for home, away in random.permutation(order).reshape(3, 2):
                margin = 3 + COST * ((away in tired) - float(home in tired))
                day = first + pd.Timedelta(days=1)
                rows.append((day, home, away, *_scores(random, margin)))
    names = ["date", "home", "away", "home_score", "away_score"]
    return pd.DataFrame(rows, columns=names)


def _scores(random: np.random.Generator, margin: float) -> np.ndarray:
    return 50 + np.array([margin, -margin]) / 2 + random.normal(0, 3, 2)


def later_changed(frame: pd.DataFrame, start: pd.Timestamp) -> pd.DataFrame:
    """The same games with other scores from a day on."""
    changed = frame.copy()
    later = (frame["date"] >= start).to_numpy()
    changed.loc[later, ["home_score", "away_score"]] += np.array([[50.0, -13.0]])
    return changed
