"""Mistakes planted in the samplers, each of which Geweke's test must find."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest import mock

import jax
import jax.random as jr

from dpmf import priors
from dpmf.inference import gridded, level, surrogate, sweep
from dpmf.inference.problem import Problem
from dpmf.likelihoods import Likelihood, PairedGaussian, PairedPoisson, paired
from dpmf.likelihoods.paired_poisson import PairedPoissonNoise
from dpmf.model import coordinates, density
from dpmf.model.predictor import predictor
from dpmf.model.state import State
from dpmf.samplers import elliptical, slice
from planted import planted
from proofs import geweke
from proofs.league import league
from proofs.row import Row
from proofs.transitions import Transition, by_hmc, free_only, members_only

DRAW = "effect = mean + sd * jr.normal(key, mean.shape)"
RETURN = "return lambda moved: normal_log_density(left - moved, own_sd)"
USES = 6  # of one stale game effect
NARROW = 0.1  # so that the step-out budget is reached


class Bug(NamedTuple):
    """Where the mistake is, and the part of an engine that shows it."""

    engine: str
    transition: Transition
    patches: tuple[tuple[Any, str, Any], ...]  # object, attribute, wrong value
    small: tuple[int, int] | None = (512, 8)  # chains, transitions; None: too faint for that
    full: tuple[int, int] = (2048, 16)
    likelihood: Likelihood = PairedGaussian()


def stale(shared, key, problem: Problem, state: State) -> State:
    """The game effect is drawn once, and used again after sigma and rho have moved."""
    key_split, key_moves = jr.split(key)
    values = problem.parameters(state)
    y = predictor(problem.spec, state.white, values, problem.arrays)
    noise = problem.spec.likelihood.at(values.noise)
    drawn = planted(paired.PairedGaussianNoise, RETURN, "return effect")
    effect = drawn.split(noise, key_split, y, problem.arrays.values)
    wrong = planted(paired.PairedGaussianNoise, DRAW, "effect = held", held=effect)

    def one(i, state):
        key_free, key_members = jr.split(jr.fold_in(key_moves, i))
        state = members_only(shared, key_members, problem, state)
        return free_only()(shared, key_free, problem, state)

    with mock.patch.object(paired.PairedGaussianNoise, "split", wrong.split):
        return jax.lax.fori_loop(0, USES, one, state)


def bugs() -> dict[str, Bug]:
    """All of them; made when asked for, since the source is read."""
    no_jacobian = planted(
        level.log_density, "jacobian = -jnp.sum(jnp.log(slopes))", "jacobian = 0.0"
    )
    flat_prior = planted(
        coordinates.log_prior, "jacobian = -jnp.sum(jnp.log(unit))", "jacobian = 0.0"
    )
    no_volume = planted(
        gridded._axis,
        "0.5 * jnp.sum(known**2) - volume",
        "0.5 * jnp.sum(known**2)",
    )
    half_normal = planted(priors.HalfNormal, "+ log_two + jacobian", "+ log_two")
    one_key = planted(
        sweep.members,
        "key_split, key_rows, key_cols, *keys_added, key_own = jr.split(key, 6)",
        "key_split = key_rows = key_cols = key_own = key; keys_added = (key, key)",
    )
    wrong_sign = planted(
        paired.PairedGaussianNoise, "jnp.sign(self.rho)", "jnp.sign(-self.rho)"
    )
    not_taken_off = planted(
        PairedPoissonNoise, "left = values - shared[:, None]", "left = values"
    )
    wide = planted(elliptical.step, "other = jr.normal", "other = 1.05 * jr.normal")
    heavy = planted(density.log_white, "-0.5 *", "-0.5 * 1.05**2 *")
    capped = planted(
        slice.step,
        "left = jnp.floor(budget * share).astype(int)",
        "left = jnp.asarray(budget // 2)",
    )
    last_trial = planted(
        elliptical.angle_step,
        "jnp.where(last.accepted, last.angle, 0.0)",
        "last.angle",
        LIMIT=2,
    )
    return {
        "missing Jacobian of the level": Bug(
            "hmc", by_hmc(), ((level, "log_density", no_jacobian),), None, (8192, 60)
        ),
        "surrogate without its volume": Bug("hmc", by_hmc(), ((gridded, "_axis", no_volume),)),
        "missing Jacobian of the row mean": Bug(
            "slice", free_only(), ((density, "log_prior", flat_prior),)
        ),
        "missing Jacobian of the half-normal": Bug(
            "slice",
            free_only(),
            ((priors.HalfNormal, "log_density", half_normal.log_density),),
        ),
        "reused key": Bug("slice", members_only, ((sweep, "members", one_key),)),
        "wrong sign of rho": Bug(
            "slice",
            members_only,
            ((paired.PairedGaussianNoise, "split", wrong_sign.split),),
        ),
        "shared count not taken off": Bug(
            "slice",
            members_only,
            ((PairedPoissonNoise, "split", not_taken_off.split),),
            likelihood=PairedPoisson(),
        ),
        "5 % wrong scale": Bug("slice", members_only, ((elliptical, "step", wide),)),
        "5 % wrong prior": Bug("hmc", by_hmc(), ((level, "log_white", heavy),), (512, 24)),
        "stale game effect": Bug("slice", stale, (), (512, 4)),
        "step-out budget capped per side": Bug(
            "slice", free_only(NARROW), ((slice, "step", capped),), (512, 12)
        ),
        "bracket takes its last trial": Bug(
            "slice", members_only, ((elliptical, "angle_step", last_trial),)
        ),
    }


@contextmanager
def planting(bug: Bug) -> Iterator[None]:
    """The bug is in the code until the context ends."""
    with ExitStack() as stack:
        for target, name, wrong in bug.patches:
            stack.enter_context(mock.patch.object(target, name, wrong))
        yield


def found(name: str, small: bool = False) -> Row:
    """Geweke's test on one bug."""
    bug = bugs()[name]
    return shown(name, bug, league(bug.likelihood, count=7), small)


def shown(name: str, bug: Bug, problem: Problem, small: bool) -> Row:
    """Geweke's test on a problem with a bug in the code."""
    size = bug.small if small and bug.small else bug.full

    def fresh(*args):  # a new function: compiled anew, with the bug
        return bug.transition(*args)

    with planting(bug):
        return geweke.compared(
            f"planted: {name}", bug.engine, problem, fresh, size, partial=True, planted=True
        )


def controls(small: bool = False) -> list[Row]:
    """What the bugs are planted in, unharmed: narrow brackets, and brackets cut off early.

    Of `hmc` those of its hyperparameters are: it cuts off some of them in every run.
    """
    problem = league(PairedGaussian(), count=7)
    size = (512, 12) if small else (2048, 16)

    def cut(*args):  # a new function: compiled anew, with the lower limit
        return members_only(*args)

    narrow = free_only(NARROW)
    row = geweke.compared("narrow brackets", "slice", problem, narrow, size, partial=True)
    case = "brackets cut off early"
    with mock.patch.object(elliptical, "LIMIT", 2):
        cut_row = geweke.compared(case, "slice", problem, cut, size, partial=True)
    moving = by_hmc()  # a function of its own, as `cut` is
    with mock.patch.object(surrogate, "LIMIT", 1):
        return [row, cut_row, geweke.compared(case, "hmc", problem, moving, size)]


def prove(small: bool = False) -> list[Row]:
    """Every bug that the size can show, and the controls."""
    names = [name for name, bug in bugs().items() if bug.small or not small]
    return [*controls(small), *(found(name, small) for name in names)]
