"""Annealed functions and their weights against closed forms and fine grids."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from chance import assert_mean
from dpmf import DPMF, PMF, Dyads
from dpmf.inference import annealing
from dpmf.inference.annealing import annealed, powers
from dpmf.inference.moving import Newcomers, newcomers
from dpmf.inference.problem import Problem
from dpmf.kernels import Constant, Matern12, Matern32
from dpmf.kernels.factor import JITTER
from dpmf.likelihoods import (
    Bernoulli,
    Gaussian,
    Likelihood,
    NegativeBinomial,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
    StudentT,
)
from dpmf.model.density import log_likelihoods
from dpmf.model.layout import grids, layout
from dpmf.model.noise import noise_at
from dpmf.model.predictor import cell_features, predictor
from dpmf.model.state import FREE_ALL, State
from dpmf.posterior.conditioning import updated
from dpmf.posterior.extension import extended_white, widening
from inference.fitted import Laplace
from planted import planted

pytestmark = pytest.mark.usefixtures("x64")
REPEATS = 2000
STEPS = 6  # few, so that weights matter: what is tested holds for any number


class Case(NamedTuple):
    some: Newcomers
    start: State  # on points that have those of the new events
    values: dict


def dyads(frame: pd.DataFrame, pair: bool) -> Dyads:
    value = ("one", "two") if pair else "one"
    return Dyads.from_frame(frame, row="row", col="col", value=value, inputs=["time"])


def events(likelihood: Likelihood, members: list[tuple[str, str]], seed: int) -> pd.DataFrame:
    """Who meets whom, at a time of its own, with values that the likelihood could produce."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(members, columns=["row", "col"])
    frame["time"] = np.round(random.uniform(0, 5, len(frame)), 1)
    for name in ("one", "two"):
        match likelihood:
            case Bernoulli():
                frame[name] = random.integers(0, 2, len(frame)).astype(float)
            case Ordinal():
                frame[name] = random.integers(1, 4, len(frame)).astype(float)
            case Poisson() | NegativeBinomial() | PairedPoisson():
                frame[name] = random.poisson(2.0, len(frame)).astype(float)
            case _:
                frame[name] = random.normal(1.0, 1.0, len(frame))
    return frame


OLD = [("A", "B"), ("B", "C"), ("C", "A"), ("A", "C"), ("C", "B"), ("A", "D"), ("D", "B")]
NEW = {
    "new row": ([("E", "B"), ("E", "C"), ("E", "B")], "new"),
    "new column": ([("A", "E"), ("B", "E")], "new"),
    "known row": ([("A", "B"), ("A", "C")], "rows"),
    "known column": ([("C", "B"), ("D", "B")], "cols"),
    "both": ([("A", "E"), ("A", "E")], "rows"),
}


def case(model: DPMF, new: str, seed: int = 3) -> Case:
    """A state, and new events that it has not heard."""
    likelihood = model.likelihood
    assert likelihood is not None
    pair, (members, update) = likelihood.pair == 2, NEW[new]
    known = dyads(events(likelihood, OLD, 1), pair)
    settled = model.spec(known)
    points, arrays = layout(grids(settled, known), known)
    problem = Problem(arrays, FREE_ALL, settled)
    more = known.encode(events(likelihood, members, 2))
    wider, upcoming = layout(points, more)
    grown = widening(points, wider, upcoming)
    some = newcomers(problem, wider, known, more, *updated(known, more, update, "frame"))
    state = state_of(problem, np.random.default_rng(seed))

    @jax.jit
    def extended(problem, state):
        values = problem.parameters(state)
        return values, extended_white(settled, state.white, values, grown, jr.key(seed))

    values, white = extended(problem, state)
    start = state._replace(white=white)
    return Case(with_likely_values(some, start, values), start, values)


def state_of(problem: Problem, random: np.random.Generator) -> State:
    """Parameters in the middle of their priors, so that no weight is extreme."""
    shapes = problem.template()
    white = jax.tree.map(lambda x: jnp.asarray(random.normal(size=x.shape)), shapes.white)
    free = jax.tree.map(lambda x: jnp.asarray(random.normal(0, 0.2, x.shape)), shapes.free)
    return State(white, free)


