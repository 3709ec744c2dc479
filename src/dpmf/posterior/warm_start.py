"""The last states of a fit, carried to other events of the same model, to go on from."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from dpmf.data import Codebook, Dyads
from dpmf.data.names import placed
from dpmf.model.coordinates import free_coordinates
from dpmf.model.layout import Grids
from dpmf.model.points import Points
from dpmf.model.state import Fixed, Parameters, State, White

if TYPE_CHECKING:
    from dpmf.posterior.fit import Fit


def grids_over(known: Grids, data: Dyads) -> Grids:
    """Points of other events, of the kinds that they are in a fit."""
    own = (data.rows.reshape(-1), data.cols.reshape(-1))
    everyone = np.zeros(data.cells, int)

    def over(points: Points | None, member: np.ndarray) -> Points | None:
        return None if points is None else points.over(data, member)

    return Grids._make(map(over, known, (*own, everyone, everyone)))


def last_states(
    fit: "Fit", points: Grids, data: Dyads, fixed: Fixed, chains: int, seed: int
) -> State:
    """The last state of each chain on other points; see `Fit.last_states`."""
    numbers = _renumbering(fit.data.codebook, data.codebook)
    points = Grids._make(one and one.recoded(numbers) for one in points)
    states = []
    for chain in range(chains):
        at = (chain % fit.shape[0], -1)
        state = jax.tree.map(lambda x, at=at: np.asarray(x)[at], fit.draws.states)
        values = jax.tree.map(lambda x, at=at: np.asarray(x)[at], fit.parameters)
        held = _with_fixed(values, fixed)
        white = _carried(
            fit, state.white, values, points, data, np.random.default_rng([seed, chain])
        )
        with jax.enable_x64(True):
            free = free_coordinates(fit.spec, jax.tree.map(jnp.asarray, held), fixed)
        states.append(State(white, free))
    return jax.tree.map(lambda *each: jnp.stack([jnp.asarray(e) for e in each]), *states)


def _carried(
    fit: "Fit",
    white: White,
    values: Parameters,
    points: Grids,
    data: Dyads,
    generator: np.random.Generator,
) -> White:
    places = {
        "rows": _places(fit.data.row_names, data.row_names),
        "cols": _places(fit.data.col_names, data.col_names),
    }

    def own(side: str) -> np.ndarray:
        kernel, shared = getattr(fit.spec, side).kernel, getattr(values, side)
        old, new = getattr(fit.grids, side), getattr(points, side)
        one = getattr(white, side)
        return _carry(one, kernel, shared.theta, old, new, places[side], generator)

    def pooled(side: str) -> np.ndarray | None:
        kernel, shared = getattr(fit.spec, side).pooled, getattr(values, side)
        if kernel is None:
            return None
        name = f"{side}_pooled"
        old, new = getattr(fit.grids, name), getattr(points, name)
        one, theta = getattr(white, name), shared.pooled_theta
        return _carry(one, kernel, theta, old, new, np.zeros(1, int), generator)

    def numbers(side: str, part: str) -> np.ndarray | None:
        old, members = getattr(white, f"{side}_{part}"), places[side]
        if old is None:
            return None
        fresh = generator.standard_normal((len(members), *old.shape[1:]))
        return np.where((members >= 0).reshape(-1, *[1] * (old.ndim - 1)), old[members], fresh)

    return White(
        own("rows"),
        own("cols"),
        pooled("rows"),
        pooled("cols"),
        numbers("rows", "intercept"),
        numbers("cols", "intercept"),
        numbers("rows", "noise"),
    )


def _renumbering(old: Codebook, new: Codebook) -> dict[str, np.ndarray]:
    """For each text column of the new codebook, the numbers of its levels in the old one."""
    before = {column.name: column.levels for column in old.inputs}
    return {
        column.name: np.array(placed(column.levels, before.get(column.name, ()))[1], float)
        for column in new.inputs
        if column.kind == "category"
    }


def _places(old: tuple, new: tuple) -> np.ndarray:
    """For each new member its old place, or -1."""
    known = {name: place for place, name in enumerate(old)}
    return np.array([known.get(name, -1) for name in new])


def _carry(white, kernel, theta, old: Points, new: Points, members, generator) -> np.ndarray:
    with jax.enable_x64(True):
        theta = jax.tree.map(jnp.asarray, theta)
        return old.carried(white, kernel, theta, new, members, generator)


def _with_fixed(values: Parameters, fixed: Fixed) -> Parameters:
    """The parameters, with whatever is held fixed at its fixed value."""

    def side(own: Any, held: Any) -> Any:
        parts = zip(own, held, strict=True)
        return type(own)(*(mine if given is None else given for mine, given in parts))

    rows, cols = side(values.rows, fixed.rows), side(values.cols, fixed.cols)
    return values._replace(rows=rows, cols=cols)
