"""All chains in one program do what each does alone, with the key of its number."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from dpmf.inference import hmc_engine, slice_engine
from dpmf.inference.sweep import sweep
from dpmf.samplers import hmc
from inference.fitted import CHUNK, fitted

NUMBER = 7  # of the step


def last(fit):
    return jax.tree.map(lambda x: jnp.asarray(x[:, -1]), fit.draws.states)


def assert_close(together, alone):
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_a_sweep_of_all_chains_is_a_sweep_of_each(x64, key):
    fit = fitted("games slice")
    problem, states = fit.problem, last(fit)
    widths = jnp.asarray(fit.draws.tuning["widths"])
    arguments = problem, key, states, widths, NUMBER, 1, 1, CHUNK
    together = slice_engine.sample(*arguments)[0]
    alone = jax.jit(sweep)
    for chain in range(2):
        state = jax.tree.map(lambda x, c=chain: x[c], states)
        own = jr.fold_in(jr.fold_in(key, NUMBER), chain + 1)
        moved, _ = alone(own, problem, state, widths)
        assert_close(jax.tree.map(lambda x, c=chain: x[c], together), moved)
        assert not np.allclose(moved.white.rows, state.white.rows)


def test_an_hmc_step_of_all_chains_is_a_step_of_each(x64, key):
    fit = fitted("games hmc")
    problem = fit.problem
    tuning = hmc.Tuning(**jax.tree.map(jnp.asarray, fit.draws.tuning))
    tuning = tuning._replace(length=4 * tuning.step_size)  # short enough to be accepted
    chains = hmc_engine.begin(problem, last(fit))
    starts = jax.tree.map(jnp.copy, chains)  # `sample` takes over the memory of `chains`
    arguments = problem, key, chains, tuning, NUMBER, 1, 1, CHUNK
    together, _, stats = hmc_engine.sample(*arguments)
    steps = stats.steps[0, 0].astype(int)  # the same for all chains

    own = jr.fold_in(key, NUMBER)

    @jax.jit
    def alone(key, chain):
        return hmc.step(key, chain, hmc_engine._density(problem), tuning, steps)

    moved = []
    for chain in range(2):
        start = jax.tree.map(lambda x, c=chain: x[c], starts)
        after, _ = alone(jr.fold_in(own, chain + 1), start)
        assert_close(jax.tree.map(lambda x, c=chain: x[c], together), after)
        moved.append(not np.array_equal(after.position, start.position))
    assert any(moved)