def with_likely_values(some: Newcomers, state: State, values) -> Newcomers:
    """The same events with values that the state produces."""
    problem = some.problem

    @jax.jit
    def drawn(problem, white):
        y = predictor(problem.spec, white, values, problem.arrays)
        return noise_at(problem.spec, white, values, problem.arrays).sample(jr.key(5), y)

    arrays = dataclasses.replace(problem.arrays, values=drawn(problem, state.white))
    return dataclasses.replace(some, problem=dataclasses.replace(problem, arrays=arrays))


def own(some: Newcomers, state: State) -> list:
    """White of the members that move, of their intercepts, and of the noise of rows."""
    parts = []
    for name in ("rows", "cols"):
        moving, added = getattr(some, name), getattr(state.white, f"{name}_intercept")
        parts.append(moving and getattr(state.white, name)[:, moving.places])
        parts.append(None if moving is None or added is None else added[moving.who])
    noise = state.white.rows_noise
    parts.append(None if some.rows is None or noise is None else noise[some.rows.who])
    return parts


def put(some: Newcomers, state: State, parts: list) -> State:
    white, left = state.white, iter(parts)
    for name in ("rows", "cols"):
        moving, new, added = getattr(some, name), next(left), next(left)
        if new is not None:
            moved = getattr(white, name).at[:, moving.places].set(new)
            white = white._replace(**{name: moved})
        if added is not None:
            moved = getattr(white, f"{name}_intercept").at[moving.who].set(added)
            white = white._replace(**{f"{name}_intercept": moved})
    noise = next(left)
    if noise is not None:
        white = white._replace(rows_noise=white.rows_noise.at[some.rows.who].set(noise))
    return state._replace(white=white)


def run(some: Newcomers, starts: State, steps: int = STEPS):
    """States that have heard the new events, and weights, of many independent starts."""
    keys = jr.split(jr.key(11), REPEATS)
    rising = jnp.asarray(powers(steps))
    one = jax.jit(jax.vmap(lambda key, state: annealed(key, some, state, rising)))
    return one(keys, starts)


# A row given the columns, under Gaussian noise: everything is normal.


def fresh_starts(found: Case) -> State:
    """The state once for each repeat, with the functions of those who move drawn anew."""
    keys = jr.split(jr.key(7), REPEATS)

    def one(key):
        parts = [
            None if x is None else jr.normal(k, x.shape)
            for k, x in zip(jr.split(key, 5), own(found.some, found.start), strict=True)
        ]
        return put(found.some, found.start, parts)

    return jax.jit(jax.vmap(one))(keys)


def closed_form(found: Case, kernel: str, jitter: float):
    """Log marginal likelihood of the new events; mean and covariance of y given them."""
    problem, values = found.some.problem, found.values
    arrays = problem.arrays
    _, unit = jax.jit(cell_features, static_argnums=0)(
        problem.spec, found.start.white, values, arrays
    )
    time = new_times()
    rank, cells = unit.shape
    sigma = np.asarray(values.rows.sd)[:, None] * np.asarray(values.rows.corr)
    weights = np.asarray(unit).T @ sigma  # what each function adds to each cell
    apart = np.abs(time[:, None] - time[None])
    covariance = np.zeros((cells, cells))
    for k in range(rank):
        length = float(values.rows.theta["time.length"][k, 0])
        if kernel == "Matern32":
            s = np.sqrt(3) * apart / length
            gram = (1 + s) * np.exp(-s)
        else:
            gram = np.exp(-apart / length)
        gram = (gram + jitter * (apart == 0)) / (1 + jitter)
        covariance += np.outer(weights[:, k], weights[:, k]) * gram
    mean = np.asarray(unit).T @ np.asarray(values.rows.mean)
    z, noise = np.asarray(arrays.values)[:, 0], float(values.noise["sigma"]) ** 2
    whole = covariance + noise * np.eye(cells)
    log_evidence = stats.multivariate_normal.logpdf(z, mean, whole)
    gain = covariance @ np.linalg.inv(whole)
    return log_evidence, mean + gain @ (z - mean), covariance - gain @ covariance


def new_times() -> np.ndarray:
    return events(Gaussian(), NEW["new row"][0], 2)["time"].to_numpy()


LINEAR = {
    "grid": (Matern32("time", length=(0.5, 5.0)), "grid", "Matern32", JITTER),
    "markov": (Matern12("time", length=(0.5, 5.0)), "markov", "Matern12", 0.0),
}


