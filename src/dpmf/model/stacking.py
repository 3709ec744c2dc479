"""Many training problems in one set of arrays: padded to one shape, then stacked.

All of it on the host, and handed over by `device_put`: everything else would be compiled anew
for every length.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Array

from dpmf.model.gather import Lookup
from dpmf.model.grid import Grid
from dpmf.model.layout import Layout, SideLayout


def stacked(layouts: Sequence[Layout]) -> Layout:
    """One layout with an axis in front: events of weight 0 fill the shorter ones.

    Args:
        layouts: With the same numbers of members and of levels.
    """
    events = max(one.values.shape[0] for one in layouts)
    pair = layouts[0].values.shape[1]
    cells = events * pair

    def filled(one: Layout) -> Layout:
        short = events - one.values.shape[0]
        return Layout(
            _side(one.rows, cells),
            _side(one.cols, cells),
            _padded(one.values, (0, short), (0, 0)),
            _padded(one.weight, (0, short)),
        )

    return jax.tree.map(
        lambda *each: jax.device_put(np.stack(each)), *_level([filled(one) for one in layouts])
    )


def lengthened(grid: Grid, sizes: Sequence[int]) -> Grid:
    """A grid with levels appended that no cell uses, up to given numbers of levels."""
    levels = []
    for own, size in zip(grid.levels, sizes, strict=True):
        short = size - len(own)
        beyond = own.max(axis=0, keepdims=True) + np.arange(1, short + 1)[:, None]
        levels.append(np.concatenate([own, beyond]))
    return Grid(grid.columns, tuple(levels))


def _side(side: SideLayout, cells: int) -> SideLayout:
    return _with_lookups(side, {name: _lookup(own, cells) for name, own in _lookups(side)})


def _lookups(side: SideLayout) -> list[tuple[str, Lookup]]:
    """All that points from cells to somewhere; only shared inputs can be stacked."""
    families: dict[str, Any] = {"functions": side.functions, "pooled": side.pooled}
    found = [(name, own.cells) for name, own in families.items() if own is not None]
    return [*found, ("member", side.member)]


def _with_lookups(side: SideLayout, new: dict[str, Lookup]) -> SideLayout:
    parts: dict[str, Any] = {"member": new["member"]}
    for name in new.keys() - {"member"}:
        parts[name] = dataclasses.replace(getattr(side, name), cells=new[name])
    return dataclasses.replace(side, **parts)


def _lookup(index: Lookup, cells: int) -> Lookup:
    """Cells that only fill the shape read entry 0, and no entry counts them as users."""
    before = index.entry.shape[0]
    entry = _padded(index.entry, (0, cells - before))
    if index.users is None:
        return Lookup(entry, None)
    users = np.asarray(index.users)
    return Lookup(entry, jax.device_put(np.where(users == before, cells, users)))


def _padded(values: Array, *widths: tuple[int, int], fill: int = 0) -> Array:
    return jax.device_put(np.pad(np.asarray(values), widths, constant_values=fill))


def _level(layouts: list[Layout]) -> list[Layout]:
    """Lists of users made equally long; scattered where any of them is."""
    cells = layouts[0].values.size

    def common(indices: list[Lookup]) -> list[Lookup]:
        lists = [one.users for one in indices if one.users is not None]
        if len(lists) < len(indices):
            return [Lookup(one.entry, None) for one in indices]
        most = max(users.shape[1] for users in lists)
        longer = [
            _padded(users, (0, 0), (0, most - users.shape[1]), fill=cells) for users in lists
        ]
        return [Lookup(one.entry, users) for one, users in zip(indices, longer, strict=True)]

    for side in ("rows", "cols"):
        own: list[Any] = [getattr(one, side) for one in layouts]
        each = [dict(_lookups(one)) for one in own]
        for part in each[0]:
            for mine, index in zip(each, common([mine[part] for mine in each]), strict=True):
                mine[part] = index
        own = list(map(_with_lookups, own, each))
        pairs = zip(layouts, own, strict=True)
        layouts = [dataclasses.replace(one, **{side: mine}) for one, mine in pairs]
    return layouts
