"""A fit in; whether to trust it, as a short table, out."""

import re
from typing import Any

import numpy as np

from dpmf.posterior import Fit

SIDES = {"rows": "attack", "cols": "defence"}


def diagnosis(fit: Fit) -> dict[str, Any]:
    """The verdict, and the worst figures of each kind of quantity."""
    told = fit.diagnostics
    chains, draws = fit.shape
    apart = f", {fit.sizes.thin} steps apart," if fit.sizes.thin > 1 else ""
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(told.names):
        groups.setdefault(re.sub(r"\[\d+\]$", "", name), []).append(place)
    return {
        "converged": told.converged,
        "line": in_words(told.line()),
        "sampling": f"{chains} chains of {draws:,} draws{apart} after {fit.sizes.warmup:,} "
        f"steps of warm-up, engine {fit.engine}, seed {fit.seed}",
        "rows": [_row(fit, name, places) for name, places in groups.items()],
    }


def _row(fit: Fit, name: str, places: list[int]) -> dict[str, str]:
    told = fit.diagnostics
    return {
        "name": _worded(name),
        "count": f"{len(places):,}",
        "rhat": _worst(told.rhat[places], np.nanmax, "{:.3f}"),
        "bulk": _worst(told.ess_bulk[places], np.nanmin, "{:,.0f}"),
        "tail": _worst(told.ess_tail[places], np.nanmin, "{:,.0f}"),
    }


def _worst(values: np.ndarray, worst: Any, layout: str) -> str:
    return "unknown" if np.isnan(values).all() else layout.format(worst(values))


def in_words(line: str) -> str:
    """The verdict, with the quantity in its first brackets in words."""
    return re.sub(r"\(([^()]*?)(\[\d+\])?\)", lambda m: f"({_worded(m[1])})", line, count=1)


def _worded(name: str) -> str:
    """`rows season+week.length` in words."""
    if name == "y":
        return "expected scores of games"
    side, _, rest = name.partition(" ")
    if side not in SIDES:
        return {"sigma": "scatter of scores", "rho": "correlation of scores"}.get(name, name)
    pooled = " (mean of all)" if rest.startswith("pooled ") else ""
    column, _, what = rest.removeprefix("pooled ").rpartition(".")
    column = column.replace("season+week", "time")
    over = f"{what} over {column}" if column else what
    return f"{over}, {SIDES[side]}{pooled}"
