"""`dpmf predict`: what people ask about games, from the exact mixture."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import dpmf
from command import status
from dpmf import Games
from dpmf.likelihoods import Gaussian
from dpmf.sports.forecast_table import Sampled, forecast_table
from few_games import CUTOFF, few_games
from league import COST, tiring

FIRST = [
    "date", "home", "away", "home_mean", "away_mean", "home_sd", "away_sd", "correlation",
    "p_home_win", "spread", "total",
]  # fmt: skip
INTERVALS = ["spread_low", "spread_high", "total_low", "total_high"]


@pytest.fixture(scope="module")
def table(made, tmp_path_factory):
    out = tmp_path_factory.mktemp("predicted") / "out.csv"
    words = ["predict", str(made.fit), str(made.later), "--out", str(out), "--quiet"]
    assert status(*words) == 0
    return pd.read_csv(out)


@pytest.fixture(scope="module")
def forecast(made):
    """The same by way of the whole table, which knows the true calendar."""
    whole = Games(few_games())
    later = whole.where(whole.frame["date"] >= CUTOFF)
    return dpmf.load(made.fit).predict(later.frame)


def test_columns(table):
    assert list(table) == [*FIRST, *INTERVALS, "p_home_cover", "p_over"]
    assert (table["date"] >= CUTOFF).all() and len(table) == 11


def test_figures_are_those_of_the_mixture(table, forecast):
    sigma, rho = forecast.noise["sigma"][:, None], forecast.noise["rho"][:, None]
    home, away = forecast.y[..., 0], forecast.y[..., 1]
    margin_sd, total_sd = sigma * np.sqrt(2 - 2 * rho), sigma * np.sqrt(2 + 2 * rho)
    expected = {
        "home_mean": home.mean(axis=0),
        "home_sd": np.sqrt(home.var(axis=0) + (sigma**2).mean()),
        "p_home_win": norm.cdf((home - away) / margin_sd).mean(axis=0),
        "spread": (away - home).mean(axis=0),
        "total": (home + away).mean(axis=0),
        # Home covers -3 where it wins by more than 3.
        "p_home_cover": norm.sf((3 - (home - away)) / margin_sd).mean(axis=0),
        "p_over": norm.sf((44.5 - (home + away)) / total_sd).mean(axis=0),
    }
    expected["p_home_cover"][1] = np.nan  # no line
    for name, values in expected.items():
        np.testing.assert_allclose(table[name], values, atol=6e-5, err_msg=name)
    for name, sd, at in (("spread", margin_sd, away - home), ("total", total_sd, home + away)):
        for end, probability in (("low", 0.1), ("high", 0.9)):
            where = table[f"{name}_{end}"].to_numpy()
            found = norm.cdf((where - at) / sd).mean(axis=0)
            np.testing.assert_allclose(found, probability, atol=1e-5)


def test_signs_are_those_of_betting_lines(table):
    favourites = table["p_home_win"] > 0.55
    assert favourites.any() and (table.loc[favourites, "spread"] < 0).all()
    covered = table["p_home_cover"].dropna()
    assert (covered < table.loc[covered.index, "p_home_win"]).all()  # -3 is harder than to win


def test_samples_say_the_same(forecast, made):
    frame = pd.read_csv(made.later, parse_dates=["date"])
    frame = frame.rename(columns={"home": "home_team", "away": "away_team"})
    exact = forecast_table(forecast, frame, interval=50.0)
    whole = Sampled(forecast.sample(200_000))
    line, total = frame["spread_home"].to_numpy(), frame["total"].to_numpy()
    cover = whole.cdf(np.array([-1.0, 1.0]), line)
    np.testing.assert_allclose(cover, exact["p_home_cover"], atol=0.006)
    over = 1 - whole.cdf(np.array([1.0, 1.0]), total)
    np.testing.assert_allclose(over, exact["p_over"], atol=0.006)
    low = whole.quantile(np.array([-1.0, 1.0]), 0.25)
    np.testing.assert_allclose(low, exact["spread_low"], atol=0.25)


def test_noise_without_a_formula_is_sampled(forecast, made):
    frame = pd.read_csv(made.later, parse_dates=["date"])
    frame = frame.rename(columns={"home": "home_team", "away": "away_team"})
    sigma = {"sigma": forecast.noise["sigma"]}
    apart = dataclasses.replace(forecast, likelihood=Gaussian(), noise=sigma)
    nothing = {**sigma, "rho": np.zeros_like(sigma["sigma"])}
    exact = forecast_table(dataclasses.replace(forecast, noise=nothing), frame)
    sampled = forecast_table(apart, frame)
    for name, far in (("p_home_cover", 0.02), ("p_over", 0.02), ("total_high", 0.8)):
        np.testing.assert_allclose(sampled[name], exact[name], atol=far, err_msg=name)


def test_a_stake_that_goes_back_is_half():
    samples = np.array([[[20.0, 17.0], [20.0, 20.0]]])
    assert Sampled(samples).cdf(np.array([-1.0, 1.0]), np.array([-3.0])) == [0.25]


def test_lines_with_the_other_sign_are_noticed(made, table, tmp_path, capsys):
    frame = pd.read_csv(made.later)
    path = tmp_path / "later.csv"
    for sign, notices in ((1, 0), (-1, 1)):
        frame.assign(spread_home=sign * table["spread"].round(1)).to_csv(path, index=False)
        assert status("predict", str(made.fit), str(path), "--json") == 0
        assert capsys.readouterr().err.count("looks as if its sign were turned") == notices


def test_json_has_the_same_rows(made, table, capsys):
    words = ["predict", str(made.fit), str(made.later), "--json", "--interval", "50"]
    assert status(*words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["interval"] == 50 and told["never_seen"] == []
    rows = pd.DataFrame(told["games"])
    np.testing.assert_allclose(rows["p_home_win"], table["p_home_win"], atol=6e-5)
    assert (rows["spread_low"] > table["spread_low"]).all()
    assert told["games"][1]["p_home_cover"] is None


def test_the_table_is_shown(made, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")
    assert status("predict", str(made.fit), str(made.later)) == 0
    printed = capsys.readouterr().out
    assert "-3: " in printed and "80 %" in printed and "negative where home is" in printed
    monkeypatch.setenv("COLUMNS", "80")
    assert status("predict", str(made.fit), str(made.later)) == 0
    narrow = capsys.readouterr().out
    assert "…" not in narrow and max(map(len, narrow.splitlines())) <= 80


def test_one_game(made, capsys):
    words = ["predict", str(made.fit), "--home", "NE", "--away", "BUF", "--date", "2018-12-23"]
    assert status(*words, "--spread-home", "-3", "--total", "44.5") == 0
    printed = capsys.readouterr().out
    assert "BUF at NE, 2018-12-23 (week 15 of season 2018)" in printed
    for word in ("Score ", "Winner ", "Spread ", "Total ", "NE -3 covers in", "44.5 in"):
        assert word in printed
    assert "█" in printed and "margin: BUF wins left of 0, NE right of it" in printed
    assert status(*words, "--neutral", "--json") == 0
    neutral = json.loads(capsys.readouterr().out)["games"]
    assert len(neutral) == 1 and "p_home_cover" not in neutral[0]


def test_a_season_after_the_last_one_seen(made, capsys):
    words = ["predict", str(made.fit), "--home", "NE", "--away", "BUF", "--date", "2019-12-22"]
    assert status(*words) == 0
    printed = capsys.readouterr()
    assert "season 2019 is later than all games that were learned from" in printed.err
    assert "it is taken to begin on 2019-09-22" in printed.err  # 53 weeks, as from 2017 to 2018
    assert "week 14 of season 2019" in printed.out
    assert status(*words, "--season-start", "2019-10-06") == 0
    printed = capsys.readouterr()
    assert printed.err == "" and "week 12 of season 2019" in printed.out


def test_names_may_be_typed_in_any_case(made, capsys):
    game = ["--date", "2018-12-23", "--json"]
    for home, away in (("NE", "BUF"), ("ne", " Buf")):
        assert status("predict", str(made.fit), "--home", home, "--away", away, *game) == 0
    printed = capsys.readouterr()
    exact, typed = printed.out.splitlines()
    assert printed.err == "" and exact == typed


def test_teams_never_seen_get_a_forecast_and_a_warning(made, capsys):
    words = ["--home", "NEE", "--away", "XYZW", "--date", "2018-12-23"]
    assert status("predict", str(made.fit), *words, "--json") == 0
    printed = capsys.readouterr()
    assert printed.err == (
        "dpmf: this game: teams never seen in training: 'NEE' (did you mean 'NE'?), 'XYZW'; "
        "their forecasts are those of any team of the league.\n"
    )
    told = json.loads(printed.out)
    assert told["never_seen"] == ["NEE", "XYZW"]
    assert np.isfinite(told["games"][0]["p_home_win"])


def test_games_of_the_past_are_said_to_be_no_forecasts(made, capsys):
    words = ["predict", str(made.fit), "--home", "NE", "--away", "BUF", "--date", "2018-10-10"]
    assert status(*words, "--json") == 0
    assert "1 of 1 games are not after 2018-10-29" in capsys.readouterr().err


def test_playoff_games_are_forecast_too(made, tmp_path, capsys):
    frame = pd.read_csv(made.later).assign(is_playoff=1)
    frame.to_csv(tmp_path / "later.csv", index=False)
    assert status("predict", str(made.fit), str(tmp_path / "later.csv"), "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["games"]) == 11


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--home is missing: expected a file of games, or --home, --away and --date"),
        (["--home", "NE", "--away", "BUF"], "--date is missing"),
        (["LATER", "--home", "NE"], "and --home, expected one of both"),
        (["LATER", "--interval", "0.8"], "interval=0.8, expected percent from 1 to 99"),
        (["LATER", "--interval", "100"], "interval=100.0, expected percent"),
        (["--home", "A", "--away", "A", "--date", "2018-12-23"], "plays against itself"),
        (["--home", "A", "--away", "B", "--date", "soon"], "'date': found 'soon', expected a"),
        (["--home", "A", "--away", "B", "--date", "03/04/2019"], "--day-first"),
        (["--home", "A", "--away", "B", "--date", "2001-01-01"], "expected a day from 2017-09"),
        (["LATER", "--season-start", "soon"], "season_start='soon', expected a day"),
    ],
)
def test_refusals_are_one_line(made, tmp_path, capsys, words, message):
    words = [str(made.later) if word == "LATER" else word for word in words]
    assert status("predict", str(made.fit), *words, "--out", str(tmp_path / "o.csv")) == 2
    printed = capsys.readouterr().err.splitlines()
    assert message in printed[-1] and "Traceback" not in "".join(printed)
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_fits(made, tmp_path, capsys):
    (tmp_path / "text.nc").write_text("home,away\n")
    (tmp_path / "half.nc").write_bytes(made.fit.read_bytes()[:5000])
    for name, code, message in [
        ("none.nc", 2, "there is no such file"),
        ("text.nc", 1, "cannot be read as a saved fit"),
        ("half.nc", 1, "cannot be read as a saved fit"),
    ]:
        for command in (["predict", str(tmp_path / name), str(made.later)], ["info"]):
            words = command if len(command) > 1 else ["info", str(tmp_path / name)]
            assert status(*words) == code
            printed = capsys.readouterr().err
            assert f"{name}: {message}" in printed and printed.count("\n") == 1


def test_a_failing_write_keeps_the_earlier_file(made, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out.csv"
    out.write_text("earlier")

    def full(self, path, **options):
        path.write_text("half")
        raise OSError("No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    assert status("predict", str(made.fit), str(made.later), "--out", str(out)) == 1
    assert "out.csv: cannot be written (No space left on device)" in capsys.readouterr().err
    assert out.read_text() == "earlier" and len(list(tmp_path.iterdir())) == 1


def test_rest_comes_with_the_fit(tmp_path, capsys):
    """A host of the last day is tired on the next; a week later nobody knows."""
    played = tiring()
    last, home = played["date"].max(), played["home"].iloc[-1]
    played.to_csv(tmp_path / "games.csv", index=False)
    path = str(tmp_path / "fit.nc")
    sizes = ["--chains", "2", "--warmup", "40", "--draws", "20", "--thin", "1", "--quiet"]
    words = ["fit", str(tmp_path / "games.csv"), "--out", path, "--side", "home+rest", *sizes]
    assert status(*words) == 0
    spreads, warned = [], []
    for after in (1, 7):
        day = f"{last + pd.Timedelta(days=after):%Y-%m-%d}"
        capsys.readouterr()
        game = ["--home", home, "--away", "Nobody", "--date", day, "--json"]
        assert status("predict", path, *game) == 0
        out, err = capsys.readouterr()
        (row,) = json.loads(out)["games"]
        assert row["tired"] == (home if after == 1 else "")
        spreads.append(row["spread"])
        warned.append("no game of the day before is known" in " ".join(err.split()))
    assert spreads[0] > spreads[1] + COST / 2
    assert warned == [False, True]
    capsys.readouterr()
    day = f"{last + pd.Timedelta(days=1):%Y-%m-%d}"
    assert status("predict", path, "--home", home, "--away", "Nobody", "--date", day) == 0
    assert f"Rest    {home} has a game the day before" in capsys.readouterr().out
    ahead = pd.DataFrame({"date": [day], "home": [home], "away": ["Nobody"]})
    ahead.to_csv(tmp_path / "ahead.csv", index=False)
    assert status("predict", path, str(tmp_path / "ahead.csv")) == 0
    assert "tired" in capsys.readouterr().out
