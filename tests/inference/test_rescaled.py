"""Hyperparameters of a series: noisy copies of its coefficients, as Bayes says."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from scipy import stats

from dpmf.inference import copied, rescaled
from dpmf.inference.function import Function
from dpmf.kernels import SquaredExponential
from dpmf.model.basis import Basis
from dpmf.model.gather import lookup
from dpmf.model.series import Series
from planted import planted

KERNEL = SquaredExponential("time", length=(1.0, 30.0))
SPREAD = 0.3
HERE = 0.5  # free length scale of the chain


def theta_at(free: float) -> dict:
    return {"time.length": jnp.asarray([free])}


def trials(monkeypatch, key, white, kind=rescaled.Rescaled):
    """The density of trials, which `moved` hands to the slice."""
    seen = []

    def sweep(key, position, at, widths, *options):
        seen.append(at)
        return position, at(position)[1], copied.slice.Info(jnp.zeros(1), jnp.zeros(1, int))

    monkeypatch.setattr(copied.slice, "sweep", sweep)
    shown = Basis(KERNEL, 0.0, 10.0, 40.0, 5).waves(np.zeros((3, 1)))
    rows = lookup(np.arange(3), 3)
    own = Series((jnp.asarray(shown),), rows, rows, 3, 40.0, 5)
    function = Function(own, KERNEL, KERNEL.priors(), lambda cells: jnp.zeros(()))
    now = theta_at(HERE)
    cells = own.at_cells(function.values(white, function.over(now))[None])[0]
    copied.moved(key, function, now, white, cells, now, jnp.asarray(SPREAD), kind.by)
    return function, seen[0]


def errors(monkeypatch, kind=rescaled.Rescaled):
    """Log densities against those of the copies, and white where the chain is."""
    key, white = jr.key(3), jr.normal(jr.key(4), (3, 11))
    function, at = trials(monkeypatch, key, white, kind)
    noise = jr.normal(jr.split(key)[0], white.shape)
    copy = function.over(theta_at(HERE)) * white + jnp.sqrt(SPREAD) * noise
    found, expected = [], []
    for free in (-1.0, HERE, 2.0):
        theta = theta_at(free)
        sd = np.sqrt(np.asarray(function.over(theta)) ** 2 + SPREAD)
        expected.append(stats.norm.logpdf(copy, scale=sd).sum() + function.log_prior(theta))
        found.append(at(jnp.asarray([free]))[0])
    return np.diff(found) - np.diff(expected), at(jnp.asarray([HERE]))[1][0] - white


def test_densities_are_those_of_the_copies(x64, monkeypatch):
    density, white = errors(monkeypatch)
    np.testing.assert_allclose(density, 0.0, atol=1e-9)
    np.testing.assert_allclose(white, 0.0, atol=1e-12)


def test_planted_bugs_are_found(x64, monkeypatch):
    wrong = planted(
        rescaled.Rescaled, "jnp.sum(self.known**2) - volume", "jnp.sum(self.known**2)"
    )
    assert np.abs(errors(monkeypatch, wrong)[0]).max() > 0.01
    wrong = planted(rescaled.Rescaled, "(self.known + held) / self.root", "self.known + held")
    assert np.abs(errors(monkeypatch, wrong)[1]).max() > 0.01


def test_scales_that_vanish_do_no_harm(x64, monkeypatch):
    """A long length scale leaves most coefficients without any variance."""
    at = trials(monkeypatch, jr.key(0), jr.normal(jr.key(1), (3, 11)))[1]
    longest = jnp.asarray([40.0])
    density, (white, cells) = jax.jit(at)(longest)
    assert np.isfinite(density) and np.isfinite(white).all() and np.isfinite(cells).all()
