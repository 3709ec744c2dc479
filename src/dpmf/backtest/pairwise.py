"""Strengths that are Gaussian processes over time, by the package `kickscore`."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import Forecasts, Plan, known_scores, package
from dpmf.backtest.prediction import Prediction

YEAR = 365.25
SHARES = (0.05, 0.1, 0.2)  # of the margin's variance that a team's strength may have
SCALES = (0.25, 1.0, 4.0)  # years over which it changes


@dataclasses.dataclass(frozen=True)
class Kickscore:
    """Margins are differences of two strengths, plus an item for playing at home.

    The variance and time scale of strengths are those with the largest marginal likelihood
    of the games before the first cutoff. With `rest` there is another item, for teams that
    played the day before where their opponents did not.
    """

    rest: bool = False

    def forecasts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Forecasts:
        kickscore = package("kickscore")
        years = (frame["date"] - frame["date"].min()).dt.days.to_numpy() / YEAR

        def fitted(past: np.ndarray, share: float, scale: float):
            margin = -np.diff(known_scores(frame, past), axis=1)[:, 0]
            variance = margin.var()
            model = kickscore.DifferenceModel(var=(1 - 2 * share) * variance)
            kernel = kickscore.kernel
            model.add_item("home", kernel.Constant(margin.mean() ** 2 + 1.0))
            if self.rest:
                model.add_item("tired", kernel.Constant(margin.mean() ** 2 + 1.0))
            known = frame[past]
            for team in sorted({*frame["home_team"], *frame["away_team"]}):
                half = share * variance / 2
                strength = kernel.Constant(half) + kernel.Exponential(half, scale)
                model.add_item(team, strength)
            rows = zip(known.itertuples(), margin, years[past], strict=True)
            for game, diff, year in rows:
                model.observe(*self._items(game), diff=diff, t=year)
            model.fit()
            return model

        first = min(cutoffs, key=lambda cutoff: cutoff.start).past(frame, plan.window)
        best = max(
            ((share, scale) for share in SHARES for scale in SCALES),
            key=lambda pair: fitted(first, *pair).log_likelihood,
        )

        def one(cutoff: Cutoff) -> Prediction:
            past, upcoming = cutoff.past(frame, plan.window), cutoff.upcoming(frame)
            model = fitted(past, *best)
            total = known_scores(frame, past).sum(axis=1)
            means, variances = [], []
            for game, year in zip(frame[upcoming].itertuples(), years[upcoming], strict=True):
                ours, theirs = self._items(game)
                items = [(name, 1.0) for name in ours] + [(name, -1.0) for name in theirs]
                found = [model.item[name].predict([year]) for name, _ in items]
                means.append(
                    sum(s * float(m[0]) for (_, s), (m, _) in zip(items, found, strict=True))
                )
                variances.append(model.var + sum(float(v[0]) for _, v in found))
            guess = np.stack(
                [total.mean() + np.array(means), total.mean() - np.array(means)], 1
            )
            apart, together = np.mean(variances), total.var()
            shape = np.array([[1.0, 1.0], [1.0, 1.0]]) * together
            shape += np.array([[1.0, -1.0], [-1.0, 1.0]]) * apart
            return Prediction.normal(guess / 2, shape / 4)

        return Forecasts([one(cutoff) for cutoff in cutoffs])

    def _items(self, game) -> tuple[list[str], list[str]]:
        """What speaks for the home team, and for the visitors."""
        ours, theirs = [game.home_team], [game.away_team]
        ours += [] if game.neutral else ["home"]
        if self.rest and game.rest:
            (theirs if game.rest > 0 else ours).append("tired")
        return ours, theirs
