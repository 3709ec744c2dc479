r"""What all likelihoods of counts share: a rate from `y`, scales of its logarithm, checks.

The rate is $e^y$: differences between members are factors, as they are in most counts, and
no rate is negative. From $y = 20$ on it grows along its tangent, $e^{20}(1 + y - 20)$, so
that nothing overflows wherever a sampler strays.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dpmf.errors import DataError
from dpmf.likelihoods.base import Likelihood, first_row

TANGENT = 20.0  # y from which on the rate is linear
LARGEST = 1e9  # count, a rate just past the tangent point


class CountLikelihood(Likelihood, abstract=True):
    """A noise model of counts."""

    def scales(self, values: Float[np.ndarray, "events pair"]) -> tuple[float, float]:
        """Of the log rate, from the counts."""
        return count_scales(values)

    def centre(self, values: Float[np.ndarray, "events pair"]) -> float:
        """Logarithm of the average count."""
        return count_centre(values)

    def check(self, values: Float[np.ndarray, "events pair"]) -> None:
        """Refuse anything but counts."""
        super().check(values)
        wrong = ~((values >= 0) & (values == np.round(values)) & (values <= LARGEST))
        if wrong.any():
            raise DataError(
                f"{type(self).__name__}: row {first_row(wrong)} holds {values[wrong][0]:g}, "
                f"expected a count: a whole number from 0 to {LARGEST:g}. Recode the values, "
                "or take Gaussian() for real ones."
            )


def log_rate(y: Float[Array, "..."]) -> Float[Array, "..."]:
    """Logarithm of the rate: `y`, and beyond `TANGENT` that of a straight line."""
    beyond = jnp.log1p(jnp.maximum(y - TANGENT, 0.0))
    return jnp.minimum(y, TANGENT) + beyond


def rate(y: Float[Array, "..."]) -> Float[Array, "..."]:
    """The expected count; infinite for no finite `y`."""
    return jnp.exp(jnp.minimum(y, TANGENT)) * (1.0 + jnp.maximum(y - TANGENT, 0.0))


def count_centre(values: Float[np.ndarray, "events pair"]) -> float:
    """Logarithm of the average count; no counts at all count as half of one."""
    return float(np.log(_average(values)))


def count_scales(values: Float[np.ndarray, "events pair"]) -> tuple[float, float]:
    """Root mean square and standard deviation of the log rate, taken from the counts.

    They are those of a log-normal variable with the counts' mean and variance; the latter
    is at least that of Poisson counts.

    Raises:
        DataError: There are no values, or some are missing.
    """
    if not (values.size and np.isfinite(values).all()):
        raise DataError(
            "values are missing, expected counts to take the scales from; give scale= and "
            "spread= instead."
        )
    mean = _average(values)
    variance = max(float(np.var(values)), mean)
    spread = float(np.sqrt(np.log1p(variance / mean**2)))
    return float(np.hypot(np.log(mean), spread)), spread


def _average(values: Float[np.ndarray, "events pair"]) -> float:
    return float(max(np.sum(values), 0.5) / np.size(values))
