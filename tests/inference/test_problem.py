"""The shapes of a state are found once for all problems of one shape."""

import jax
import jax.numpy as jnp
import pytest

from dpmf import DPMF
from dpmf.inference import problem as module
from dpmf.kernels import Matern12
from dpmf.likelihoods import Gaussian
from dpmf.model.simulate import simulate_state
from inference.fitted import game_dyads, games, problem_of, rating_dyads, ratings


def drawn(problem):
    """Shapes, straight from a draw."""
    return jax.eval_shape(
        lambda: simulate_state(problem.spec, problem.arrays, jax.random.key(0), problem.fixed)
    )


@pytest.mark.parametrize("pair", [True, False])
def test_they_are_those_of_a_draw_in_either_precision(pair):
    for double in (True, False, True):  # the second time they come from what is kept
        with jax.enable_x64(double):
            data = game_dyads(games()) if pair else rating_dyads(ratings(Gaussian()))
            problem = problem_of(DPMF(2, Matern12("week")), data)
            assert str(problem.template()) == str(drawn(problem))
            assert jax.tree.leaves(problem.template())[0].dtype == jnp.result_type(float)


def test_nothing_of_a_problem_is_kept_alive(x64):
    """Only shapes are: a backtest has hundreds of problems."""
    module._template.cache_clear()
    problem = problem_of(DPMF(1, Matern12("week")), rating_dyads(ratings(Gaussian())))
    problem.template()
    problem.template()
    assert module._template.cache_info()[:2] == (1, 1)  # hits, misses
    kept = jax.tree.leaves(problem.template())
    assert all(isinstance(one, jax.ShapeDtypeStruct) for one in kept)
