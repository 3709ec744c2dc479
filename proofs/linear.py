"""Column features held: y is linear in the row functions, the posterior is known exactly."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from scipy import stats

from dpmf.inference import sweep
from dpmf.inference.problem import Problem
from dpmf.kernels.factor import JITTER
from dpmf.likelihoods import PairedGaussian
from dpmf.model.predictor import predictor
from dpmf.model.simulate import simulate_values
from dpmf.model.state import Parameters, State
from dpmf.samplers import hmc
from proofs.league import LENGTHS, dyads, frame, league, with_values
from proofs.row import Row, worst
from proofs.transitions import Transition, drawn

SMALL = (128, 50, 150)  # chains, transitions of warm-up, transitions that count
FULL = (1024, 100, 1000)
STEP, STEPS = 0.05, 20
SEED = 5


def rows_by_slice(shared, key, problem: Problem, state: State) -> State:
    """The rows' part of a sweep: their move comes first, that of the columns is dropped."""
    rows = sweep.members(key, problem, state)[0].rows
    return state._replace(white=state.white._replace(rows=rows))


def rows_by_hmc(shared, key, problem: Problem, state: State) -> State:
    """A trajectory in the rows' white coordinates alone."""
    shape = state.white.rows.shape

    def at(position):
        white = state.white._replace(rows=position.reshape(shape))
        return state._replace(white=white)

    def density(position):
        return problem.log_density(at(position))

    start = state.white.rows.reshape(-1)
    size = STEP * jr.uniform(shared, minval=0.4, maxval=1.6)  # against resonance
    tuning = hmc.Tuning(size, jnp.ones_like(start), jnp.ones(()))
    moved, _ = hmc.step(key, start, density, tuning, jnp.asarray(STEPS))
    return at(moved)


ENGINES: dict[str, Transition] = {"slice": rows_by_slice, "hmc": rows_by_hmc}


class Case(NamedTuple):
    """One simulated data set; everything but the rows' functions is known."""

    problem: Problem
    truth: State
    mean: np.ndarray  # of y at all cells, given the values
    covariance: np.ndarray


def prove(size: tuple[int, int, int] = FULL, engines=("slice", "hmc")) -> list[Row]:
    """Both engines against the closed form."""
    known = case()
    return [compared(known, engine, ENGINES[engine], size) for engine in engines]


def case() -> Case:
    """A simulated league whose noise is of the size of the signal; one event is held out."""
    problem = league(PairedGaussian(), count=25, unseen=1)
    truth = jax.tree.map(lambda x: x[0], drawn(jr.key(SEED), problem, 1)[0])
    noise = {"sigma": jnp.asarray(-0.5), "rho": jnp.asarray(0.8)}  # free coordinates
    truth = truth._replace(free=truth.free._replace(noise=noise))
    values = simulate_values(problem.spec, truth, problem.arrays, jr.key(SEED + 1))
    posed = with_values(problem, values)
    mean, covariance = closed_form(posed, truth)
    return Case(posed, truth, mean, covariance)


