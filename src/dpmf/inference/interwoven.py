"""Hyperparameters of one function moved twice: with its white held, then with its values held.

With white held a slice is narrow where data are many; with the values held it is narrow where
they are few, and the likelihood does not change at all. Doing both in turn (Yu and Meng 2011)
is at least about as good as the better of them, and needs no more of a representation than
the way from white to values and back. It serves members' own inputs, where the noisy copies of
`surrogate` would take a root for every member.
"""

from functools import partial

import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from dpmf.inference.function import Function, Moved, ranked
from dpmf.model.state import Theta
from dpmf.samplers import slice

# One width serves both: what is wide enough for one slice may be far too wide for the other.
LIMIT = 20  # shrinks before staying put


def moved(
    key: Key[Array, ""],
    function: Function,
    theta: Theta,
    white: Float[Array, "*shape"],
    widths: Theta,
) -> Moved:
    """Slice every hyperparameter of one function twice.

    Args:
        key: Random key.
        function: What is moved.
        theta: Its free hyperparameters.
        white: Its white coordinates.
        widths: Of the first bracket of each.
    """
    key_white, key_values = jr.split(key)
    position, restore = ravel_pytree(theta)
    flat_widths = ravel_pytree(widths)[0]
    own = function.own

    def white_held(position):
        theta = restore(position)
        values = function.values(white, function.over(theta))
        cells = own.at_cells(values[None])[0]
        return function.log_prior(theta) + function.log_likelihood(cells), (values, cells)

    sweep = partial(slice.sweep, widths=flat_widths, budget=1, limit=LIMIT)
    position, (values, cells), first = sweep(key_white, position, white_held)

    def values_held(position):
        theta = restore(position)
        over = ranked(function.over(theta))
        white = own.whitened(values[None], over)[0]
        log_values = -0.5 * jnp.sum(white**2) - own.log_volume(over)[0]
        return function.log_prior(theta) + log_values, white

    position, white, second = sweep(key_values, position, values_held)
    stayed = jnp.concatenate([first.stayed, second.stayed])
    theta = restore(position)
    return Moved(theta, white, cells, function.over(theta), stayed)
