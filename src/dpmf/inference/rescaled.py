r"""Hyperparameters of one function whose white is only scaled, with noisy copies held.

What `surrogate` does on shared inputs, where the factor is a diagonal matrix: every coefficient
has its own copy $g = s w + \sqrt{v}\,\epsilon$, and no matrix is needed. With the coefficients
themselves held (`interwoven`) a smooth function would not move at all: its many coefficients
that are all but 0 settle the length scale, though the data know nothing of them.
"""

import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from dpmf.inference.interwoven import LIMIT, Function, Moved
from dpmf.inference.surrogate import SPREADS
from dpmf.model.state import Theta
from dpmf.samplers import slice


def moved(
    key: Key[Array, ""],
    function: Function,
    theta: Theta,
    white: Float[Array, "members functions"],
    widths: Theta,
    spread: Float[Array, ""],
) -> Moved:
    """Slice every hyperparameter of one function.

    Args:
        key: Random key.
        function: What is moved.
        theta: Its free hyperparameters.
        white: Its white coordinates.
        widths: Of the first bracket of each.
        spread: Variance that the data leave to one coefficient.
    """
    key_copy, key_slice = jr.split(key)
    position, restore = ravel_pytree(theta)
    flat_widths = ravel_pytree(widths)[0]
    spread = jnp.clip(spread, *SPREADS)
    scale = function.over(theta)
    copy = scale * white + jnp.sqrt(spread) * jr.normal(key_copy, white.shape)

    def given_copy(scale):
        root = jnp.sqrt(1 + scale**2 / spread)
        return root, scale / root * copy / spread

    root, known = given_copy(scale)
    held = root * white - known

    def at(position):
        theta = restore(position)
        scale = function.over(theta)
        root, known = given_copy(scale)
        white = (known + held) / root
        cells = function.own.at_cells(function.values(white, scale)[None])[0]
        volume = len(white) * jnp.sum(jnp.log(root))
        log_copy = 0.5 * jnp.sum(known**2) - volume
        log_density = function.log_prior(theta) + log_copy + function.log_likelihood(cells)
        return log_density, (white, cells)

    position, (white, cells), info = slice.sweep(
        key_slice, position, at, flat_widths, budget=1, limit=LIMIT
    )
    theta = restore(position)
    return Moved(theta, white, cells, function.over(theta), info.stayed)
