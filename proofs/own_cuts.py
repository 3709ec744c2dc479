"""Geweke's test where every row has cuts of its own, and bugs planted in that."""

from dpmf.inference import own_scales, sweep
from dpmf.inference.problem import Problem
from dpmf.likelihoods import Ordinal
from dpmf.model.state import State
from planted import planted
from proofs import geweke
from proofs.bugs import Bug, shown
from proofs.league import league
from proofs.row import Row
from proofs.transitions import ENGINES, members_only

CASE, LIKELIHOOD = "cuts of every row's own, 5 levels", Ordinal(5, own_cuts=True)


def prove(size: tuple[int, int] = geweke.FULL) -> list[Row]:
    """Both engines, and the bugs."""
    return [one(engine, size) for engine in ENGINES] + [found(name) for name in bugs()]


def one(engine: str, size: tuple[int, int]) -> Row:
    """One engine."""
    problem = league(LIKELIHOOD, count=25, intercepts=True)
    return geweke.compared(CASE, engine, problem, ENGINES[engine](), size)


def scales_only(shared, key, problem: Problem, state: State) -> State:
    """The move of centre and scale with the rows' own numbers held."""
    return own_scales.moved(key, problem, state)


def bugs() -> dict[str, Bug]:
    """Mistakes in what is new."""
    one_more = planted(own_scales._free_scale, "-rows * free - 0.5", "-(rows + 1) * free - 0.5")
    stale = planted(
        own_scales.moved,
        "white = (numbers - centre) / scale_prior.value(free)",
        "white = (numbers - centre) / scale",
    )
    one_key = planted(sweep.members, "_own_noise(key_own, ", "_own_noise(key_cols, ")
    wrong_y = planted(
        sweep._own_noise,
        "y = predictor(spec, white, values, arrays)",
        "y = 0.5 * predictor(spec, white, values, arrays)",
    )
    return {
        "a scale from one row too many": Bug(
            "slice", scales_only, ((own_scales, "_free_scale", one_more),)
        ),
        "own numbers in units of the old scale": Bug(
            "hmc", scales_only, ((own_scales, "moved", stale),)
        ),
        "a key of the columns reused": Bug(
            "slice", members_only, ((sweep, "members", one_key),)
        ),
        "own cuts moved at half of y": Bug(
            "slice", members_only, ((sweep, "_own_noise", wrong_y),)
        ),
    }


def found(name: str, small: bool = False) -> Row:
    """Geweke's test on one bug."""
    return shown(name, bugs()[name], league(LIKELIHOOD, count=25, intercepts=True), small)
