"""Effective draws per second of every sampler, on one training block of real games.

    python benchmarks/samplers.py [--rank 3] [--chains 4] [--minutes 15] [--runs sampled]
        [--only nuts,slice] [--knowledge FOLDER]

Three runs of the same model: kernel hyperparameters sampled; held; and all but the functions
held. A contestant stops when it has converged and has enough draws, or when its time is up;
then its effective draws are an upper bound, and ratios to it say "at least". Where draws are
too few for a rating, the bound is the most that any chains of so many draws are rated. There is
no ratio where ours has not converged. Results are written after each contestant to
benchmarks/results/samplers.json, beside those of runs that were made before.

What `hmc` has learned on its way, which others are given, is kept in a folder: then they may
run in processes of their own, on other cores of the same machine.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from arviz_stats.base import array_stats
from block import Block, block
from contestants import (
    Chunks,
    Course,
    Known,
    engine,
    held,
    member_slices,
    nuts,
    one_ellipse,
)
from places import NBA, ROOT, known_result, write_result
from ratios import PAIRS, ratios, told

from dpmf.inference.problem import Problem
from dpmf.model.state import State
from dpmf.whole import make_folder, write_whole

RHAT, ENOUGH, FEWEST = 1.05, 400, 200  # R-hat, median effective draws, draws of a chain
RATED = 25  # draws of a chain; with fewer, their rating is a guess
MORE = 1.5  # times as many draws as when it was last looked whether they are enough
# Warm-up and chunk of each contestant.
COURSES = {
    "hmc": (400, 50),
    "slice": (600, 50),
    "nuts": (150, 5),
    "members": (300, 50),
    "one_ellipse": (300, 50),
}


class Compiling:
    """When jax was tracing and compiling."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, float]] = []
        jax.monitoring.register_event_duration_secs_listener(self._told)

    def _told(self, event: str, seconds: float, **about: Any) -> None:
        if event.startswith("/jax/core/compile/"):
            now = time.monotonic()
            self._spans.append((now - seconds, now))

    @property
    def seconds(self) -> float:
        """In all; what lies within something else is not counted twice."""
        total, reached = 0.0, 0.0
        for start, end in sorted(self._spans):
            total += max(0.0, end - max(start, reached))
            reached = max(reached, end)
        return total


def main() -> None:
    """Run all of them, and say how they compare."""
    options = _options()
    found = known_result(options.name)
    with jax.enable_x64(True):
        _run(options, found)
    print(told(found))


def _run(options: argparse.Namespace, found: dict[str, Any]) -> None:
    free = block(options.rank, options.games)
    about = {
        "block": free.name, "rank": options.rank, "chains": options.chains,
        "seed": options.seed, "jax": jax.__version__,
        "device": jax.devices()[0].device_kind, "cores": len(os.sched_getaffinity(0)),
        "coordinates": sum(x.size for x in jax.tree.leaves(free.problem.template())),
    }  # fmt: skip
    if found.get("about", about) != about:
        raise SystemExit(f"{options.name}: was made with {found['about']}; take another --name")
    found["about"] = about
    wanted, taking_part = options.runs.split(","), options.only.split(",")
    compiling = Compiling()

    def take_part(run: str, name: str, begin, own: Block, learn=None) -> None:
        asked = run in wanted and name in taking_part
        if not (asked or learn):
            return  # nobody asked, and nobody needs to know
        warmup, chunk = COURSES[name]
        chunks = begin(own, Course(options.chains, warmup, chunk, options.seed))
        row = measured(chunks, own, compiling, 60 * options.minutes, learn)
        if not asked:
            return
        row["minutes"] = options.minutes
        found.update(known_result(options.name))  # others may have written meanwhile
        found["about"] = about
        contestants = found.setdefault("runs", {}).setdefault(run, {"contestants": {}})
        contestants["contestants"][name] = row
        print(run, name, json.dumps(row), flush=True)
        found.update(ratios(found["runs"]))
        write_result(options.name, found)

    def knowing(run: str, own: Block) -> Knowledge:
        """From the folder, or else from `hmc`."""
        known = Knowledge(own.problem)
        kept = options.knowledge / f"{run}-rank{options.rank}.npz"
        if kept.exists():
            known.load(kept)
            take_part(run, "hmc", our("hmc"), own)
        else:
            take_part(run, "hmc", our("hmc"), own, known.learn)
            known.save(kept)
        return known

    def our(name: str):
        return lambda own, course: engine(name, own, course)

    def numpyro(own: Block, course: Course) -> Chunks:
        return nuts(own, course, known.known(course.chains))

    known = knowing("sampled", free)
    one = known.state()
    take_part("sampled", "nuts", numpyro, free)
    take_part("sampled", "slice", our("slice"), free)
    fixed = free._replace(problem=held(free.problem, one))
    if not {"fixed", "white"} & set(wanted):
        return
    known = knowing("fixed", fixed)
    take_part("fixed", "nuts", numpyro, fixed)
    take_part("fixed", "slice", our("slice"), fixed)
    state = known.state()
    take_part("white", "members", lambda own, course: member_slices(own, course, state), fixed)
    take_part(
        "white", "one_ellipse", lambda own, course: one_ellipse(own, course, state), fixed
    )


