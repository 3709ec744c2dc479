"""Both engines and NumPyro's NUTS on two NFL seasons: the same predictions.

Chains are independent, so their spread gives the Monte-Carlo error of every mean and sd.
A run can stop after some minutes and go on later: the last states and the sums so far are
kept in a folder. Sums of further chains, run elsewhere with another seed, may be put beside
them under any name that begins with the engine's.
"""

import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
from jax.flatten_util import ravel_pytree
from scipy import stats

from dpmf import DPMF, datasets
from dpmf.data import Dyads
from dpmf.inference import chains as runs
from dpmf.inference import hmc_engine, slice_engine
from dpmf.inference.problem import Problem
from dpmf.inference.start import start
from dpmf.kernels import Matern12, SeasonGap, SquaredExponential
from dpmf.model.layout import Grids, grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.state import FREE_ALL, State
from dpmf.posterior.extension import extended_white
from proofs.row import Row, worst

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
    {"hmc": 2000, "slice": 4000, "nuts": 1000},
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


class Sums(NamedTuple):
    """Per chain, over all kept draws: how many, their sum and that of their squares."""

    count: np.ndarray  # (chains,)
    first: np.ndarray  # (chains, quantities): y of the predicted events, sigma, rho
    second: np.ndarray


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
    engines: tuple[str, ...] = ("hmc", "slice", "nuts"),
) -> list[Row]:
    """Run the engines until they are precise enough, then compare all that are.

    Args:
        size: How much work.
        work: Folder for states and sums.
        minutes: Stop after this time, all engines together; None never stops early.
        engines: Those to run now.

    Returns:
        Nothing while an engine of `size` has no sums yet.
    """
    work.mkdir(parents=True, exist_ok=True)
    played = games(size)
    deadline = time.monotonic() + 60 * (minutes or np.inf)
    for engine in engines:
        if engine in size.chains and time.monotonic() < deadline:
            advance(engine, played, size, work, deadline)
    found = {engine: load(work, engine) for engine in size.chains}
    missing = [engine for engine, one in found.items() if one is None]
    if missing:
        print(f"agreement: nothing yet of {', '.join(missing)}; run again")
        return []
    return compared(found, size, len(played.upcoming.rows))


def advance(engine: str, played: Games, size: Size, work: Path, deadline: float) -> None:
    """Go on from the last saved states until precise enough or out of time."""
    path = work / f"{engine}.pickle"
    saved = pickle.loads(path.read_bytes()) if path.exists() else None
    sums = load(work, f"{engine}.")
    run = {"hmc": _hmc, "slice": _slice, "nuts": _nuts}[engine]
    seen = _seen(played)
    chunk_time = 0.0
    for state, states in run(played, size, saved):
        begun = time.monotonic()
        if states is not None:
            number = 0 if sums is None else int(sums.count[0])
            x = np.asarray(seen(states, jr.fold_in(jr.key(7), number)))
            sums = _added(sums, x)
            np.savez(work / f"{engine}.npz", **sums._asdict())
        path.write_bytes(pickle.dumps(jax.tree.map(np.asarray, state)))
        if sums is not None:
            worst_error = max(np.max(one) for one in errors(sums))
            print(
                f"agreement: {engine} {sums.count[0]} draws, error {worst_error:.1%}",
                flush=True,
            )
            if worst_error < 0.9 * size.error or sums.count[0] >= size.draws[engine]:
                return
        chunk_time = max(chunk_time, time.monotonic() - begun)
        if time.monotonic() + chunk_time > deadline:
            return


def load(work: Path, name: str) -> Sums | None:
    """The sums of all files whose name begins so, chain after chain."""
    parts = []
    for path in sorted(work.glob(f"{name}*.npz")):
        with np.load(path) as kept:
            chains = len(kept["first"])
            count = np.broadcast_to(kept["count"], (chains,))
            parts.append(Sums(count, kept["first"], kept["second"]))
    return Sums(*map(np.concatenate, zip(*parts, strict=True))) if parts else None


def _added(sums: Sums | None, x: np.ndarray) -> Sums:
    first, second = x.sum(axis=1), (x**2).sum(axis=1)  # x: (chains, draws, quantities)
    new = Sums(np.full(len(x), x.shape[1]), first, second)
    return new if sums is None else Sums(*map(np.add, sums, new))


def _seen(played: Games):
    """y of the predicted events, sigma and rho, of states with axes (chains, draws)."""
    wider, arrays = layout(played.points, played.upcoming)

    @jax.jit
    def seen(problem, arrays, states: State, key):
        def one(args):
            state, key = args
            values = problem.parameters(state)
            white = extended_white(state.white, played.points, wider, arrays, key)
            y = predictor(problem.spec, white, values, arrays)
            return jnp.concatenate([y.reshape(-1), *[v[None] for v in values.noise.values()]])

        shape = states.free.rows.mean.shape[:2]
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states)
        keys = jr.split(key, shape[0] * shape[1])
        found = jax.lax.map(one, (flat, keys), batch_size=64)
        return found.reshape(*shape, -1)

    return lambda states, key: seen(played.problem, arrays, states, key)


