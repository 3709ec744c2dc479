"""The one place that knows what a game is: tables of games in, score models out."""

from dpmf.sports.games import Games, read_games
from dpmf.sports.score_model import ScoreModel, score_model

__all__ = ["Games", "ScoreModel", "read_games", "score_model"]
