"""Time of one gradient on simulated ratings, each at its own time; `gradient.py [rank]`.

Sizes go up to those of MovieLens: 100,000 ratings by 671 users of 9,066 films. Prints a line
for each size and how the time grows with the number of ratings (1: linearly).
"""

import sys
import time

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd

import dpmf
from dpmf import kernels, likelihoods
from dpmf.inference import position, theta
from dpmf.inference.problem import Problem
from dpmf.inference.start import start
from dpmf.model.layout import grids, layout
from dpmf.model.state import FREE_ALL

SHARES = (8, 4, 2, 1)  # the largest size over these
RATINGS, USERS, FILMS = 100_000, 671, 9_066
REPEATS = 30


def ratings(share: int) -> dpmf.Dyads:
    """A few users and films have most ratings; no two ratings have the same time."""
    random = np.random.default_rng(0)
    count = RATINGS // share

    def drawn(members: int, power: float) -> np.ndarray:
        weight = np.arange(1, members + 1.0) ** -power
        rest = random.choice(members, count - members, p=weight / weight.sum())
        return random.permutation(np.concatenate([np.arange(members), rest])).astype(str)

    frame = pd.DataFrame(
        {
            "user": drawn(USERS // share, 0.6),
            "film": drawn(FILMS // share, 0.8),
            "days": np.sort(random.choice(10**9, count, replace=False)) / 86_400,
            "stars": random.integers(1, 6, count).astype(float),
        }
    )
    return dpmf.Dyads.from_frame(frame, row="user", col="film", value="stars", inputs=["days"])


def seconds(data: dpmf.Dyads, rank: int) -> tuple[float, float]:
    """Wall and processor time of one gradient of one chain; medians."""
    model = dpmf.DPMF(rank, kernels.Matern12("days"), likelihoods.Ordinal(5))
    spec = model.spec(data)
    problem = Problem(layout(grids(spec, data), data)[1], FREE_ALL, spec)
    given, rest, known = theta.held(problem, start(problem, jnp.zeros(()), jr.key(0)))
    here = position.position(given, rest, known)
    gradient = jax.jit(jax.grad(position.log_density, argnums=1))
    gradient(given, here, known).block_until_ready()
    taken = []
    for _ in range(REPEATS):
        clocks = time.perf_counter(), time.process_time()
        gradient(given, here, known).block_until_ready()
        taken.append((time.perf_counter() - clocks[0], time.process_time() - clocks[1]))
    wall, processor = np.median(taken, axis=0)
    return float(wall), float(processor)


def main(rank: int) -> None:
    """Measure every size."""
    counts, times = [], []
    for share in SHARES:
        data = ratings(share)
        wall, processor = seconds(data, rank)
        counts.append(data.events)
        times.append(wall)
        print(
            f"{data.events:>7,} ratings, rank {rank}: {1e3 * wall:.1f} ms a gradient, "
            f"{1e3 * processor:.1f} ms of processor",
            flush=True,
        )
    slope = np.polyfit(np.log(counts), np.log(times), 1)[0]
    print(f"time grows as ratings to the power {slope:.2f}")


if __name__ == "__main__":
    with jax.enable_x64(True):
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