def _starts(played: Games, chains: int, seed: int) -> State:
    keys, centre = jr.split(jr.key(seed), chains), jnp.asarray(played.centre)
    return jax.jit(jax.vmap(lambda k: start(played.problem, centre, k)))(keys)


def _silent(stage: str, done: int, total: int) -> None:
    pass


def _swapped(states: State) -> State:
    """(draws, chains, ...) to (chains, draws, ...)."""
    return jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), states)


def _engine(module: Any, warm, name: str, played: Games, size: Size, saved) -> Iterator:
    """Our engines: warm up, freeze, then chunks of draws."""
    problem, chunk = played.problem, size.chunk[name]
    if saved is None:
        starts = _starts(played, size.chains[name], 1)
        one, states = (jax.tree.map(lambda x: x[None], part) for part in (problem, starts))
        warmed = warm(one, states, size.warmup[name], jr.key(2)[None], _silent)
        chains, tuned = jax.tree.map(lambda x: x[0], warmed)
        saved = (0, chains, tuned)
        yield saved, None
    number, chains, tuned = jax.tree.map(jnp.asarray, saved)
    number = int(number)
    while True:
        chains, kept, _ = module.sample(
            problem, jr.key(3), chains, tuned, number, chunk, 1, chunk
        )
        number += chunk
        yield (number, chains, tuned), _swapped(kept)


def _hmc(played: Games, size: Size, saved) -> Iterator:
    return _engine(hmc_engine, runs._warm_hmc, "hmc", played, size, saved)


def _slice(played: Games, size: Size, saved) -> Iterator:
    return _engine(slice_engine, runs._warm_slice, "slice", played, size, saved)


def _nuts(played: Games, size: Size, saved) -> Iterator:
    """NumPyro's sampler on the density in free coordinates, all chains in one program."""
    from numpyro.infer import MCMC, NUTS

    problem, chunk = played.problem, size.chunk["nuts"]
    kernel = NUTS(
        potential_fn=lambda position: -problem.log_density(problem.unflat(position)),
        dense_mass=False,
        target_accept_prob=0.8,
    )

    def sampler(warmup: int, draws: int) -> MCMC:
        return MCMC(
            kernel, num_warmup=warmup, num_samples=draws, num_chains=size.chains["nuts"],
            chain_method="vectorized", progress_bar=False,
        )  # fmt: skip

    if saved is None:
        starts = jax.vmap(lambda s: ravel_pytree(s)[0])(_starts(played, size.chains["nuts"], 4))
        first = sampler(size.warmup["nuts"], 1)
        first.run(jr.key(5), init_params=starts)
        saved = first.last_state
        yield _plain(saved), None
    else:
        # A state of the same kind, made without work, shows which of its parts are keys.
        fresh = sampler(0, 1)
        fresh.run(jr.key(5), init_params=jnp.zeros_like(saved.z))
        saved = _keyed(jax.tree.map(jnp.asarray, saved), fresh.last_state)
    going = sampler(0, chunk)
    while True:
        going.post_warmup_state = saved
        going.run(saved.rng_key)
        saved = going.last_state
        positions = going.get_samples(group_by_chain=True)
        yield _plain(saved), jax.jit(jax.vmap(jax.vmap(problem.unflat)))(positions)


def _plain(state: Any) -> Any:
    """A sampler's state whose random keys are plain arrays."""
    return jax.tree.map(lambda x: jr.key_data(x) if _is_key(x) else x, state)


def _keyed(state: Any, like: Any) -> Any:
    """The keys of `like` made keys again."""
    return jax.tree.map(lambda x, y: jr.wrap_key_data(x) if _is_key(y) else x, state, like)


def _is_key(x: Any) -> bool:
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def errors(sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """Monte-Carlo errors of mean and sd, over the posterior sd, of every quantity."""
    _, sd, of_mean, of_sd = _estimates(sums)
    root = np.sqrt(len(of_mean))
    return of_mean.std(axis=0, ddof=1) / root / sd, of_sd.std(axis=0, ddof=1) / root / sd


def _estimates(sums: Sums):
    """Mean and sd over all chains, and each chain's contribution to both."""
    first, second = (x / sums.count[:, None] for x in (sums.first, sums.second))
    mean = first.mean(axis=0)
    sd = np.sqrt(second.mean(axis=0) - mean**2)
    squares = second - 2 * first * mean + mean**2  # around the common mean
    return mean, sd, first, sd / 2 + squares / (2 * sd)  # linear in what a chain adds


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
    one, other = _estimates(found[a]), _estimates(found[b])
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
