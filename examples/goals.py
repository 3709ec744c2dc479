"""Simulated goals of a small league: what is learned about attack and defence, and a picture.

Run it as `python examples/goals.py [goals.html]`.
"""

import sys

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import dpmf
from dpmf.likelihoods import PairedPoisson

TEAMS, GAMES, SHARED = 8, 500, 0.4  # goals that both teams of an open game score together


def simulated() -> tuple[pd.DataFrame, np.ndarray]:
    """Games, and the expected goals of every team against every other, which nobody knows."""
    random = np.random.default_rng(3)
    attack, defence = random.normal(0.3, 0.4, TEAMS), random.normal(0.5, 0.4, TEAMS)
    rates = np.exp(attack[:, None] * np.log1p(np.exp(defence))[None])
    home = random.integers(TEAMS, size=GAMES)
    away = (home + random.integers(1, TEAMS, GAMES)) % TEAMS
    both = random.poisson(SHARED, GAMES)
    frame = pd.DataFrame({"home": home, "away": away}).map("Team {}".format)
    frame["home_goals"] = random.poisson(rates[home, away]) + both
    frame["away_goals"] = random.poisson(rates[away, home]) + both
    return frame, rates + SHARED


def main(out: str = "goals.html") -> None:
    """Fit the games, compare what was learned with the truth, and draw it."""
    games, truth = simulated()
    data = dpmf.Dyads.from_frame(
        games, row="home", col="away", value=("home_goals", "away_goals")
    )
    fit = dpmf.PMF(rank=1, likelihood=PairedPoisson()).fit(data, warmup=200, draws=200, seed=1)
    print(fit)
    pairs = [(a, b) for a in range(TEAMS) for b in range(TEAMS) if a < b]
    meetings = pd.DataFrame(pairs, columns=["home", "away"]).map("Team {}".format)
    forecast = fit.predict(meetings)
    real = np.array([[truth[a, b], truth[b, a]] for a, b in pairs])
    found = forecast.mean
    shared = fit.parameters.noise["shared"]
    print(f"Shared goals: {shared.mean():.2f} ± {shared.std():.2f}, in truth {SHARED}.")
    alike = np.corrcoef(found.ravel(), real.ravel())[0, 1]
    print(f"Correlation of expected goals with the truth: {alike:.2f}.")
    dots = go.Scatter(x=real.ravel(), y=found.ravel(), mode="markers", name="pairs of teams")
    figure = go.Figure(dots)
    ends = [real.min(), real.max()]
    figure.add_scatter(x=ends, y=ends, mode="lines", name="truth")
    figure.update_layout(xaxis_title="true expected goals", yaxis_title="learned")
    figure.write_html(out, include_plotlyjs=True)
    print(f"Picture: {out}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
