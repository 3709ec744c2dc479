"""The state of a chain: white functions and free parameters, and what they stand for."""

from typing import NamedTuple

from jaxtyping import Array, Float

Theta = dict[str, Float[Array, "rank ..."]]  # kernel hyperparameters by label


class Side(NamedTuple):
    """What the members of one side share; as values, or as free coordinates.

    A part is None where the model has none (a constant mean has no pooled parts) or,
    in free coordinates, where it is held fixed.
    """

    mean: Float[Array, " rank"]
    sd: Float[Array, " rank"] | None
    corr: Float[Array, "..."] | None  # Cholesky factor as a value, partials when free
    theta: Theta | None
    pooled_sd: Float[Array, " rank"] | None
    pooled_theta: Theta | None


class Parameters(NamedTuple):
    """Everything but the functions themselves."""

    rows: Side
    cols: Side
    noise: dict[str, Float[Array, "..."]]


class White(NamedTuple):
    """All functions, in coordinates that are standard normal under the prior."""

    rows: Float[Array, "rank rows inputs"]
    cols: Float[Array, "rank cols inputs"]
    rows_pooled: Float[Array, "rank one inputs"] | None
    cols_pooled: Float[Array, "rank one inputs"] | None


class State(NamedTuple):
    """One point of the unconstrained space that both engines walk in."""

    white: White
    free: Parameters


class Fixed(NamedTuple):
    """Hyperparameters held at given values; None is sampled."""

    rows: Side
    cols: Side


NOTHING = Side(None, None, None, None, None, None)  # type: ignore[arg-type]
FREE_ALL = Fixed(NOTHING, NOTHING)
