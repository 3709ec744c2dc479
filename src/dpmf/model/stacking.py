"""Many training problems in one set of arrays: padded to one shape, then stacked.

All of it on the host, and handed over by `device_put`: everything else would be compiled anew
for every length.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array

from dpmf.model.gather import Lookup
from dpmf.model.grid import Grid
from dpmf.model.layout import Layout, SideLayout


class Shape(NamedTuple):
    """What layouts are padded to."""

    events: int
    users: dict[str, int | None]  # length of each side's lists; None: scattered, not listed


def common_shape(layouts: Iterable[Layout]) -> Shape:
    """The least shape that all of some layouts can be padded to; one is looked at at a time."""
    events = 0
    users: dict[str, int | None] = {}
    for one in layouts:
        events = max(events, one.values.shape[0])
        for name, index in _all_lookups(one):
            own = index.users.shape[1] if index.users is not None and index.listed else None
            most = users.get(name, own)
            users[name] = None if own is None or most is None else max(own, most)
    return Shape(events, users)


def stacked(layouts: Sequence[Layout], shape: Shape | None = None) -> Layout:
    """One layout with an axis in front: events of weight 0 fill the shorter ones.

    Args:
        layouts: With the same numbers of members and of levels.
        shape: What they are padded to; the least that holds them if left out.
    """
    shape = shape or common_shape(layouts)
    with on_the_host():
        filled = [_filled(one, shape) for one in layouts]
    return jax.tree.map(lambda *each: jax.device_put(np.stack(each)), *filled)


def on_the_host() -> AbstractContextManager[Any]:
    """Where arrays are made that a device is to see stacked alone: of a season of daily refits
    there are thousands, and a GPU takes most of a millisecond for each."""
    try:
        return jax.default_device(jax.local_devices(backend="cpu")[0])
    except RuntimeError:  # JAX_PLATFORMS has left the host out
        return nullcontext()


def lengthened(grid: Grid, sizes: Sequence[int]) -> Grid:
    """A grid with levels appended that no cell uses, up to given numbers of levels."""
    levels = []
    for own, size in zip(grid.levels, sizes, strict=True):
        short = size - len(own)
        beyond = own.max(axis=0, keepdims=True) + np.arange(1, short + 1)[:, None]
        levels.append(np.concatenate([own, beyond]))
    return Grid(grid.columns, tuple(levels))


def _filled(one: Layout, shape: Shape) -> Layout:
    short, cells = shape.events - one.values.shape[0], shape.events * one.values.shape[1]
    found = {name: _lookup(own, cells, shape.users[name]) for name, own in _all_lookups(one)}
    return Layout(
        _with_lookups("rows", one.rows, found),
        _with_lookups("cols", one.cols, found),
        _padded(one.values, (0, short), (0, 0)),
        _padded(one.weight, (0, short)),
    )


def _all_lookups(one: Layout) -> list[tuple[str, Lookup]]:
    """All that points from cells to somewhere, by name; only shared inputs can be stacked."""
    found = []
    for side, own in (("rows", one.rows), ("cols", one.cols)):
        families: dict[str, Any] = {"functions": own.functions, "pooled": own.pooled}
        found += [(f"{side} {n}", part.cells) for n, part in families.items() if part]
        found.append((f"{side} member", own.member))
    return found


def _with_lookups(name: str, side: SideLayout, new: dict[str, Lookup]) -> SideLayout:
    parts: dict[str, Any] = {"member": new[f"{name} member"]}
    for part in ("functions", "pooled"):
        if f"{name} {part}" in new:
            own: Any = getattr(side, part)
            parts[part] = dataclasses.replace(own, cells=new[f"{name} {part}"])
    return dataclasses.replace(side, **parts)


def _lookup(index: Lookup, cells: int, most: int | None) -> Lookup:
    """Cells that only fill the shape read entry 0, and no entry counts them as users."""
    before = index.entry.shape[0]
    entry = _padded(index.entry, (0, cells - before))
    if most is None or index.users is None or not index.listed:
        return Lookup(entry, None)
    users = np.asarray(index.users)
    users = np.where(users == before, cells, users)
    return Lookup(entry, _padded(users, (0, 0), (0, most - users.shape[1]), fill=cells))


def _padded(values: Any, *widths: tuple[int, int], fill: int = 0) -> Array:
    return jax.device_put(np.pad(np.asarray(values), widths, constant_values=fill))
