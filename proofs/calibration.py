"""Simulation-based calibration: the truth's rank among posterior draws is uniform.

Each problem draws its own truth and values from the prior; its chain starts at another
draw from the prior, warms up, and keeps draws far enough apart to be nearly independent.
Tuning is fixed beforehand.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array
from scipy import stats

from dpmf.inference.problem import Problem
from dpmf.likelihoods import PairedGaussian
from dpmf.model.density import log_likelihood
from dpmf.model.predictor import predictor
from dpmf.model.state import State
from proofs.league import league, with_values
from proofs.row import Row, worst
from proofs.transitions import ENGINES, Transition, advanced, drawn


class Size(NamedTuple):
    """How much work."""

    problems: int
    warmup: int
    draws: int  # draws + 1 is a multiple of bins
    thin: int
    bins: int


SMALL = {"slice": Size(64, 30, 7, 4, 4), "hmc": Size(256, 100, 7, 15, 8)}
FULL = {"slice": Size(1024, 300, 31, 25, 16), "hmc": Size(1024, 1500, 31, 150, 16)}


def prove(size: dict[str, Size] = FULL, seed: int = 0) -> list[Row]:
    """Constant and pooled mean with both engines."""
    rows = []
    for case, pooled in (("constant mean", False), ("pooled mean", True)):
        for engine in ENGINES:
            problem = league(PairedGaussian(), pooled=pooled, count=25, unseen=1)
            rows.append(calibrated(case, engine, problem, size[engine], seed=seed))
    return rows


def calibrated(
    case: str,
    engine: str,
    problem: Problem,
    size: Size,
    transition: Transition | None = None,
    seed: int = 0,
    planted: bool = False,
) -> Row:
    """Ranks of one model and engine."""
    transition = transition or ENGINES[engine]()
    key_truth, key_start, key_warm, key_run = jr.split(jr.key(seed + 100), 4)
    truth, values = drawn(key_truth, problem, size.problems)
    states, _ = drawn(key_start, problem, size.problems)
    target = jax.tree.map(np.asarray, _seen(problem, values, truth))
    states = advanced(key_warm, problem, values, states, size.warmup, transition)
    kept = []
    for i in range(size.draws):
        key = jr.fold_in(key_run, i)
        states = advanced(key, problem, values, states, size.thin, transition)
        kept.append(jax.tree.map(np.asarray, _seen(problem, values, states)))
    draws = jax.tree.map(lambda *each: np.stack(each), *kept)  # (draws, problems, entries)
    ranks = {n: np.sum(draws[n] < target[n][None], axis=0) for n in target}
    p_value, quantity = worst({n: uniform(r, size) for n, r in ranks.items()})
    signs = np.mean(target["rho"] > 0)
    note = f"autocorrelation {correlation(draws):.2f}, rho > 0 in {signs:.0%}"
    text = f"{size.problems} problems x {size.draws} draws, {size.thin} apart"
    return Row("calibration", case, engine, quantity, text, p_value, note, planted=planted)


@jax.jit
def _seen(problem: Problem, values: Array, states: State) -> dict[str, Array]:
    return jax.vmap(lambda v, s: quantities(with_values(problem, v), s))(values, states)


def quantities(problem: Problem, state: State) -> dict[str, Array]:
    """What is ranked: invariant under a swap of the latent functions."""
    parameters = problem.parameters(state)
    y = predictor(problem.spec, state.white, parameters, problem.arrays)
    found = dict(parameters.noise)
    for name in ("rows", "cols"):
        theta = getattr(parameters, name).theta
        found |= {f"{name} {label}": jnp.sort(v, axis=0) for label, v in theta.items()}
    found["held-out y"] = y[-1]
    found["loglik"] = log_likelihood(problem.spec, state, problem.arrays)
    return {name: value.reshape(-1) for name, value in found.items()}


def uniform(ranks: np.ndarray, size: Size) -> np.ndarray:
    """Chi-square p-value of each column of ranks."""
    binned = ranks // ((size.draws + 1) // size.bins)
    counts = np.stack([np.bincount(column, minlength=size.bins) for column in binned.T])
    return stats.chisquare(counts, axis=1).pvalue


def correlation(draws: dict[str, np.ndarray]) -> float:
    """Correlation of neighbouring draws, averaged over problems, of the slowest quantity."""

    def one(x: np.ndarray) -> float:
        centred = x - x.mean(axis=0)
        lagged = np.sum(centred[1:] * centred[:-1], axis=0) / np.sum(centred**2, axis=0)
        return float(np.max(np.mean(lagged, axis=0)))

    return max(one(x) + 1 / len(x) for x in draws.values())  # the centring costs 1/draws