def closed_form(problem: Problem, truth: State) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of y at all cells given the values, in plain NumPy."""
    values = jax.tree.map(np.asarray, problem.parameters(truth))
    data = dyads(PairedGaussian(), frame(PairedGaussian(), len(problem.arrays.weight)))
    season, week, home = (data.column(n).reshape(-1) for n in ("season", "week", "home"))
    member = np.asarray(data.rows).reshape(-1)
    prior_mean, unit = _known(problem, truth, values)
    across = values.rows.sd[:, None] * values.rows.corr
    covariance = np.zeros((len(member), len(member)))
    for k in range(2):
        gram = _gram(values, k, season, week, home)
        weight = across[:, k] @ unit  # what function k adds to each cell's y
        covariance += np.outer(weight, weight) * gram
    covariance *= member[:, None] == member[None]
    return _conditioned(problem, values, prior_mean, covariance)


def _known(problem: Problem, truth: State, values: Parameters):
    """y where all row functions are 0, and softplus of the column features at each cell."""
    rows = jnp.zeros_like(truth.white.rows)
    level = predictor(
        problem.spec, truth.white._replace(rows=rows), _jax(values), problem.arrays
    )
    one = [  # the column features, seen through rows that have one feature
        predictor(
            problem.spec,
            truth.white._replace(rows=rows),
            _jax(values._replace(rows=values.rows._replace(mean=np.eye(2)[k]))),
            problem.arrays,
        )
        for k in range(2)
    ]
    return np.asarray(level).reshape(-1), np.stack([np.asarray(x).reshape(-1) for x in one])


def _jax(values):
    return jax.tree.map(jnp.asarray, values)


def _gram(values: Parameters, k: int, season, week, home) -> np.ndarray:
    named = dict(values.rows.theta)
    gap = next(v for n, v in named.items() if n.endswith("gap"))[k]
    venue = next(v for n, v in named.items() if n.startswith("home"))[k]
    (length,) = (
        v[k] for n, v in named.items() if not n.endswith("gap") and not n.startswith("home")
    )
    first = min(LENGTHS)
    time = week + np.where(season > first, LENGTHS[first] + gap, 0.0)
    over_time = np.exp(-np.abs(time[:, None] - time[None]) / length)
    over_home = np.exp(-0.5 * ((home[:, None] - home[None]) / venue) ** 2)
    same_time, same_home = time[:, None] == time[None], home[:, None] == home[None]
    product = (over_time + JITTER * same_time) * (over_home + JITTER * same_home)
    return product / (1 + JITTER) ** 2


def _conditioned(problem: Problem, values: Parameters, mean, covariance):
    seen = np.repeat(np.asarray(problem.arrays.weight), 2) > 0
    sigma, rho = values.noise["sigma"], values.noise["rho"]
    pair = sigma**2 * np.array([[1, rho], [rho, 1]])
    noise = np.kron(np.eye(int(seen.sum()) // 2), pair)
    gain = covariance[:, seen] @ np.linalg.inv(covariance[np.ix_(seen, seen)] + noise)
    residual = np.asarray(problem.arrays.values).reshape(-1)[seen] - mean[seen]
    return mean + gain @ residual, covariance - gain @ covariance[seen]


def compared(
    known: Case, engine: str, transition: Transition, size, planted: bool = False
) -> Row:
    """Chains' averages against the closed form."""
    chains, warmup, count = size
    cells = np.r_[0:4, -2:0]  # four that were seen, two that were not
    first, second = jax.tree.map(
        np.asarray, _averages(known, transition, jnp.asarray(cells), chains, warmup, count)
    )
    covariance = known.covariance[np.ix_(cells, cells)]
    upper = np.triu_indices(len(cells))
    found = {
        "mean of y": stats.ttest_1samp(first, 0.0, axis=0).pvalue,
        "covariance of y": stats.ttest_1samp(
            second[:, *upper] - covariance[upper], 0.0, axis=0
        ).pvalue,
    }
    p_value, quantity = worst(found)
    error = np.max(first.std(axis=0) / np.sqrt(chains) / np.sqrt(np.diag(covariance)))
    note = f"error of the mean at most {error:.1%} of sd"
    text = f"{chains} chains x {count}"
    return Row("linear", "rows only", engine, quantity, text, p_value, note, planted=planted)


def _averages(known: Case, transition, cells, chains: int, warmup: int, count: int):
    """Per chain: averages of y and of its products, both around the exact mean."""
    centre = jnp.asarray(known.mean)[cells]

    def seen(state):
        parameters = known.problem.parameters(state)
        y = predictor(known.problem.spec, state.white, parameters, known.problem.arrays)
        centred = y.reshape(-1)[cells] - centre
        return centred, centred[:, None] * centred[None]

    def chain(key):
        key_start, key_run = jr.split(key)
        rows = jr.normal(key_start, known.truth.white.rows.shape)
        state = known.truth._replace(white=known.truth.white._replace(rows=rows))
        zeros = jax.tree.map(lambda x: jnp.zeros(x.shape), jax.eval_shape(seen, state))

        def one(i, carry):
            state, total = carry
            shared = jr.fold_in(jr.key(1), i)
            state = transition(shared, jr.fold_in(key_run, i), known.problem, state)
            counted = jax.tree.map(
                lambda t, x: t + jnp.where(i < warmup, 0, x), total, seen(state)
            )
            return state, counted

        total = jax.lax.fori_loop(0, warmup + count, one, (state, zeros))[1]
        return jax.tree.map(lambda t: t / count, total)

    return jax.jit(jax.vmap(chain))(jr.split(jr.key(0), chains))
