r"""Centre and scale of the numbers that rows have for themselves (`Own`), given the numbers.

White held, a move of the centre $c$ or the scale $s$ moves the numbers $x_m = c + s\,w_m$ of
all rows, which the data of hundreds of rows do not allow. With the numbers held, the data say
nothing more, and both move as far as so many normal numbers let them. Other moves have white
held: the two ways are interwoven (Yu and Meng 2011).
"""

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Key

from dpmf.inference.problem import Problem
from dpmf.model.state import State
from dpmf.priors import HalfNormal, Normal
from dpmf.samplers import slice

WIDTH = 3.0  # of the first bracket, in standard errors of the logarithm of a scale


def moved(key: Key[Array, ""], problem: Problem, state: State) -> State:
    """A state with the same numbers under another centre and scale; none: the same state."""
    own = problem.spec.likelihood.own
    if own is None:
        return state
    key_centre, key_scale = jr.split(key)
    priors, noise = problem.spec.noise(), state.free.noise
    prior, scale_prior = priors[own.centre], priors[own.scale]
    assert isinstance(prior, Normal) and isinstance(scale_prior, HalfNormal)
    centre, scale = prior.value(noise[own.centre]), scale_prior.value(noise[own.scale])
    numbers = centre + scale * state.white.rows_noise
    centre = _centre(key_centre, prior, numbers, scale)
    free = _free_scale(key_scale, scale_prior, noise[own.scale], numbers - centre)
    white = (numbers - centre) / scale_prior.value(free)
    noise = noise | {own.centre: prior.free(centre), own.scale: free}
    return state._replace(
        white=state.white._replace(rows_noise=white), free=state.free._replace(noise=noise)
    )


def _centre(
    key: Key[Array, ""],
    prior: Normal,
    numbers: Float[Array, "rows count"],
    scale: Float[Array, " count"],
) -> Float[Array, " count"]:
    """The centre given numbers and scale is normal."""
    precision = prior.sd**-2 + len(numbers) / scale**2
    known = prior.mean / prior.sd**2 + jnp.sum(numbers, axis=0) / scale**2
    return known / precision + jr.normal(key, scale.shape) / jnp.sqrt(precision)


def _free_scale(
    key: Key[Array, ""],
    prior: HalfNormal,
    free: Float[Array, " count"],
    apart: Float[Array, "rows count"],
) -> Float[Array, " count"]:
    """The scale given how far the numbers are from their centre, as a free coordinate."""
    squares, rows = jnp.sum(apart**2, axis=0), len(apart)

    def at(free):
        likelihood = -rows * free - 0.5 * squares / prior.value(free) ** 2
        return prior.log_density(free) + jnp.sum(likelihood), ()

    widths = jnp.full_like(free, WIDTH / jnp.sqrt(2.0 * rows))
    return slice.sweep(key, free, at, widths)[0]
