"""Appending white noise at prediction is the same as having had the inputs from the start."""

import dataclasses

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
from scipy import stats

from dpmf.data import Dyads
from dpmf.inference.problem import Problem
from dpmf.kernels.factor import JITTER
from dpmf.likelihoods import PairedGaussian
from dpmf.model.features import coloured, factors
from dpmf.model.grid import Grid
from dpmf.model.layout import Grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.simulate import simulate_state, simulate_values
from dpmf.model.state import State
from dpmf.posterior.extension import extended_white, widening
from proofs.league import LENGTHS, dyads, frame, on, with_values
from proofs.row import Row, worst
from proofs.transitions import advanced, by_hmc

PAIR = PairedGaussian()
TOLERANCE = 1e-9
SMALL = (128, 60, 20, 4)  # chains, warm-up, draws, transitions between them
FULL = (128, 200, 100, 8)


def upcoming() -> pd.DataFrame:
    """New weeks inside and past a season, a venue never seen, and a member never seen."""
    return pd.DataFrame(
        {
            "row": ["A", "B", "C", "E"],
            "col": ["B", "C", "A", "A"],
            "season": [2001, 2000, 2001, 2000],
            "week": [4.0, 0.5, 1.0, 1.0],
            "home": [0.5, 0.0, 0.0, 0.5],
            "one": 1.0,
            "two": 1.0,
        }
    )


def prove(size: tuple[int, int, int, int] = FULL) -> list[Row]:
    """The exact statements, then two samplers' worth of predictions."""
    return [*exact(), fitted(size)]


def exact() -> list[Row]:
    """Gram matrices over old and new inputs, dense and on a grid; sorted inputs must fail."""
    rows = [appended(dense, order) for dense in (True, False) for order in ("kept", "sorted")]
    return rows


def appended(dense: bool, order: str) -> Row:
    """Old values stay, and old and new together have the kernel's covariance.

    Args:
        dense: One factor for all columns, or one each for time and venue.
        order: "kept", or "sorted": the planted bug.
    """
    data = dyads(PAIR, frame(PAIR, 24))
    problem, points = on(PAIR, data, dense=dense)
    state = simulate_state(problem.spec, problem.arrays, jr.key(0))
    wider, arrays = layout(points, data.encode(upcoming()))
    if order == "sorted":
        wider, arrays = _sorted(wider, arrays)
    values = problem.parameters(state)
    grown = widening(points, wider, arrays)
    white = extended_white(problem.spec, state.white, values, grown, jr.key(1))
    theta = values.rows.theta
    kernel = problem.spec.rows.kernel
    before = factors(kernel, theta, problem.arrays.rows.functions.levels)
    after = factors(kernel, theta, arrays.rows.functions.levels)
    old, new = coloured(state.white.rows, before), coloured(white.rows, after)
    place = _places(points.rows, wider.rows)
    kept = np.max(np.abs(np.asarray(new)[:, :4, place] - np.asarray(old)))
    unit = jnp.broadcast_to(jnp.eye(wider.rows.size), (2, *[wider.rows.size] * 2))
    matrix = np.asarray(coloured(unit, after))  # row i: the functions from the i-th unit
    found = np.einsum("kiz,kiw->kzw", matrix, matrix)
    wanted = [gram(theta, k, _inputs(wider.rows)) for k in range(2)]
    error = max(np.max(np.abs(found - np.stack(wanted))), kept)
    grown = f"{points.rows.shape} to {wider.rows.shape} levels"
    case = f"{'dense' if dense else 'grid'}, {order} order"
    return Row(
        "extension", case, "-", "old values, covariance of all", grown, 1.0,
        f"largest error {error:.1e}", bool(error < TOLERANCE), order == "sorted",
    )  # fmt: skip


def _sorted(wider: Grids, arrays):
    """Levels in ascending order, as a careless author would leave them."""
    levels = tuple(one[np.lexsort(one.T[::-1])] for one in wider.rows.levels)
    functions = dataclasses.replace(
        arrays.rows.functions, levels=tuple(jnp.asarray(one) for one in levels)
    )
    rows = dataclasses.replace(arrays.rows, functions=functions)
    grid = Grid(wider.rows.columns, levels)
    return wider._replace(rows=grid), dataclasses.replace(arrays, rows=rows)


def _inputs(grid: Grid) -> np.ndarray:
    """(season, week, home) of every point of a grid, the last factor fastest."""
    places = np.stack(np.unravel_index(np.arange(grid.size), grid.shape), axis=1)
    return np.concatenate([one[places[:, i]] for i, one in enumerate(grid.levels)], axis=1)


