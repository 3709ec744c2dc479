"""Both engines and NumPyro's NUTS on two NFL seasons: the same predictions.

Chains are independent, so their spread gives the Monte-Carlo error of every mean and sd.
A run can stop after some minutes and go on later: the last states and the sums so far are
kept in a folder. Another batch of chains has its own seeds and its own files, which may be
made elsewhere and put beside the others: all that are found are joined.
"""

import pickle
import time
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
from scipy import stats

from dpmf import DPMF, datasets
from dpmf.data import Dyads
from dpmf.inference.problem import Problem
from dpmf.kernels import Matern12, SeasonGap, SquaredExponential
from dpmf.model.layout import Grids, grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.state import FREE_ALL, State
from dpmf.posterior.extension import extended_white, widening
from proofs import chunked
from proofs.row import Row, worst
from proofs.sums import Sums, added, errors, estimates, load, read

SAMPLERS = {"hmc": chunked.hmc, "slice": chunked.slices, "nuts": chunked.nuts}
ERROR = 0.03  # Monte-Carlo error allowed, as a share of the posterior sd
PREDICTED = 4  # weeks


class Size(NamedTuple):
    """How much work."""

    teams: int  # events between the first so many teams; 32 is all
    seasons: tuple[int, ...]
    chains: dict[str, int]
    warmup: dict[str, int]
    chunk: dict[str, int]  # kept draws between two looks at the clock
    draws: dict[str, int]  # kept draws of each chain, at most
    error: float


FULL = Size(
    32,
    (2017, 2018),
    {"hmc": 32, "slice": 128, "nuts": 64},
    {"hmc": 600, "slice": 800, "nuts": 200},
    {"hmc": 50, "slice": 50, "nuts": 25},
    {"hmc": 4000, "slice": 4000, "nuts": 1000},
    ERROR,
)
SMALL = Size(
    8,
    (2017, 2018),
    {"hmc": 16, "slice": 16},
    {"hmc": 100, "slice": 60},
    {"hmc": 50, "slice": 20},
    {"hmc": 100, "slice": 40},
    1.0,
)


class Games(NamedTuple):
    """The training problem, and what is to be predicted."""

    problem: Problem
    points: Grids
    upcoming: Dyads
    centre: float


