"""Geweke's joint-distribution test, in many short chains that start at the prior.

A chain begins with a state and values drawn from their joint prior, then alternates one
transition of the engine given the values with new values given the state. If the code is
right every point of the chain has the joint prior's distribution, so the end is compared
with the start; chains are independent, which gives exact error bars.
"""

import dataclasses
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float
from scipy import stats

from dpmf.inference.problem import Problem
from dpmf.likelihoods import (
    Bernoulli,
    Gaussian,
    Likelihood,
    NegativeBinomial,
    Noise,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
    StudentT,
)
from dpmf.likelihoods.paired import PairedGaussianNoise
from dpmf.model.noise import noise_at
from dpmf.model.predictor import cell_features, predictor
from dpmf.model.state import State
from dpmf.types import pytree_dataclass
from proofs.league import league, with_values
from proofs.row import Row, worst
from proofs.transitions import ENGINES, Transition, advanced, drawn, redrawn

SMALL = (256, 4)  # chains, transitions
FULL = (2048, 12)


@pytree_dataclass
class WholeNoise(PairedGaussianNoise):
    """A pair whose cells cannot be split: members then move one after another."""

    def split(self, key, y, values) -> None:
        return None


@dataclasses.dataclass(frozen=True)
class Whole(PairedGaussian):
    """What a user writes who knows nothing of `split`."""

    def at(self, parameters: Mapping[str, Float[Array, "..."]]) -> Noise:
        return WholeNoise(parameters["sigma"], parameters["rho"])


CASES: dict[str, tuple[Likelihood, bool]] = {
    "paired Gaussian": (PairedGaussian(), False),
    "paired Gaussian, pooled mean": (PairedGaussian(), True),
    "Gaussian": (Gaussian(), False),
    "Bernoulli": (Bernoulli(), False),
    "ordinal, 4 levels": (Ordinal(4), False),
    "Student's t": (StudentT(), False),
    "Poisson": (Poisson(), False),
    "negative binomial": (NegativeBinomial(), False),
    "paired Poisson": (PairedPoisson(), False),
    "a pair without `split`": (Whole(), False),
}


def prove(
    size: tuple[int, int] = FULL, seed: int = 0, engines: tuple[str, ...] = tuple(ENGINES)
) -> list[Row]:
    """Every likelihood with the engines."""
    rows = []
    for case, (likelihood, pooled) in CASES.items():
        for engine in engines:
            if engine == "hmc" and isinstance(likelihood, Whole):
                continue  # to trajectories it is the paired Gaussian
            problem = league(likelihood, pooled=pooled, count=25)
            rows.append(compared(case, engine, problem, ENGINES[engine](), size, seed))
    return rows


def compared(
    case: str,
    engine: str,
    problem: Problem,
    transition: Transition,
    size: tuple[int, int],
    seed: int = 0,
    *,
    partial: bool = False,
    planted: bool = False,
) -> Row:
    """Start against end for one problem and engine.

    Args:
        case: Name of the problem.
        engine: Name of the engine.
        problem: Its values are replaced.
        transition: Of one chain.
        size: Chains and transitions.
        seed: Of everything random.
        partial: The transition leaves some summaries alone; otherwise all must move.
        planted: A bug is in the code.
    """
    chains, count = size
    before, after = joint_draws(jr.key(seed), problem, transition, chains, count)
    moves = {n: np.mean(before[n] != after[n]) > 0.2 for n in before}
    p_values = {}
    for name in (n for n in before if moves[n]):
        p_values |= changes(name, before[name], after[name])
    p_value, quantity = worst(p_values)
    text = f"{chains} chains x {count}"
    stuck = [] if partial else [n for n in moves if not moves[n]]
    note = f"does not move: {', '.join(stuck)}" if stuck else ""
    return Row("geweke", case, engine, quantity, text, p_value, note, not stuck, planted)


def joint_draws(key, problem: Problem, transition: Transition, chains: int, count: int):
    """Summaries of all chains at their start, and after the last transition.

    New values come before each transition but not after the last one: new values given
    the state would hide what the transition did to their relation.
    """
    key_start, key_run = jr.split(key)
    states, values = drawn(key_start, problem, chains)
    before = _seen(problem, values, states)
    for i in range(count):
        key_move, key_values = jr.split(jr.fold_in(key_run, i))
        values = redrawn(key_values, problem, states)
        states = advanced(key_move, problem, values, states, 1, transition)
    after = _seen(problem, values, states)
    return jax.tree.map(np.asarray, (before, after))


