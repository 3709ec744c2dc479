"""One training block of real games, as a problem that every sampler can take on."""

from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
from places import NBA

import dpmf
from dpmf.backtest.cutoffs import cutoffs
from dpmf.backtest.forecaster import Plan
from dpmf.datasets import nfl
from dpmf.inference.problem import Problem
from dpmf.model.state import FREE_ALL
from dpmf.sports import Games, score_model
from dpmf.sports.tasks import FirstEvents, laid_out, posed

SEASON, BLOCK = 2005, 4  # of the NBA; of the embedded games, the same block of their last


class Block(NamedTuple):
    """What was known before a block, and how its games are predicted."""

    name: str
    problem: Problem
    centre: float  # the average score
    predicted: FirstEvents  # y of the block's games, from a state


def block(rank: int, games: Path = NBA) -> Block:
    """Three seasons before a block of four weeks, DPMF(t,h); call it with 64 bits enabled.

    Args:
        rank: Number of features.
        games: The NBA's; the embedded games take their place where there is no such file.
    """
    there = games.exists()
    played = dpmf.read_games(games) if there else Games(nfl())
    season = SEASON if there else int(played.frame["season"].max())
    cutoff = cutoffs(played.frame, [season], "4w")[BLOCK - 1]
    plan = Plan()
    spec, [task] = posed(score_model(rank), played.frame, [cutoff], plan, whole_season=False)
    arrays = jax.tree.map(lambda x: jnp.asarray(x[0]), laid_out(spec, [task]))
    name = f"{'NBA' if there else 'NFL'}, season {season}, block {BLOCK}"
    return Block(
        name, Problem(arrays, FREE_ALL, spec), task.centre(spec), FirstEvents(task.upcoming)
    )
