"""The state of a chain: white functions and free parameters, and what they stand for."""

from typing import Any, NamedTuple

# A jax array while sampling, a numpy array on the host; None where the model has no such
# part (a constant mean has no pooled ones) or, in free coordinates, where it is held fixed.
Part = Any

Theta = dict[str, Part]  # kernel hyperparameters by label; leading axis rank


class Side(NamedTuple):
    """What the members of one side share; as values, or as free coordinates."""

    mean: Part  # (rank)
    sd: Part  # (rank)
    corr: Part  # Cholesky factor (rank, rank) as a value, partial correlations when free
    theta: Theta | None
    pooled_sd: Part  # (rank)
    pooled_theta: Theta | None
    intercept_sd: Part = None  # (); of what each member adds to y


class Parameters(NamedTuple):
    """Everything but the functions themselves."""

    rows: Side
    cols: Side
    noise: dict[str, Part]


class White(NamedTuple):
    """All functions, in coordinates that are standard normal under the prior."""

    rows: Part  # (rank, rows, inputs) on shared inputs; see `colouring` for others
    cols: Part  # the same
    rows_pooled: Part  # (rank, 1, inputs) likewise
    cols_pooled: Part  # the same
    rows_intercept: Part = None  # (rows); what each adds to y whatever it meets
    cols_intercept: Part = None  # (cols)
    rows_noise: Part = None  # (rows, count); what the noise has for each row (`Own`)


class State(NamedTuple):
    """One point of the unconstrained space that both engines walk in."""

    white: White
    free: Parameters


class Fixed(NamedTuple):
    """Hyperparameters held at given values; None is sampled."""

    rows: Side
    cols: Side


NOTHING = Side(None, None, None, None, None, None)
FREE_ALL = Fixed(NOTHING, NOTHING)
