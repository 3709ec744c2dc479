"""Members whose functions move while all others are held, and the events that they see."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from dpmf.data import Dyads
from dpmf.inference.problem import Problem
from dpmf.model.colouring import Colouring
from dpmf.model.gather import Lookup, lookup
from dpmf.model.layout import Grids, layout
from dpmf.model.points import Points
from dpmf.types import pytree_dataclass

Members = Int[np.ndarray, " _"]  # by number


@pytree_dataclass
class Moving:
    """Members of one side whose functions move, and the cells that read them."""

    functions: Colouring  # of these members alone
    cells: Int[Array, " own"]  # which cells read them
    member: Lookup  # whose function each of those reads
    who: Int[Array, " members"]  # their numbers among all
    places: Int[Array, " coordinates"]  # of their white, on the axis behind the rank


@pytree_dataclass
class Newcomers:
    """All events of the members that move, and which of them are new."""

    problem: Problem
    new: Bool[Array, " events"]
    rows: Moving | None  # None: nobody
    cols: Moving | None


def newcomers(
    problem: Problem, points: Grids, known: Dyads, new: Dyads, rows: Members, cols: Members
) -> Newcomers:
    """The events of the members that move, laid out.

    Args:
        problem: That of the fit.
        points: Its points and those of the new events.
        known: Its events.
        new: The new events.
        rows: Whose functions move, ascending.
        cols: The same of columns.
    """
    theirs = np.any(np.isin(known.rows, rows) | np.isin(known.cols, cols), axis=1)
    data = known.take(np.flatnonzero(theirs)).followed_by(new)
    arrays = layout(points, data)[1]
    return Newcomers(
        dataclasses.replace(problem, arrays=arrays),
        jnp.asarray(np.arange(data.events) >= theirs.sum()),
        moving(points.rows, arrays.rows.functions, data, data.rows, rows),
        moving(points.cols, arrays.cols.functions, data, data.cols, cols),
    )


def moving(
    points: Points,
    every: Colouring,
    data: Dyads,
    member: Int[np.ndarray, "events pair"],
    who: Int[np.ndarray, " some"],
) -> Moving | None:
    """Some members cut out of a side.

    Args:
        points: Of the whole side.
        every: The side's functions on them.
        data: All events of these members, old and new.
        member: Of every cell, on this side.
        who: Those that move, ascending.
    """
    if not len(who):
        return None
    reads = np.isin(member.reshape(-1), who)
    renamed = np.searchsorted(who, member.reshape(-1)[reads])
    _, functions = points.only(who).laid(_each_cell(data, reads), renamed, len(who))
    owner = every.owner
    places = who if owner is None else np.flatnonzero(np.isin(np.asarray(owner), who))
    index = lookup(renamed, len(who))
    cells, numbers, own = map(jnp.asarray, (np.flatnonzero(reads), who, places))
    return Moving(functions, cells, index, numbers, own)


def _each_cell(data: Dyads, which: Bool[np.ndarray, " cells"]) -> Dyads:
    """Some cells, each as an event of its own."""

    def flat(array: np.ndarray) -> np.ndarray:
        return array.reshape(data.cells, 1, *array.shape[2:])[which]

    parts = {name: flat(getattr(data, name)) for name in ("rows", "cols", "inputs", "values")}
    return Dyads(data.codebook, **parts)
