"""Attributes of members in a model: what the mean may read, and what a kernel may not."""

import functools
import warnings
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf import DPMF, ConfigError, Dyads
from dpmf.inference import chains
from dpmf.inference.problem import Problem
from dpmf.kernels import Categorical, Constant, Matern12, SquaredExponential
from dpmf.kernels.factor import JITTER
from dpmf.likelihoods import Gaussian
from dpmf.model.layout import grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.state import FREE_ALL, State
from dpmf.posterior import Fit

AGES = {"ann": 30.0, "bob": 50.0, "cy": 41.0, "dee": 33.0}
GENRES = {"Alien": "horror", "Brazil": "comedy", "Clue": "comedy"}
AGE = SquaredExponential("age", length=(5.0, 50.0))
MODEL = DPMF(
    2,
    (Matern12("time", length=(1.0, 10.0)), Constant()),
    Gaussian(),
    mean="pooled",
    mean_kernel=(Matern12("time", length=(1.0, 20.0)) * AGE, Categorical("genre")),
)


def frame(count: int = 24) -> pd.DataFrame:
    random = np.random.default_rng(0)
    users, films = random.choice(list(AGES), count), random.choice(list(GENRES), count)
    events = pd.DataFrame({"user": users, "film": films})
    events["time"] = random.integers(0, 4, count).astype(float)
    events["stars"] = random.normal(3.0, 1.0, count)
    return events.assign(age=events["user"].map(AGES), genre=events["film"].map(GENRES))


def dyads(events: pd.DataFrame) -> Dyads:
    return Dyads.from_frame(
        events,
        row="user",
        col="film",
        value="stars",
        inputs=["time"],
        row_attributes=["age"],
        col_attributes=["genre"],
    )


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (AGE,
         r"kernel SquaredExponential\('age'.*\) of the rows: 'age' is an attribute of 'user', "
         r"the same in all events of a row, so inside the row's own functions it is constant "
         r"and does nothing. Let the mean that all rows share read it: mean=\('pooled', "
         r"'constant'\) with mean_kernel=, such as SquaredExponential\('age'\); or the kernel "
         "of the other side"),
        ((Matern12("time") * AGE, Constant()), "of the rows: 'age' is an attribute of 'user'"),
        ((Matern12("time") + AGE, Constant()), "of the rows: 'age' is an attribute of 'user'"),
        ((Constant(), Categorical("genre")),
         r"of the columns: 'genre' is an attribute of 'film', .* of a column, .* "
         r"mean=\('constant', 'pooled'\)"),
    ],
)  # fmt: skip
def test_a_members_own_functions_may_not_read_what_describes_it(kernel, message):
    with pytest.raises(ConfigError, match=message):
        DPMF(1, kernel).spec(dyads(frame()))


def test_the_other_side_and_the_mean_may():
    crossed = DPMF(1, (Categorical("genre"), SquaredExponential("age")))
    assert crossed.spec(dyads(frame())).rows.kernel.columns == ("genre",)
    assert set(MODEL.spec(dyads(frame())).rows.pooled.columns) == {"time", "age"}


def twin(problem: Problem, state: State, points, data: Dyads) -> np.ndarray:
    """y of every event, written out: mean, what its age and time add, its own function."""
    with jax.enable_x64(True):
        values = jax.tree.map(np.asarray, jax.jit(problem.parameters)(state))
    u, v = np.zeros((data.events, 2)), np.zeros((data.events, 2))
    for event in range(data.events):
        user, film = data.rows[event, 0], data.cols[event, 0]
        time, age, genre = data.inputs[event, 0]
        for k in range(2):
            u[event, k] = values.rows.mean[k]
            v[event, k] = values.cols.mean[k]
            shared = _function(
                points.rows_pooled,
                state.white.rows_pooled[k, 0],
                _pooled_kernel(values.rows, k),
            )
            u[event, k] += values.rows.pooled_sd[k] * shared[time, age]
            shared = _function(
                points.cols_pooled, state.white.cols_pooled[k, 0], [_same_or(values.cols, k)]
            )
            v[event, k] += values.cols.pooled_sd[k] * shared[(genre,)]
        own = [
            _function(points.rows, state.white.rows[k, user], [_matern(values.rows.theta, k)])
            for k in range(2)
        ]
        factor = values.rows.sd[:, None] * values.rows.corr
        u[event] += factor @ [one[(time,)] for one in own]
        factor = values.cols.sd[:, None] * values.cols.corr
        v[event] += factor @ np.asarray(state.white.cols[:, film, 0])
    return np.sum(u * np.log1p(np.exp(v)), axis=1)


def _matern(theta, k):
    return lambda a, b: np.exp(-abs(a[0] - b[0]) / theta["time.length"][k, 0])


def _pooled_kernel(side, k):
    length = side.pooled_theta["age.length"][k, 0]
    over_age = lambda a, b: np.exp(-0.5 * ((a[0] - b[0]) / length) ** 2)  # noqa: E731
    return [_matern(side.pooled_theta, k), over_age]


