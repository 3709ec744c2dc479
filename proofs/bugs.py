"""Mistakes planted in the samplers, each of which Geweke's test must find."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest import mock

import jax.random as jr

from dpmf import priors
from dpmf.inference import level, sweep
from dpmf.inference.problem import Problem
from dpmf.likelihoods import PairedGaussian, paired
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
NARROW = 0.1  # so that the step-out budget is reached


class Bug(NamedTuple):
    """Where the mistake is, and the part of an engine that shows it."""

    engine: str
    transition: Transition
    patches: tuple[tuple[Any, str, Any], ...]  # object, attribute, wrong value
    small: tuple[int, int] = (512, 8)  # chains, transitions that are enough


def stale(shared, key, problem: Problem, state: State) -> State:
    """The game effect is drawn before sigma and rho move, and used after."""
    key_split, key_free, key_members = jr.split(key, 3)
    values = problem.parameters(state)
    y = predictor(problem.spec, state.white, values, problem.arrays)
    noise = problem.spec.likelihood.at(values.noise)
    drawn = planted(paired.PairedGaussianNoise, RETURN, "return effect")
    effect = drawn.split(noise, key_split, y, problem.arrays.values)
    wrong = planted(paired.PairedGaussianNoise, DRAW, "effect = held", held=effect)
    state = free_only()(shared, key_free, problem, state)
    with mock.patch.object(paired.PairedGaussianNoise, "split", wrong.split):
        return members_only(shared, key_members, problem, state)


def bugs() -> dict[str, Bug]:
    """All of them; made when asked for, since the source is read."""
    no_jacobian = planted(
        level.log_density, "jacobian = -jnp.log(line.average(line.slope))", "jacobian = 0.0"
    )
    flat_prior = planted(
        coordinates.log_prior, "jacobian = -jnp.sum(jnp.log(unit))", "jacobian = 0.0"
    )
    half_normal = planted(priors.HalfNormal, "+ log_two + jacobian", "+ log_two")
    one_key = planted(
        sweep._members,
        "key_split, key_rows, key_cols = jr.split(key, 3)",
        "key_split = key_rows = key_cols = key",
    )
    wrong_sign = planted(
        paired.PairedGaussianNoise, "jnp.sign(self.rho)", "jnp.sign(-self.rho)"
    )
    wide = planted(elliptical.step, "other = jr.normal", "other = 1.05 * jr.normal")
    heavy = planted(density.log_white, "-0.5 *", "-0.5 * 1.05**2 *")
    capped = planted(
        slice.step,
        "left = jnp.floor(budget * jr.uniform(key_budget)).astype(int)",
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
            "hmc", by_hmc(), ((level, "log_density", no_jacobian),), (512, 40)
        ),
        "missing Jacobian of the row mean": Bug(
            "slice", free_only(), ((density, "log_prior", flat_prior),)
        ),
        "missing Jacobian of the half-normal": Bug(
            "slice",
            free_only(),
            ((priors.HalfNormal, "log_density", half_normal.log_density),),
        ),
        "reused key": Bug("slice", members_only, ((sweep, "_members", one_key),)),
        "wrong sign of rho": Bug(
            "slice",
            members_only,
            ((paired.PairedGaussianNoise, "split", wrong_sign.split),),
        ),
        "5 % wrong scale": Bug("slice", members_only, ((elliptical, "step", wide),)),
        "5 % wrong prior": Bug("hmc", by_hmc(), ((level, "log_white", heavy),), (512, 12)),
        "stale game effect": Bug("slice", stale, (), (512, 8)),
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


def found(name: str, size: tuple[int, int] | None = None) -> Row:
    """Geweke's test on one bug."""
    bug = bugs()[name]
    problem = league(PairedGaussian(), count=7, unseen=1)

    def fresh(*args):  # a new function: compiled anew, with the bug
        return bug.transition(*args)

    with planting(bug):
        return geweke.compared(
            f"planted: {name}", bug.engine, problem, fresh, size or bug.small,
            partial=True, planted=True,
        )  # fmt: skip


def controls(size: tuple[int, int] | None = None) -> list[Row]:
    """What the bugs are planted in, unharmed: narrow brackets, and brackets cut off early."""
    problem = league(PairedGaussian(), count=7, unseen=1)
    narrow = free_only(NARROW)
    rows = [
        geweke.compared(
            "narrow brackets", "slice", problem, narrow, size or (512, 12), partial=True
        )
    ]
    with mock.patch.object(elliptical, "LIMIT", 2):
        rows.append(
            geweke.compared(
                "brackets cut off early", "slice", problem,
                lambda *args: members_only(*args), size or (512, 4), partial=True,
            )
        )  # fmt: skip
    return rows


def prove(size: tuple[int, int] = (2048, 16)) -> list[Row]:
    """Every bug, and the controls."""
    return [*controls(size), *(found(name, size) for name in bugs())]
