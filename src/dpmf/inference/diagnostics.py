"""Whether the chains agree: R-hat and effective sample sizes of invariant quantities.

The K latent functions may swap labels within and between chains without changing any
prediction, so only what is the same under a swap is diagnosed: y at training cells, the
likelihood's parameters, what rows have for themselves, and hyperparameters sorted over the K
functions. Where y and all cuts between levels can be shifted together, y is measured from one
of the cuts.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dpmf.inference.problem import Problem
from dpmf.model.predictor import predictor
from dpmf.model.state import State

CELLS = 200  # training cells whose y is diagnosed, and numbers that rows have for themselves
PIECE = 2**24  # bytes of states looked at together: draws may be on disk, and many
BATCH = 16  # of them side by side
RHAT_LIMIT, ESS_LIMIT = 1.05, 100.0
MEANT = 0.25  # share of slices of hyperparameters, over all of them, that may be cut off
DIVERGENT_LIMIT = 0.02  # share of draws; a few do no harm, many hide a place nobody enters

PARETO_LIMIT = 0.7  # Vehtari and others (2024): beyond, weighted averages do not settle
REFIT = "Fit again, with the new events among the others."


class Reweighting(NamedTuple):
    """How well the draws, once weighted, stand for the posterior that has new events too."""

    events: int  # that came in
    pareto_k: float  # shape of the tail of the weights; past 0.7 they cannot be trusted
    ess: float  # draws of equal weight that say as much


class Diagnostics(NamedTuple):
    """One row per diagnosed quantity; arrays have one entry per element."""

    names: tuple[str, ...]
    rhat: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray
    divergences: int
    stayed: int  # moves that a limit cut off, where they are more than meant
    divergent: float = 0.0  # share of draws with a divergent step on their way
    reweighted: tuple[Reweighting, ...] = ()  # the rest is that of the draws before

    @property
    def converged(self) -> bool:
        """Every R-hat and the typical effective sample size are good, and few steps diverge.

        Where draws were weighted for new events, so are all Pareto k.
        """
        if self._untold or self.divergent > DIVERGENT_LIMIT or not self._weights_good:
            return False
        good = bool(np.nanmax(self.rhat) <= RHAT_LIMIT)
        return good and bool(np.nanmedian(self.ess_bulk) >= ESS_LIMIT)

    def line(self) -> str:
        """One plain line: whether to trust the fit, and what to do if not."""
        advice = "Run longer: more warmup and draws, or more chains."
        if self._untold:
            return f"NOT converged: R-hat needs at least 2 chains of 4 draws each. {advice}"
        worst = int(np.nanargmax(self.rhat))
        figures = (
            f"max R-hat {self.rhat[worst]:.3f} ({self.names[worst]}), "
            f"bulk ESS median {np.nanmedian(self.ess_bulk):.0f}, "
            f"min {np.nanmin(self.ess_bulk):.0f}"
        )
        if self.divergences:
            figures += f", {_counted(self.divergences, 'divergent step')}"
        if self.divergent > DIVERGENT_LIMIT:
            figures += f" ({self.divergent:.0%} of draws)"
            advice = (
                "Trajectories break off where the posterior is narrow: fewer latent features, "
                "a longer warmup, or engine='slice' may help."
            )
        if self.stayed:
            figures += f", {_counted(self.stayed, 'move')} cut off"
        for one in self.reweighted:
            figures += (
                f"; then given {_counted(one.events, 'new event')}: Pareto k "
                f"{one.pareto_k:.2f}, ESS of weights {one.ess:.0f}"
            )
        if not self._weights_good:
            advice = REFIT
        if self.converged:
            return f"Converged: {figures}."
        return f"NOT converged: {figures}. {advice}"

    @property
    def _weights_good(self) -> bool:
        return all(one.pareto_k <= PARETO_LIMIT for one in self.reweighted)

    @property
    def _untold(self) -> bool:
        return bool(np.isnan(self.rhat).all())


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def quantities(problem: Problem, states: State) -> dict[str, Float[np.ndarray, "..."]]:
    """Invariant quantities, each with axes (chains, draws, elements)."""
    chosen = _spread(problem.arrays.values.size, CELLS)

    @jax.jit
    def one(problem: Problem, state: State):
        values = problem.parameters(state)
        y = predictor(problem.spec, state.white, values, problem.arrays).reshape(-1)[chosen]
        noise = {name: value.reshape(-1) for name, value in values.noise.items()}
        shifts = problem.spec.likelihood.shifts
        found = {"y": y - noise.pop(shifts) if shifts else y} | noise
        own = problem.spec.likelihood.own
        if own is not None:
            rows = state.white.rows_noise
            some = rows[_spread(len(rows), CELLS // own.size)]
            numbers = values.noise[own.centre] + values.noise[own.scale] * some
            found[f"rows {own.centre}"] = numbers.reshape(-1)
        for side in ("rows", "cols"):
            shared = getattr(values, side)
            if shared.intercept_sd is not None:
                found[f"{side} intercept_sd"] = shared.intercept_sd[None]
            for part, theta in (("", shared.theta), ("pooled ", shared.pooled_theta)):
                for name, value in (theta or {}).items():
                    found[f"{side} {part}{name}"] = jnp.sort(value, axis=0).reshape(-1)
        return found

    return over_draws(lambda state: one(problem, state), states)


def _spread(count: int, most: int) -> Int[Array, " some"]:
    """Places from the first to the last of so many, and at least one."""
    some = np.linspace(0, count - 1, max(min(most, count), 1))
    return jnp.asarray(np.unique(some.astype(int)))


def over_draws(function: Callable[[Any], Any], states: Any) -> Any:
    """Apply a function of one state to all draws, some at a time; results on the host."""
    leaves = jax.tree.leaves(states)
    chains, draws = leaves[0].shape[:2]
    first = jax.tree.map(lambda x: jnp.asarray(x[0, 0]), states)
    shapes, structure = jax.tree.flatten(jax.eval_shape(function, first))
    room = PIECE // sum(8 * leaf[0, 0].size for leaf in leaves)
    count = min(draws, max(room // BATCH, 1) * BATCH)

    def filled(state: Any) -> list[Any]:  # jax cannot put batches of nothing together
        return [leaf for leaf in jax.tree.leaves(function(state)) if leaf.size]

    mapped = jax.jit(lambda piece: jax.lax.map(filled, piece, batch_size=BATCH))

    def piece(chain: int, start: int) -> list[np.ndarray]:
        # The last piece repeats the last draw, so that all have one shape.
        some = np.minimum(np.arange(start, start + count), draws - 1)
        found = mapped(jax.tree.map(lambda x: jnp.asarray(x[chain, some]), states))
        return [np.asarray(x)[: draws - start] for x in found]

    def whole(chain: int) -> list[np.ndarray]:
        pieces = [piece(chain, start) for start in range(0, draws, count)]
        return [np.concatenate(parts) for parts in zip(*pieces, strict=True)]

    found = [whole(chain) for chain in range(chains)]
    parts = iter(np.stack(part) for part in zip(*found, strict=True))
    all_ = [next(parts) if s.size else np.zeros((chains, draws, *s.shape)) for s in shapes]
    return jax.tree.unflatten(structure, all_)


def diagnostics(
    found: dict[str, Float[np.ndarray, "..."]],
    stats: dict[str, np.ndarray],
    *,
    tails: bool = True,
) -> Diagnostics:
    """Rank-normalised split R-hat, bulk and tail ESS of every element.

    Args:
        found: Quantities, each with axes (chains, draws, elements).
        stats: What is known of every draw besides.
        tails: Whether anybody asks for the tail ESS; it takes a third of the time.
    """
    from arviz_stats.base import array_stats

    names, columns = [], []
    for name, value in found.items():
        for element in range(value.shape[2]):
            label = name if value.shape[2] == 1 else f"{name}[{element}]"
            if np.ptp(value[:, :, element]) > 0:  # a fixed value has nothing to diagnose
                names.append(label)
                columns.append(value[:, :, element])

    def each(function) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):  # a chain that never moved
            # Fewer than 4 draws are too few to say anything.
            return np.array([function(x) if x.shape[1] >= 4 else np.nan for x in columns])

    rhat = each(array_stats.rhat)
    bulk = each(lambda one: array_stats.ess(one, method="bulk"))
    tail = np.full(len(columns), np.nan)
    if tails:
        tail = each(lambda one: array_stats.ess(one, method="tail", prob=(0.05, 0.95)))
    diverging = np.asarray(stats.get("diverging", 0))
    share = divergent_share(stats)
    cut = np.asarray(stats.get("stayed", 0))
    # A few are meant: a slice that stays costs less than chains that wait for it.
    meant = MEANT * np.mean(stats.get("slices", 1 / MEANT))
    stayed = int(np.sum(cut)) if np.mean(cut) > meant else 0
    return Diagnostics(tuple(names), rhat, bulk, tail, int(np.sum(diverging)), stayed, share)


def divergent_share(stats: dict[str, np.ndarray]) -> float:
    """Share of draws with a divergent step on their way."""
    return float(np.mean(np.asarray(stats.get("diverging", 0)) > 0))
