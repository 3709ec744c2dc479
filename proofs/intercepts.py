"""Geweke's test where rows and columns add numbers of their own, and bugs planted in that."""

from dpmf.inference import aligned, anchored, sweep
from dpmf.likelihoods import Gaussian, Likelihood, Ordinal, PairedGaussian
from dpmf.model import coordinates
from planted import planted
from proofs import geweke
from proofs.bugs import Bug, shown
from proofs.league import league
from proofs.row import Row
from proofs.transitions import ENGINES, by_hmc, free_only, members_only

CASES: dict[str, tuple[Likelihood, bool]] = {
    "intercepts, paired Gaussian, pooled mean": (PairedGaussian(), True),
    "intercepts, ordinal, 4 levels": (Ordinal(4), False),
    "intercepts, a pair without `split`": (geweke.Whole(), False),
}


def prove(size: tuple[int, int] = geweke.FULL) -> list[Row]:
    """Both engines, and the bugs."""
    rows = [one(case, engine, size) for case, engine in pairs()]
    return rows + [found(name) for name in bugs()]


def pairs() -> list[tuple[str, str]]:
    """Cases and engines; to trajectories a pair without `split` is as any other."""
    return [
        (case, engine)
        for case, (likelihood, _) in CASES.items()
        for engine in ENGINES
        if engine == "slice" or not isinstance(likelihood, geweke.Whole)
    ]


def one(case: str, engine: str, size: tuple[int, int]) -> Row:
    """One engine on one case."""
    likelihood, pooled = CASES[case]
    problem = league(likelihood, pooled=pooled, count=25, intercepts=True)
    return geweke.compared(case, engine, problem, ENGINES[engine](), size)


def bugs() -> dict[str, Bug]:
    """Mistakes in what is new."""
    counted_twice = planted(
        sweep._intercepts,
        "rest = y + intercepts(white, values, problem.arrays) - here",
        "rest = y + intercepts(white, values, problem.arrays)",
    )
    left_out = planted(
        sweep.members,
        "level = jnp.sum(rows.mean * unit, axis=0) + added",
        "level = jnp.sum(rows.mean * unit, axis=0)",
    )
    flat = planted(
        coordinates._log_prior_side,
        "total += spec.intercept.log_density(free.intercept_sd)",
        "total += 0.0",
    )
    not_back = planted(aligned._back, "turn.cos, -turn.sin", "turn.cos, turn.sin")
    half_way = planted(anchored._shifted, "sign * level", "sign * abs(sign + 0.5) * level")
    return {
        "an intercept counted twice": Bug(
            "slice", members_only, ((sweep, "_intercepts", counted_twice),)
        ),
        "rows move without intercepts": Bug(
            "slice", members_only, ((sweep, "members", left_out),)
        ),
        "no prior of the intercepts' scale": Bug(
            "slice", free_only(), ((coordinates, "_log_prior_side", flat),)
        ),
        "intercepts turned away instead of back": Bug(
            "hmc", by_hmc(), ((aligned, "_back", not_back),)
        ),
        "cuts measured from half the level": Bug(
            "hmc",
            by_hmc(),
            ((anchored, "_shifted", half_way),),
            likelihood=Ordinal(4),
        ),
    }


def found(name: str, small: bool = False) -> Row:
    """Geweke's test on one bug."""
    bug = bugs()[name]
    likelihood = bug.likelihood if bug.likelihood != PairedGaussian() else Gaussian()
    return shown(name, bug, league(likelihood, count=25, intercepts=True), small)
