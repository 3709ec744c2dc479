"""A million simulated ratings, fitted on one device.

    python benchmarks/million.py [--ratings 1000000] [--rank 2] [--chains 4] [--warmup 300]
        [--draws 500] [--seed 0] [--name million]

Ratings of one to five stars are drawn from the model itself: users whose taste changes from day
to day (Matern 1/2) rate films that stay what they are; a few users and films have most of the
ratings. A hundredth is held out. Told are the seconds from the table to the fit, compilation
included, R-hat and effective draws of 500 held-out means, and the mean log probability of what
was held out, beside that of the chances it was drawn with. Results of a whole million are
written to benchmarks/results/million.json.
"""

import argparse
import json
import time
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from places import write_result
from rated import mean_log_prob
from raters import _agreement, _level_probs
from ratings import peak

WHOLE = 1_000_000
PER_USER, PER_FILM = 150, 250  # ratings, on average
LEVELS, DAYS, LENGTH = 5, 1000, 200.0
CUTS = np.array([-2.5, -1.0, 0.5, 2.0])
HELD = 0.01  # share that is held out
DIAGNOSED = 500  # held-out means


class Drawn(NamedTuple):
    """Ratings, and the chances they were drawn with."""

    frame: pd.DataFrame
    probs: np.ndarray  # ratings x levels


def drawn(count: int, rank: int, seed: int) -> Drawn:
    """Ratings from the model.

    Args:
        count: How many.
        rank: Of the features.
        seed: Of everything.
    """
    random = np.random.default_rng(seed)
    users, films = max(count // PER_USER, 5), max(count // PER_FILM, 5)
    user, film = _popular(random, users, count), _popular(random, films, count)
    # A user comes back now and then, and rates a dozen films.
    visit = random.integers(0, DAYS, (users, 12))
    day = visit[user, random.integers(0, 12, count)]
    u = 0.5 / np.sqrt(rank) + 0.6 / np.sqrt(rank) * _paths(random, rank, users)[:, user, day]
    v = 0.54 + 0.7 * random.standard_normal((rank, films))[:, film]
    added = (
        0.5 * random.standard_normal(users)[user] + 0.7 * random.standard_normal(films)[film]
    )
    y = added + np.sum(u * np.logaddexp(0.0, v), axis=0)
    below = 1 / (1 + np.exp(y[:, None] - CUTS))
    ends = np.zeros((count, 1))
    probs = np.diff(np.hstack([ends, below, ends + 1]), axis=1)
    level = 1.0 + np.sum(random.random((count, 1)) > below, axis=1)
    frame = pd.DataFrame({"user": user, "film": film, "day": day.astype(float), "level": level})
    return Drawn(frame, probs)


def _popular(random: np.random.Generator, members: int, count: int) -> np.ndarray:
    """A member for each rating; the first have most."""
    weight = np.arange(10, members + 10.0) ** -0.6
    return random.choice(members, count, p=weight / weight.sum())


def _paths(random: np.random.Generator, rank: int, members: int) -> np.ndarray:
    """Functions of the day with variance 1 that forget in LENGTH days."""
    keep = np.exp(-1 / LENGTH)
    path = np.empty((rank, members, DAYS), np.float32)
    path[..., 0] = random.standard_normal((rank, members))
    for day in range(1, DAYS):
        fresh = np.sqrt(1 - keep**2) * random.standard_normal((rank, members))
        path[..., day] = keep * path[..., day - 1] + fresh
    return path


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Fit and forecast."""
    import jax

    import dpmf
    from dpmf.kernels import Constant, Matern12
    from dpmf.likelihoods import Ordinal

    frame, probs = drawn(options.ratings, options.rank, options.seed)
    held = np.random.default_rng(options.seed + 1).random(len(frame)) < HELD
    clock = time.monotonic()
    told: list[tuple[str, int, float]] = []

    def progress(stage: str, done: int, total: int) -> None:
        told.append((stage, done, round(time.monotonic() - clock, 1)))
        print(*told[-1], flush=True)

    data = dpmf.Dyads.from_frame(
        frame[~held], row="user", col="film", value="level", inputs=["day"]
    )
    kernel = (Matern12("day"), Constant())
    model = dpmf.DPMF(options.rank, kernel, Ordinal(LEVELS), intercepts=True)
    run = {name: getattr(options, name) for name in ("chains", "warmup", "draws", "seed")}
    fit = model.fit(data, progress=progress, **run)
    fit_s = time.monotonic() - clock
    test = frame[held]
    some = np.linspace(0, len(test) - 1, min(DIAGNOSED, len(test))).astype(int)
    said = _level_probs(fit.predict(test.iloc[some]))
    level = test["level"].to_numpy().astype(int)[some] - 1
    steps = np.asarray(fit.draws.stats["steps"])
    return {
        "ratings": int((~held).sum()),
        "users": int(frame["user"].nunique()),
        "films": int(frame["film"].nunique()),
        "model": str(model),
        "rank": options.rank,
        **run,
        "fit_s": round(fit_s, 1),
        "stages": told,
        "leapfrog_steps": float(steps.mean()),
        "step_size": float(np.asarray(fit.draws.tuning["step_size"])),
        **_agreement(fit, test.iloc[some]),
        "mean_log_prob": mean_log_prob(said, level),
        "mean_log_prob_of_the_truth": mean_log_prob(probs[held][some], level),
        "line": fit.diagnostics.line(),
        "peak_mib": peak(),
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "dpmf": version("dpmf"),
    }


def main() -> None:
    """Run once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="million", help="of the results")
    parser.add_argument("--ratings", type=int, default=WHOLE)
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = measured(options)
    print(json.dumps(found, indent=1))
    if options.ratings >= WHOLE:
        write_result(options.name, found)


if __name__ == "__main__":
    main()
