"""One tiny fit of NFL games, made by the command, for all tests of what follows from it."""

import dataclasses
from pathlib import Path

import jax
import pytest

from command import status
from few_games import CUTOFF, TINY, few_games


@pytest.fixture(autouse=True)
def hasty_compiler():
    """Nearly all the time here is compilation."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@dataclasses.dataclass(frozen=True)
class Made:
    games: Path  # learned from
    later: Path  # the games that follow, with lines and without scores
    fit: Path


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    here = Made(folder / "games.csv", folder / "later.csv", folder / "fit.nc")
    frame = few_games().drop(columns="season")
    frame[frame["date"] < CUTOFF].to_csv(here.games, index=False)
    later = frame[frame["date"] >= CUTOFF].drop(columns=["home_score", "away_score"])
    later = later.assign(spread_home=-3.0, total=44.5)
    later.iloc[1, later.columns.get_loc("spread_home")] = float("nan")
    later.to_csv(here.later, index=False)
    words = ["fit", str(here.games), "--out", str(here.fit), "--quiet"]
    assert status(*words, *TINY, "--rank", "2") == 0
    return here
