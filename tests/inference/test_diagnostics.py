"""Whether a fit says that it can be trusted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf import DPMF
from dpmf.inference.diagnostics import diagnostics, over_draws, quantities
from dpmf.kernels import Matern12, Matern32
from dpmf.model.coordinates import free_coordinates
from dpmf.model.state import State
from inference.fitted import fitted, game_dyads, games, problem_of, state_of


def chains(*means: float, draws: int = 500) -> np.ndarray:
    random = np.random.default_rng(0)
    return np.stack([random.normal(mean, 1.0, (draws, 1)) for mean in means])


def test_chains_that_agree_have_converged():
    told = diagnostics({"sigma": chains(0, 0), "rho": chains(0, 0)}, {})
    assert told.converged
    assert told.names == ("sigma", "rho")
    assert told.line().startswith("Converged: max R-hat 1.0")


def test_chains_at_different_places_have_not_converged():
    told = diagnostics({"y": chains(0, 0), "sigma": chains(0, 3)}, {})
    assert not told.converged
    assert told.rhat[1] > 1.5 > 1.05 > told.rhat[0]
    assert told.line().startswith("NOT converged: max R-hat")
    assert "(sigma)" in told.line()
    assert "Run longer" in told.line()


def test_a_few_effective_draws_are_not_enough():
    told = diagnostics({"y": chains(0, 0, draws=20)}, {})
    assert told.rhat.max() < 1.2
    assert not told.converged


def test_chains_that_never_move_have_not_converged():
    stuck = np.repeat([[[0.0]], [[1.0]]], 500, axis=1)
    told = diagnostics({"y": chains(0, 0), "sigma": stuck}, {})
    assert not told.converged
    assert "NOT converged" in told.line()


@pytest.mark.parametrize("found", [chains(0), chains(0, 0, draws=3), chains(0, draws=1)])
def test_too_little_to_compare_is_said(found):
    told = diagnostics({"y": found}, {})
    assert not told.converged
    assert "NOT converged: R-hat needs at least 2 chains of 4 draws" in told.line()


def test_a_fixed_value_is_not_diagnosed():
    told = diagnostics({"y": chains(0, 0), "theta": np.ones((2, 500, 2))}, {})
    assert told.names == ("y",)
    assert told.converged


def test_divergences_and_stays_are_counted():
    stats = {"diverging": np.array([[0.0, 1.0], [2.0, 0.0]]), "stayed": np.full((2, 3), 2.0)}
    told = diagnostics({"y": chains(0, 0)}, stats)
    assert (told.divergences, told.stayed) == (3, 12)
    assert "3 divergent steps" in told.line()
    assert "12 moves cut off" in told.line()


def test_a_few_slices_that_stay_are_meant():
    told = diagnostics({"y": chains(0, 0)}, {"stayed": np.ones((2, 3))})
    assert told.stayed == 0
    assert "cut off" not in told.line()


@pytest.mark.parametrize(("share", "told_of"), [(0.2, False), (0.3, True)])
def test_slices_that_stay_are_told_by_their_share(share, told_of):
    made = np.full((2, 500), 20.0)
    told = diagnostics({"y": chains(0, 0)}, {"slices": made, "stayed": share * made})
    assert ("moves cut off" in told.line()) == told_of


def test_many_divergent_steps_are_no_convergence():
    few, many = np.zeros((2, 500)), np.zeros((2, 500))
    few[0, :10], many[0, :30] = 1.0, 1.0
    found = {"y": chains(0, 0)}
    assert diagnostics(found, {"diverging": few}).converged
    told = diagnostics(found, {"diverging": many})
    assert not told.converged
    assert "30 divergent steps (3% of draws)" in told.line()
    assert "engine='slice'" in told.line()


def test_a_fit_says_it_in_its_repr():
    fit = fitted("games hmc")
    lines = repr(fit).splitlines()
    assert lines[0] == "Fit of 16 events, 2 cells each; 5 rows, 5 columns; " + (
        "inputs: season, week, home"
    )
    assert lines[1] == "rank 2, engine hmc, 2 chains x 20 draws"
    assert lines[2] == fit.spec.inputs_line()
    assert lines[2].startswith("inputs of rows, columns: grid, cheap at ")
    assert lines[3] == fit.diagnostics.line()
    assert "NOT converged" in lines[3]  # 20 draws are never enough


def test_swapped_labels_change_nothing_diagnosed(x64):
    model = DPMF(2, Matern12("week"), mean="pooled", mean_kernel=Matern32("home"))
    problem = problem_of(model, game_dyads(games()))
    state = state_of(problem, 3)
    values = problem.parameters(state)
    eye = jnp.eye(2)
    rows, cols = values.rows._replace(corr=eye), values.cols._replace(corr=eye)
    values = values._replace(rows=rows, cols=cols)  # swapping needs Sigma diagonal

    def draws(white, values):
        free = free_coordinates(problem.spec, values)
        return jax.tree.map(lambda x: np.asarray(x)[None, None], State(white, free))

    def swapped(tree):
        return jax.tree.map(lambda x: x[::-1], tree)

    def relabelled(side):
        return swapped(side)._replace(corr=eye)

    other = values._replace(rows=relabelled(rows), cols=relabelled(cols))
    before = quantities(problem, draws(state.white, values))
    after = quantities(problem, draws(swapped(state.white), other))
    assert {"y", "sigma", "rho", "rows week.length", "cols pooled home.length"} <= set(before)
    for name, value in before.items():
        np.testing.assert_allclose(after[name], value, rtol=1e-9, err_msg=name)


def test_over_draws_keeps_what_is_empty():
    states = {"a": np.arange(40.0).reshape(2, 20), "b": np.zeros((2, 20, 0))}
    found = over_draws(lambda s: {"twice": 2 * s["a"], "b": s["b"]}, states)
    np.testing.assert_array_equal(found["twice"], 2 * states["a"])
    assert found["b"].shape == (2, 20, 0)


def test_tails_are_left_out_where_nobody_asks():
    found = {"y": chains(0, 0)}
    whole, less = diagnostics(found, {}), diagnostics(found, {}, tails=False)
    assert np.isnan(less.ess_tail).all() and np.isfinite(whole.ess_tail).all()
    assert less.line() == whole.line()
