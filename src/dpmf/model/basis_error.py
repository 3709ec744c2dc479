"""How fine a basis must be: its correlations measured against those of the kernel."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from dpmf.errors import ConfigError
from dpmf.kernels import Periodic
from dpmf.kernels.scaled import Scaled
from dpmf.model.harmonics import log_shares

TOLERANCE = 0.005  # of a correlation, anywhere in the domain, at any length scale in bounds
MEASURED = 0.9 * TOLERANCE  # the rest is for distances and scales between those measured
MOST_FUNCTIONS = 1024  # of a basis
LARGEST = 2**13  # harmonics that are tried, to say how many would be needed
LENGTHS = 17  # scales at which it is measured, from the shortest to the longest
LAGS, NEAR = 400, 60  # distances, over the whole domain and within the shortest length scale
IMAGES = 8  # to either side; the period is at least the longest length scale
GROWTH = 1.1  # from one period that is tried to the next


class Fineness(NamedTuple):
    """A basis that is fine enough."""

    period: float
    order: int  # harmonics
    error: float  # largest that was measured

    @property
    def functions(self) -> int:
        """How many there are."""
        return 2 * self.order + 1

    def __str__(self) -> str:
        return f"{self.functions:,} functions, correlations within {self.error:.1g}"


def fineness(kernel: Scaled, extent: float) -> Fineness:
    """The smallest basis within `TOLERANCE`.

    The period is the first at which images are far enough at the longest length scale. The
    order is the first that is enough at all length scales; most is needed at the shortest.

    Args:
        kernel: What `harmonics.series_of` gave, with bounds.
        extent: Of all inputs that it is to serve; the period of a periodic kernel.

    Raises:
        ConfigError: It would have more than `MOST_FUNCTIONS` functions.
    """
    assert kernel.length is not None
    shortest, longest = kernel.length[0]
    periodic = isinstance(kernel, Periodic)
    with jax.enable_x64(True):
        period = extent if periodic else far_enough(kernel, longest, extent)
        most = (MOST_FUNCTIONS - 1) // 2
        lengths = np.geomspace(shortest, longest, LENGTHS)
        each = [series_errors(kernel, length, extent, period, most) for length in lengths]
        errors = np.max(each, axis=0)
        enough = np.flatnonzero(errors <= MEASURED)
        if len(enough):
            return Fineness(period, int(enough[0]), float(errors[enough[0]]))
        tail = series_errors(kernel, shortest, extent, period, LARGEST)
    needed = np.flatnonzero(tail <= MEASURED)
    functions = 2 * int(needed[0] if len(needed) else LARGEST) + 1
    raise ConfigError(
        f"inputs='basis': {kernel} with length scales from {shortest:g} to {longest:g} on "
        f"inputs over {extent:g} needs {'' if len(needed) else 'more than '}{functions:,} "
        f"functions, expected at most {MOST_FUNCTIONS:,}. Give length=(low, high) with a low "
        f"of {shortest * functions / MOST_FUNCTIONS:.2g} or so, or a shorter high; or use "
        "inputs='member' or 'grid'."
    )


def far_enough(kernel: Scaled, length: float, extent: float) -> float:
    """The period at which images no longer show."""
    period, lags = extent + length, distances(extent, length)
    number = np.arange(-IMAGES, IMAGES + 1)
    while True:
        every = lags[:, None] + period * number
        summed = correlations(kernel, length, np.abs(every.reshape(-1)))
        wrapped = summed.reshape(every.shape).sum(axis=1)
        error = np.abs(wrapped / wrapped[0] - correlations(kernel, length, lags))
        if error.max() <= TOLERANCE / 2:
            return float(period)
        period *= GROWTH


def series_errors(
    kernel: Scaled, length: float, extent: float, period: float, most: int
) -> Float[np.ndarray, " orders"]:
    """Largest error of any correlation within the domain, for every order up to `most`."""
    lags = distances(extent, length)
    share = np.exp(np.asarray(log_shares(kernel, jnp.asarray(length), period, most)))
    waves = np.cos(2 * np.pi / period * lags[:, None] * np.arange(most + 1))
    found = np.cumsum(share * waves, axis=1) / np.cumsum(share)
    return np.abs(found - correlations(kernel, length, lags)[:, None]).max(axis=0)


def distances(extent: float, length: float) -> Float[np.ndarray, " lags"]:
    """From 0 to the extent, and close to 0, where rough kernels bend."""
    near = np.geomspace(min(length, extent) / 100, min(length, extent), NEAR)
    return np.concatenate([np.linspace(0, extent, LAGS), near])


def correlations(
    kernel: Scaled, length: float, lags: Float[np.ndarray, " lags"]
) -> Float[np.ndarray, " lags"]:
    """Those of the kernel itself."""
    one = kernel.at({kernel.label("length"): jnp.asarray([length])})
    return np.asarray(one.gram(jnp.asarray(lags)[:, None], jnp.zeros((1, 1))))[:, 0]
