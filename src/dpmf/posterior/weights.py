"""Log weights of draws in; draws of equal weight out, and whether to trust them."""

import warnings

import numpy as np
from jaxtyping import Float, Int

from dpmf.errors import DpmfWarning, SamplingError
from dpmf.inference.diagnostics import PARETO_LIMIT, REFIT, Reweighting

NEGLIGIBLE = 700.0  # below the largest log weight: its exponential is about to vanish
FEWEST = 25  # draws of any weight, whose largest fifth has a tail to be fitted


def reweighting(
    log_weights: Float[np.ndarray, " draws"], events: int, efficiency: float
) -> tuple[Float[np.ndarray, " draws"], Reweighting]:
    """Weights that sum to 1, the largest smoothed (Vehtari and others 2024), and their quality.

    Where fewer than 25 draws have any weight, nothing is smoothed and Pareto k is infinite.

    Args:
        log_weights: Of each draw; what is not finite has no weight.
        events: How many new events they are of.
        efficiency: Effective sample size of the draws, as a share of their number.

    Raises:
        SamplingError: No draw has any weight.
    """
    from arviz_stats.base import array_stats

    usable = np.where(np.isnan(log_weights), -np.inf, log_weights)
    if not np.isfinite(usable).any():
        raise SamplingError(
            "condition: the new events are impossible under every draw. Check their values; "
            "if they are right, fit again with them."
        )
    counts = usable > np.max(usable) - NEGLIGIBLE
    k, smoothed = np.inf, np.where(counts, usable, -np.inf)
    if np.sum(counts) >= FEWEST:
        # It takes log likelihoods that are to be left out: weights are their negatives.
        smoothed[counts], k = array_stats.psislw(-usable[counts], r_eff=efficiency)
    weights = np.exp(smoothed - np.max(smoothed))
    weights /= weights.sum()
    told = Reweighting(events, float(k), float(1 / np.sum(weights**2)))
    if not told.pareto_k <= PARETO_LIMIT:
        warnings.warn(
            f"condition: Pareto k is {told.pareto_k:.2f}, expected at most {PARETO_LIMIT}: the "
            f"new events change too much for the {len(weights):,} draws to be weighted (as "
            f"good as {told.ess:.0f} draws are left). {REFIT}",
            DpmfWarning,
            stacklevel=4,
        )
    return weights, told


def resampled(
    weights: Float[np.ndarray, " draws"], generator: np.random.Generator
) -> Int[np.ndarray, " draws"]:
    """Which draws to take, each as often as its weight says but for less than one.

    Systematic resampling: one uniform number decides all, and order is kept.
    """
    count = len(weights)
    marks = (generator.uniform() + np.arange(count)) / count
    return np.minimum(np.searchsorted(np.cumsum(weights), marks), count - 1)