def _same_or(side, k):
    (theta,) = side.pooled_theta.values()
    return lambda a, b: 1.0 if a[0] == b[0] else float(theta[k, 0])


def _function(grid, white, kernels) -> dict:
    """The function's value at every point, by its inputs."""
    factors = []
    if len(grid.levels) == 1 and len(kernels) == 2:  # all columns together
        spans = [np.s_[:1], np.s_[1:]]
        each = list(zip(kernels, spans, strict=True))
        gram = np.array(
            [[np.prod([_jittered(k, a[s], b[s]) for k, s in each]) for b in grid.levels[0]]
             for a in grid.levels[0]]
        )  # fmt: skip
        factors = [np.linalg.cholesky(gram)]
    else:
        for kernel, levels in zip(kernels, grid.levels, strict=True):
            gram = np.array([[_jittered(kernel, a, b) for b in levels] for a in levels])
            factors.append(np.linalg.cholesky(gram))
    whole = functools.reduce(np.kron, factors)
    places = np.stack(np.unravel_index(np.arange(grid.size), grid.shape), axis=1)
    keys = np.concatenate([one[places[:, i]] for i, one in enumerate(grid.levels)], axis=1)
    return dict(zip(map(tuple, keys.tolist()), whole @ np.asarray(white), strict=True))


def _jittered(kernel, a, b) -> float:
    return (kernel(a, b) + JITTER * bool(np.all(a == b))) / (1 + JITTER)


@pytest.mark.usefixtures("x64")
def test_the_mean_of_a_member_is_that_of_its_attributes():
    data = dyads(frame())
    spec = MODEL.spec(data)
    points, arrays = layout(grids(spec, data), data)
    problem = Problem(arrays, FREE_ALL, spec)
    random = np.random.default_rng(1)
    shapes = problem.template()
    state = jax.tree.map(lambda x: jnp.asarray(random.normal(0, 0.7, x.shape)), shapes)

    @jax.jit
    def y(problem, state):
        values = problem.parameters(state)
        return predictor(problem.spec, state.white, values, problem.arrays)

    found = np.asarray(y(problem, state))[:, 0]
    np.testing.assert_allclose(found, twin(problem, state, points, data), rtol=1e-9)
    # Planted: everybody has the age of the next user.
    others = dict(zip(AGES, [*list(AGES.values())[1:], 30.0], strict=True))
    wrong = dyads(frame().assign(age=frame()["user"].map(others)))
    assert np.abs(found - twin(problem, state, points, wrong)).max() > 0.1


@functools.cache
def fitted(engine: str) -> Fit:
    with mock.patch.object(chains, "CHUNK", 10):
        warmup = {"hmc": 50, "slice": 10}[engine]
        return MODEL.fit(
            dyads(frame()), chains=2, warmup=warmup, draws=10, engine=engine, progress=False
        )


@pytest.mark.parametrize("engine", ["hmc", "slice"])
def test_forecasts_remember_known_members(engine, tmp_path):
    fit = fitted(engine)
    bare = frame().drop(columns=["age", "genre", "stars"])
    np.testing.assert_allclose(fit.predict(bare).y, fit.predict(frame()).y, rtol=1e-12)
    fit.save(tmp_path / "fit.nc")
    loaded = dpmf.load(tmp_path / "fit.nc")
    assert loaded.data.codebook == fit.data.codebook
    np.testing.assert_allclose(loaded.predict(bare).y, fit.predict(bare).y, rtol=1e-10)
    forecast = fit.predict(bare.head(4))
    scored = frame().head(4)[["user", "film", "time", "stars"]]
    np.testing.assert_allclose(forecast.log_prob(scored), forecast.log_prob(scored["stars"]))


def test_a_new_members_mean_is_that_of_its_attributes():
    """Two newcomers of one age differ by their own functions alone, which are pure chance."""
    fit = fitted("hmc")
    asked = pd.DataFrame({"user": ["x", "y"], "film": "Clue", "time": 1.0, "age": [30.0, 50.0]})
    apart = fit.predict(asked).y
    alike = fit.predict(asked.assign(age=30.0)).y
    np.testing.assert_allclose(apart[:, 0], alike[:, 0], rtol=1e-10)
    assert (apart[:, 1] != alike[:, 1]).all()
    with pytest.raises(dpmf.DataError, match="there is no column 'age', and user 'x'"):
        fit.predict(asked.drop(columns="age"))


def test_a_newcomer_who_was_heard_is_remembered():
    fit = fitted("slice")
    events = pd.DataFrame({"user": ["x"], "film": "Clue", "time": 1.0, "age": 35.0, "stars": 4})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dpmf.DpmfWarning)
        heard = fit.condition(events, steps=3)
    bare = events.drop(columns=["age", "stars"])
    assert np.isfinite(heard.predict(bare).y).all()
