r"""The count that both values of a bivariate Poisson pair share, summed over and drawn.

Given the counts $x$ and $z$, the shared one is $k$ with a probability proportional to
$w_k = e^{kt} / (k!\,(x-k)!\,(z-k)!)$, where $t$ is the log of the shared rate less those of
both others. Ratios of neighbouring $w_k$ are simple and fall with $k$, so everything starts at
the largest and walks outward, both ways at once, until what is left is below rounding: a few
steps for goals, some ten standard deviations of $k$ for large counts.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jaxtyping import Array, Float

TINY = 1e-18  # share of the largest term, at which the rest is left out
FAR = 300.0  # |t| beyond which the sum is one term; the square of its exponential is finite


class _Walk(NamedTuple):
    """A step outward: terms at a distance above and below, as shares of the largest."""

    distance: Float[Array, ""]
    up: Float[Array, " events"]
    down: Float[Array, " events"]
    kept: Any


@jax.custom_jvp
def log_sum(
    t: Float[Array, " events"], x: Float[Array, " events"], z: Float[Array, " events"]
) -> tuple[Float[Array, " events"], Float[Array, " events"]]:
    """Log of the sum of all terms, and the expected shared count, its derivative in t."""
    mode, total, first, _ = _sums(t, x, z)
    at_mode = t * mode - gammaln(mode + 1)
    at_mode -= gammaln(x - mode + 1) + gammaln(z - mode + 1)
    return at_mode + jnp.log(total), mode + first / total


@log_sum.defjvp
def _log_sum_jvp(primals, tangents):
    # Loops of unknown length have no derivative backwards; the moments of k are it.
    t, x, z = primals
    found = log_sum(t, x, z)
    return found, (found[1] * tangents[0], variance(t, x, z) * tangents[0])


def variance(
    t: Float[Array, " events"], x: Float[Array, " events"], z: Float[Array, " events"]
) -> Float[Array, " events"]:
    """Of the shared count given both counts."""
    _, total, first, second = _sums(t, x, z)
    return second / total - (first / total) ** 2


def inverse(
    share: Float[Array, " events"],
    t: Float[Array, " events"],
    x: Float[Array, " events"],
    z: Float[Array, " events"],
) -> Float[Array, " events"]:
    """The shared count at which sums of probabilities, taken outward, pass `share`.

    Uniform shares give draws from the conditional distribution of the shared count.
    """
    mode, total, _, _ = _sums(t, x, z)

    def passed(walk: _Walk, kept):
        left, chosen = kept
        for term, place in ((walk.up, walk.distance), (walk.down, -walk.distance)):
            chosen = jnp.where((left > 0) & (left <= term), mode + place, chosen)
            left = left - term
        return left, chosen

    # Shares that rounding leaves over, less than 1e-15 of them, go to the mode.
    return _outward(t, x, z, mode, passed, (share * total - 1.0, mode))[1]


def _sums(t, x, z):
    """The largest term's place; the sum of all, and of their distances and squares."""
    mode = _mode(t, x, z)

    def added(walk: _Walk, kept):
        total, first, second = kept
        both, apart = walk.up + walk.down, walk.up - walk.down
        distance = walk.distance
        return total + both, first + distance * apart, second + distance**2 * both

    one, none = jnp.ones_like(mode), jnp.zeros_like(mode)
    return mode, *_outward(t, x, z, mode, added, (one, none, none))


def _outward(t, x, z, mode, fold: Callable[[_Walk, Any], Any], start):
    """Fold over all terms but the largest, nearest first."""
    ratio = jnp.exp(_clipped(t))
    most = jnp.minimum(x, z)

    def further(walk: _Walk) -> _Walk:
        above, below = mode + walk.distance, mode - walk.distance
        up = walk.up * ratio * (x - above) * (z - above) / (above + 1)
        down = walk.down * below / ratio / ((x - below + 1) * (z - below + 1))
        up, down = jnp.where(above < most, up, 0.0), jnp.where(below > 0, down, 0.0)
        walk = _Walk(walk.distance + 1, up, down, walk.kept)
        return walk._replace(kept=fold(walk, walk.kept))

    def unfinished(walk: _Walk):
        return jnp.any(jnp.maximum(walk.up, walk.down) > TINY)  # False for NaN

    largest = jnp.ones_like(mode)
    first = _Walk(jnp.zeros((), mode.dtype), largest, largest, start)
    return jax.lax.while_loop(unfinished, further, first).kept


def _mode(t, x, z):
    """Where terms stop growing: (x - k)(z - k) exp(t) = k + 1, the smaller root."""
    weight = jnp.exp(-_clipped(t))
    both = x + z + weight
    root = jnp.sqrt((x - z) ** 2 + weight**2 + 2 * weight * (x + z + 2))
    last = jnp.floor(2 * (x * z - weight) / (both + root))
    return jnp.clip(last + 1, 0.0, jnp.minimum(x, z))


def _clipped(t):
    return jnp.clip(t, -FAR, FAR)
