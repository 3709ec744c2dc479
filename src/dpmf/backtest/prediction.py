"""What a forecaster says about both scores of each game: a mixture of normals, or less."""

import dataclasses

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp, ndtr, ndtri

COMPONENTS = 400  # of a mixture, spread over all its draws, behind a CRPS
STEPS, PRECISE, TINY = 60, 1e-10, 1e-300  # of the search for a quantile
NODES = 48  # of its integral, over the 16 and more standard deviations where it varies


@dataclasses.dataclass(frozen=True, eq=False)
class Prediction:
    """A mixture of bivariate normals for each event.

    A forecaster that knows only who will win has no mixture, and NaN for what it does not
    say.
    """

    mean: Float[np.ndarray, "draws events 2"]
    covariance: Float[np.ndarray, "draws 2 2"]
    home_wins: Float[np.ndarray, " events"] | None = None  # where that is all there is

    @staticmethod
    def normal(
        mean: Float[np.ndarray, "events 2"], covariance: Float[np.ndarray, "2 2"]
    ) -> "Prediction":
        """One normal around each pair of scores, all of the same shape."""
        return Prediction(mean[None], covariance[None])

    @staticmethod
    def pairs(
        mean: Float[np.ndarray, "draws events 2"],
        sigma: Float[np.ndarray, " draws"],
        rho: Float[np.ndarray, " draws"],
    ) -> "Prediction":
        """One normal per draw, whose noise has the same sd on both scores, correlated."""
        shape = np.where(np.eye(2, dtype=bool), 1.0, rho[:, None, None])
        return Prediction(mean, sigma[:, None, None] ** 2 * shape)

    @staticmethod
    def only_winner(home_wins: Float[np.ndarray, " events"]) -> "Prediction":
        """Nothing but the probability that the home team wins."""
        nothing = np.full((1, len(home_wins), 2), np.nan)
        return Prediction(nothing, np.full((1, 2, 2), np.nan), home_wins)

    @property
    def scores(self) -> Float[np.ndarray, "events 2"]:
        """Expected scores."""
        return self.mean.mean(axis=0)

    @property
    def probability(self) -> Float[np.ndarray, " events"]:
        """Probability that the home team wins."""
        if self.home_wins is not None:
            return self.home_wins
        return self.cdf(np.array([-1.0, 1.0]), np.zeros(self.mean.shape[1]))

    @property
    def outcomes(self) -> None:
        """A draw has no probability: scores are real numbers here."""
        return None

    def log_prob(self, values: Float[np.ndarray, "events 2"]) -> Float[np.ndarray, " events"]:
        """Log density of both scores, averaged over the draws."""
        if self.home_wins is not None:
            return np.full(len(values), np.nan)
        inverse = np.linalg.inv(self.covariance)
        away = values[None] - self.mean
        quadratic = np.einsum("sei,sij,sej->se", away, inverse, away)
        volume = np.log(np.linalg.det(self.covariance))[:, None]
        each = -0.5 * (quadratic + volume) - np.log(2 * np.pi)
        return logsumexp(each, axis=0) - np.log(len(each))

    def cdf(
        self, direction: Float[np.ndarray, " 2"], at: Float[np.ndarray, " events"]
    ) -> Float[np.ndarray, " events"]:
        """Probability that a sum of both scores, each times a number, is at most `at`."""
        mean, sd = self._along(direction)
        return ndtr((at[None] - mean) / sd).mean(axis=0)

    def density(
        self, direction: Float[np.ndarray, " 2"], at: Float[np.ndarray, " events"]
    ) -> Float[np.ndarray, " events"]:
        """Probability density of such a sum, per point."""
        mean, sd = self._along(direction)
        away = (at[None] - mean) / sd
        return (np.exp(-0.5 * away**2) / (sd * np.sqrt(2 * np.pi))).mean(axis=0)

    def quantile(
        self, direction: Float[np.ndarray, " 2"], probability: float
    ) -> Float[np.ndarray, " events"]:
        """The value that such a sum stays at or below with some probability.

        Newton's steps, each kept within a bracket that shrinks: the mixture's quantile lies
        between the lowest and the highest of its parts.
        """
        mean, sd = self._along(direction)
        each = mean + ndtri(probability) * sd
        low, high = each.min(axis=0), each.max(axis=0)
        at = each.mean(axis=0)
        for _ in range(STEPS):
            excess = self.cdf(direction, at) - probability
            open_ = np.abs(excess) > PRECISE  # a game that has arrived stays where it is
            if not open_.any():
                break
            low, high = np.where(excess < 0, at, low), np.where(excess > 0, at, high)
            tried = at - excess / np.maximum(self.density(direction, at), TINY)
            inside = (tried > low) & (tried < high)
            at = np.where(open_, np.where(inside, tried, (low + high) / 2), at)
        return at

    def crps(
        self, direction: Float[np.ndarray, " 2"], at: Float[np.ndarray, " events"]
    ) -> Float[np.ndarray, " events"]:
        """Continuous ranked probability score of such a sum, in points."""
        mean, sd = self._along(direction)
        some = np.linspace(0, len(mean) - 1, min(COMPONENTS, len(mean))).astype(int)
        mean, sd = mean[some], np.broadcast_to(sd, mean.shape)[some]
        low, high = (mean - 8 * sd).min(axis=0), (mean + 8 * sd).max(axis=0)
        inside = np.clip(at, low, high)  # beyond, the distribution function is 0 or 1
        below = _integral(mean, sd, low, inside, lambda p: p**2)
        above = _integral(mean, sd, inside, high, lambda p: (1 - p) ** 2)
        return below + above + np.abs(at - inside)

    def _along(self, direction) -> tuple[np.ndarray, np.ndarray]:
        variance = np.einsum("i,sij,j->s", direction, self.covariance, direction)
        return self.mean @ direction, np.sqrt(variance)[:, None]


def _integral(mean, sd, low, high, function) -> np.ndarray:
    """Of a function of the mixture's distribution function, by the rule of Gauss."""
    places, weights = np.polynomial.legendre.leggauss(NODES)
    total = np.zeros(mean.shape[1])
    for place, weight in zip((1 + places) / 2, weights / 2, strict=True):
        at = low + place * (high - low)
        total += weight * function(ndtr((at[None] - mean) / sd).mean(axis=0))
    return total * (high - low)
