"""A fit given new events afterwards is the fit that had them from the start."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
from scipy import stats

from dpmf.data import Dyads
from dpmf.inference import annealing
from dpmf.inference.annealing import powers
from dpmf.inference.moving import Newcomers, moving, newcomers
from dpmf.inference.problem import Problem
from dpmf.likelihoods import Bernoulli, Likelihood, Ordinal, PairedGaussian, PairedPoisson
from dpmf.model.layout import Grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.simulate import simulate_state, simulate_values
from dpmf.posterior.conditioning import updated
from dpmf.posterior.extension import extended_white, widening
from planted import planted
from proofs import geweke
from proofs.league import dyads, frame, on, with_values
from proofs.row import Row, worst
from proofs.transitions import advanced, by_hmc

PAIR = PairedGaussian()
UPDATES = {  # who meets whom, at the venue of the first
    "a new team": ("new", [("E", "A"), ("B", "E"), ("E", "C")]),
    "known teams": ("both", [("A", "B"), ("C", "D")]),
}


class Size(NamedTuple):
    """How much work."""

    chains: int
    warmup: int
    draws: int
    thin: int  # transitions between draws
    steps: int  # in which new events come in
    problems: int  # of the calibration
    starts: int  # prior draws that are weighted in each


SMALL = Size(64, 80, 12, 4, 10, 500, 64)
FULL = Size(128, 200, 100, 8, 50, 4000, 512)


def prove(size: Size = FULL) -> list[Row]:
    """The moves, the ranks of truths, and two ways to one posterior."""
    chains = geweke.FULL if size == FULL else geweke.SMALL
    return [
        *(joint(likelihood, chains) for likelihood in (Ordinal(4), PairedPoisson())),
        joint(PairedPoisson(), chains, wrong=True),
        calibrated(size),
        calibrated(size, wrong=True),
        *(refitted(case, size) for case in UPDATES),
        refitted("known teams", size, wrong=True),
    ]


# The moves alone, under all events at full power: a transition like any other.


def joint(likelihood: Likelihood, size: tuple[int, int], *, wrong: bool = False) -> Row:
    """Geweke's test of the moves; the planted bug turns every member by the first's angle."""
    data = dyads(likelihood, frame(likelihood, 25))
    problem, points = on(likelihood, data)
    some = _everybody(problem, points, data)
    annealed = annealing.annealed
    if wrong:
        first = planted(annealing._moved, "angle[moving.member.entry]", "angle[:1]")
        annealed = planted(annealing.annealed, "jnp.zeros(())", "jnp.zeros(())", _moved=first)

    def transition(shared, key, problem: Problem, state):
        return annealed(key, dataclasses.replace(some, problem=problem), state, jnp.ones(3))[0]

    case = f"{'planted: ' if wrong else ''}annealed moves, {type(likelihood).__name__}"
    return geweke.compared(
        case, "annealed", problem, transition, size, partial=True, planted=wrong
    )


def _everybody(problem: Problem, points: Grids, data: Dyads) -> Newcomers:
    rows, cols = np.arange(len(data.row_names)), np.arange(len(data.col_names))
    arrays = problem.arrays
    return Newcomers(
        problem,
        jnp.ones(data.events, bool),
        moving(points.rows, arrays.rows.functions, data, data.rows, rows),
        moving(points.cols, arrays.cols.functions, data, data.cols, cols),
    )


# Truths among weighted draws of the prior: hyperparameters are weighted too.


def calibrated(size: Size, *, wrong: bool = False) -> Row:
    """Whether a truth lies above one weighted draw as often as below it.

    Draws of the prior are a fit to nothing, so nothing but moves and weights is tested. One
    draw of each problem, since several would be equal now and then, which truths never are.
    What is compared has the sign of the values (of their average, less one half): what the
    values pull up and what they pull down count alike. The planted bug leaves out the weights.
    """
    likelihood = Bernoulli()
    known = dyads(likelihood, frame(likelihood, 12))
    new = known.encode(_new(likelihood, [("E", film) for film in "wxyzwxyz"]))
    problem, points = on(likelihood, known)
    wider, arrays = layout(points, new)
    some = newcomers(problem, wider, known, new, *updated(known, new, "new", "frame"))
    spec, rising = problem.spec, jnp.asarray(powers(size.steps))

    def seen(state, values):
        shared = problem.parameters(state)
        y = predictor(spec, state.white, shared, arrays)[:, 0]
        level = shared.rows.mean @ jax.nn.softplus(shared.cols.mean)
        sign = jnp.sign(jnp.mean(values) - 0.5 + 1e-9)
        return {"y": sign * y, "level of all": sign * level, "spread": jnp.sum(shared.rows.sd)}

    @jax.jit
    def above(key):
        key_truth, key_values, key_prior, key_move, key_taken = jr.split(key, 5)
        truth = simulate_state(spec, arrays, key_truth)
        values = simulate_values(spec, truth, arrays, key_values)
        mine = dataclasses.replace(some, problem=with_values(some.problem, values))
        prior = jax.vmap(lambda k: simulate_state(spec, arrays, k))(
            jr.split(key_prior, size.starts)
        )
        keys = jr.split(key_move, size.starts)
        states, logs = jax.vmap(lambda k, s: annealing.annealed(k, mine, s, rising))(
            keys, prior
        )
        logs = 0.0 * logs if wrong else logs
        taken = jr.categorical(key_taken, logs)
        drawn = seen(jax.tree.map(lambda x: x[taken], states), values)
        weights = jax.nn.softmax(logs)
        higher = jax.tree.map(lambda a, b: a > b, seen(truth, values), drawn)
        return higher, 1 / jnp.sum(weights**2)

    keys = jr.split(jr.key(8), size.problems)
    found, effective = jax.tree.map(np.asarray, jax.lax.map(above, keys))
    tests = {name: _even(one.reshape(size.problems, -1)) for name, one in found.items()}
    p_value, quantity = worst(tests)
    text = f"{size.problems} problems x {size.starts} prior draws, {size.steps} steps"
    note = f"ESS of weights {np.median(effective):.0f} in the median"
    case = "planted: no weights" if wrong else "a new row, truths among prior draws"
    return Row("conditioning", case, "annealed", quantity, text, p_value, note, True, wrong)


def _even(higher: np.ndarray) -> np.ndarray:
    """p-values for a chance of one half."""
    problems = len(higher)
    return np.array([stats.binomtest(int(n), problems).pvalue for n in higher.sum(axis=0)])


# Fit, then hear; against a fit to all.


def refitted(case: str, size: Size, *, wrong: bool = False) -> Row:
    """Weighted averages of a fit that hears new events, against those of a fit to all.

    The planted bug forgets the old events of known members while their functions move.
    """
    update, members = UPDATES[case]
    old = dyads(PAIR, frame(PAIR, 24))
    more = _new(PAIR, members)
    whole = dyads(PAIR, pd.concat([frame(PAIR, 24), more], ignore_index=True))
    short, points = on(PAIR, old)
    long, _ = on(PAIR, whole)
    key_truth, key_values = jr.split(jr.key(3))
    truth = simulate_state(long.spec, long.arrays, key_truth)
    noise = {"sigma": jnp.asarray(0.0), "rho": jnp.asarray(0.8)}  # as large as the signal
    truth = truth._replace(free=truth.free._replace(noise=noise))
    values = simulate_values(long.spec, truth, long.arrays, key_values)
    new = dataclasses.replace(old.encode(more), values=np.asarray(values[24:]))
    known = dataclasses.replace(old, values=np.asarray(values[:24]))
    wider, arrays = layout(points, known.followed_by(new))
    grown = widening(points, wider, arrays)
    rows, cols = updated(known, new, update, "frame")
    heard_by = known.take(np.arange(0)) if wrong else known
    some = newcomers(short, wider, heard_by, new, rows, cols)
    rising = jnp.asarray(powers(size.steps))

    @jax.jit
    def after(states, key):
        def one(state, key):
            key_new, key_move = jr.split(key)
            parameters = short.parameters(state)
            white = extended_white(short.spec, state.white, parameters, grown, key_new)
            moved, log = annealing.annealed(key_move, some, state._replace(white=white), rising)
            return predictor(short.spec, moved.white, parameters, arrays), log

        return jax.vmap(one)(states, jr.split(key, size.chains))

    @jax.jit
    def present(states, key):
        def one(state):
            return predictor(long.spec, state.white, long.parameters(state), long.arrays)

        return jax.vmap(one)(states), jnp.zeros(size.chains)

    start = simulate_state(short.spec, short.arrays, jr.key(5))._replace(free=truth.free)
    y, logs = _kept(short, values[:24], start, after, size)
    plain, _ = _kept(long, values, truth, present, size)
    weights = np.exp(logs - np.logaddexp.reduce(logs, axis=None) + np.log(logs.size))
    tests = {
        name: _same(weights, y**power, plain**power)
        for name, power in (("mean of y", 1), ("mean square of y", 2))
    }
    p_value, quantity = worst(tests)
    effective = logs.size / np.mean(weights**2)
    note = f"ESS of weights {effective:.0f} of {logs.size}"
    text = f"2 x {size.chains} chains x {size.draws}, {size.thin} apart"
    name = (
        f"planted: old events forgotten, {case}" if wrong else f"fit + condition = fit, {case}"
    )
    return Row("conditioning", name, "hmc", quantity, text, p_value, note, True, wrong)


def _kept(problem: Problem, values, start, see, size: Size):
    """What is seen of every draw: axes (draws, chains, ...)."""
    problem = with_values(problem, values)
    repeated = jnp.broadcast_to(values, (size.chains, *values.shape))
    states = jax.tree.map(lambda x: jnp.broadcast_to(x, (size.chains, *x.shape)), start)
    transition = by_hmc()
    states = advanced(jr.key(6), problem, repeated, states, size.warmup, transition)
    kept = []
    for i in range(size.draws):
        key_move, key_see = jr.split(jr.fold_in(jr.key(7), i))
        states = advanced(key_move, problem, repeated, states, size.thin, transition)
        kept.append(jax.tree.map(np.asarray, see(states, key_see)))
    return tuple(np.stack(part) for part in zip(*kept, strict=True))


def _same(weights: np.ndarray, weighted: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """p-values for equal means; chains are independent, and a weighted mean is a ratio."""
    chains = weights.shape[1]
    top = np.mean(weights[..., None, None] * weighted, axis=0)  # per chain
    bottom = np.mean(weights, axis=0)
    ratio = top.mean(axis=0) / bottom.mean()
    spread = np.var(top - ratio * bottom[:, None, None], axis=0, ddof=1) / bottom.mean() ** 2
    each = plain.mean(axis=0)
    error = np.sqrt((spread + np.var(each, axis=0, ddof=1)) / chains)
    return 2 * stats.t.sf(np.abs(ratio - each.mean(axis=0)) / error, chains - 1)


def _new(likelihood: Likelihood, members: list[tuple[str, str]]) -> pd.DataFrame:
    """New events in a week never seen."""
    events = frame(likelihood, len(members), seed=2)
    rows, cols = zip(*members, strict=True)
    return events.assign(row=list(rows), col=list(cols), season=2001, week=2.5)
