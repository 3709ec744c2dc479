"""A fit in; the draws of what is the same however latent features are numbered out."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Float

from dpmf.errors import DataError
from dpmf.inference.diagnostics import quantities
from dpmf.posterior import Fit

MOST = 6  # quantities in one picture, unless they are named


def invariants(
    fit: Fit, names: Sequence[str] | None
) -> dict[str, Float[np.ndarray, "chains draws"]]:
    """Draws of some diagnosed quantities; those of the largest R-hat if none are named.

    Args:
        fit: Of any model.
        names: As `fit.diagnostics.names` has them, such as "sigma" or "y[3]".

    Raises:
        DataError: There is no such quantity, or none that varies.
    """
    known = fit.diagnostics.names
    if not known:
        raise DataError("the fit has no quantity that varies: there is nothing to see.")
    if names is None:
        worst = np.argsort(-np.nan_to_num(fit.diagnostics.rhat, nan=np.inf), kind="stable")
        names = [known[place] for place in worst[:MOST]]
    unknown = [name for name in names if name not in known]
    if unknown:
        some = ", ".join([*known[:4], *known[-4:]])
        raise DataError(f"there is no quantity {unknown[0]!r}, expected some of {some}, ...")
    with jax.enable_x64(True):
        found = quantities(fit.problem, fit.draws.states)
    every = {}
    for name, value in found.items():
        for element in range(value.shape[2]):
            label = name if value.shape[2] == 1 else f"{name}[{element}]"
            every[label] = value[:, :, element]
    return {name: np.asarray(every[name]) for name in names}
