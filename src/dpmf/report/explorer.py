"""A fit and moments in; all that a browser needs to forecast any game at them out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmf.likelihoods import Likelihood, PairedGaussian, PairedPoisson
from dpmf.posterior import Fit
from dpmf.report.features import VENUES, Features, knows
from dpmf.report.moments import Moment
from dpmf.report.packed import packed

BUDGET = 4_800_000  # characters of packed features
MOST = 400  # draws; more would not change a digit that is shown
NOISES: dict[type[Likelihood], str] = {PairedGaussian: "gaussian", PairedPoisson: "poisson"}


def affordable(fit: Fit, moments: Sequence[Moment]) -> int:
    """How many draws a page can hold."""
    venues = len(VENUES) if knows(fit, "home") else 1
    times = len(moments) if knows(fit, "season", "week") else 1
    features = fit.spec.rank + (2 if fit.spec.rows.intercept else 0)
    return within_budget(2 * features * len(fit.data.row_names) * times * venues)


def within_budget(numbers: int) -> int:
    """How many draws of so many numbers each."""
    each = numbers * 2 * 4 / 3  # two bytes a number, three bytes in four characters
    return int(np.clip(BUDGET // each, 1, MOST))


def explorer(found: Features, likelihood: Likelihood) -> dict[str, Any] | None:
    """Features and noise of every draw; None where the browser does not know the noise.

    Features have the axes (rank, teams, moments, venues, draws), so that those of one team at
    one moment lie together.
    """
    kind = NOISES.get(type(likelihood))
    if kind is None:
        return None
    attack, defence = (np.moveaxis(x, 0, -1) for x in (found.attack, found.defence))
    rank, _, times, venues, draws = attack.shape
    return {
        "kind": kind,
        "draws": draws,
        "rank": rank,
        "times": times,
        "venues": venues,
        "attack": packed(attack),
        "defence": packed(defence),
        "noise": {name: value.reshape(-1).tolist() for name, value in found.noise.items()},
    }
