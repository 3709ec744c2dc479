r"""Correlations of one column as cosine series: how much variance each harmonic has.

With a period $T$ and $\omega_j = 2 \pi j / T$,
$k(x, z) \approx \sum_j a_j \cos \omega_j (x - z)$ and $\sum_j a_j = 1$. For a stationary kernel
$a_j$ is proportional to its spectral density at $\omega_j$, which are the eigenvalues on the
Laplacian's eigenfunctions with periodic boundaries (Solin and Sarkka 2020 have fixed ones):
what comes out is the kernel plus its images, $\sum_n k(x - z + nT)$, made a correlation again.
For a periodic kernel with its own period nothing is added: $a_j \propto I_j(1/\ell^2)$.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dpmf.kernels import (
    Kernel,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    SquaredExponential,
)
from dpmf.kernels.scaled import Scaled
from dpmf.kernels.warp import Columns
from dpmf.model.state import Theta

AHEAD = 40  # steps of Miller's recurrence before the first ratio that is used

LogDensity = Callable[[Float[Array, " order"]], Float[Array, " order"]]


def _matern(smoothness: float) -> LogDensity:
    """Of frequencies in units of 1/length, up to a constant."""
    return lambda s: -(smoothness + 0.5) * jnp.log1p(s**2 / (2 * smoothness))


_SPECTRA: dict[type[Kernel], LogDensity] = {
    SquaredExponential: lambda s: -0.5 * s**2,
    Matern12: _matern(0.5),
    Matern32: _matern(1.5),
    Matern52: _matern(2.5),
}
KNOWN: tuple[type[Kernel], ...] = (*_SPECTRA, Periodic)


def series_of(kernel: Kernel) -> Scaled | None:
    """The kernel of one column, as it is, that has a series; None where there is none."""
    parts = kernel.factors()
    one = parts[0]
    if len(parts) > 1 or not isinstance(one, Scaled) or type(one) not in KNOWN:
        return None
    plain = isinstance(one.warp, Columns) and one.warp.width == 1
    return one if plain else None


def log_shares(
    kernel: Scaled, length: Float[Array, ""], period: float, order: int
) -> Float[Array, " harmonics"]:
    """Logarithms of $a_0, \\dots, a_m$.

    Args:
        kernel: What `series_of` gave.
        length: Its length scale.
        period: T.
        order: m.
    """
    number = jnp.arange(order + 1)
    if isinstance(kernel, Periodic):
        ratios = _bessel_ratios(1 / length**2, order)
        logs = jnp.concatenate([jnp.zeros(1), jnp.cumsum(jnp.log(ratios))])
    else:
        logs = _SPECTRA[type(kernel)](2 * jnp.pi * number * length / period)
    logs = logs + jnp.where(number > 0, jnp.log(2.0), 0.0)
    return logs - jax.nn.logsumexp(logs)


def _bessel_ratios(z: Float[Array, ""], order: int) -> Float[Array, " order"]:
    """$I_j(z) / I_{j-1}(z)$ for j from 1, by the recurrence that is stable downwards."""
    last = order + AHEAD

    def step(above, j):
        ratio = 1 / (2 * j / z + above)
        return ratio, ratio

    guess = z / (last + 1 + jnp.sqrt((last + 1) ** 2 + z**2))
    _, ratios = jax.lax.scan(step, guess, jnp.arange(last, 0, -1))
    return ratios[::-1][:order]


def length_of(kernel: Scaled, theta: Theta) -> Float[Array, ""]:
    """Its length scale."""
    return theta[kernel.label("length")][0]


def waves(
    at: Float[np.ndarray, "*points"], period: float, order: int
) -> Float[np.ndarray, "*points functions"]:
    r"""The functions at given inputs: 1, then $\sqrt2 \cos$ and $\sqrt2 \sin$ of harmonics."""
    angle = 2 * np.pi * at[..., None] / period * np.arange(1, order + 1)
    both = np.sqrt(2) * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    ones = np.ones((*at.shape, 1))
    return np.concatenate([ones, both.reshape(*at.shape, 2 * order)], axis=-1)