def linear(name: str) -> tuple[Case, tuple]:
    kernel, inputs, twin, jitter = LINEAR[name]
    model = DPMF(2, (kernel, Constant()), Gaussian(), inputs=(inputs, "grid"))
    found = case(model, "new row")
    return found, closed_form(found, twin, jitter)


def require_linear(found: Case, expected: tuple) -> None:
    log_evidence, mean, covariance = expected
    states, logs = run(found.some, fresh_starts(found))
    weights = np.exp(np.asarray(logs) - log_evidence)
    arrays, spec = found.some.problem.arrays, found.some.problem.spec
    y = jax.jit(jax.vmap(lambda s: predictor(spec, s.white, found.values, arrays)))(states)
    off = np.asarray(y)[..., 0] - mean
    assert_mean(weights, 1.0)
    assert_mean(weights[:, None] * off, 0.0)
    square = off[:, :, None] * off[:, None, :]
    assert_mean(weights[:, None, None] * (square - covariance), 0.0)


@pytest.mark.parametrize("name", LINEAR)
def test_a_row_under_gaussian_noise_has_its_closed_form(name):
    require_linear(*linear(name))


# Anybody, under any likelihood: one white coordinate for each function, on a fine grid.

GRIDDED = [
    (Gaussian(), "new row"),
    (Bernoulli(), "new column"),
    (Ordinal(3), "both"),
    (PairedGaussian(), "new row"),
    (Laplace(), "known column"),
    pytest.param(Gaussian(), "known row", marks=pytest.mark.long),
    pytest.param(StudentT(), "new row", marks=pytest.mark.long),
    pytest.param(Ordinal(3), "known column", marks=pytest.mark.long),
    pytest.param(Poisson(), "known row", marks=pytest.mark.long),
    pytest.param(NegativeBinomial(), "new column", marks=pytest.mark.long),
    pytest.param(PairedPoisson(), "new row", marks=pytest.mark.long),
]
MESH = np.linspace(-6, 6, 201)


class Gridded(NamedTuple):
    starts: State
    log_evidence: float  # of new events given old ones
    moments: np.ndarray  # mean and mean square of each coordinate given all events


def gridded(found: Case) -> Gridded:
    """Sums over a grid of all coordinates that move: one or two."""
    some = found.some
    shapes = [x.shape for x in own(some, found.start) if x is not None]
    sizes = [int(np.prod(shape)) for shape in shapes]
    assert sum(sizes) <= 2
    mesh = np.stack(np.meshgrid(*[MESH] * sum(sizes), indexing="ij"), -1).reshape(
        -1, sum(sizes)
    )

    def state(point):
        parts, start = [], 0
        for x in own(some, found.start):
            size = 0 if x is None else x.size
            part = None if x is None else point[start : start + size].reshape(x.shape)
            parts.append(part)
            start += size
        return put(some, found.start, parts)

    @jax.jit
    def logs(point):
        each = log_likelihoods(some.problem.spec, state(point), some.problem.arrays)
        new = jnp.where(some.new, each, 0.0)
        return jnp.sum(each) - jnp.sum(new), jnp.sum(new)

    old, new = (np.asarray(x) for x in jax.lax.map(logs, jnp.asarray(mesh), batch_size=2000))
    before = stats.norm.logpdf(mesh).sum(axis=1) + old
    after = before + new
    log_evidence = np.logaddexp.reduce(after) - np.logaddexp.reduce(before)
    random = np.random.default_rng(0)
    weights = np.exp(before - before.max())
    chosen = random.choice(len(mesh), REPEATS, p=weights / weights.sum())
    step = MESH[1] - MESH[0]
    points = mesh[chosen] + random.uniform(-step / 2, step / 2, (REPEATS, mesh.shape[1]))
    given = np.exp(after - np.logaddexp.reduce(after))
    moments = np.stack([given @ mesh, given @ mesh**2])
    return Gridded(jax.jit(jax.vmap(state))(jnp.asarray(points)), float(log_evidence), moments)


