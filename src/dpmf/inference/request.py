"""What a call of `fit` asks for, checked before any work is done."""

import warnings
from typing import Any

import jax
import numpy as np

from dpmf.data import Dyads
from dpmf.errors import ConfigError, DataError, DpmfWarning
from dpmf.inference.chains import Sizes
from dpmf.inference.problem import Problem
from dpmf.kernels import Kernel
from dpmf.model.spec import Spec


def require_kind(name: str, value: Any, wanted: type) -> None:
    """Refuse an optional argument of another kind."""
    if not (value is None or isinstance(value, wanted)):
        raise ConfigError(f"{name} is a {type(value).__name__}, expected a {wanted.__name__}.")


def require_dyads(data: Any) -> None:
    """Refuse anything but encoded events."""
    if not isinstance(data, Dyads):
        raise ConfigError(
            f"data is a {type(data).__name__}, expected Dyads: encode a frame with "
            "dpmf.Dyads.from_frame first."
        )


def require_values(data: Dyads) -> None:
    """Refuse to learn from nothing, or from events that were encoded without a value."""
    if not data.events:
        raise DataError("there are no events, expected at least one to learn from.")
    wrong = np.flatnonzero(~np.isfinite(data.values).all(axis=1))
    if wrong.size:
        raise DataError(
            f"row {wrong[0] + 1} has no value, expected one for every event to learn from. "
            "Drop the rows without values."
        )


def require_not_own(kernel: Kernel, data: Dyads, side: int) -> None:
    """Refuse a kernel of a member's functions that reads what describes the member."""
    book = data.codebook
    own = (book.row_attributes, book.col_attributes)[side]
    for name in (name for name in kernel.columns if name in own):
        one, many, member = (("row", "rows", book.row), ("column", "columns", book.col))[side]
        given = ("('pooled', 'constant')", "('constant', 'pooled')")[side]
        raise ConfigError(
            f"kernel {kernel} of the {many}: {name!r} is an attribute of {member!r}, the same "
            f"in all events of a {one}, so inside the {one}'s own functions it is constant and "
            f"does nothing. Let the mean that all {many} share read it: mean={given} with "
            f"mean_kernel=, such as SquaredExponential({name!r}); or the kernel of the other "
            "side."
        )


def same_model(model: Any, start: Any, data: Dyads) -> Spec:
    """The earlier fit's constants, so that its states mean the same here."""
    if start.model != model:
        raise ConfigError("start: the earlier fit is of another model; expected the same one.")
    if start.data.pair != data.pair:
        raise ConfigError(
            f"start: the earlier fit has {start.data.pair} value(s) per event, these data "
            f"{data.pair}; expected the same number."
        )
    start.spec.likelihood.check(data.values)
    return start.spec


def within(budget: int, problem: Problem, chains: int, sizes: Sizes) -> Sizes:
    """Thin further where the kept states would not fit."""
    each = 8 * chains * sum(leaf.size for leaf in jax.tree.leaves(problem.template()))
    room = max(budget // each, 1)
    if sizes.draws <= room:
        return sizes
    factor = -(-sizes.draws // room)
    kept = sizes.draws // factor
    warnings.warn(
        f"{sizes.draws} draws of {chains} chains need {each * sizes.draws / 2**20:.0f} MiB; "
        f"keeping one in {factor} ({kept} draws a chain) to stay within "
        f"{budget / 2**20:.0f} MiB. Raise `budget` to keep more.",
        DpmfWarning,
        stacklevel=3,
    )
    return Sizes(sizes.warmup, kept, sizes.thin * factor)
