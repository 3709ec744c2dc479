r"""Hyperparameters of one function moved with a noisy copy of all its values held.

What `surrogate` does on shared inputs, where a representation needs no matrix: every value has
its own copy $g = f + \sqrt{v}\,\epsilon$. White given $g$ is normal, so it is a function of $g$
and of as many standard normals; $g$ and those are held, and the slice is along
$p(\theta)\,p(g \mid \theta)$ and the likelihood. With the values themselves held (`interwoven`)
a smooth function would not move at all, and others move little: their many values settle the
length scale far better than the data do.
"""

import abc
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from dpmf.inference.interwoven import LIMIT, Function, Moved
from dpmf.inference.surrogate import SPREADS
from dpmf.model.colouring import Over
from dpmf.model.state import Theta
from dpmf.samplers import slice


class Given(abc.ABC):
    """What a copy says of a function's white, at known hyperparameters."""

    @property
    @abc.abstractmethod
    def log_density(self) -> Float[Array, ""]:
        """Of the copy, up to a constant."""

    @abc.abstractmethod
    def held(self, white: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """The standard normals that white was made of."""

    @abc.abstractmethod
    def white(self, held: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """The inverse of `held`."""


# From what turns white into values, the copy and its variance.
Telling = Callable[[Over, Float[Array, "*shape"], Float[Array, ""]], Any]


def moved(
    key: Key[Array, ""],
    function: Function,
    theta: Theta,
    white: Float[Array, "*shape"],
    widths: Theta,
    spread: Float[Array, ""],
    given: Telling,
) -> Moved:
    """Slice every hyperparameter of one function.

    Args:
        key: Random key.
        function: What is moved.
        theta: Its free hyperparameters.
        white: Its white coordinates.
        widths: Of the first bracket of each.
        spread: Variance that the data leave to one value.
        given: What a copy says, in the way of the function's representation.
    """
    key_copy, key_slice = jr.split(key)
    position, restore = ravel_pytree(theta)
    flat_widths = ravel_pytree(widths)[0]
    spread = jnp.clip(spread, *SPREADS)
    over = function.over(theta)
    noise = jnp.sqrt(spread) * jr.normal(key_copy, white.shape)
    copy = function.values(white, over) + noise
    held = given(over, copy, spread).held(white)

    def at(position):
        theta = restore(position)
        over = function.over(theta)
        told = given(over, copy, spread)
        white = told.white(held)
        cells = function.own.at_cells(function.values(white, over)[None])[0]
        log_density = function.log_prior(theta) + told.log_density
        return log_density + function.log_likelihood(cells), (white, cells)

    position, (white, cells), info = slice.sweep(
        key_slice, position, at, flat_widths, budget=1, limit=LIMIT
    )
    theta = restore(position)
    return Moved(theta, white, cells, function.over(theta), info.stayed)