def games(size: Size) -> Games:
    """The last weeks of the last season are predicted from everything before."""
    frame = datasets.nfl()
    frame = frame[frame["season"].isin(size.seasons)].reset_index(drop=True)
    teams = sorted(frame["home"].unique())[: size.teams]
    frame = frame[frame["home"].isin(teams) & frame["away"].isin(teams)]
    first = frame.groupby("season")["date"].transform("min")
    frame = pd.DataFrame(
        {
            "offence": frame["home"],
            "defence": frame["away"],
            "season": frame["season"],
            "week": ((frame["date"] - first).dt.days // 7).astype(float),
            "home": 0.5,
            "one": frame["home_score"].astype(float),
            "two": frame["away_score"].astype(float),
        }
    )
    late = (frame["season"] == frame["season"].max()) & (
        frame["week"] > frame["week"].max() - PREDICTED
    )
    data = Dyads.from_frame(
        frame[~late],
        row="offence",
        col="defence",
        value=("one", "two"),
        inputs=["season", "week", "home"],
        mirrored=["home"],
    )
    time_kernel = Matern12(SeasonGap("season", "week"))
    settled = DPMF(rank=2, kernel=time_kernel * SquaredExponential("home")).spec(data)
    points, arrays = layout(grids(settled, data), data)
    problem = Problem(arrays, FREE_ALL, settled)
    centre = settled.likelihood.centre(data.values)
    return Games(problem, points, data.encode(frame[late]), centre)


def prove(
    size: Size,
    work: Path,
    *,
    minutes: float | None = None,
    engines: tuple[str, ...] = tuple(SAMPLERS),
    batch: int = 0,
) -> list[Row]:
    """Run the engines until they are precise enough, then compare all that are.

    Args:
        size: How much work.
        work: Folder for states and sums.
        minutes: Stop after this time, all engines together; None never stops early.
        engines: Those to run now.
        batch: Number of the batch of chains to run.

    Returns:
        Nothing while an engine of `size` has no sums yet.
    """
    work.mkdir(parents=True, exist_ok=True)
    played = games(size)
    deadline = time.monotonic() + 60 * (minutes or np.inf)
    for engine in engines:
        if engine in size.chains and time.monotonic() < deadline:
            advance(engine, played, size, work / f"{engine}-{batch}", deadline, batch)
    found = {engine: load(work, engine) for engine in size.chains}
    missing = [engine for engine, one in found.items() if one is None]
    if missing:
        print(f"agreement: nothing yet of {', '.join(missing)}; run again")
        return []
    return compared(found, size, len(played.upcoming.rows))


def advance(
    engine: str, played: Games, size: Size, files: Path, deadline: float, batch: int
) -> None:
    """Go on from the last saved states until all batches are precise enough, or out of time."""
    states_file = files.with_suffix(".pickle")
    saved = pickle.loads(states_file.read_bytes()) if states_file.exists() else None
    sums_file = files.with_suffix(".npz")
    sums = read(sums_file) if sums_file.exists() else None
    seed = 10 * batch + list(SAMPLERS).index(engine)
    course = chunked.Course(
        size.chains[engine], size.warmup[engine], size.chunk[engine], played.centre, seed
    )
    seen = _seen(played)
    begun = time.monotonic()
    for state, states in SAMPLERS[engine](played.problem, course, saved):
        if states is not None:
            number = 0 if sums is None else int(sums.count[0])
            x = np.asarray(seen(states, jr.fold_in(jr.key(seed + 1_000_000), number)))
            sums = added(sums, x)
            np.savez(sums_file, **sums._asdict())
        states_file.write_bytes(pickle.dumps(jax.tree.map(np.asarray, state)))
        if sums is not None:
            everything = load(files.parent, engine)
            assert everything is not None
            worst_error = max(np.max(one) for one in errors(everything))
            print(
                f"agreement: {files.name} {sums.count[0]} draws, error {worst_error:.1%}",
                flush=True,
            )
            if worst_error < 0.9 * size.error or sums.count[0] >= size.draws[engine]:
                return
        took, begun = time.monotonic() - begun, time.monotonic()
        if begun + took > deadline:
            return


def _seen(played: Games):
    """y of the predicted events, sigma and rho, of states with axes (chains, draws)."""
    wider, arrays = layout(played.points, played.upcoming)
    sizes = widening(played.points, wider, arrays)

    @jax.jit
    def seen(problem, arrays, states: State, key):
        def one(args):
            state, key = args
            values = problem.parameters(state)
            white = extended_white(problem.spec, state.white, values, sizes, key)
            y = predictor(problem.spec, white, values, arrays)
            return jnp.concatenate([y.reshape(-1), *[v[None] for v in values.noise.values()]])

        shape = states.free.rows.mean.shape[:2]
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states)
        keys = jr.split(key, shape[0] * shape[1])
        found = jax.lax.map(one, (flat, keys), batch_size=64)
        return found.reshape(*shape, -1)

    return lambda states, key: seen(played.problem, arrays, states, key)


def compared(found: dict[str, Sums], size: Size, events: int) -> list[Row]:
    """Every pair of engines, and each engine's own precision."""
    rows = []
    for engine, sums in found.items():
        largest = max(np.max(one) for one in errors(sums))
        note = f"Monte-Carlo error at most {largest:.1%} of the posterior sd"
        text = f"{len(sums.first)} chains x {sums.count.min()} or more"
        quantity = f"mean and sd of {2 * events} predictions, sigma, rho"
        good = bool(largest <= size.error)
        rows.append(Row("agreement", "precision", engine, quantity, text, 1.0, note, good))
    names = list(found)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            precise = all(row.good for row in rows if row.engine in (a, b))
            rows.append(_pair(a, b, found)._replace(good=precise))
    return rows


def _pair(a: str, b: str, found: dict[str, Sums]) -> Row:
    one, other = estimates(found[a]), estimates(found[b])
    tests = {}
    for name, which in (("mean", 2), ("sd", 3)):
        test = stats.ttest_ind(one[which], other[which], axis=0, equal_var=False)
        tests |= {f"{name} of predictions": test.pvalue[:-2]}
        tests |= {f"{name} of sigma": test.pvalue[-2], f"{name} of rho": test.pvalue[-1]}
    p_value, quantity = worst(tests)
    largest = np.max(np.abs(one[0] - other[0]) / one[1])
    ratio = other[1] / one[1]
    spans = f"{ratio.min():.3f} to {ratio.max():.3f}"
    note = f"means differ by at most {largest:.1%} of sd, sd ratio {spans}"
    draws = [found[name].count.sum() for name in (a, b)]
    text = f"{draws[0]} and {draws[1]} draws"
    return Row("agreement", f"{a} = {b}", f"{a}, {b}", quantity, text, p_value, note)
