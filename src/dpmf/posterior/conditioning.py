"""A fit and new events in; the fit given those events too, without fitting again, out."""

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int

from dpmf.checks import whole_number
from dpmf.data import Dyads
from dpmf.data.places import place
from dpmf.errors import ConfigError, DataError
from dpmf.inference.annealing import annealed, powers
from dpmf.inference.moving import Members, Newcomers, newcomers
from dpmf.inference.request import require_values
from dpmf.model.layout import layout
from dpmf.model.state import State, White
from dpmf.posterior.extension import Widenings, extended_white, widening
from dpmf.posterior.weights import resampled, reweighting
from dpmf.shown import shown

if TYPE_CHECKING:
    from dpmf.posterior.fit import Fit

UPDATES = ("new", "rows", "cols", "both")
BATCH = 32  # draws that are annealed side by side


def conditioned(
    fit: "Fit", frame: Any, update: str, steps: int, seed: int, source: str
) -> "Fit":
    """The fit given new events; see `Fit.condition`."""
    steps, seed = whole_number("steps", steps, 1), whole_number("seed", seed, 0)
    new = fit.data.encode(frame, source=source)
    require_values(new)
    fit.spec.likelihood.check(new.values)
    rows, cols = updated(fit.data, new, update, source)
    with jax.enable_x64(True):
        points, arrays = layout(fit.grids, new)
        grown = widening(fit.grids, points, arrays)
        some = newcomers(fit.problem, points, fit.data, new, rows, cols)
        white, logs = heard(some, grown, fit.draws.states, steps, seed)
    weights, told = reweighting(logs.reshape(-1), new.events, _efficiency(fit))
    taken = resampled(weights, np.random.default_rng(seed))
    told_all = (*fit.diagnostics.reweighted, told)
    states = fit.draws.states._replace(white=white)
    draws = fit.draws._replace(
        states=_taken(states, taken), stats=_taken(fit.draws.stats, taken)
    )
    return dataclasses.replace(
        fit,
        grids=points,
        data=fit.data.followed_by(new),
        draws=draws,
        diagnostics=fit.diagnostics._replace(reweighted=told_all),
    )


def updated(known: Dyads, new: Dyads, update: str, source: str) -> tuple[Members, Members]:
    """Whose functions are updated: rows and columns, by number.

    Members never seen always are; known ones where `update` names their side.

    Raises:
        ConfigError: There is no such choice.
        DataError: An event is of nobody who is updated.
    """
    if update not in UPDATES:
        raise ConfigError(
            f"update={update!r}, expected one of {', '.join(map(repr, UPDATES))}."
        )

    def side(member: np.ndarray, seen: int, word: str) -> Members:
        every = np.unique(member)
        return every if update in (word, "both") else every[every >= seen]

    rows = side(new.rows, len(known.row_names), "rows")
    cols = side(new.cols, len(known.col_names), "cols")
    nobody = ~(np.isin(new.rows, rows) | np.isin(new.cols, cols)).any(axis=1)
    for event in np.flatnonzero(nobody)[:1].tolist():
        names = (new.row_names[new.rows[event, 0]], new.col_names[new.cols[event, 0]])
        raise DataError(
            f"{place(source, event)}: {shown(names[0])} and {shown(names[1])} are both known "
            "to the fit, expected a new member in every event. Say whose functions to update: "
            "update='rows', 'cols' or 'both'."
        )
    return rows, cols


def heard(
    some: Newcomers, grown: Widenings, states: State, steps: int, seed: int
) -> tuple[White, Float[np.ndarray, "chains draws"]]:
    """The functions of every draw after the new events, and its log weight."""
    chains, draws = states.free.rows.mean.shape[:2]
    rising, found = jnp.asarray(powers(steps)), []
    for chain in range(chains):
        chunk = jax.tree.map(lambda x, c=chain: jnp.asarray(x[c]), states)
        numbers = chain * draws + jnp.arange(draws)
        many = _many(some, grown, chunk, numbers, jr.key(seed), rising)
        found.append(jax.tree.map(np.asarray, many))
    return jax.tree.map(lambda *each: np.stack(each), *found)


@jax.jit
def _many(some: Newcomers, grown, states: State, numbers, key, rising) -> tuple[White, Array]:
    spec = some.problem.spec

    def one(args):
        state, number = args
        key_new, key_move = jr.split(jr.fold_in(key, number))
        values = some.problem.parameters(state)
        white = extended_white(spec, state.white, values, grown, key_new)
        moved, log_weight = annealed(key_move, some, state._replace(white=white), rising)
        return moved.white, log_weight

    return jax.lax.map(one, (states, numbers), batch_size=BATCH)


def _efficiency(fit: "Fit") -> float:
    """Effective draws per draw, as far as that is known."""
    typical = np.nanmedian(fit.diagnostics.ess_bulk) if fit.diagnostics.ess_bulk.size else 1.0
    share = typical / np.prod(fit.shape)
    return float(min(share, 1.0)) if np.isfinite(share) else 1.0


def _taken(tree: Any, which: Int[np.ndarray, " draws"]) -> Any:
    """Some draws of all chains, in the same axes (chains, draws)."""

    def one(array: Any) -> np.ndarray:
        array = np.asarray(array)
        return array.reshape(len(which), *array.shape[2:])[which].reshape(array.shape)

    return jax.tree.map(one, tree)
