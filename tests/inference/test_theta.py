"""Hyperparameters apart from the rest: the surrogate copy, and the problem given them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dpmf import DPMF
from dpmf.inference import copied, position, surrogate, theta, theta_slices
from dpmf.kernels import Constant, Matern12, SquaredExponential
from dpmf.kernels.factor import cholesky_factor, jittered_gram
from dpmf.likelihoods import Ordinal
from dpmf.model.predictor import all_factors
from dpmf.samplers import slice
from inference.fitted import (
    FORM,
    game_dyads,
    games,
    problem_of,
    rating_dyads,
    ratings,
    state_of,
)

PROBLEMS = {
    "product grid": lambda: problem_of(DPMF(2, FORM), game_dyads(games())),
    "dense grid": lambda: problem_of(DPMF(2, FORM), game_dyads(games()), dense=True),
    "pooled": lambda: problem_of(
        DPMF(2, Matern12("week"), Ordinal(4), mean="pooled"), rating_dyads(ratings(Ordinal(4)))
    ),
    "Markov chains": lambda: problem_of(
        DPMF(2, Matern12("week"), inputs="markov"), game_dyads(games())
    ),
    "series": lambda: problem_of(
        DPMF(2, SquaredExponential("week", length=(2.0, 30.0)), inputs="basis"),
        game_dyads(games()),
    ),
    "nothing to move": lambda: problem_of(
        DPMF(2, Constant(), Ordinal(4)), rating_dyads(ratings(Ordinal(4)))
    ),
}


def lower(length):
    levels = jnp.asarray([[0.0], [1.0], [3.0]])
    kernel = Matern12("week", length=(0.1, 100.0))
    return cholesky_factor(
        jittered_gram(kernel.at({"week.length": jnp.full(1, length)}), levels)
    )


def test_a_copy_determines_white_as_bayes_says(x64):
    factor, spread = lower(2.0), jnp.full((1, 1, 1), 0.7)
    copy = jnp.asarray([[[0.3], [-1.0], [2.0]]])
    root, inverse, known = surrogate.given_copy(factor, copy, spread)
    covariance = np.linalg.inv(np.eye(3) + factor.T @ factor / 0.7)
    mean = covariance @ factor.T @ copy[0] / 0.7
    np.testing.assert_allclose(inverse[0].T @ inverse[0], covariance, rtol=1e-10)
    np.testing.assert_allclose(inverse[0].T @ known[0], mean, rtol=1e-10)
    np.testing.assert_allclose(root[0] @ inverse[0], np.eye(3), atol=1e-12)


def test_the_density_of_a_copy(x64):
    """Differences between length scales are those of the normal density of the copy."""
    copy = jnp.asarray([[[0.3], [-1.0], [2.0]]])
    found, expected = [], []
    for length in (0.5, 2.0, 30.0):
        factor = lower(length)
        root, _, known = surrogate.given_copy(factor, copy, jnp.full((1, 1, 1), 0.7))
        found.append(0.5 * jnp.sum(known**2) - jnp.sum(jnp.log(jnp.diagonal(root[0]))))
        normal = stats.multivariate_normal(np.zeros(3), factor @ factor.T + 0.7 * np.eye(3))
        expected.append(normal.logpdf(np.asarray(copy[0, :, 0])))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_rest_given_the_hyperparameters_has_the_same_density(x64, name):
    problem = PROBLEMS[name]()
    state = state_of(problem, 3)
    given, rest, known = theta.held(problem, state)
    whole_known = position.held(problem, problem.parameters(state))
    whole = jax.jit(position.log_density)(
        problem, position.position(problem, state, whole_known), whole_known
    )
    alone = jax.jit(position.log_density)(given, position.position(given, rest, known), known)
    prior = sum(
        float(jnp.sum(jax.vmap(p.log_density)(getattr(getattr(state.free, side), part)[label])))
        for side in ("rows", "cols")
        for part, spec in (("theta", "theta"), ("pooled_theta", "pooled_theta"))
        for label, p in getattr(getattr(problem.spec, side), spec)().items()
    )
    assert float(whole) == pytest.approx(float(alone) + prior, rel=1e-9)
    assert jax.tree.structure(theta.restored(rest, state)) == jax.tree.structure(state)


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_hyperparameter_moves_and_nothing_else(x64, key, name, monkeypatch):
    problem = PROBLEMS[name]()
    state = state_of(problem, 3)
    for one in (copied, surrogate):
        monkeypatch.setattr(one, "LIMIT", 20)  # so that none stays
    moved, over, stayed = jax.jit(lambda *given: theta_slices.moved(*given))(
        key, problem, state, theta.widths(problem)
    )
    before, after = theta.free_values(state.free), theta.free_values(moved.free)
    assert not stayed.any()  # as everything has moved
    assert len(stayed) == sum(x.size for x in jax.tree.leaves(before))
    for x, y in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        assert np.all(np.asarray(x) != np.asarray(y))
    anew = all_factors(problem.spec, problem.parameters(moved), problem.arrays)
    for x, y in zip(jax.tree.leaves(over), jax.tree.leaves(anew), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
    for x, y in zip(
        jax.tree.leaves(theta.without(state).free),
        jax.tree.leaves(theta.without(moved).free),
        strict=True,
    ):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", PROBLEMS)
def test_slices_begin_with_what_is_known_of_the_start(x64, key, name, monkeypatch):
    """Where a chain is has the density that the same point would have as a trial."""
    seen = []

    def sweep(key, position, at, widths, start, *options):
        density, kept = at(position)
        seen.append((density, start[0], kept, start[1]))
        return original(key, position, at, widths, start, *options)

    original = slice.sweep
    monkeypatch.setattr(slice, "sweep", sweep)
    problem = PROBLEMS[name]()
    with jax.disable_jit():
        theta_slices.moved(key, problem, state_of(problem, 3), theta.widths(problem))
    assert bool(seen) == (name != "nothing to move")
    for density, known, kept, same in seen:
        assert float(density) == pytest.approx(float(known), rel=1e-9)
        for x, y in zip(jax.tree.leaves(kept), jax.tree.leaves(same), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-9)


def test_values_without_a_second_derivative_say_nothing_of_a_function(x64):
    """Such as the square root of y has at 0: what is left are the other two."""

    def log_prob(y):
        return jnp.sqrt(y[0]) - 0.5 * jnp.sum(y**2)

    likelihood = theta_slices._Likelihood(lambda features: features[0], log_prob)
    noise = likelihood.noise_of(jnp.asarray([[0.0, 1.0, 2.0]]), jnp.ones((1, 1)))
    assert float(noise) == pytest.approx(1 / 2)
