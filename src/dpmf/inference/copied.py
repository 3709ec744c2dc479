r"""Hyperparameters of one function moved with a noisy copy of all its values held.

What `surrogate` does on shared inputs, where a representation needs no matrix: every value (of
a series, every coefficient; so below too) has its own copy $g = f + \sqrt{v}\,\epsilon$. White
given $g$ is normal, so it is a function of $g$ and of as many standard normals; $g$ and those
are held, and the slice is along $p(\theta)\,p(g \mid \theta)$ and the likelihood. With the
values themselves held (`interwoven`) a smooth function would not move at all, and others move
little: their many values settle the length scale far better than the data do.
"""

import abc
from collections.abc import Callable

import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from dpmf.inference import surrogate
from dpmf.inference.function import Function, Moved
from dpmf.model.colouring import Over
from dpmf.model.state import Theta
from dpmf.samplers import slice

# A density is cheap here, and functions that have changed places between chains share a width
# that is far too wide for one of them: a few more shrinks than on shared inputs pay.
LIMIT = 8


class Told(abc.ABC):
    """What a copy tells of a function, at known hyperparameters."""

    @property
    @abc.abstractmethod
    def log_density(self) -> Float[Array, ""]:
        """Of the copy, up to a constant."""

    @abc.abstractmethod
    def held(
        self, white: Float[Array, "*shape"], values: Float[Array, "*shape"]
    ) -> Float[Array, "*shape"]:
        """The standard normals that this white, which has these values, was made of."""

    @abc.abstractmethod
    def restored(
        self, held: Float[Array, "*shape"]
    ) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
        """White and its values: the inverse of `held`."""


# From what turns white into values, the copy and its variance.
ToldBy = Callable[[Over, Float[Array, "*shape"], Float[Array, ""]], Told]


def moved(
    key: Key[Array, ""],
    function: Function,
    theta: Theta,
    white: Float[Array, "*shape"],
    cells: Float[Array, " cells"],
    widths: Theta,
    spread: Float[Array, ""],
    told_by: ToldBy,
) -> Moved:
    """Slice every hyperparameter of one function.

    Args:
        key: Random key.
        function: What is moved.
        theta: Its free hyperparameters.
        white: Its white coordinates.
        cells: The function at every cell.
        widths: Of the first bracket of each.
        spread: Variance that the data leave to one value.
        told_by: What a copy tells, in the way of the function's representation.
    """
    key_copy, key_slice = jr.split(key)
    position, restore = ravel_pytree(theta)
    spread = jnp.clip(spread, *surrogate.SPREADS)
    over = function.over(theta)
    values = function.values(white, over)
    copy = values + jnp.sqrt(spread) * jr.normal(key_copy, white.shape)
    told = told_by(over, copy, spread)
    held = told.held(white, values)

    def log_density(theta, told, cells):
        return function.log_prior(theta) + told.log_density + function.log_likelihood(cells)

    def at(position):
        theta = restore(position)
        told = told_by(function.over(theta), copy, spread)
        white, values = told.restored(held)
        cells = function.own.at_cells(values[None])[0]
        return log_density(theta, told, cells), (white, cells)

    start = log_density(theta, told, cells), (white, cells)
    position, (white, cells), info = slice.sweep(
        key_slice, position, at, ravel_pytree(widths)[0], start, 1, LIMIT
    )
    theta = restore(position)
    return Moved(theta, white, cells, function.over(theta), info.stayed)
