"""What must hold for every kernel that can be written."""

import json

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from dpmf.kernels import (
    Categorical,
    Constant,
    Kernel,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SeasonGap,
    SquaredExponential,
)

KERNELS = [
    SquaredExponential("time", "home"),
    Matern12("time"),
    Matern32("time", "home", length=(0.1, 10)),
    Matern52("home", "time", length=((0.1, 10), (1, 50))),
    RationalQuadratic("time", "home"),
    Periodic("time", period=52),
    Categorical("venue"),
    Constant(),
    Matern12(SeasonGap("season", "week")),
    Matern12(SeasonGap("season", "week")) * SquaredExponential("home"),
    Matern12("time") + Periodic("time", period=52.0) + Constant(),
    Matern12("time") * (Matern52("home") + Categorical("venue")) * Matern32("time"),
]
everywhere = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def training_inputs(count=12, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "time": rng.uniform(0, 100, count),
        "home": rng.choice([-0.5, 0.0, 0.5], count),
        "venue": rng.integers(0, 4, count).astype(float),
        "season": rng.integers(2000, 2003, count).astype(float),
        "week": rng.integers(0, 25, count).astype(float),
    }


def prepared(kernel, seed=0):
    """The kernel with bounds, hyperparameters from the prior, and rows to compare."""
    inputs = training_inputs(seed=seed)
    kernel = kernel.bounded(inputs)
    priors = kernel.priors()
    keys = jr.split(jr.key(seed), len(priors) + 1)
    theta = {name: p.sample(key) for (name, p), key in zip(priors.items(), keys, strict=False)}
    rows = np.array([inputs[name] for name in kernel.columns]).reshape(-1, 12).T
    return kernel, theta, jnp.asarray(rows)


@everywhere
def test_gram_is_a_correlation_matrix(kernel):
    for seed in range(5):
        kernel_, theta, rows = prepared(kernel, seed)
        gram = np.asarray(jax.jit(lambda t, k=kernel_, r=rows: k.at(t).gram(r, r))(theta))
        np.testing.assert_array_equal(np.diag(gram), np.ones(len(rows)))
        np.testing.assert_allclose(gram, gram.T, atol=1e-15)
        assert np.linalg.eigvalsh(gram).min() > -1e-12


@everywhere
def test_pair_at_equal_inputs_is_exactly_one(kernel):
    kernel, theta, rows = prepared(kernel)
    assert all(kernel.at(theta).pair(row, row) == 1 for row in rows)


@everywhere
def test_gradients_are_finite_also_at_equal_inputs(kernel):
    kernel, theta, rows = prepared(kernel)
    rows = jnp.concatenate([rows, rows[:3]])

    def total(theta, rows):
        return kernel.at(theta).gram(rows, rows).sum()

    for leaf in jax.tree.leaves(jax.grad(total, argnums=(0, 1))(theta, rows)):
        assert jnp.isfinite(leaf).all()


@everywhere
def test_correlation_may_be_vmapped_over_latent_functions(kernel):
    kernel, theta, rows = prepared(kernel)
    stacked = {name: jnp.stack([value, value]) for name, value in theta.items()}
    both = jax.vmap(lambda t: kernel.at(t).gram(rows, rows), axis_size=2)(stacked)
    np.testing.assert_allclose(both[1], kernel.at(theta).gram(rows, rows), rtol=1e-12)


@everywhere
def test_correlation_is_a_pytree(kernel):
    kernel, theta, rows = prepared(kernel)
    correlation = kernel.at(theta)
    gram = jax.jit(lambda c: c.gram(rows, rows))(correlation)
    np.testing.assert_allclose(gram, correlation.gram(rows, rows), rtol=1e-12)


@everywhere
def test_saved_is_loaded_open_or_bounded(kernel):
    for spec in (kernel, kernel.bounded(training_inputs())):
        loaded = Kernel.from_dict(json.loads(json.dumps(spec.to_dict())))
        assert loaded == spec
        assert hash(loaded) == hash(spec)


@everywhere
def test_bounded_twice_is_bounded_once(kernel):
    once = kernel.bounded(training_inputs())
    assert once.bounded(training_inputs(seed=1)) == once


@everywhere
def test_factors_multiply_to_the_kernel(kernel):
    kernel, theta, rows = prepared(kernel)
    product = jnp.ones((len(rows), len(rows)))
    for factor, correlation in zip(kernel.factors(), kernel.factors_at(theta), strict=True):
        at = np.array([kernel.columns.index(name) for name in factor.columns], dtype=int)
        product = product * correlation.gram(rows[:, at], rows[:, at])
    np.testing.assert_allclose(product, kernel.at(theta).gram(rows, rows), rtol=1e-12)


def test_kernels_of_different_kind_differ():
    assert Matern12("time") != Matern32("time")
    assert len(set(KERNELS)) == len(KERNELS)
