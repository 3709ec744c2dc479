"""Backtests by the workers of executors: the same bits, whatever happens to the workers."""

import importlib.util
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import dpmf
from dpmf import ConfigError, Games, WorkerError
from dpmf.backtest import parted, pieces, rolling
from dpmf.backtest.forecaster import Plan
from dpmf.backtest.parcel import Parcel, packed
from dpmf.backtest.pieces import Missing, Order, Piece, Sender, work
from dpmf.inference import identity
from dpmf.inference.identity import threads
from dpmf.sports import cutoff_fits, score_model
from league import league
from planted import planted
from workers import SPAWN, Deadly, Pickled, dask_cluster, kill, process_pool

PMF = score_model(1, ())
MODELS = {"PMF": PMF, "twin": PMF}  # whose programs are the same
SIZES = {"engine": "slice", "chains": 2, "warmup": 10, "draws": 20, "thin": 20}
NEEDS_DASK = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="Dask is not installed"
)
CLUSTERS = [process_pool, pytest.param(dask_cluster, marks=NEEDS_DASK)]


def run(executor=None, models=MODELS, progress=False, **options):
    settings = {"seasons": [2003], "block": "2w", "baselines": ["home"]} | SIZES | options
    return dpmf.backtest(
        Games(league()), models, executor=executor, progress=progress, **settings
    )


def same(found, expected) -> bool:
    try:
        for one, other in zip(found, expected, strict=True):
            own, others = (t.drop(columns="seconds", errors="ignore") for t in (one, other))
            pd.testing.assert_frame_equal(own, others, check_exact=True)
    except AssertionError:
        return False
    return True


@pytest.fixture(scope="module")
def local():
    return run()


def test_threads_of_this_process(local):
    told = []
    with ThreadPoolExecutor(2) as pool:
        assert same(run(pool, progress=lambda *one: told.append(one)), local)
    assert told == [("parts", done, 8) for done in range(1, 9)]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_other_processes_give_the_same_bits(cluster, local):
    """Scores, summaries and diagnostics; also with the threads that the caller has."""
    with cluster() as (executor, _):
        assert same(run(executor), local)
        pool = executor.submit(os.getenv, "PJRT_NPROC").result()
    assert pool == str(threads())


@NEEDS_DASK
def test_workers_of_several_threads_give_the_same_bits(local):
    """Two parts at a time in each process."""
    with dask_cluster(threads=2) as (executor, _):
        assert same(run(executor), local)


@pytest.mark.long
def test_the_default_engine_gives_the_same_bits():
    """With kernels, hyperparameters and a pooled mean."""
    options = {"models": {"DPMF": score_model(1)}, "engine": "hmc", "thin": 1}
    with process_pool() as (executor, _):
        assert same(run(executor, **options), run(**options))


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("kept", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_killed_worker_costs_time_but_no_results(cluster, kept, local, tmp_path):
    """Killed when the first part is done and all workers are busy with others."""
    killed = []

    def told(stage, done, total):
        if stage == "parts" and done in (1, 4) and len(killed) < done:
            killed.append(processes()[0])
            kill(killed[-1])

    with cluster() as (executor, processes):
        folder = {"folder": tmp_path / "out"} if kept else {}
        found = run(executor, progress=told, **folder)
    assert len(killed) == 2
    assert same(found, local)


def test_the_paper_protocol_is_one_part():
    options = {"protocol": "paper", "models": {"PMF": PMF}, "rewarm": 5}
    executor = Pickled()
    assert same(run(executor, **options), run(**options))
    assert len(executor.sent) == 1


def test_a_key_of_the_parts_number_is_found(monkeypatch, local):
    wrong = planted(
        parted.made_by, "unfinished=stem", "unfinished=stem, seed=plan.seed + number"
    )
    monkeypatch.setattr(rolling, "made_by", wrong)
    with ThreadPoolExecutor(2) as pool:
        assert not same(run(pool), local)


def test_parts_are_those_of_the_whole_backtest():
    """Constants, padding and room are not those of a part alone."""
    frame = Games(league()).frame
    days = rolling.cutoffs(frame, [2002, 2003], "3w")
    parts = score_model(1).parts(frame, days, Plan(**SIZES))
    assert [one.cutoffs for one in parts] == [(day,) for day in days]
    for one in parts:
        assert one.spec == parts[0].spec and one.shapes == parts[0].shapes
        assert one.most == max(day.upcoming(frame).sum() for day in days)
    alone = score_model(1).parts(frame, days[-1:], Plan(**SIZES))[0]
    assert alone.spec != parts[-1].spec


def test_finished_parts_are_kept_when_the_rest_fails(tmp_path, local):
    """Also where workers do not see the folder: tables of parts are the caller's."""
    failing, rest = Pickled(most=5), Pickled()
    with pytest.raises(OSError, match="on fire"):
        run(failing, folder=tmp_path)
    assert len(list(tmp_path.rglob("*.part-*.scores.csv"))) == 0  # all are sent before
    with pytest.raises(ValueError, match="enough"):
        run(rest, folder=tmp_path, progress=_stops_at(3))
    assert len(list(tmp_path.rglob("*.part-*.scores.csv"))) == 3
    again = Pickled()
    assert same(run(again, folder=tmp_path), local)
    assert len(again.sent) == 5
    assert list(tmp_path.rglob("*.part-*")) == []


def _stops_at(part: int):
    def told(stage, done, total):
        if done == part:
            raise ValueError("enough")

    return told


def test_workers_that_always_die_are_told(unchecked):
    with ProcessPoolExecutor(1, SPAWN) as pool, pytest.raises(WorkerError, match="3 times"):
        run(pool, models={"deadly": Deadly(os.getpid())})


def test_games_are_sent_once():
    """A piece names the games; whoever has them does not read them again."""
    executor = Pickled()
    run(executor, models={"PMF": PMF})
    assert max(map(len, executor.sent)) < 5000 < len(pickle.dumps(Games(league()).frame))


def test_a_parcel_on_another_machine(tmp_path, monkeypatch):
    frame = Games(league()).frame
    with packed(frame) as parcel:
        assert parcel.opened() is frame  # this process has it
        contents = parcel.contents()
        monkeypatch.setattr("dpmf.backtest.parcel._kept", {})  # as another has not
        pd.testing.assert_frame_equal(parcel.opened(), frame)
        parcel.path.unlink()
        assert parcel.opened() is not None  # read once
    assert parcel.opened() is None
    strange = tmp_path / "games.pickle"
    strange.write_bytes(b"something else")
    assert Parcel(parcel.digest, strange).opened() is None
    pd.testing.assert_frame_equal(parcel.opened(contents), frame)


def test_workers_that_do_not_see_the_file_get_the_games_with_the_piece(monkeypatch, local):
    class Far(Pickled):
        """A machine that sees no file of this one."""

        def submit(self, function, piece, contents):
            away = piece.games._replace(path=piece.games.path.with_name("not here"))
            monkeypatch.setattr("dpmf.backtest.parcel._kept", {})
            return super().submit(function, piece._replace(games=away), contents)

    assert same(run(Far()), local)


def piece(unfinished=None, **sender) -> Piece:
    games = Games(league()).frame
    days = rolling.cutoffs(games, [2003], "4w")
    plan = Plan(**SIZES, unfinished=unfinished)
    order = Order("PMF", PMF, PMF.parts(games, days, plan)[0], plan)
    parcel = Parcel("none", Path("nowhere"))  # the games come along
    return Piece(Sender.here()._replace(**sender), parcel, order)


def test_a_worker_with_other_versions_is_refused():
    other = {**pieces.versions(), "jaxlib": "0.0.1"}
    with pytest.raises(ConfigError, match=r"a worker has jaxlib .*, this process 0\.0\.1"):
        work(piece(process="other", versions=other), Games(league()).frame)


def test_a_worker_of_an_earlier_caller_with_other_threads_is_refused(monkeypatch):
    """It keeps the pool that it has started, and the sums of that."""
    own = {"models": {"PMF": PMF}, "blocks": 1}
    with ProcessPoolExecutor(1, SPAWN) as pool:
        monkeypatch.setenv("PJRT_NPROC", "1")
        run(pool, **own)
        run(pool, **own)
        monkeypatch.setenv("PJRT_NPROC", "2")
        message = "started jax with 1 threads.*this process has 2.*with PJRT_NPROC=1"
        with pytest.raises(ConfigError, match=message):
            run(pool, **own)


def test_a_worker_that_does_not_see_the_folder_does_without(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        cutoff_fits.Program, "forecasts", lambda self, frame, plan: seen.append(plan) or 1 / 0
    )
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ZeroDivisionError):
            work(piece(folder / "PMF"), Games(league()).frame)
    assert [plan.unfinished for plan in seen] == [tmp_path / "PMF", None]


def test_warnings_of_workers_come_home(monkeypatch, local):
    def loud(self, frame, plan):
        warnings.warn("strange weather", dpmf.DpmfWarning, stacklevel=1)
        return forecasts(self, frame, plan)

    forecasts = cutoff_fits.Program.forecasts
    monkeypatch.setattr(cutoff_fits.Program, "forecasts", loud)
    other = Sender.here()._replace(process="another")
    monkeypatch.setattr(Sender, "here", lambda: other)
    monkeypatch.setattr(identity, "_asked", [other.threads])  # this process has started jax
    with pytest.warns(dpmf.DpmfWarning, match="strange weather") as caught:
        assert same(run(Pickled()), local)
    assert sum("strange" in str(one.message) for one in caught) == 1


def test_no_warning_is_lost_between_threads_of_a_worker(monkeypatch):
    """Each part is told something of its own, while others begin and end."""
    begun, asked = threading.Barrier(2, timeout=60), []

    def loud(self, frame, plan):
        begun.wait()
        later = self.cutoffs[0].start > days[0].start
        # The other's record would be the end of this one.
        while later and not (asked and asked[0].done()):
            time.sleep(0.01)
        warnings.warn(f"rain on {self.cutoffs[0].start}", dpmf.DpmfWarning, stacklevel=1)
        return forecasts(self, frame, plan)

    forecasts = cutoff_fits.Program.forecasts
    monkeypatch.setattr(cutoff_fits.Program, "forecasts", loud)
    monkeypatch.setattr(identity, "_asked", [threads()])  # this process has started jax
    frame, plan = Games(league()).frame, Plan(**SIZES)
    days = rolling.cutoffs(frame, [2003], "4w")[:2]
    sender = Sender.here()._replace(process="another")
    with ThreadPoolExecutor(2) as pool:
        orders = (Order("PMF", PMF, part, plan) for part in PMF.parts(frame, days, plan))
        sent = [Piece(sender, Parcel("none", Path("nowhere")), order) for order in orders]
        for one in sent:
            asked.append(pool.submit(work, one, frame))
    for day, done in zip(days, asked, strict=True):
        assert f"rain on {day.start}" in done.result().told


def test_what_a_worker_does_first_does_not_start_jax():
    """Or it would be too late to ask for threads."""
    code = (
        "from jax._src import xla_bridge\nimport dpmf.backtest.pieces\n"
        "assert not xla_bridge.backends_are_initialized()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_answer_without_games_is_none():
    assert isinstance(work(piece(process="other")), Missing)


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        ("dask", "executor='dask', expected one such as those of concurrent.futures"),
        (ProcessPoolExecutor(1, SPAWN.get_context("fork")), "forked, which hangs once jax"),
    ],
)
def test_executors_that_cannot_work(executor, message, unchecked):
    with pytest.raises(ConfigError, match=message):
        run(executor)


def test_a_model_that_cannot_be_sent():
    model = score_model(1, ("time",), kernel=lambda time: dpmf.kernels.Matern12(time))
    with ProcessPoolExecutor(1, SPAWN) as pool, pytest.raises(ConfigError, match="be sent to"):
        run(pool, models={"own": model})
