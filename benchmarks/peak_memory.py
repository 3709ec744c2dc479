"""The most memory that a fit of three NBA seasons holds, with ten chains.

    python benchmarks/peak_memory.py [--rank 3] [--chains 10] [--warmup 50] [--draws 100]

Peak resident memory of the whole process, imports and compiler included; more steps hold no
more, kept draws apart. Results go to benchmarks/results/peak-memory.json.
"""

import argparse
import json
import resource
from pathlib import Path

import jax
from places import NBA, write_result

import dpmf
from dpmf.sports import score_model

SEASONS = 2003, 2005


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=Path, default=NBA)
    parser.add_argument("--rank", type=int, default=3)
    parser.add_argument("--chains", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=50)
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()
    games = dpmf.read_games(options.games)
    past = games.between(*SEASONS)
    sizes = {name: getattr(options, name) for name in ("chains", "warmup", "draws")}
    fit = score_model(options.rank).fit(past, progress=False, **sizes)
    found = {
        "about": {"games": len(past.frame), "rank": options.rank, **sizes,
                  "device": jax.devices()[0].device_kind, "jax": jax.__version__},
        "draws_mib": round(sum(x.nbytes for x in jax.tree.leaves(fit.draws.states)) / 2**20),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }  # fmt: skip
    print(json.dumps(found))
    write_result("peak-memory", found)


if __name__ == "__main__":
    main()
