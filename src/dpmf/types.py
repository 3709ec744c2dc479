"""The axis words of every array, and the one way to declare a class that holds arrays.

Axis words used in shapes:

    events    observations: a game, a rating
    pair      cells per event: 2 for a game, 1 for a rating
    cells     events x pair, flattened
    members   rows or columns of the matrix
    rank      latent functions (K)
    levels    distinct inputs of one factor of the grid
    inputs    points of the grid
    points    inputs of every member, end to end
    some, most    rows of a padded table of points, and places in each
    functions     waves of a basis
    shape     axes of white behind the rank, whatever they are
    columns   input columns
    chains, draws
"""

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def pytree_dataclass(cls: type[T]) -> type[T]:
    """A frozen dataclass whose fields are arrays that jax may trace.

    A field declared with `dataclasses.field(metadata={"static": True})` is part of
    the structure instead.
    """
    made: Any = dataclasses.dataclass(frozen=True)(cls)
    fields = dataclasses.fields(made)
    static = [f.name for f in fields if f.metadata.get("static")]
    data = [f.name for f in fields if f.name not in static]
    keys = [jax.tree_util.GetAttrKey(name) for name in data]

    def flatten(one: T) -> tuple[list[Any], tuple[Any, ...]]:
        return [getattr(one, name) for name in data], tuple(getattr(one, n) for n in static)

    def flatten_with_keys(one: T) -> tuple[list[Any], tuple[Any, ...]]:
        leaves, fixed = flatten(one)
        return list(zip(keys, leaves, strict=True)), fixed

    def unflatten(fixed: tuple[Any, ...], leaves: Iterable[Any]) -> T:
        # Past `__init__`: jax puts placeholders and batches where shapes are checked.
        one = object.__new__(cls)
        for name, value in (*zip(data, leaves, strict=True), *zip(static, fixed, strict=True)):
            object.__setattr__(one, name, value)
        return one

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls
