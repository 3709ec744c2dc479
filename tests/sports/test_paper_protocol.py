"""The paper's protocol on a small league: held hyperparameters, warm starts, nothing peeks."""

import dataclasses

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf import ConfigError, FileError, Games
from dpmf.backtest.cutoffs import cutoffs
from dpmf.backtest.forecaster import Plan, plan_of
from dpmf.inference.checkpoint import remove
from dpmf.inference.problem import Problem
from dpmf.model.layout import grids, layout
from dpmf.model.simulate import simulate_state
from dpmf.sports import long_run, score_model, season_fits
from dpmf.sports.tasks import laid_out, spec_before, task
from league import later_changed, league

SIZES = {"chains": 2, "warmup": 6, "draws": 6, "thin": 2, "rewarm": 3, "long_run": (2, 10, 6)}
HOME = score_model(1, ("home",), paper=True)
PLAN = plan_of([2002, 2003], 2, {"protocol": "paper", "learn_from": (2001,), **SIZES})


def test_the_protocol_is_the_papers():
    plan = plan_of([2002, 2003, 2004, 2005], 3, {"protocol": "paper"})
    found = (plan.engine, plan.chains, plan.warmup, plan.rewarm, plan.draws, plan.thin)
    assert found == ("slice", 10, 1000, 100, 100, 4)
    assert plan.learn_from == (2002, 2003, 2004)
    fast = plan_of([2002, 2003], 3, {"protocol": "paper", "engine": "hmc", "thin": 2})
    found = (fast.engine, fast.chains, fast.warmup, fast.rewarm, fast.draws, fast.thin)
    assert found == ("hmc", 10, 250, 50, 100, 2)


@pytest.mark.parametrize("engine", ["slice", "hmc"])
def test_no_forecast_knows_the_future(engine):
    """Seasons that hyperparameters were learned from come before all that changes."""
    plan = dataclasses.replace(PLAN, engine=engine)
    frame = Games(league()).frame
    days = cutoffs(frame, [2002, 2003], "4w")
    before = HOME.forecasts(frame, days, plan)
    changed = later_changed(frame, days[3].start)
    after = HOME.forecasts(changed, days, plan)
    assert before.seen == 2001 and len(before.predictions) == 4
    for one, other in zip(before.predictions, after.predictions, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
    early = HOME.forecasts(later_changed(frame, days[2].start), days, plan)
    # The block before ran side by side with the one that changes.
    np.testing.assert_array_equal(before.predictions[1].mean, early.predictions[1].mean)
    assert not np.array_equal(before.predictions[3].mean, early.predictions[3].mean)


def test_cutoffs_of_a_season_share_their_grid_and_know_only_the_past():
    frame = Games(league()).frame
    days = cutoffs(frame, [2003], "4w")
    data = Games(league()).dyads()
    with jax.enable_x64(True):
        model = score_model(1, paper=True)
        spec = spec_before(model, frame, days[0], PLAN)
        tasks = [task(data, frame, day, PLAN, whole_season=True) for day in days]
        arrays = laid_out(spec, tasks)
    for levels in arrays.rows.functions.levels:
        np.testing.assert_array_equal(levels[0], levels[1])
    known = [day.past(frame, PLAN.window).sum() for day in days]
    assert arrays.weight.sum(axis=1).tolist() == known == [24, 36]
    assert (np.asarray(arrays.values)[np.asarray(arrays.weight) == 0] == 0).all()


def test_factors_computed_beforehand_change_nothing(x64, key):
    games = Games(league())
    data = games.dyads()
    model = score_model(2).model()
    spec = model.spec(data)
    arrays = layout(grids(spec, data), data)[1]
    free = simulate_state(spec, arrays, key)
    fit_values = dpmf.inference.hyperparameters.Hyperparameters.of(
        jax.tree.map(np.asarray, dpmf.model.coordinates.parameters(spec, free.free)),
        sigma=False,
    )
    problem = Problem(arrays, fit_values.fixed(spec), spec)
    ready = problem.prepared()
    assert ready.arrays.rows.factors is not None and problem.arrays.rows.factors is None
    state = simulate_state(spec, arrays, jr.key(1), problem.fixed)
    np.testing.assert_allclose(ready.log_density(state), problem.log_density(state), rtol=1e-12)
    other = dataclasses.replace(ready, fixed=jax.tree.map(lambda x: 2.0 * x, ready.fixed))
    moved = dataclasses.replace(problem, fixed=other.fixed)
    assert jnp.abs(moved.log_density(state) - problem.log_density(state)) > 1e-3
    np.testing.assert_allclose(other.log_density(state), ready.log_density(state), rtol=1e-12)


def test_pmf_has_nothing_to_learn():
    frame = Games(league()).frame
    spec = spec_before(score_model(1, ()), frame, cutoffs(frame, [2003])[0], PLAN)
    assert season_fits.learned(score_model(1, ()), frame, spec, PLAN) is season_fits.FREE_ALL


def test_a_long_run_is_kept(tmp_path, monkeypatch):
    frame = Games(league()).frame
    plan = dataclasses.replace(PLAN, unfinished=tmp_path / "own")
    with jax.enable_x64(True):
        spec = spec_before(HOME, frame, cutoffs(frame, [2003])[0], plan)
        first = long_run.learned(HOME, frame, spec, plan)
        monkeypatch.setattr(long_run, "_run", lambda *args: pytest.fail("it ran again"))
        again = long_run.learned(HOME, frame, spec, plan)
    jax.tree.map(np.testing.assert_array_equal, first, again)
    assert len(jax.tree.leaves(first)) == 2  # a length scale for rows and one for columns
    (tmp_path / "own.theta.json").write_text('{"rows_theta": ')
    with pytest.raises(FileError, match=r"own.theta.json: cannot be read .* remove it"):
        long_run.learned(HOME, frame, spec, plan)


@pytest.mark.parametrize("engine", ["hmc", "slice"])
def test_a_stopped_run_goes_on_from_its_last_block(tmp_path, engine):
    """To the same bits as a run that was never stopped."""
    frame = Games(league()).frame
    days = cutoffs(frame, [2002, 2003], "4w")
    plan = dataclasses.replace(PLAN, engine=engine)
    whole = HOME.forecasts(frame, days, plan)

    def stop(stage: str, done: int, total: int) -> None:
        if stage.startswith("block 2 of 2"):
            raise KeyboardInterrupt

    kept = dataclasses.replace(plan, unfinished=tmp_path / "own")
    with pytest.raises(KeyboardInterrupt):
        HOME.forecasts(frame, days, dataclasses.replace(kept, report=stop))
    assert (tmp_path / "own.block-1" / "state.dpmf").exists()
    stages: list[str] = []
    resumed = HOME.forecasts(
        frame, days, dataclasses.replace(kept, report=lambda *told: stages.append(told[0]))
    )
    assert stages[0] == "block 1 of 2, sampling" and stages.count(stages[0]) == 1
    for one, other in zip(whole.predictions, resumed.predictions, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
    pd.testing.assert_frame_equal(whole.fits, resumed.fits)
    path = tmp_path / "own.block-2" / "state.dpmf"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FileError, match=r"block-2/state.dpmf: the checkpoint is damaged"):
        HOME.forecasts(frame, days, kept)


def test_a_long_run_that_was_stopped_goes_on(tmp_path, monkeypatch):
    frame = Games(league()).frame
    days = cutoffs(frame, [2003], "4w")
    plan = dataclasses.replace(PLAN, unfinished=tmp_path / "own")

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "long run, sampling":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        HOME.forecasts(frame, days, dataclasses.replace(plan, report=stop))
    assert [one.name for one in tmp_path.iterdir()] == ["own.long-run"]
    stages: list[str] = []
    with jax.enable_x64(True):
        spec = spec_before(HOME, frame, days[0], plan)
        told = dataclasses.replace(plan, report=lambda *told: stages.append(told[0]))
        found = long_run.learned(HOME, frame, spec, told)
        whole = long_run.learned(HOME, frame, spec, PLAN)
    assert stages == ["long run, sampling"]
    jax.tree.map(np.testing.assert_array_equal, found, whole)
    assert [one.name for one in tmp_path.iterdir()] == ["own.theta.json"]


def test_a_block_goes_on_from_the_one_before(tmp_path, monkeypatch):
    """If that one is made again it is the same, and the block counts; else it is refused."""
    frame = Games(league()).frame
    days = cutoffs(frame, [2002, 2003], "4w")
    plan = dataclasses.replace(PLAN, unfinished=tmp_path / "own")
    HOME.forecasts(frame, days, plan)
    remove(tmp_path / "own.block-1")
    stages: list[str] = []
    HOME.forecasts(
        frame, days, dataclasses.replace(plan, report=lambda *told: stages.append(told[0]))
    )
    assert stages[-1] == "block 2 of 2, sampling" and stages.count(stages[-1]) == 1
    remove(tmp_path / "own.block-1")
    cold = season_fits._cold
    monkeypatch.setattr(
        season_fits, "_cold", lambda *given: jax.tree.map(lambda x: 0.9 * x, cold(*given))
    )
    with pytest.raises(ConfigError, match=r"own.block-2: holds a run with another start;"):
        HOME.forecasts(frame, days, plan)


def test_blocks_of_the_way_are_removed_at_the_end(tmp_path):
    paper = {"seasons": [2002, 2003], "protocol": "paper", "learn_from": (2001,), **SIZES}
    dpmf.backtest(Games(league()), [HOME], folder=tmp_path, progress=False, **paper)
    names = {path.name.split(".", 1)[1] for path in (tmp_path / "parts").glob("DPMF*")}
    assert names == {"scores.csv", "fits.csv", "theta.json"}


def test_seen_seasons_are_marked():
    found = dpmf.backtest(
        Games(league()),
        [HOME],
        seasons=[2002, 2003],
        protocol="paper",
        learn_from=(2001, 2002),
        baselines=["home"],
        progress=False,
        **SIZES,
    )
    seen = found.scores.groupby(["forecaster", "season"])["seen"].first()
    assert seen[("DPMF(h)", 2002)] and not seen[("DPMF(h)", 2003)]
    assert not seen[("home", 2002)]
    marked = found.summary.set_index(["forecaster", "season"])["seen"]
    assert marked[("DPMF(h)", "2002")] and marked[("DPMF(h)", "All")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "fast"}, "protocol='fast', expected 'default' or 'paper'"),
        ({"protocol": "paper", "learn_from": (1990,)}, "there are no games of 1990"),
        ({"thin": 0}, "thin=0, expected a whole number of at least 1"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ConfigError, match=message):
        dpmf.backtest(Games(league()), {}, progress=False, **options)


def test_nothing_asked_for_is_the_default():
    assert plan_of([2002], 3, {"chains": None}) == Plan()
