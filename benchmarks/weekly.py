"""A season of the NBA, refitted every week: DPMF against kickscore and margin-dependent Elo.

    python benchmarks/weekly.py [--season 2005] [--weeks 3] [--only kickscore]

All forecast the same games from the same past, one after another on the same machine; the
time of each is that of all its forecasts, with whatever it compiles or searches for. Results
of all go to benchmarks/results/weekly.json; those of some are only printed.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
from places import NBA, write_result

import dpmf
from dpmf.backtest.baselines import Melo
from dpmf.backtest.pairwise import Kickscore
from dpmf.sports import score_model

ENOUGH = 100  # effective draws of a predicted mean, in the median over those of a week


def main() -> None:
    """Run all, print and write what came of it."""
    options = _options()
    games = dpmf.read_games(options.games)
    sizes = {"chains": options.chains, "warmup": options.warmup, "draws": options.draws}
    found: dict[str, Any] = {
        "about": {
            "season": options.season, "weeks": options.weeks, "cores": os.cpu_count(),
            "device": jax.devices()[0].device_kind, **sizes,
        }
    }  # fmt: skip
    contestants = {
        "melo": Melo(),
        "kickscore": Kickscore(),
        "kickscore_rest": Kickscore(rest=True),
        "dpmf": score_model(options.rank),
        "dpmf_rest_pace": score_model(options.rank, ("time", "home", "rest", "pace")),
    }
    chosen = options.only.split(",") if options.only else list(contestants)
    for name, forecaster in ((name, contestants[name]) for name in chosen):
        begun = time.monotonic()
        result = dpmf.backtest(
            games, {name: forecaster}, seasons=[options.season], block="1w",
            blocks=options.weeks, baselines=[], progress=False, **sizes,
        )  # fmt: skip
        found[name] = {"seconds": round(time.monotonic() - begun, 1), **_row(result)}
        print(name, json.dumps(found[name]), flush=True)
    if options.only:
        return
    ratio = found["dpmf"]["seconds"] / found["kickscore"]["seconds"]
    print(f"seconds of dpmf, as a multiple of kickscore's: {ratio:.2f}")
    write_result("weekly", found)


def _row(result: Any) -> dict[str, Any]:
    scores: pd.DataFrame = result.scores
    margin = scores["home_score"] - scores["away_score"]
    guess = scores["home_mean"] - scores["away_mean"]
    row = {
        "games": len(scores),
        "winner_error_pct": round(100 * scores["winner_error"].mean(), 2),
        "log_loss": round(scores["log_loss"].mean(), 4),
        "margin_rmse": round(float(np.sqrt(np.mean((guess - margin) ** 2))), 3),
    }
    if len(result.fits):
        ess, rhat = result.fits["ess_median"], result.fits["rhat_max"]
        row |= {
            "cutoffs": len(ess),
            "ess_median_least": round(ess.min(), 1),
            "enough": bool((ess >= ENOUGH).all()),
            "rhat_max": round(rhat.max(), 3),
        }
    return row


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=Path, default=NBA)
    parser.add_argument("--season", type=int, default=2005)
    parser.add_argument("--weeks", type=int, default=None, help="the first so many; all")
    parser.add_argument("--only", help="some of the contestants; all")
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=150)
    parser.add_argument("--draws", type=int, default=80)
    return parser.parse_args()


if __name__ == "__main__":
    main()
