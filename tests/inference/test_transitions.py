"""All chains in one program do what each does alone, with the key of its number."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from dpmf.inference import chains, engines, hmc_engine, position, slice_engine, theta
from dpmf.inference.adaptation import Tuning
from dpmf.inference.sweep import sweep
from dpmf.samplers import hmc
from inference.fitted import CHUNK, fitted
from planted import planted

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
    together = jax.jit(slice_engine.advance, static_argnums=7)(*arguments)[0]
    alone = jax.jit(sweep)
    for chain in range(2):
        state = jax.tree.map(lambda x, c=chain: x[c], states)
        own = jr.fold_in(jr.fold_in(key, NUMBER), chain + 1)
        moved, _ = alone(own, problem, state, widths)
        assert_close(jax.tree.map(lambda x, c=chain: x[c], together), moved)
        assert not np.allclose(moved.white.rows, state.white.rows)


def test_an_hmc_step_of_all_chains_is_a_step_of_each(x64, key):
    fit = fitted("games hmc")
    problem, states = fit.problem, last(fit)
    learned = jax.tree.map(jnp.asarray, dict(fit.draws.tuning))
    widths = learned.pop("widths")
    learned["length"] = 4 * learned["step_size"]  # short enough to be accepted
    tuning = Tuning(hmc.Tuning(**learned), widths)
    course = hmc_engine.Course(
        key, NUMBER, 1, 1, hmc_engine.MOST, learning=False, learn_length=0.0
    )
    course = jax.tree.map(jnp.asarray, course)
    arguments = problem, key, states, hmc_engine.blank(problem, states), tuning, course, CHUNK
    advance = jax.jit(hmc_engine.advance, static_argnums=6)
    together, _, _, stats = advance(*arguments)
    anew = jax.vmap(problem.log_density)(together)
    np.testing.assert_allclose(stats.log_density[0], anew, rtol=1e-10)
    steps = stats.steps[0, 0].astype(int)  # the same for all chains
    own = jr.fold_in(key, NUMBER)
    careful = jr.uniform(jr.split(jr.fold_in(own, 0))[1]) < hmc_engine.CAREFUL
    assert not careful  # or the step size below would be another
    alone = jax.jit(hmc_engine.step)
    moved = []
    for chain in range(2):
        state = jax.tree.map(lambda x, c=chain: x[c], states)
        after, _ = alone(jr.fold_in(own, chain + 1), problem, state, tuning, steps)
        assert_close(jax.tree.map(lambda x, c=chain: x[c], together), after)
        moved.append(not np.allclose(after.white.rows, state.white.rows))
    assert any(moved)


@pytest.mark.parametrize("engine", ["hmc", "slice"])
def test_a_run_goes_on_from_what_an_earlier_one_has_learned(engine, x64, key):
    fit = fitted(f"games {engine}")
    one, states = (jax.tree.map(lambda x: x[None], x) for x in (fit.problem, last(fit)))

    def run(warmup, tuned):
        sizes = chains.Sizes(warmup, 1, 1)
        keep, silent = chains.whole_state, lambda *told: None
        found = chains.run_many(engine, one, states, sizes, key[None], keep, silent, tuned)
        return jax.tree.map(np.asarray, (found.tuned, found.tuning))

    cold, _ = run(0, None)
    learned, named = run(30, None)
    kept, again = run(0, jax.tree.map(jnp.asarray, learned))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), kept, learned)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), again, named)
    pairs = list(zip(*map(jax.tree.leaves, (cold, kept)), strict=True))
    assert any(not np.allclose(a, b) for a, b in pairs)
    further, _ = run(5, jax.tree.map(jnp.asarray, learned))
    if engine == "hmc":  # the scales stay, the size of steps is sought again
        np.testing.assert_array_equal(further.trajectory.variance, learned.trajectory.variance)
        assert further.trajectory.step_size != learned.trajectory.step_size


@pytest.mark.parametrize("engine", ["hmc", "slice"])
def test_a_problem_alone_does_what_it_does_beside_another(engine, x64, key):
    fit = fitted(f"games {engine}")

    def run(count):
        def times(x):
            return jnp.broadcast_to(x[None], (count, *x.shape))

        problems, states = jax.tree.map(times, (fit.problem, last(fit)))
        sizes, keys = chains.Sizes(0, 1, 1), jnp.broadcast_to(key, (count,))
        keep, silent = chains.whole_state, lambda *told: None
        return chains.run_many(engine, problems, states, sizes, keys, keep, silent).last

    alone, beside = run(1), run(2)
    assert_close(jax.tree.map(lambda x: x[:1], beside), alone)
    assert not np.allclose(alone.white.rows[0], last(fit).white.rows)


def assert_each_as_alone(key):
    """Two problems whose trajectories differ in length, side by side and each by itself."""
    fit = fitted("games hmc")
    learned = jax.tree.map(jnp.asarray, dict(fit.draws.tuning))
    widths, size = learned.pop("widths"), learned["step_size"]
    learned["length"] = 6 * size
    each = [
        Tuning(hmc.Tuning(**learned | {"step_size": size / times}), widths) for times in (1, 3)
    ]
    tuned = jax.tree.map(lambda *x: jnp.stack(x), *each)
    course = hmc_engine.Course(
        key, NUMBER, 2, 1, hmc_engine.MOST, learning=False, learn_length=0.0
    )
    # A new function, or what was compiled before anything was planted would run again.
    advance = jax.jit(lambda *given: engines._trajectories.__wrapped__(*given, size=2))

    def run(*places):
        def times(x):
            return jnp.broadcast_to(x[None], (len(places), *x.shape))

        problems, states = jax.tree.map(times, (fit.problem, last(fit)))
        problems, own = (
            chains._prepared(problems),
            jax.tree.map(lambda x: x[jnp.array(places)], tuned),
        )
        keys = jr.split(key, 2)[jnp.array(places)]
        blank = engines._blank(problems, states)
        moved, _, _, stats = advance(
            problems, keys, states, blank, own, jax.tree.map(jnp.asarray, course)
        )
        return moved, stats.steps

    together, steps = run(0, 1)
    assert (steps[0] < steps[1]).all()
    for place in (0, 1):
        alone, _ = run(place)
        assert_close(jax.tree.map(lambda x, p=place: x[p : p + 1], together), alone)
        assert not np.allclose(alone.white.rows[0], last(fit).white.rows)


def test_problems_wait_for_the_longest_trajectory(x64, key):
    assert_each_as_alone(key)


def test_cut_short_by_the_shortest_is_found(x64, key, monkeypatch):
    wrong = planted(hmc_engine._step, "jax.lax.pmax", "jax.lax.pmin")
    monkeypatch.setattr(hmc_engine, "_step", wrong)
    with pytest.raises(AssertionError):
        assert_each_as_alone(key)


def test_the_gradient_of_pieces_is_the_pieces(x64, key):
    problem = fitted("games hmc").problem
    weight = jr.normal(key, problem.flat(last_of_one()).shape)

    def weighted(position):
        return jnp.sum(weight * problem.flat(problem.unflat(position)) ** 2)

    some = jr.normal(jr.fold_in(key, 1), (2, len(weight)))
    found = jax.vmap(jax.grad(weighted))(some)
    np.testing.assert_allclose(found, 2 * weight * some, rtol=1e-12)


def last_of_one():
    return jax.tree.map(lambda x: x[0], last(fitted("games hmc")))


def test_curvatures_are_those_of_the_gradient(x64):
    """Second differences of the density, against first ones of its gradient."""
    fit = fitted("games hmc")
    problem, state = fit.problem, jax.tree.map(lambda x: x[0], last(fit))
    given, rest, known = theta.held(problem, state)
    here = position.position(given, rest, known)
    gradient = jax.jit(jax.grad(lambda x: position.log_density(given, x, known)))
    free = np.flatnonzero(np.asarray(hmc_engine._white(problem)) == 0)
    step = 1e-5
    expected = [
        float((gradient(here.at[i].add(-step)) - gradient(here.at[i].add(step)))[i])
        for i in free
    ]
    found = jax.jit(hmc_engine._curvatures)(problem, state)
    np.testing.assert_allclose(found, np.array(expected) / (2 * step), rtol=1e-3, atol=1e-3)
