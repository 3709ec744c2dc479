r"""Functions that forget all but their last value: Matern 1/2 in one column, exactly.

At a member's own points in order of time, $f_1 = w_1$ and
$f_t = a_t f_{t-1} + \sqrt{1 - a_t^2}\, w_t$ with $a_t = e^{-(x_t - x_{t-1})/\ell}$. The points
of all members lie end to end in one array, so nothing is padded, and the cost is linear in
their number. There is no jitter: points are distinct, and no matrix is factored. The
correlations are those of the kernel itself, within eps of those on shared inputs.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dpmf.kernels import Kernel
from dpmf.kernels.stationary import Matern12Correlation
from dpmf.model.own_points import OwnPoints
from dpmf.model.recurrence import recurrence
from dpmf.model.state import Theta
from dpmf.types import pytree_dataclass


class Steps(NamedTuple):
    """What becomes of a function from one point to the next; a leading axis rank, or none."""

    decay: Float[Array, "*rank points"]  # a: 0 at the first point of a member
    fresh: Float[Array, "*rank points"]  # standard deviation of what is new


@pytree_dataclass
class Track:
    """Points of all members end to end, each member's in order."""

    gap: Float[Array, " points"]  # since the point before; 1 at the first of a member
    start: Bool[Array, " points"]  # whether it is the first of a member

    def steps(self, length: Float[Array, ""]) -> Steps:
        """The steps of a function with this length scale."""
        decay = jnp.where(self.start, 0.0, jnp.exp(-self.gap / length))
        fresh = jnp.sqrt(jnp.where(self.start, 1.0, -jnp.expm1(-2 * self.gap / length)))
        return Steps(decay, fresh)


def coloured(white: Float[Array, "rank points"], over: Steps) -> Float[Array, "rank points"]:
    """White noise into functions."""
    steps = over.fresh * white
    return recurrence(jnp.broadcast_to(over.decay, steps.shape), steps)


def whitened(
    functions: Float[Array, "rank points"], over: Steps
) -> Float[Array, "rank points"]:
    """Functions into the noise they came from."""
    before = jnp.pad(functions, ((0, 0), (1, 0)))[:, :-1]
    return (functions - over.decay * before) / over.fresh


def length_of(kernel: Kernel, theta: Theta) -> Float[Array, ""]:
    """The length scale of a kernel that is Matern 1/2 in one column."""
    (correlation,) = kernel.factors_at(theta)
    assert isinstance(correlation, Matern12Correlation)
    return correlation.length[0]


@pytree_dataclass
class MarkovChains(OwnPoints):
    """Points of every member (`tracks.Tracks`) as arrays."""

    track: Track

    def factor(self, kernel: Kernel, theta: Theta) -> Steps:
        return self.track.steps(length_of(kernel, theta))

    def coloured(
        self, white: Float[Array, "rank points"], over: Steps
    ) -> Float[Array, "rank points"]:
        return coloured(white, over)

    def whitened(
        self, functions: Float[Array, "rank points"], over: Steps
    ) -> Float[Array, "rank points"]:
        return whitened(functions, over)

    def log_volume(self, over: Steps) -> Float[Array, " rank"]:
        return jnp.sum(jnp.log(over.fresh), axis=1)
