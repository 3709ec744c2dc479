"""Proper priors: draws, and densities in coordinates that know no bounds.

Each prior maps a value to *free* coordinates in all of R^n. `log_density` is the
density of the free coordinates, Jacobian included, so that a sampler never meets a
bound and the joint distribution can be simulated.
"""

import abc
import dataclasses
import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Key


class Prior(abc.ABC):
    """A distribution over one parameter."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""

    @property
    def free_shape(self) -> tuple[int, ...]:
        """Shape of the free coordinates."""
        return self.shape

    @abc.abstractmethod
    def value(self, free: Float[Array, "..."]) -> Float[Array, "..."]:
        """The value at free coordinates."""

    @abc.abstractmethod
    def free(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        """Free coordinates of a value; the inverse of `value`."""

    @abc.abstractmethod
    def log_density(self, free: Float[Array, "..."]) -> Float[Array, ""]:
        """Log density of the free coordinates."""

    @abc.abstractmethod
    def sample(self, key: Key[Array, ""]) -> Float[Array, "..."]:
        """A value drawn from the prior."""


def _standard_normal(free: Float[Array, "..."]) -> Float[Array, ""]:
    return -0.5 * jnp.sum(free**2) - 0.5 * free.size * math.log(2 * math.pi)


def _logistic(free: Float[Array, "..."]) -> Float[Array, ""]:
    return jnp.sum(jax.nn.log_sigmoid(free) + jax.nn.log_sigmoid(-free))


def _logit(unit: Float[Array, "..."]) -> Float[Array, "..."]:
    return jnp.log(unit) - jnp.log1p(-unit)


@dataclasses.dataclass(frozen=True)
class Normal(Prior):
    """N(mean, sd^2), independent in each entry; free coordinates are standard normal."""

    mean: float
    sd: float
    size: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.size

    def value(self, free: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.mean + self.sd * free

    def free(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        return (value - self.mean) / self.sd

    def log_density(self, free: Float[Array, "..."]) -> Float[Array, ""]:
        return _standard_normal(free)

    def sample(self, key: Key[Array, ""]) -> Float[Array, "..."]:
        return self.value(jr.normal(key, self.size))


@dataclasses.dataclass(frozen=True)
class HalfNormal(Prior):
    """|N(0, sd^2)|; the free coordinate is log(value / sd)."""

    sd: float
    size: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.size

    def value(self, free: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.sd * jnp.exp(free)

    def free(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        return jnp.log(value / self.sd)

    def log_density(self, free: Float[Array, "..."]) -> Float[Array, ""]:
        log_two = free.size * math.log(2.0)
        jacobian = jnp.sum(free)  # d value / d free = value
        return _standard_normal(jnp.exp(free)) + log_two + jacobian

    def sample(self, key: Key[Array, ""]) -> Float[Array, "..."]:
        return self.sd * jnp.abs(jr.normal(key, self.size))


@dataclasses.dataclass(frozen=True)
class Gamma(Prior):
    """`low` plus a gamma variable; the free coordinate is the log of it times `rate`."""

    power: float  # its mean times `rate`
    rate: float
    low: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def value(self, free: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.low + jnp.exp(free) / self.rate

    def free(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        return jnp.log((value - self.low) * self.rate)

    def log_density(self, free: Float[Array, "..."]) -> Float[Array, ""]:
        # The Jacobian of the exponential raises the power by one.
        return self.power * free - jnp.exp(free) - math.lgamma(self.power)

    def sample(self, key: Key[Array, ""]) -> Float[Array, "..."]:
        return self.low + jr.gamma(key, self.power) / self.rate


@dataclasses.dataclass(frozen=True)
class Uniform(Prior):
    """Uniform between `low` and `high`; the free coordinate is the logit."""

    low: float
    high: float
    size: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.size

    def value(self, free: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.low + (self.high - self.low) * jax.nn.sigmoid(free)

    def free(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        return _logit((value - self.low) / (self.high - self.low))

    def log_density(self, free: Float[Array, "..."]) -> Float[Array, ""]:
        return _logistic(free)

    def sample(self, key: Key[Array, ""]) -> Float[Array, "..."]:
        return jr.uniform(key, self.size, minval=self.low, maxval=self.high)


@dataclasses.dataclass(frozen=True)
class LogUniform(Prior):
    """The paper's top-hat: the logarithm is uniform between the bounds of each entry."""

    low: tuple[float, ...]  # one bound per entry
    high: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.low),)

    def value(self, free: Float[Array, "..."]) -> Float[Array, "..."]:
        low, high = np.log(self.low), np.log(self.high)
        return jnp.exp(low + (high - low) * jax.nn.sigmoid(free))

    def free(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        low, high = np.log(self.low), np.log(self.high)
        return _logit((jnp.log(value) - low) / (high - low))

    def log_density(self, free: Float[Array, "..."]) -> Float[Array, ""]:
        return _logistic(free)

    def sample(self, key: Key[Array, ""]) -> Float[Array, "..."]:
        return self.value(_logit(jr.uniform(key, self.shape, minval=1e-12)))


@dataclasses.dataclass(frozen=True)
class Dirichlet(Prior):
    """Dirichlet(1): weights that sum to 1, by breaking a stick `parts - 1` times."""

    parts: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.parts,)

    @property
    def free_shape(self) -> tuple[int, ...]:
        return (self.parts - 1,)

    def _offset(self) -> np.ndarray:
        return -np.log(np.arange(self.parts - 1, 0, -1))  # so that 0 means equal parts

    def value(self, free: Float[Array, "..."]) -> Float[Array, "..."]:
        broken = jax.nn.sigmoid(free + self._offset())
        left = jnp.concatenate([jnp.ones(1), jnp.cumprod(1 - broken)])
        return left * jnp.concatenate([broken, jnp.ones(1)])

    def free(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        left = jnp.cumsum(value[::-1])[::-1]
        return _logit(value[:-1] / left[:-1]) - self._offset()

    def log_density(self, free: Float[Array, "..."]) -> Float[Array, ""]:
        # The i-th break of a Dirichlet(1) stick is Beta(1, parts - 1 - i).
        rest = np.arange(self.parts - 1, 0, -1)
        shifted = free + self._offset()
        density = jax.nn.log_sigmoid(shifted) + rest * jax.nn.log_sigmoid(-shifted)
        return jnp.sum(density) + math.log(math.factorial(self.parts - 1))

    def sample(self, key: Key[Array, ""]) -> Float[Array, "..."]:
        return jr.dirichlet(key, jnp.ones(self.parts))


@dataclasses.dataclass(frozen=True)
class LKJ(Prior):
    """Cholesky factor of a correlation matrix with the flat LKJ(1) prior.

    Free coordinates are the inverse hyperbolic tangents of the canonical partial
    correlations, row by row. Under LKJ(1) the partial correlation in row i given j
    earlier ones is 2 Beta(b, b) - 1 with b = 1 + (size - 2 - j) / 2
    (Lewandowski, Kurowicka and Joe 2009).
    """

    size: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size, self.size)

    @property
    def free_shape(self) -> tuple[int, ...]:
        return (self.size * (self.size - 1) // 2,)

    def _beta(self) -> np.ndarray:
        given = np.tril_indices(self.size, -1)[1]
        return 1 + (self.size - 2 - given) / 2

    def _places(self) -> np.ndarray:
        """1 where a pair has its entry below the diagonal; axes (row, column, pair)."""
        found = np.zeros((self.size, self.size, *self.free_shape))
        rows, columns = np.tril_indices(self.size, -1)
        found[rows, columns, np.arange(len(rows))] = 1.0
        return found

    def value(self, free: Float[Array, "..."]) -> Float[Array, "..."]:
        return self._factor(jnp.tanh(free))

    def _factor(self, partial: Float[Array, " pairs"]) -> Float[Array, "size size"]:
        if self.size == 1:
            return jnp.ones((1, 1))
        # A sum over mostly zeros: to scatter so few entries takes longer, also to compile.
        below = jnp.sum(self._places() * partial, axis=2)
        left = jnp.cumprod(jnp.sqrt(1 - below**2), axis=1)
        before = jnp.concatenate([jnp.ones((self.size, 1)), left[:, :-1]], axis=1)
        return jnp.tril((below + jnp.eye(self.size)) * before)

    def free(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        used = jnp.cumsum(value**2, axis=1) - value**2  # of the row, before each entry
        lower = np.tril_indices(self.size, -1)
        return jnp.arctanh((value / jnp.sqrt(jnp.maximum(1 - used, 1e-300)))[lower])

    def log_density(self, free: Float[Array, "..."]) -> Float[Array, ""]:
        if self.size == 1:
            return jnp.zeros(())
        beta = self._beta()
        # Beta(b, b) on (1 + r)/2, times the Jacobian of r = tanh(free).
        log_free = 2 * (math.log(2.0) - free - jax.nn.softplus(-2 * free))  # log(1 - r^2)
        constant = [
            math.lgamma(2 * b) - 2 * math.lgamma(b) - (2 * b - 1) * math.log(2) for b in beta
        ]
        return jnp.sum(beta * log_free) + math.fsum(constant)

    def sample(self, key: Key[Array, ""]) -> Float[Array, "..."]:
        beta = jnp.asarray(self._beta())
        return self._factor(2 * jr.beta(key, beta, beta) - 1)
