r"""Markov chains carried to other points: what is new is drawn given what was known.

A function $g$ is drawn at all points, old and new, as if nothing were known; then its error at
the known points is taken off everywhere, which turns it into a draw given the known values
(Matheron's rule). For these chains the error between two known points is that of both, with
weights $\sinh(d_2/\ell)/\sinh((d_1 + d_2)/\ell)$ and its mirror image, and outside it decays.
"""

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, Key

from dpmf.kernels import Kernel
from dpmf.model.markov import Steps, Track, coloured, length_of, whitened
from dpmf.model.points import Widening
from dpmf.model.state import Theta
from dpmf.types import pytree_dataclass


@pytree_dataclass
class Bridge(Widening):
    """From old points to new ones, by way of all of them together."""

    old: Track
    every: Track
    new: Track
    kept: Int[Array, " known"]  # old points whose member is still there
    known: Int[Array, " known"]  # their places among all
    before: Int[
        Array, " every"
    ]  # the known point before each, or their number if there is none
    after: Int[Array, " every"]
    since: Float[Array, " every"]  # distance to them, or infinity
    until: Float[Array, " every"]
    places: Int[Array, " new_points"]  # of the new points among all

    def widened(
        self,
        white: Float[Array, "rank points"],
        kernel: Kernel,
        theta: Theta,
        key: Key[Array, ""],
    ) -> Float[Array, "rank new_points"]:
        length = jax.vmap(lambda one: length_of(kernel, one))(theta)
        old, every, new = (_steps(one, length) for one in (self.old, self.every, self.new))
        values = coloured(white, old)[:, self.kept]
        free = coloured(jr.normal(key, every.decay.shape), every)
        error = jnp.pad(values - free[:, self.known], ((0, 0), (0, 1)))
        first, second = self._weights(length[:, None])
        given = free + first * error[:, self.before] + second * error[:, self.after]
        return whitened(given[:, self.places], new)

    def _weights(self, length: Float[Array, "rank 1"]):
        since, until = self.since[None] / length, self.until[None] / length
        both = jnp.expm1(-2 * (since + until))
        first = jnp.exp(-since) * jnp.expm1(-2 * until) / both
        return first, jnp.exp(-until) * jnp.expm1(-2 * since) / both


def _steps(track: Track, length: Float[Array, " rank"]) -> Steps:
    return jax.vmap(track.steps)(length)