def require_gridded(found: Case, expected: Gridded) -> None:
    states, logs = run(found.some, expected.starts)
    weights = np.exp(np.asarray(logs) - expected.log_evidence)
    moved = [x for x in jax.vmap(lambda s: own(found.some, s))(states) if x is not None]
    points = np.concatenate([np.asarray(x).reshape(REPEATS, -1) for x in moved], axis=1)
    assert_mean(weights, 1.0)
    assert_mean(weights[:, None] * (points - expected.moments[0]), 0.0)
    assert_mean(weights[:, None] * (points**2 - expected.moments[1]), 0.0)


def small(likelihood: Likelihood, new: str) -> Case:
    return case(PMF(1, likelihood), new)


@pytest.mark.parametrize(
    ("likelihood", "new"),
    GRIDDED,
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_any_likelihood_on_a_fine_grid(likelihood, new):
    found = small(likelihood, new)
    sides = (found.some.rows is not None, found.some.cols is not None)
    both = likelihood.pair == 2 or new == "both"
    assert sides == (both or "row" in new, both or "column" in new)
    require_gridded(found, gridded(found))


@pytest.mark.parametrize(
    ("likelihood", "new"), [(Gaussian(), "new row"), (Ordinal(3), "known column")]
)
def test_intercepts_move_with_their_member(likelihood, new):
    found = case(PMF(1, likelihood, intercepts=True), new)
    assert sum(x is not None for x in own(found.some, found.start)) == 2
    require_gridded(found, gridded(found))


def with_cuts(new: str) -> tuple[Case, Gridded]:
    """Events that tell a row's cuts: not all of the highest level, above the middle cut."""
    found = case(PMF(1, Ordinal(3, own_cuts=True)), new, seed=5)
    expected = gridded(found)
    assert abs(expected.moments[0, 1]) > 0.1
    return found, expected


@pytest.mark.parametrize("new", ["new row", "known row"])
def test_cuts_move_with_their_row(new):
    found, expected = with_cuts(new)
    assert sum(x is not None for x in own(found.some, found.start)) == 2
    require_gridded(found, expected)
    state, _ = annealed(jr.key(0), found.some, found.start, jnp.asarray(powers(3)))
    moved = np.asarray(state.white.rows_noise != found.start.white.rows_noise)[:, 0]
    assert np.flatnonzero(moved).tolist() == np.asarray(found.some.rows.who).tolist()


def test_cuts_that_hear_events_too_loud_are_found(monkeypatch):
    found, expected = with_cuts("known row")
    wrong = planted(annealing._noise_moved, "there.cells(y)[", "8 * there.cells(y)[")
    monkeypatch.setattr(annealing, "_noise_moved", wrong)
    with pytest.raises(AssertionError):
        require_gridded(found, expected)


BUGS = {
    "moves a power behind": ("new row", "some.new, power, 1.0", "some.new, before, 1.0"),
    "new events at full power": ("new row", "some.new, power, 1.0", "some.new, 1.0, 1.0"),
    "old events not heard": ("known row", "some.new, power, 1.0", "some.new, power, 0.0"),
    "weight of all events": ("known row", "some.new, each, 0.0", "some.new, each, each"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug, monkeypatch):
    new, right, wrong = BUGS[bug]
    found = small(Gaussian(), new)
    expected = gridded(found)
    monkeypatch.setitem(globals(), "annealed", planted(annealing.annealed, right, wrong))
    with pytest.raises(AssertionError):
        require_gridded(found, expected)


def test_powers_rise_from_nothing_to_all():
    rising = powers(10)
    assert rising[0] == 0 and rising[-1] == 1 and len(rising) == 11
    assert (np.diff(rising) > 0).all()


def test_nobody_else_is_touched():
    model = DPMF(2, Matern12("time"), Gaussian(), inputs="markov")
    found = case(model, "known row")
    state, _ = annealed(jr.key(0), found.some, found.start, jnp.asarray(powers(3)))
    theirs = np.zeros(found.start.white.rows.shape[1], bool)
    theirs[np.asarray(found.some.rows.places)] = True
    moved = np.asarray(state.white.rows != found.start.white.rows)
    assert moved[:, theirs].all() and not moved[:, ~theirs].any()
    same = state._replace(white=state.white._replace(rows=found.start.white.rows))
    jax.tree.map(np.testing.assert_array_equal, same, found.start)


def test_all_events_of_known_members_are_looked_at():
    some = small(Gaussian(), "known row").some
    assert some.new.tolist() == [False, False, False, True, True]
    assert small(Gaussian(), "new row").some.new.tolist() == [True, True, True]
