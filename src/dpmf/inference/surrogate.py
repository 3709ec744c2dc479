r"""A noisy copy of functions, held while their hyperparameters move (Murray and Adams 2010).

With white held, a slice along a hyperparameter is narrow where data are many; with the
functions held, it is narrow where they are few. A noisy copy is the middle way:
$g = L w + \sqrt{s}\,\epsilon$ is drawn and held. White given $g$ is normal with precision
$I + L^\top L / s = M M^\top$, and what is held of it is
$\eta = M^\top w - M^{-1} L^\top g / s$, a standard normal. With $s$ about the noise of the
data, seen from one function, $g$ knows as much as they do.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.kernels.cholesky import UNROLLED, cholesky, triangular_inverse

FEW_POINTS = 4  # of the other factors, of which the first says most
SPREADS = (1e-4, 1e4)  # variance of the copy: data all but exact, data that say nothing
# A density costs a Cholesky factor, and chains side by side wait for the slowest: so brackets
# are wide enough not to be grown, and few shrinks are made before a chain stays where it is.
# Three densities are needed on average, and the slowest of hundreds of chains would need ten or
# more. With five, one slice in twelve stays, of those that would have moved about half as far
# as others: a posterior of games is explored as fast as with nine.
LIMIT = 4


def spreads(
    others: list[Float[Array, "_ _"]], spread: Float[Array, ""], size: int
) -> Float[Array, "points 1 1"]:
    """Variance of the noisy copy at each white point of the other factors that has one.

    Data at all points of a smooth function speak about its first white coordinates most:
    as much as the squares in their columns of the factor add up to. Where a copy takes a large
    root, it is of the first of a few points alone, and white is held at the others; many
    points share one root. A root for each of two points costs a fifth of a step more, and
    hyperparameters move no farther.
    """
    weights = jnp.ones(1)
    for one in others:
        weights = (weights[:, None] * jnp.sum(one**2, axis=0)).reshape(-1)
    some = copies(len(weights), size)
    if some == len(weights) and size > UNROLLED:
        weights = jnp.mean(weights, keepdims=True)
    return jnp.clip(spread / weights[:some], *SPREADS)[:, None, None]


def copies(points: int, size: int) -> int:
    """How many of the white points of the other factors have a copy, of so many levels."""
    return 1 if size > UNROLLED and points <= FEW_POINTS else points


def given_copy(
    lower: Float[Array, "n n"],
    copy: Float[Array, "points n members"],
    spread: Float[Array, "some 1 1"],
):
    """Factor of white's precision given the copy, its inverse, and the scaled mean."""
    root = cholesky(jnp.eye(lower.shape[0]) + lower.T @ lower / spread)
    inverse = triangular_inverse(root)
    return root, inverse, inverse @ (lower.T @ copy) / spread
