"""The bar: chains, draws, R-hat so far and the time left, of all stages together."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from dpmf import PMF, Dyads
from dpmf.inference.progress import Display, reporting
from dpmf.likelihoods import Gaussian
from inference.fitted import rating_dyads, ratings


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")


def data() -> Dyads:
    return rating_dyads(ratings(Gaussian()))


def traces(seed=0):
    return np.random.default_rng(seed).normal(0, 1, (4, 50)).cumsum(axis=1)


def test_it_shows_chains_draws_and_rhat(terminal, capsys):
    with reporting(True, 4, {"warm-up": 100, "sampling": 200}) as report:
        assert isinstance(report, Display)
        report("warm-up", 25, 100)
        report("sampling", 50, 200)
        report.agree(traces())
        report.bar.refresh()
        shown = capsys.readouterr().err
    assert f"R-hat {array_stats.rhat(traces()):.3f}" in shown
    for word in ("sampling", "50/200", "4 chains", " left"):
        assert word in shown


def test_compilation_shows_that_time_goes_by(terminal, capsys):
    with reporting(True, 4, {"warm-up": 100}) as report:
        report.bar.refresh()
        shown = capsys.readouterr().err
    assert "compiling" in shown and "0 s so far" in shown


def test_the_time_left_is_that_of_all_stages(terminal):
    with reporting(True, 4, {"warm-up": 100, "sampling": 300}) as report:
        task = report.bar.tasks[0]
        report("warm-up", 100, 100)
        assert (task.completed, task.total, task.finished) == (100, 400, False)
        report("sampling", 75, 150)  # of draws two steps apart
        assert (task.completed, task.total) == (250, 400)
        report("sampling", 150, 150)
        assert task.finished


def test_stages_that_nobody_announced_are_bars_of_their_own(terminal):
    with reporting(True) as report:
        report("PMF: fitting", 3, 7)
        task = report.bar.tasks[0]
        assert (task.completed, task.total, task.description) == (3, 7, "PMF: fitting")


@pytest.mark.parametrize("shape", [(1, 50), (4, 3)])
def test_too_few_to_agree(terminal, shape):
    with reporting(True, shape[0], {}) as report:
        report.agree(np.zeros(shape))
        assert report.bar.tasks[0].fields["rhat"] == ""


def test_without_a_terminal_nothing_is_drawn_or_computed(capsys, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with reporting(True, 4, {}) as report:
        report("sampling", 1, 2)
        report.agree(traces())
        assert report.bar.tasks[0].fields["rhat"] == ""
    assert capsys.readouterr().err == ""


def test_chains_tell_their_log_densities_after_every_chunk(monkeypatch):
    seen = []
    monkeypatch.setattr(Display, "agree", lambda self, traces: seen.append(traces.copy()))
    fit = PMF(1, Gaussian()).fit(data(), chains=2, warmup=5, draws=60, engine="slice")
    assert [one.shape for one in seen] == [(2, 50), (2, 60)]
    np.testing.assert_array_equal(seen[-1], fit.draws.stats["log_density"])
    seen.clear()
    told = []
    PMF(1, Gaussian()).fit(
        data(),
        chains=2,
        warmup=5,
        draws=60,
        engine="slice",
        progress=lambda *args: told.append(args),
    )
    assert told[-1] == ("sampling", 60, 60) and seen == []