def _places(old: Grid, new: Grid) -> np.ndarray:
    """Where each point of the old grid is in the new one."""
    same = (_inputs(old)[:, None] == _inputs(new)[None]).all(axis=2)
    return np.argmax(same, axis=1)


def gram(theta, k: int, inputs: np.ndarray) -> np.ndarray:
    """The kernel of the league's rows, written out in NumPy."""
    gap, length, venue = (
        float(theta[name][k, 0])
        for name in ("season+week.gap", "season+week.length", "home.length")
    )
    season, week, home = inputs.T
    first = min(LENGTHS)
    time = week + np.where(season > first, LENGTHS[first] + gap, 0.0)
    over_time = np.exp(-np.abs(time[:, None] - time[None]) / length)
    over_home = np.exp(-0.5 * ((home[:, None] - home[None]) / venue) ** 2)
    pairs = (inputs[:, None, :2] == inputs[None, :, :2]).all(axis=2)
    same_home = home[:, None] == home[None]
    product = (over_time + JITTER * pairs) * (over_home + JITTER * same_home)
    return product / (1 + JITTER) ** 2


def fitted(size: tuple[int, int, int, int]) -> Row:
    """Fit and predict, against a fit that held the new events with weight 0."""
    chains, _, draws, thin = size
    old = dyads(PAIR, frame(PAIR, 24))
    whole = dyads(PAIR, pd.concat([frame(PAIR, 24), upcoming()], ignore_index=True))
    truth, values = _truth(whole)
    short, points = on(PAIR, old)
    long, _ = on(PAIR, whole, unseen=4)
    new = old.encode(upcoming())
    predicted = _predictions(short, values[:24], _restricted(truth, short), (points, new), size)
    present = _predictions(long, values, truth, None, size)
    tests = {}
    for name, power in (("mean of y", 1), ("mean square of y", 2)):
        a, b = (np.mean(y**power, axis=0) for y in (predicted, present))  # per chain
        tests[name] = stats.ttest_ind(a, b, axis=0, equal_var=False).pvalue
    p_value, quantity = worst(tests)
    sd = present.std(axis=(0, 1))
    error = np.max(predicted.mean(axis=0).std(axis=0) / np.sqrt(chains) / sd)
    ratio = predicted.std(axis=(0, 1)) / sd
    note = f"error at most {error:.1%} of sd, sd ratio {ratio.min():.3f} to {ratio.max():.3f}"
    text = f"2 x {chains} chains x {draws}, {thin} apart"
    return Row("extension", "fit + predict = fit", "hmc", quantity, text, p_value, note)


def _truth(whole: Dyads) -> tuple[State, np.ndarray]:
    """A state and values on all events; noise of the size of the signal."""
    problem, _ = on(PAIR, whole)
    state = simulate_state(problem.spec, problem.arrays, jr.key(3))
    noise = {"sigma": jnp.asarray(0.0), "rho": jnp.asarray(0.8)}
    state = state._replace(free=state.free._replace(noise=noise))
    return state, simulate_values(problem.spec, state, problem.arrays, jr.key(4))


def _restricted(state: State, problem: Problem) -> State:
    """A start for the smaller problem: the same parameters, functions anew."""
    fresh = simulate_state(problem.spec, problem.arrays, jr.key(5))
    return fresh._replace(free=state.free)


def _predictions(problem: Problem, values, start: State, new, size) -> np.ndarray:
    """y of the upcoming events: (draws, chains, events, pair)."""
    chains, warmup, draws, thin = size
    problem = with_values(problem, values)
    repeated = jnp.broadcast_to(values, (chains, *values.shape))
    states = jax.tree.map(lambda x: jnp.broadcast_to(x, (chains, *x.shape)), start)
    wider, arrays = layout(new[0], new[1]) if new else (None, problem.arrays)

    @jax.jit
    def seen(problem, states, arrays, key):
        def one(state, key):
            white, values = state.white, problem.parameters(state)
            if new:
                grown = widening(new[0], wider, arrays)
                white = extended_white(problem.spec, white, values, grown, key)
            return predictor(problem.spec, white, values, arrays)[-4:]

        return jax.vmap(one)(states, jr.split(key, chains))

    transition = by_hmc()
    states = advanced(jr.key(6), problem, repeated, states, warmup, transition)
    kept = []
    for i in range(draws):
        key_move, key_new = jr.split(jr.fold_in(jr.key(7), i))
        states = advanced(key_move, problem, repeated, states, thin, transition)
        kept.append(np.asarray(seen(problem, states, arrays, key_new)))
    return np.stack(kept)
