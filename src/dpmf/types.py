"""The axis words of every array, and the one way to declare a class that holds arrays.

Axis words used in shapes:

    events    observations: a game, a rating
    pair      cells per event: 2 for a game, 1 for a rating
    cells     events x pair, flattened
    members   rows or columns of the matrix
    rank      latent functions (K)
    levels    distinct inputs of one factor of the grid
    inputs    points of the grid
    columns   input columns
    chains, draws
"""

import dataclasses
from typing import TypeVar, dataclass_transform

import jax

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def pytree_dataclass(cls: type[T]) -> type[T]:
    """A frozen dataclass whose fields are arrays that jax may trace.

    A field declared with `dataclasses.field(metadata={"static": True})` is part of
    the structure instead.
    """
    cls = dataclasses.dataclass(frozen=True)(cls)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    static = [f.name for f in fields if f.metadata.get("static")]
    jax.tree_util.register_dataclass(
        cls,
        data_fields=[f.name for f in fields if f.name not in static],
        meta_fields=static,
    )
    return cls
