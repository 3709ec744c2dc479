"""Every kind of fit runs, in double precision, and the same seed gives the same draws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf import DpmfWarning
from dpmf.inference import chains
from inference.fitted import CASES, SIZES, WARMUP, fitted, same


@pytest.mark.parametrize("name", CASES)
def test_every_likelihood_and_engine(name):
    assert not jax.config.jax_enable_x64
    fit, case = fitted(name), CASES[name]
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == jnp.float32
    assert fit.shape == (2, 20)
    assert fit.spec.rank == case.model.rank
    for leaf in jax.tree.leaves((fit.draws.states, fit.parameters)):
        assert leaf.dtype == np.float64
        assert leaf.shape[:2] == (2, 20)
        assert np.isfinite(leaf).all()
    for name, stat in fit.draws.stats.items():
        assert stat.shape == (2, 20), name
        assert np.isfinite(stat).all(), name
    moved = fit.draws.states.white.rows
    assert (np.ptp(moved, axis=1) > 0).all()  # no coordinate of any chain stays put
    assert not np.array_equal(moved[0], moved[1])


@pytest.mark.parametrize("name", ["games hmc", "stars slice"])
def test_log_density_is_that_of_the_kept_state(name):
    fit = fitted(name)
    last = jax.tree.map(lambda x: x[:, -1], fit.draws.states)
    with jax.enable_x64(True):
        found = np.asarray(jax.jit(jax.vmap(fit.problem.log_density))(last))
    told = fit.draws.stats["log_density"][:, -1]
    np.testing.assert_allclose(told, found, rtol=1e-9)


@pytest.mark.parametrize("name", ["stars hmc", "values slice"])
def test_the_seed_decides_the_draws(name):
    first = fitted(name)
    assert same(first.draws, fitted(name, seed=0).draws)
    other = fitted(name, seed=1)
    assert not np.array_equal(first.draws.states.white.rows, other.draws.states.white.rows)


@pytest.mark.parametrize("name", ["stars hmc", "values slice"])
def test_thinning_keeps_every_second_draw(name):
    """Warm-up is the same, and so are the keys of all steps."""
    every, second = fitted(name), fitted(name, thin=2, draws=10)
    expected = jax.tree.map(lambda x: x[:, 1::2], every.draws.states)
    assert same(second.draws.states, expected)
    assert same(second.draws.tuning, every.draws.tuning)


@pytest.mark.parametrize("name", ["stars hmc", "values slice"])
def test_calls_of_one_state_change_nothing(name, monkeypatch):
    monkeypatch.setattr(chains, "CHUNK_BYTES", 1)
    assert same(fitted.__wrapped__(name).draws, fitted(name).draws)


def test_a_small_budget_thins_and_says_so():
    states = fitted("stars hmc").draws.states
    each = 8 * sum(leaf[:, 0].size for leaf in jax.tree.leaves(states))
    with pytest.warns(
        DpmfWarning, match=r"20 draws of 2 chains .* one in 2 \(10 draws a chain"
    ):
        fit = fitted("stars hmc", budget=10 * each)
    assert fit.sizes.thin == 2
    assert same(fit.draws, fitted("stars hmc", thin=2, draws=10).draws)


def test_progress_is_told_by_stage():
    told = []
    fitted("stars hmc", progress=lambda *step: told.append(step))
    stages = [stage for stage, _, _ in told]
    assert stages == sorted(stages, reverse=True)  # warm-up, then sampling
    for stage, total in (("warm-up", WARMUP["hmc"]), ("sampling", SIZES["draws"])):
        done = [step[1:] for step in told if step[0] == stage]
        assert done[-1] == (total, total)
        assert done == sorted(done)


@pytest.mark.parametrize("progress", [False, True])
def test_nothing_is_printed_where_there_is_no_terminal(capfd, progress):
    fitted("stars hmc", progress=progress, seed=3 + progress)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == ""