@jax.jit
def _seen(problem: Problem, values: Array, states: State) -> dict[str, Array]:
    return jax.vmap(lambda v, s: summaries(with_values(problem, v), s))(values, states)


def summaries(problem: Problem, state: State) -> dict[str, Float[Array, "..."]]:
    """What is compared: every parameter, and how state and values hang together."""
    spec, arrays = problem.spec, problem.arrays
    parameters = problem.parameters(state)
    unit = cell_features(spec, state.white, parameters, arrays)[1]
    y = predictor(spec, state.white, parameters, arrays)
    noise = noise_at(spec, state.white, parameters, arrays)
    loglik = noise.log_prob(y, arrays.values)
    residual = arrays.values - y
    found = {f"noise {name}": value for name, value in parameters.noise.items()}
    for name in ("rows", "cols"):
        side = getattr(parameters, name)
        found |= {f"{name} mean": side.mean, f"{name} sd": side.sd}
        found |= {f"{name} corr": side.corr[1, 0]}
        found |= {f"{name} {label}": jnp.sort(v, axis=0) for label, v in side.theta.items()}
        if side.pooled_sd is not None:
            found |= {f"{name} pooled sd": side.pooled_sd}
            found |= {f"{name} pooled {k}": v for k, v in side.pooled_theta.items()}
        if side.intercept_sd is not None:
            found |= {f"{name} intercept sd": side.intercept_sd}
    for name, block in state.white._asdict().items():
        if block is not None:
            block = jnp.atleast_2d(block)
            own = block.reshape(block.shape[0], -1)
            found |= {f"white {name} square": jnp.mean(own**2, axis=1)}
            found |= {f"white {name}": jnp.mean(own, axis=1), f"{name}[0]": block[0, 0]}
    cross = state.white.rows[:, :4] * state.white.cols[:, :4]  # 0 unless a key is reused
    found["rows x cols"] = jnp.mean(cross)
    parts = [one for one in state.white if one is not None]
    least = min(one.size for one in parts)
    leading = jnp.stack([one.reshape(-1)[:least] for one in parts])
    found["parts x parts"] = (leading @ leading.T)[jnp.triu_indices(len(parts), 1)] / least
    found |= {"y": y[:3], "y product": y[0] * y[1], "y mean": jnp.mean(y)}
    slope = jnp.mean(unit / jax.nn.softplus(parameters.cols.mean)[:, None])
    found |= {"y spread": jnp.std(y), "slope": slope}
    found |= {"value": arrays.values[:3], "value mean": jnp.mean(arrays.values)}
    found |= {"loglik": jnp.sum(loglik), "y x residual": jnp.mean(y * residual)}
    if state.white.rows_noise is not None:  # who has a narrow gap is rarely in it
        own = state.white.rows_noise[arrays.rows.member.entry]
        found["own x value"] = jnp.mean(own[:, :1] * (arrays.values == 2))
    if "sigma" in parameters.noise:
        found["residual / sigma"] = jnp.mean((residual / parameters.noise["sigma"]) ** 2)
    if "rho" in parameters.noise:
        sigma, rho = parameters.noise["sigma"], parameters.noise["rho"]
        pairs = jnp.mean(residual[:, 0] * residual[:, 1]) / sigma**2
        found |= {"pair product": pairs, "pair product x rho": pairs * rho}
    if "shared" in parameters.noise:
        apart = arrays.values - noise.mean(y)
        pairs = jnp.mean(apart[:, 0] * apart[:, 1]) - parameters.noise["shared"]
        found |= {"pair product": pairs, "pair product x shared": pairs * noise.shared}
    return {name: value.reshape(-1) for name, value in found.items()}


def changes(name: str, before: np.ndarray, after: np.ndarray) -> dict[str, np.ndarray]:
    """p-values of a change in place or in spread, by paired t-tests on ranks.

    Ranks in the pooled sample are bounded, so heavy tails cannot spoil the test.

    Args:
        name: Of the summary.
        before: Shape (chains, entries).
        after: The same chains at their end.
    """
    chains = len(before)
    ranks = stats.rankdata(np.concatenate([before, after]), axis=0)
    scores = 2 * (ranks - 0.5) / (2 * chains) - 1
    found = {}
    for label, score in ((name, scores), (f"spread of {name}", scores**2)):
        change = score[chains:] - score[:chains]
        error = change.std(axis=0, ddof=1) / np.sqrt(chains)
        found[label] = 2 * stats.norm.sf(np.abs(change.mean(axis=0)) / np.maximum(error, 1e-12))
    return found
