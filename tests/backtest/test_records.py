"""A backtest that stopped goes on; another one does not overwrite it."""

import pandas as pd
import pytest

import dpmf
from dpmf import ConfigError, FileError, Games
from dpmf.backtest.baselines import Home
from dpmf.backtest.records import Records
from league import league


class Counted(Home):
    """Counts how often it is asked."""

    name, calls = "counted", 0

    def forecasts(self, frame, cutoffs, plan):
        type(self).calls += 1
        return super().forecasts(frame, cutoffs, plan)


def run(folder, **options):
    forecasters = {"counted": Counted()}
    return dpmf.backtest(Games(league()), forecasters, folder=folder, progress=False, **options)


def test_finished_forecasters_are_not_run_again(tmp_path):
    Counted.calls = 0
    first = run(tmp_path / "out", seasons=[2003])
    again = run(tmp_path / "out", seasons=[2003])
    assert Counted.calls == 1
    pd.testing.assert_frame_equal(first.scores, again.scores, check_exact=True)
    pd.testing.assert_frame_equal(first.summary, again.summary, check_exact=True)
    written = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert len(written) == len(first.summary)


def test_a_stopped_run_resumes(tmp_path):
    class Broken(Home):
        def forecasts(self, frame, cutoffs, plan):
            raise KeyboardInterrupt

    Counted.calls = 0
    games = Games(league())
    options = {"seasons": [2003], "folder": tmp_path, "progress": False}
    with pytest.raises(KeyboardInterrupt):
        dpmf.backtest(games, {"counted": Counted(), "broken": Broken()}, **options)
    whole = dpmf.backtest(games, {"counted": Counted(), "broken": Home()}, **options)
    assert Counted.calls == 1
    assert {"counted", "broken"} <= set(whole.scores["forecaster"])


@pytest.mark.parametrize("other", [{"seasons": [2002]}, {"seasons": [2003], "seed": 1}])
def test_another_backtest_is_refused(tmp_path, other):
    run(tmp_path, seasons=[2003])
    before = (tmp_path / "scores.csv").read_bytes()
    with pytest.raises(ConfigError, match="holds a backtest with other"):
        run(tmp_path, **other)
    assert (tmp_path / "scores.csv").read_bytes() == before


def test_a_damaged_folder_is_one_clear_error(tmp_path):
    run(tmp_path, seasons=[2003])
    (tmp_path / "task.json").write_text("{")
    with pytest.raises(FileError, match=r"task\.json: cannot be read"):
        run(tmp_path, seasons=[2003])


def test_settings_of_a_forecaster_tell_it_apart(tmp_path):
    class Rated(Home):
        def __init__(self, rate):
            self.rate = rate

    records = Records(tmp_path)
    one, same, other = (records._paths("rated", Rated(rate)) for rate in (1, 1, 2))
    assert one == same != other
    with pytest.raises(ConfigError, match="without a name cannot be told apart"):
        records._paths("rated", Rated(lambda x: x))
