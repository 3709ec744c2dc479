"""`dpmf info`: what a fit is, whether to trust it, and what it has learned."""

import json as json_format
import math
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from dpmf.cli.terminal import plain, terminal
from dpmf.posterior import Fit, load
from dpmf.posterior.fit import MADE
from dpmf.sports.findings import Figure, findings, in_words
from dpmf.sports.notes import KEY, games_notes

MOST_NAMED = 40  # teams in a list
SHOWN = 12  # characters of the data's checksum


def run(path: Path, *, quiet: bool, json: bool) -> None:
    """Run the command.

    Args:
        path: File of the fit.
        quiet: Print nothing.
        json: Print the result as JSON instead of words.
    """
    told = described(load(path), path)
    print_words(terminal(quiet=quiet or json, highlight=False), told)
    if json:
        print(json_format.dumps(told))


def described(fit: Fit, path: Path) -> dict[str, Any]:
    """All that there is to say of a fit, as JSON can hold it."""
    chains, draws = fit.shape
    told: dict[str, Any] = {
        "file": str(path),
        "model": _model(fit, path),
        "data": _data(fit, path),
        "sampling": {
            "engine": fit.engine,
            "chains": chains,
            "warmup": fit.sizes.warmup,
            "draws": draws,
            "thin": fit.sizes.thin,
            "seed": fit.seed,
        },
        "made": dict(fit.notes.get(MADE, {})),  # files of earlier versions do not say
        "diagnostics": _diagnostics(fit),
        "learned": {},
        "words": [],
    }
    if KEY in fit.notes:
        found = findings(fit)
        told["learned"] = {name: _plain(figure) for name, figure in found.items()}
        told["words"] = in_words(found)
    return told


def print_words(console: Console, told: dict[str, Any]) -> None:
    """The same in words."""
    model, data, sampling = told["model"], told["data"], told["sampling"]
    own = f"{model['name']}, rank {model['rank']}, {model['kernel']}, {model['likelihood']}"
    lines = [f"Model: {own}"]
    if "games" in data:
        first, last = data["seasons"][0], data["seasons"][-1]
        seasons = f"season {first}" if first == last else f"seasons {first} to {last}"
        lines.append(
            f"Games: {data['games']:,} of {len(data['teams'])} teams, {data['first_date']} to "
            f"{data['last_date']}, {seasons}{', playoffs included' * data['playoffs']}"
        )
        named = ", ".join(data["teams"][:MOST_NAMED])
        lines.append(f"Teams: {named}{', ...' * (len(data['teams']) > MOST_NAMED)}")
    else:
        lines.append(f"Data: {data['summary']}")
    apart = f", {sampling['thin']} steps apart," if sampling["thin"] > 1 else ""
    lines.append(
        f"Draws: {sampling['chains']} chains of {sampling['draws']:,}{apart} after "
        f"{sampling['warmup']:,} steps of warm-up, engine {sampling['engine']}, "
        f"seed {sampling['seed']}"
    )
    if told["made"]:
        lines.append(_made(told["made"]))
    lines += [told["diagnostics"]["line"], *told["words"]]
    for line in lines:
        console.print(plain(line), soft_wrap=True)


def _made(made: dict[str, Any]) -> str:
    threads = f" with {made['threads']} threads" if "threads" in made else ""
    return (
        f"Made by: dpmf {made['dpmf']}, jax {made['jax']}, {made['device']}{threads}; data "
        f"{made['data'][:SHOWN]}"
    )


def _model(fit: Fit, path: Path) -> dict[str, Any]:
    kernels = [str(side.kernel) for side in (fit.spec.rows, fit.spec.cols)]
    games = games_notes(fit, source=str(path)).model if KEY in fit.notes else None
    return {
        "name": games or "DPMF",
        "rank": fit.spec.rank,
        "kernel": " and ".join(dict.fromkeys(kernels)),
        "mean": fit.model.mean if isinstance(fit.model.mean, str) else list(fit.model.mean),
        "likelihood": type(fit.spec.likelihood).__name__,
    }


def _data(fit: Fit, path: Path) -> dict[str, Any]:
    if KEY not in fit.notes:
        return {"summary": repr(fit.data), "events": fit.data.events}
    known = games_notes(fit, source=str(path))
    seasons = known.calendar.seasons
    return {
        "games": fit.data.events,
        "teams": sorted(str(name) for name in fit.data.row_names),
        "first_date": f"{seasons[0].first:%Y-%m-%d}",
        "last_date": f"{max(one.last for one in seasons):%Y-%m-%d}",
        "seasons": [one.number for one in seasons],
        "resolution": known.calendar.resolution,
        "playoffs": known.playoffs,
    }


def _diagnostics(fit: Fit) -> dict[str, Any]:
    told = fit.diagnostics
    known = not np.isnan(told.rhat).all()
    return {
        "converged": told.converged,
        "line": told.line(),
        "max_rhat": _number(np.nanmax(told.rhat)) if known else None,
        "median_ess": _number(np.nanmedian(told.ess_bulk)) if known else None,
        "min_ess": _number(np.nanmin(told.ess_bulk)) if known else None,
        "divergences": told.divergences,
    }


def _plain(figure: Figure) -> dict[str, float | None]:
    return {name: _number(value) for name, value in figure._asdict().items()}


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
