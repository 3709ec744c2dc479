"""A season of the NBA, refitted every day: what a GPU is for.

    python benchmarks/daily.py [--season 2005] [--chains 4]

All cutoffs run side by side, cold, with their hyperparameters sampled. The time is that of the
whole backtest, compilation and scoring included, imports apart. Results go to
benchmarks/results/daily.json; those with the programs that an earlier run has left in jax's
persistent cache (JAX_COMPILATION_CACHE_DIR) are given a `--name daily-cached`.
"""

import argparse
import json
import os
import time
from pathlib import Path

import jax
from places import NBA, write_result

import dpmf
from dpmf.sports import score_model


def main() -> None:
    """Run it, print and write what came of it."""
    options = _options()
    games = dpmf.read_games(options.games)
    sizes = {"chains": options.chains, "warmup": options.warmup, "draws": options.draws}
    begun = time.monotonic()
    result = dpmf.backtest(
        games, {"dpmf": score_model(options.rank)}, seasons=[options.season], block="1d",
        blocks=options.days, baselines=[], progress=False, **sizes,
    )  # fmt: skip
    fits, summary = result.fits, result.summary
    found = {
        "about": {
            "season": options.season, "rank": options.rank, **sizes,
            "device": jax.devices()[0].device_kind, "jax": jax.__version__,
            "cores": len(os.sched_getaffinity(0)),
        },
        "cutoffs": len(fits),
        "seconds": round(time.monotonic() - begun, 1),
        "rhat_max": round(float(fits["rhat_max"].max()), 3),
        "rhat_above_1_05": int((fits["rhat_max"] > 1.05).sum()),
        "ess_median_least": round(float(fits["ess_median"].min()), 1),
        "mean_log_prob": round(float(summary["mean_log_prob"].iloc[-1]), 4),
        "winner_error_pct": round(float(summary["winner_error_pct"].iloc[-1]), 2),
    }  # fmt: skip
    print(json.dumps(found))
    write_result(options.name, found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="daily", help="of the results")
    parser.add_argument("--games", type=Path, default=NBA)
    parser.add_argument("--season", type=int, default=2005)
    parser.add_argument("--days", type=int, default=None, help="the first so many; all")
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--draws", type=int, default=100)
    return parser.parse_args()


if __name__ == "__main__":
    main()
