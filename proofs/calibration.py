"""Simulation-based calibration: the truth's rank among posterior draws is uniform.

Each problem draws its own truth and values from the prior, and keeps draws far enough apart
to be nearly independent. A chain of `hmc` starts where a fit would start and learns its
tuning in its own warm-up, as a fit does, and then holds it. A chain of `slice` has widths
that are fixed beforehand and starts at the truth, which is a draw from the posterior: the
paper's sweeps take too long to come there from a cold start (600 sweeps, and draws 40 apart,
were seen to be too few), and if they did not leave the posterior invariant they would drift
away from it. The small versions start at the truth too, with one tuning for all problems.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array
from scipy import stats

from dpmf.inference import engines, hmc_engine
from dpmf.inference.problem import Problem
from dpmf.inference.start import start
from dpmf.likelihoods import (
    Likelihood,
    NegativeBinomial,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
    StudentT,
)
from dpmf.likelihoods.paired import PairedGaussianNoise
from dpmf.likelihoods.student import StudentTNoise
from dpmf.model.density import log_likelihood
from dpmf.model.predictor import predictor
from dpmf.model.state import State
from dpmf.priors import LogUniform, Prior, Uniform
from proofs.league import league, with_values
from proofs.row import Row, worst
from proofs.transitions import ENGINES, Transition, advanced, drawn


@dataclasses.dataclass(frozen=True)
class Noisy(PairedGaussian):
    """The paired Gaussian whose sigma cannot be tiny.

    With one tuning for all problems, trajectories would be stuck where the noise happens
    to be a few percent of the signal; such data have a proof of their own (`strong`).
    """

    def priors(self, spread: float) -> dict[str, Prior]:
        return {"sigma": _not_tiny(spread), "rho": Uniform(-1.0, 1.0)}

    def at(self, parameters) -> PairedGaussianNoise:
        return PairedGaussianNoise(parameters["sigma"][0], parameters["rho"])


@dataclasses.dataclass(frozen=True)
class NoisyT(StudentT):
    """The same for Student's t."""

    def priors(self, spread: float) -> dict[str, Prior]:
        return super().priors(spread) | {"sigma": _not_tiny(spread)}

    def at(self, parameters) -> StudentTNoise:
        return StudentTNoise(parameters["sigma"][0], parameters["nu"])


def _not_tiny(spread: float) -> LogUniform:
    return LogUniform((0.3 * spread,), (3.0 * spread,))


class Size(NamedTuple):
    """How much work."""

    problems: int
    warmup: int
    draws: int  # draws + 1 is a multiple of bins
    thin: int
    bins: int
    at_truth: bool = False  # where chains start


SMALL = {"slice": Size(256, 0, 3, 8, 4, True), "hmc": Size(256, 0, 3, 60, 4, True)}
FULL = {"slice": Size(320, 0, 7, 150, 8, True), "hmc": Size(320, 300, 7, 15, 8)}
MOST = 128  # leapfrog steps of a trajectory: all problems wait for the longest


class Case(NamedTuple):
    """A model by its noise and by what its mean is."""

    text: str
    likelihood: Likelihood
    pooled: bool = False


CASES = {
    "constant": Case("constant mean", Noisy()),
    "pooled": Case("pooled mean", Noisy(), pooled=True),
    "student": Case("Student's t", NoisyT()),
    "poisson": Case("Poisson", Poisson()),
    "negative-binomial": Case("negative binomial", NegativeBinomial()),
    "paired-poisson": Case("paired Poisson", PairedPoisson()),
    "own-cuts": Case("cuts of every row's own", Ordinal(4, own_cuts=True)),
}


def prove(size: dict[str, Size], engine: str, case: str, seed: int = 0) -> list[Row]:
    """One engine on one kind of model."""
    text, likelihood, pooled = CASES[case]
    problem = league(likelihood, pooled=pooled, count=25, unseen=1)
    return [calibrated(text, engine, problem, size[engine], seed=seed)]


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
    states = truth if size.at_truth else _starts(key_start, problem, values)
    target = jax.tree.map(np.asarray, _seen(problem, values, truth))

    def move(key, states, count):
        return advanced(key, problem, values, states, count, transition)

    if engine == "hmc" and not size.at_truth:
        states, tunings = _warmed(key_warm, problem, values, states, size.warmup)

        def move(key, states, count):
            return _hmc_advanced(key, problem, values, states, tunings, count)
    else:
        states = move(key_warm, states, size.warmup)
    kept = []
    for i in range(size.draws):
        states = move(jr.fold_in(key_run, i), states, size.thin)
        kept.append(jax.tree.map(np.asarray, _seen(problem, values, states)))
    draws = jax.tree.map(lambda *each: np.stack(each), *kept)  # (draws, problems, entries)
    ranks = {n: np.sum(draws[n] < target[n][None], axis=0) for n in target}
    p_value, quantity = worst({n: uniform(r, size) for n, r in ranks.items()})
    note = f"autocorrelation {correlation(draws):.2f}"
    if "rho" in target:
        note += f", rho > 0 in {np.mean(target['rho'] > 0):.0%}"
    stuck = np.mean(np.ptp(draws["loglik"], axis=0) == 0)
    note += f", stuck chains {stuck:.1%}"
    text = f"{size.problems} problems x {size.draws} draws, {size.thin} apart"
    return Row("calibration", case, engine, quantity, text, p_value, note, planted=planted)


def _warmed(key, problem: Problem, values: Array, states: State, warmup: int):
    """The warm-up of a fit, of one chain for each problem."""
    posed = jax.vmap(lambda v: with_values(problem, v))(values)
    chains = jax.tree.map(lambda x: x[:, None], states)
    keys = jr.split(key, len(values))
    silent = lambda stage, done, total: None  # noqa: E731
    run = engines.Hmc(posed, chains, engines.WARM_CHUNK)
    run.warm(keys, warmup, silent, MOST)
    return jax.tree.map(lambda x: x[:, 0], run.states), run.tuned


@jax.jit
def _hmc_advanced(key, problem: Problem, values: Array, states: State, tunings, count):
    """`count` steps of the engine, for each problem with its own tuning."""
    keys = jr.split(key, len(values))

    def each(key, values, state, tuning):
        posed = with_values(problem, values)

        def one(i, chains):
            own, strides = jr.fold_in(key, i), jr.fold_in(keys[0], i)
            most, axis = jnp.asarray(MOST), engines.PROBLEMS
            return hmc_engine._step(posed, own, strides, chains, tuning, most, axis)[0]

        chains = jax.tree.map(lambda x: x[None], state)
        return jax.tree.map(lambda x: x[0], jax.lax.fori_loop(0, count, one, chains))

    return jax.vmap(each, axis_name=engines.PROBLEMS)(keys, values, states, tunings)


def _starts(key, problem: Problem, values: Array) -> State:
    """Where a fit to each problem's values would start."""
    seen = np.asarray(problem.arrays.weight) > 0
    centre = problem.spec.likelihood.centre
    centres = jnp.asarray([centre(one[seen]) for one in np.asarray(values)])

    @jax.jit
    def all_of_them(keys, values, centres):
        def one(key, values, centre):
            return start(with_values(problem, values), centre, key)

        return jax.vmap(one)(keys, values, centres)

    return all_of_them(jr.split(key, len(values)), values, centres)


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
        total = np.maximum(np.sum(centred**2, axis=0), 1e-300)
        lagged = np.sum(centred[1:] * centred[:-1], axis=0) / total
        return float(np.max(np.mean(lagged, axis=0)))

    return max(one(x) + 1 / len(x) for x in draws.values())  # the centring costs 1/draws
