"""Hyperparameters on a grid: the density of trials, and the white that they lead to."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

from dpmf.inference import gridded, surrogate
from dpmf.inference.function import Function, Moved
from dpmf.kernels import Matern12, SquaredExponential
from dpmf.model.gather import lookup
from dpmf.model.shared_inputs import SharedInputs
from planted import planted

KERNEL = Matern12("a", length=(0.1, 50.0)) * SquaredExponential("b", length=(0.1, 50.0))
MEMBERS, HERE = 2, 0.2
SPREAD = jnp.asarray(0.3)
# One copy of a long axis; a root for each point beside a short one; one root for many points.
SHAPES = {"one copy": (6, 2), "a root each": (3, 6), "one root": (6, 5)}


def errors(monkeypatch, shape, axis=gridded._axis):
    """Along the first axis: log densities against those of the copies, and white."""
    seen = []

    def sweep(key, position, at, widths, start, *options):
        seen.append(at)
        return position, start[1], gridded.slice.Info(jnp.zeros(1), jnp.zeros(1, int))

    monkeypatch.setattr(gridded.slice, "sweep", sweep)
    long, others = shape
    size = long * others
    levels = tuple(jnp.arange(float(n))[:, None] for n in shape)
    own = SharedInputs(levels, lookup(np.arange(MEMBERS * size), MEMBERS * size), MEMBERS)
    priors = KERNEL.priors()
    function = Function(own, KERNEL, priors, lambda cells: jnp.zeros(()))
    theta = {label: jnp.full(1, HERE) for label in priors}
    over, key = function.over(theta), jr.key(7)
    white = jr.normal(jr.key(8), (MEMBERS, size))
    cells = own.at_cells(function.values(white, over)[None])[0]
    (label,) = KERNEL.factor_labels()[0]
    here = Moved(theta, white, cells, over, jnp.zeros(0, bool))
    axis(key, function, here, 0, (label,), theta, SPREAD)

    series = jnp.moveaxis(white.reshape(MEMBERS, *shape), (2, 1, 0), (0, 1, 2))
    copies = surrogate.copies(others, long)
    variance = np.broadcast_to(surrogate.spreads([over[1]], SPREAD, long), (copies, 1, 1))
    noise = np.sqrt(variance) * jr.normal(jr.split(key)[0], (copies, long, MEMBERS))
    copy = np.asarray(over[0] @ series[:copies] + noise)
    found, expected = [], []
    for free in (-1.5, HERE, 2.0):
        density, (_, _, lower) = seen[0](jnp.full(1, free))
        found.append(density)
        expected.append(priors[label].log_density(jnp.full(1, free)))
        for one, own_variance in zip(copy, variance[:, 0, 0], strict=True):
            covariance = lower @ lower.T + own_variance * np.eye(long)
            normal = stats.multivariate_normal(np.zeros(long), np.asarray(covariance))
            expected[-1] += normal.logpdf(one.T).sum()
    again = seen[0](jnp.full(1, HERE))[1][0]
    return np.diff(found) - np.diff(expected), np.asarray(again - white)


@pytest.mark.parametrize("name", SHAPES)
def test_densities_are_those_of_the_copies(x64, monkeypatch, name):
    density, white = errors(monkeypatch, SHAPES[name])
    np.testing.assert_allclose(density, 0.0, atol=1e-9)
    np.testing.assert_allclose(white, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("one root", "volume *= copy.size / root.size * root.shape[-1]", "pass"),
        ("one copy", "0.5 * jnp.sum(known**2) - volume", "0.5 * jnp.sum(known**2)"),
        ("a root each", "0.5 * jnp.sum(known**2) - volume", "0.5 * jnp.sum(known**2)"),
    ],
)
def test_planted_bugs_are_found(x64, monkeypatch, name, old, new):
    wrong = planted(gridded._axis, old, new)
    assert np.abs(errors(monkeypatch, SHAPES[name], wrong)[0]).max() > 0.01
