"""What a forecaster of counts says about each game: a chance for every pair of scores."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

from dpmf.likelihoods.paired_poisson import PairedPoissonNoise

REST = 1e-12  # chance of counts beyond the table
MOST = 300  # counts in it; a chain that has strayed may expect millions


@dataclasses.dataclass(frozen=True, eq=False)
class Goals:
    """A mixture of bivariate Poisson pairs for each event.

    Sums of both counts, each times a number, have steps; half of a step counts as passed.
    """

    y: Float[np.ndarray, "draws events 2"]  # logarithms of the own rates
    shared: Float[np.ndarray, " draws"]  # rate of what both teams have in common
    home_wins: None = None  # there is more than the winner

    @property
    def scores(self) -> Float[np.ndarray, "events 2"]:
        """Expected scores."""
        return self._over_draws("mean").mean(axis=0)

    @property
    def outcomes(self) -> Float[np.ndarray, "events 3"]:
        """Probabilities of a win of the home team, a draw and a loss."""
        won = self._over_draws("first_exceeds").mean(axis=0)
        drawn = self._over_draws("equal").mean(axis=0)
        return np.stack([won, drawn, np.maximum(1 - won - drawn, 0.0)], axis=1)

    @property
    def probability(self) -> Float[np.ndarray, " events"]:
        """Probability that the home team wins; a draw is half."""
        return self.outcomes @ np.array([1.0, 0.5, 0.0])

    def log_prob(self, values: Float[np.ndarray, "events 2"]) -> Float[np.ndarray, " events"]:
        """Log probability of both scores, averaged over the draws."""
        each = self._over_draws("log_prob", values)
        return logsumexp(each, axis=0) - np.log(len(each))

    def cdf(
        self, direction: Float[np.ndarray, " 2"], at: Float[np.ndarray, " events"]
    ) -> Float[np.ndarray, " events"]:
        """Probability that a sum of both scores is below `at`, and half that of `at`."""
        sums, chance = self._along(direction)
        below, equal = sums[None] < at[:, None], sums[None] == at[:, None]
        return np.sum(chance * (below + 0.5 * equal), axis=1)

    def crps(
        self, direction: Float[np.ndarray, " 2"], at: Float[np.ndarray, " events"]
    ) -> Float[np.ndarray, " events"]:
        """Ranked probability score of such a sum over all whole numbers, in points."""
        sums, chance = self._along(direction)
        reached = np.cumsum(chance, axis=1) - (sums[None] >= at[:, None])
        outside = np.maximum(sums[0] - at, 0.0) + np.maximum(at - sums[-1] - 1, 0.0)
        return np.sum(reached**2, axis=1) + outside

    def _along(self, direction) -> tuple[np.ndarray, np.ndarray]:
        """Every value of a sum of both counts, and its probability at each event."""
        table = self._table
        counts = np.arange(table.shape[1])
        sums = (direction[0] * counts[:, None] + direction[1] * counts[None]).astype(int)
        values = np.arange(sums.min(), sums.max() + 1)
        chance = np.zeros((len(table), len(values)))
        for place, value in enumerate(values):
            chance[:, place] = table[:, sums == value].sum(axis=1)
        return values, chance

    @functools.cached_property
    def _table(self) -> Float[np.ndarray, "events counts counts"]:
        """The chance of every pair of counts at each event, averaged over the draws."""
        from scipy.stats import poisson  # takes a third of a second: only goals pay for it

        events, with_shared = self.y.shape[1], self._over_draws("mean")
        rates = with_shared - self.shared[:, None, None]
        size = int(min(poisson.isf(REST, with_shared.max()) + 2, MOST))
        own = poisson.pmf(np.arange(size)[None, None, None], rates[..., None])
        table = np.zeros((events, size, size))
        for k in range(int(min(poisson.isf(REST, self.shared.max()) + 2, size))):
            weight = poisson.pmf(k, self.shared)[:, None, None] / len(rates)
            first, second = (own[:, :, side, : size - k] for side in (0, 1))
            both = np.einsum("dei,dej->eij", weight * first, second, optimize=True)
            table[:, k:, k:] += both
        table[:, -1, -1] += 1 - table.sum(axis=(1, 2))  # whatever is beyond
        return table

    def _over_draws(self, name: str, *values: Float[np.ndarray, "events 2"]) -> np.ndarray:
        """What a method of the noise says at every draw."""
        with jax.enable_x64(True):
            given = tuple(jnp.asarray(one) for one in values)
            return np.asarray(_each(name, jnp.asarray(self.y), jnp.asarray(self.shared), given))


@functools.partial(jax.jit, static_argnums=0)
def _each(name, y, shared, given):
    return jax.vmap(lambda y, s: getattr(PairedPoissonNoise(s), name)(y, *given))(y, shared)
