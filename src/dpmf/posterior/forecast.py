"""Predictive mixtures: the likelihood of each draw, averaged over draws."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
from jaxtyping import Array, Float, Int, Shaped

from dpmf.checks import whole_number
from dpmf.data import Dyads, encoding
from dpmf.data.frames import opened
from dpmf.errors import ConfigError, DataError
from dpmf.likelihoods import Likelihood, Noise
from dpmf.likelihoods.base import OWNER

SAMPLES = 20_000  # draws behind quantiles and other figures without a closed form
_EVENT = ("rows", "cols", "inputs")  # what says which event it is


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """What will happen at each event, as a mixture over posterior draws.

    Arrays have events first; where an event has a pair of values, the pair is last, and
    where it has one value that axis is left out.
    """

    data: Dyads
    likelihood: Likelihood
    y: Float[np.ndarray, "draws events pair"]  # matrix entries, on the link scale
    noise: dict[str, np.ndarray]  # parameters of the likelihood, one per draw
    # Whose numbers each cell has, among those that rows have for themselves; None: none have.
    owner: Int[np.ndarray, "events pair"] | None = None

    def __repr__(self) -> str:
        """Size of the forecast."""
        return f"Forecast of {len(self)} events from {len(self.y)} draws"

    def __len__(self) -> int:
        """Number of events."""
        return self.y.shape[1]

    @property
    def mean(self) -> np.ndarray:
        """Expected values."""
        return self._shown(self._moments()[0])

    @property
    def covariance(self) -> Float[np.ndarray, "events pair pair"]:
        """Covariance of each event's values, noise and uncertainty together."""
        return self._moments()[1]

    @property
    def sd(self) -> np.ndarray:
        """Standard deviation of each value."""
        variance = np.diagonal(self._moments()[1], axis1=1, axis2=2)
        return self._shown(np.sqrt(variance))

    def log_prob(self, values: Any) -> Float[np.ndarray, " events"]:
        """Log probability of each event's values: the density averaged over draws.

        Args:
            values: One entry, or one pair, for each event; or a frame that has the
                value columns. If it also names members and inputs, they must be those of
                the forecast, in the same order.

        Raises:
            DataError: A value is missing or impossible, or their number is not that of
                the events.
        """
        target = self._values(values)

        def each(y, noise):
            return self.noise_at(noise).log_prob(y, jnp.asarray(target))

        logs = self._over_draws(each)
        return np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))

    def sample(self, n: int, *, seed: int = 0) -> np.ndarray:
        """Values drawn from the mixture, with axes (events, n) and then the pair.

        Args:
            n: Samples of each event.
            seed: The same seed gives the same samples.
        """
        n = whole_number("n", n, 1)
        generator = np.random.default_rng(seed)
        # Every draw equally often; where n is smaller, a random subset over all chains.
        chosen = generator.permutation(len(self.y))[np.arange(n) % len(self.y)]

        def each(y, noise, key):
            return self.noise_at(noise).sample(key, y)

        with jax.enable_x64(True):
            keys = jr.split(jr.key(seed), n)
            y = jnp.asarray(self.y[chosen])
            noise = {name: jnp.asarray(v[chosen]) for name, v in self.noise.items()}
            drawn = np.asarray(jax.jit(jax.vmap(each))(y, noise, keys))
        return self._shown(np.moveaxis(drawn, 0, 1))

    def quantile(self, q: float | Sequence[float], *, seed: int = 0) -> np.ndarray:
        """Quantiles of each value.

        Args:
            q: A probability, or several; several give the axis after the events.
            seed: Of the samples behind them.
        """
        if not (np.all(np.greater_equal(q, 0)) and np.all(np.less_equal(q, 1))):
            raise ConfigError(f"q={q!r}, expected probabilities between 0 and 1.")
        found = np.quantile(self._samples(seed), q, axis=1)
        return found if np.ndim(q) == 0 else np.moveaxis(found, 0, 1)

    @property
    def first_exceeds(self) -> Float[np.ndarray, " events"]:
        """Probability that the first value of a pair exceeds the second; a tie is half."""
        exact = self._of_pairs("first_exceeds")
        if exact is not None:
            tie = self._of_pairs("equal")
            return exact if tie is None else exact + 0.5 * tie
        margin = self._margins()
        return (margin > 0).mean(axis=1) + 0.5 * (margin == 0).mean(axis=1)

    @property
    def equal(self) -> Float[np.ndarray, " events"]:
        """Probability that both values of a pair are equal; 0 where they are no counts."""
        exact = self._of_pairs("equal")
        return (self._margins() == 0).mean(axis=1) if exact is None else exact

    def noise_at(
        self,
        parameters: Mapping[str, Shaped[Array, "..."]],
        owner: Int[Array, "cells pair"] | None = None,
    ) -> Noise:
        """The noise of every cell at the parameters of one draw.

        Args:
            parameters: One draw of `noise`.
            owner: Whose numbers each cell has, where cells are not those of the forecast.
        """
        if self.owner is None:
            return self.likelihood.at(parameters)
        own = jnp.asarray(self.owner) if owner is None else owner
        return self.likelihood.at({**parameters, OWNER: own})

    def to_frame(self) -> pd.DataFrame:
        """One row per event: names, means, standard deviations and 90 % intervals."""
        book = self.data.codebook
        columns: dict[str, Any] = {
            book.row: [self.data.row_names[m] for m in self.data.rows[:, 0]],
            book.col: [self.data.col_names[n] for n in self.data.cols[:, 0]],
        }
        events = len(self)
        mean, sd = self.mean.reshape(events, -1), self.sd.reshape(events, -1)
        low, high = np.moveaxis(self.quantile([0.05, 0.95]).reshape(events, 2, -1), 1, 0)
        for place, name in enumerate(book.value):
            columns[f"{name}_mean"] = mean[:, place]
            columns[f"{name}_sd"] = sd[:, place]
            columns[f"{name}_5%"] = low[:, place]
            columns[f"{name}_95%"] = high[:, place]
        if len(book.value) == 2:
            covariance = self.covariance
            columns["correlation"] = covariance[:, 0, 1] / sd.prod(axis=1)
            columns[f"p_{book.row}"] = self.first_exceeds
            tie = self._of_pairs("equal")
            if tie is not None:
                columns["p_equal"] = tie
        return pd.DataFrame(columns)

    def _of_pairs(self, name: str) -> np.ndarray | None:
        """What a method of the noise says of every pair; None where it has no formula."""
        if self.y.shape[2] != 2:
            raise DataError(f"{name} needs pairs, but these events have one value.")
        with jax.enable_x64(True):
            one = self.noise_at({n: jnp.asarray(v[0]) for n, v in self.noise.items()})
            if getattr(one, name)(jnp.asarray(self.y[0, :1])) is None:
                return None
        each = self._over_draws(lambda y, p: getattr(self.noise_at(p), name)(y))
        return each.mean(axis=0)

    def _margins(self) -> np.ndarray:
        """Samples of the first value less the second."""
        return -np.diff(self._samples(0), axis=2)[..., 0]

    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        means = self._over_draws(lambda y, p: self.noise_at(p).mean(y))
        within = self._over_draws(lambda y, p: self.noise_at(p).covariance(y))
        mean = means.mean(axis=0)
        centred = means - mean[None]
        between = np.einsum("sei,sej->eij", centred, centred) / len(means)
        return mean, within.mean(axis=0) + between

    def _over_draws(self, function) -> np.ndarray:
        with jax.enable_x64(True):
            noise = {name: jnp.asarray(v) for name, v in self.noise.items()}
            return np.asarray(jax.jit(jax.vmap(function))(jnp.asarray(self.y), noise))

    def _samples(self, seed: int) -> np.ndarray:
        return self.sample(max(SAMPLES, len(self.y)), seed=seed)

    def _shown(self, array: np.ndarray) -> np.ndarray:
        return array[..., 0] if self.y.shape[2] == 1 else array

    def _values(self, values: Any) -> np.ndarray:
        if hasattr(values, "columns"):
            values = self._values_of(values)
        try:
            found = np.asarray(values, float)
        except (TypeError, ValueError) as error:
            raise DataError(f"values: expected numbers ({error}).") from error
        expected = self.y.shape[1:]
        squeezed = tuple(size for size in expected if size > 1)
        if found.shape != expected and found.squeeze().shape != squeezed:
            raise DataError(f"values: found shape {found.shape}, expected {expected}.")
        found = found.reshape(expected)
        wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if wrong.size:
            raise DataError(
                f"values: row {wrong[0] + 1} holds {found[wrong[0]]}, expected finite numbers. "
                "Score only events that have happened."
            )
        self.likelihood.check(found)
        return found

    def _values_of(self, frame: Any) -> np.ndarray:
        """The values in a frame, whose events must be these as far as it says."""
        book, table = self.data.codebook, opened(frame, source="values")
        needed = {book.row, book.col, *book.input_names} - set(book.attributes)
        if needed <= set(table.columns):
            given = self.data.encode(frame, source="values", values=False)
            pairs = [(getattr(given, one), getattr(self.data, one)) for one in _EVENT]
            if given.events != len(self):
                raise DataError(f"values: found {given.events} rows, expected {len(self)}.")
            other = np.any([(a != b).reshape(len(self), -1).any(1) for a, b in pairs], axis=0)
            for row in np.flatnonzero(other)[:1].tolist():
                raise DataError(
                    f"values: row {row + 1} is another event than that of the forecast; give "
                    "the events in the order in which they were forecast."
                )
        return encoding.values(table, book, source="values", optional=False)