class Knowledge:
    """What `hmc` finds out on its way, for those who are given it."""

    def __init__(self, problem: Problem) -> None:
        self.count, self.sums, self.last = 0, None, None
        self._flat = jax.jit(jax.vmap(jax.vmap(problem.flat)))
        self._template = problem.template()

    def learn(self, states: State) -> None:
        """Draws with axes (chains, draws)."""
        x = self._flat(states)
        now = np.stack([np.asarray(x.sum(axis=1)), np.asarray((x**2).sum(axis=1))])
        self.sums = now if self.sums is None else self.sums + now
        self.count += x.shape[1]
        self.last = jax.tree.map(lambda leaf: leaf[:, -1], states)

    def save(self, path: Path) -> None:
        """For processes that are to know the same."""
        leaves = {f"leaf{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(self.last))}

        def write(place: Path) -> None:
            with place.open("wb") as file:
                np.savez(file, count=self.count, sums=self.sums, **leaves)

        make_folder(path.parent)
        write_whole(path, write)

    def load(self, path: Path) -> None:
        """What was saved, of the same problem."""
        with np.load(path) as kept:
            self.count, self.sums = int(kept["count"]), kept["sums"]
            leaves = [kept[f"leaf{i}"] for i in range(len(kept) - 2)]
        self.last = jax.tree.unflatten(jax.tree.structure(self._template), leaves)

    def known(self, chains: int) -> Known:
        """The latest states of so many chains, and the variance within all of them."""
        mean, square = self.sums / self.count
        variance = np.mean(square - mean**2, axis=0) * self.count / (self.count - 1)
        return Known(jax.tree.map(lambda leaf: jnp.asarray(leaf[:chains]), self.last), variance)

    def state(self) -> State:
        """The latest state of the first chain."""
        return jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), self.last)


def measured(
    chunks: Chunks, own: Block, compiling: Compiling, limit: float, learn
) -> dict[str, Any]:
    """What a contestant does within its time."""
    predicted = jax.jit(jax.vmap(jax.vmap(lambda s: own.predicted(own.problem, s)["y"])))
    began, compiled = time.monotonic(), compiling.seconds
    next(chunks)
    warm_compiled = compiling.seconds - compiled
    warmup = time.monotonic() - began - warm_compiled
    sampling, sample_compiled, kept, looked = 0.0, 0.0, [], 0
    while True:
        start, compiled = time.monotonic(), compiling.seconds
        states = jax.block_until_ready(next(chunks))
        now = compiling.seconds - compiled
        sample_compiled += now
        sampling += time.monotonic() - start - now
        if learn:
            learn(states)
        kept.append(np.asarray(predicted(states)))  # not counted: all need it alike
        total = warmup + warm_compiled + sampling + sample_compiled
        chains, draws = kept[0].shape[0], sum(one.shape[1] for one in kept)
        if total < limit and draws < max(FEWEST, MORE * looked):
            continue  # diagnostics take longer than many a chunk
        looked = draws
        y = np.concatenate(kept, axis=1).reshape(chains, draws, -1)
        cells = range(y.shape[2])
        rhat = np.array([array_stats.rhat(y[:, :, i]) for i in cells])
        ess = np.array([array_stats.ess(y[:, :, i], method="bulk") for i in cells])
        if draws < RATED:
            ess[:] = chains * draws * np.log10(chains * draws)  # none is ever rated higher
        converged = bool(rhat.max() <= RHAT)
        enough = np.median(ess) >= ENOUGH
        if (converged and enough) or total >= limit:
            break
    median = float(np.median(ess))
    return {
        "compile_s": round(warm_compiled + sample_compiled, 2),
        "warmup_s": round(warmup, 2),
        "sample_s": round(sampling, 2),
        "draws": draws,
        "rated": draws >= RATED,
        "ess_min": round(float(ess.min()), 1),
        "ess_median": round(median, 1),
        "ess_median_per_s": round(median / sampling, 4),
        "ess_median_per_total_s": round(median / total, 4),
        "rhat_max": round(float(rhat.max()), 4),
        "converged": converged,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="samplers", help="of the results")
    parser.add_argument("--games", type=Path, default=NBA)
    parser.add_argument("--rank", type=int, default=3)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--runs", default=",".join(PAIRS), help="some of these")
    parser.add_argument("--only", default=",".join(COURSES), help="contestants that take part")
    parser.add_argument(
        "--knowledge",
        type=Path,
        default=ROOT / "benchmarks" / "unfinished" / "samplers",
        help="folder of what hmc has learned",
    )
    parser.add_argument("--minutes", type=float, default=15.0, help="of each contestant")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
