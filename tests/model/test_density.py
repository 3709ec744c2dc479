"""The density as a function: gradients, empty weights, and states outside its domain."""

import dataclasses

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from dpmf.kernels import Correlation, Scaled, registry
from dpmf.likelihoods import Ordinal, PairedGaussian
from dpmf.model import gather
from dpmf.model.density import log_density, log_likelihoods
from dpmf.model.layout import grids, layout
from dpmf.model.spec import spec
from dpmf.types import pytree_dataclass
from model.problem import Problem, problem, state


def assert_gradient(case, one):
    """Along random directions, against a difference of fourth order."""
    flat, unravel = ravel_pytree(one)

    @jax.jit
    def along(direction):
        def moved(t):
            return log_density(case.spec, unravel(flat + t * direction), case.arrays)

        step = 1e-3
        at = jax.vmap(moved)(step * jnp.array([-2.0, -1.0, 1.0, 2.0]))
        difference = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step)
        slope = jax.grad(lambda s: log_density(case.spec, s, case.arrays))(one)
        return difference, ravel_pytree(slope)[0] @ direction

    for key in jr.split(jr.key(0), 3):
        difference, slope = along(jr.normal(key, flat.shape) / np.sqrt(flat.size))
        assert slope == pytest.approx(float(difference), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("likelihood", "pooled", "dense"),
    [
        (PairedGaussian(), True, False),
        (Ordinal(4), False, True),
    ],
    ids=str,
)
def test_gradient_is_that_of_finite_differences(likelihood, pooled, dense):
    case = problem(likelihood, rank=2, pooled=pooled, dense=dense)
    assert_gradient(case, state(case))


def test_gradient_is_the_same_by_lists_and_by_scatter(monkeypatch):
    one = state(problem(rank=1))
    found = []
    for limit in (1000, 0):
        monkeypatch.setattr(gather, "PADDING_LIMIT", limit)
        case = problem(rank=1)
        assert (case.arrays.rows.functions.cells.users is None) == (limit == 0)
        found.append(jax.jit(jax.grad(lambda s, c=case: log_density(c.spec, s, c.arrays)))(one))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9), *found)


def test_events_of_weight_zero_contribute_nothing():
    case = problem(rank=1)
    weight = jnp.asarray(np.arange(case.data.events) % 3 > 0, float)
    some = dataclasses.replace(case.arrays, weight=weight)
    fewer = layout(case.grids, case.data.take(np.asarray(weight) > 0))[1]

    @jax.jit
    def found(one):
        each = log_likelihoods(case.spec, one, case.arrays)
        slope = jax.grad(
            lambda w: log_density(case.spec, one, dataclasses.replace(some, weight=w))
        )
        return (
            *(log_density(case.spec, one, arrays) for arrays in (some, fewer)),
            each,
            slope(weight),
        )

    filled, bare, each, slope = found(state(case))
    assert filled == pytest.approx(float(bare), rel=1e-12)
    np.testing.assert_allclose(slope, each, rtol=1e-12)


def test_chains_may_be_vmapped():
    case = problem(rank=2)
    states = [state(case, seed) for seed in range(3)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *states)
    density = jax.jit(lambda s: log_density(case.spec, s, case.arrays))
    together = jax.jit(jax.vmap(density))(stacked)
    np.testing.assert_allclose(together, [density(s) for s in states], rtol=1e-12)


@pytree_dataclass
class RepulsiveCorrelation(Correlation):
    """No correlation at all: three inputs cannot all be opposite to each other."""

    length: jnp.ndarray

    def pair(self, x, z):
        return jnp.where(jnp.all(x == z), 1.0, -0.9)


def test_a_matrix_that_is_not_positive_definite_gives_a_nan(monkeypatch):
    monkeypatch.setattr(registry, "_classes", dict(registry._classes))

    class Repulsive(Scaled):
        correlation = RepulsiveCorrelation

    data = problem().data
    kernel = Repulsive("home", length=(1, 2))
    model = spec(2, (kernel, None), (kernel, None), PairedGaussian(), 30.0, 9.0)
    case = Problem(model, data, *layout(grids(model, data), data))
    assert case.grids.rows.size == 3
    one = state(case)
    density = jax.jit(jax.value_and_grad(lambda s: log_density(case.spec, s, case.arrays)))
    assert jnp.isnan(density(one)[0])


def test_a_nan_in_the_state_gives_a_nan():
    case = problem(rank=2)
    one = state(case)
    broken = one._replace(
        white=one.white._replace(rows=one.white.rows.at[0, 0, 0].set(jnp.nan))
    )
    assert jnp.isnan(jax.jit(lambda s: log_density(case.spec, s, case.arrays))(broken))
