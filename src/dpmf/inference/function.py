"""One latent function of all members of a side: what its hyperparameters move by."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dpmf.kernels import Kernel
from dpmf.model.colouring import Colouring, Over
from dpmf.model.state import Theta
from dpmf.priors import Prior


class Function(NamedTuple):
    """One latent function of all members, with all that is held while it moves."""

    own: Colouring
    kernel: Kernel
    priors: dict[str, Prior]
    log_likelihood: Callable[[Float[Array, " cells"]], Float[Array, ""]]

    def over(self, theta: Theta) -> Over:
        """What turns its white into values, at free hyperparameters; without the rank axis."""
        values = {name: prior.value(theta[name]) for name, prior in self.priors.items()}
        return self.own.factor(self.kernel, values)

    def values(self, white: Float[Array, "*shape"], over: Over) -> Float[Array, "*shape"]:
        """The function at its own points."""
        return self.own.coloured(white[None], ranked(over))[0]

    def log_prior(self, theta: Theta) -> Float[Array, ""]:
        """Of the free hyperparameters."""
        parts = (prior.log_density(theta[name]) for name, prior in self.priors.items())
        return sum(parts, jnp.zeros(()))


class Moved(NamedTuple):
    """Where the moves of one function led."""

    theta: Theta
    white: Float[Array, "*shape"]
    cells: Float[Array, " cells"]  # the function at every cell
    over: Over  # what turns the white into the function
    stayed: Bool[Array, " slices"]  # each that was cut off by a limit


def ranked(over: Over) -> Over:
    """The same with an axis of functions in front, of which there is one."""
    return jax.tree.map(lambda x: x[None], over)
