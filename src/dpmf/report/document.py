"""A fit, a backtest or both in; one self-contained HTML page out."""

import re
from pathlib import Path
from typing import Any

from dpmf.errors import ConfigError, DataError
from dpmf.likelihoods import Likelihood, PairedPoisson
from dpmf.posterior import Fit
from dpmf.report import results as backtests
from dpmf.report import upcoming as games_to_come
from dpmf.report.diagnosis import diagnosis
from dpmf.report.explorer import MOST, affordable, explorer
from dpmf.report.features import features, knows
from dpmf.report.moments import Moment, eligible, played
from dpmf.report.ratings import curves, ratings, table
from dpmf.report.rendering import rendered
from dpmf.report.results import Results
from dpmf.sports import Games
from dpmf.sports.findings import findings, in_words
from dpmf.sports.notes import GamesNotes, games_notes
from dpmf.whole import write_whole


def page(
    fit: Fit | None = None,
    *,
    upcoming: Games | None = None,
    results: Results | None = None,
    title: str | None = None,
    draws: int | None = None,
    seed: int = 0,
    source: str = "fit",
    upcoming_source: str = "upcoming",
) -> str:
    """The page as HTML, with everything that it needs inside.

    Args:
        fit: Of a score model: ratings, their curves, and the matchup explorer.
        upcoming: Games to forecast.
        results: Of a backtest: tables and calibration.
        title: Of the page; it speaks of the season if left out.
        draws: Posterior draws behind the explorer; as many as a page of a few megabytes
            holds, 400 at most, if left out.
        seed: Of what the training games say nothing about, as in `Fit.predict`.
        source: Where the fit came from, for messages.
        upcoming_source: Where the games to come are from.

    Raises:
        ConfigError: There is nothing to show.
        DataError: The fit is not one of games.
    """
    if fit is None and results is None:
        raise ConfigError("a report needs a fit or the folder of a backtest.")
    shown: dict[str, Any] = {"title": title}
    data: dict[str, Any] = {}
    if fit is not None:
        known = games_notes(fit, source=source)
        told, read = _of_fit(fit, known, upcoming, draws, seed, upcoming_source)
        shown, data = shown | told, data | read
    if results is not None:
        shown["results"] = backtests.shown(results)
        shown["band"] = backtests.band_percent()
        data["calibration"] = shown["calibration"] = backtests.calibration(results)
    shown["title"] = title or shown.get("season_title") or _backtest_title(shown["results"])
    return rendered(shown, data)


def write_page(path: Any, fit: Fit | None = None, **options: Any) -> None:
    """Write the page to a file, whole or not at all; options are those of `page`."""
    text = page(fit, **options)
    write_whole(Path(path), lambda place: place.write_text(text, encoding="utf-8"))


def _of_fit(
    fit: Fit,
    known: GamesNotes,
    upcoming: Games | None,
    draws: int | None,
    seed: int,
    source: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the templates say of a fit, and what the scripts read of it."""
    past = played(fit, known.calendar)
    now = past[-1]
    moments = eligible(known.calendar, now, upcoming)
    # Intervals need draws by the hundred, whatever the browser can be given of them.
    found = features(fit.thinned(MOST), past, seed=seed)
    rated = ratings(found, fit.spec.likelihood)
    rows = table(rated, found.teams, -1)
    thinned = fit.thinned(affordable(fit, moments) if draws is None else draws)
    chances = explorer(features(thinned, moments, seed=seed), fit.spec.likelihood)
    games = []
    if upcoming is not None:
        games = games_to_come.rows(fit, upcoming, moments, seed=seed, source=source)
    seasons = known.calendar.seasons
    shown = {
        "season_title": f"Season {now.season}, after week {now.week + 1:.0f}",
        "now": max(one.last for one in seasons),
        "first": seasons[0].first,
        "games": fit.data.events,
        "seasons": [one.number for one in seasons],
        "teams": found.teams,
        "model": known.model,
        "rank": fit.spec.rank,
        "ratings": _with_scale(rows),
        "timed": knows(fit, "season", "week"),
        "placed": knows(fit, "home"),
        "rested": knows(fit, "rest"),
        "upcoming": games,
        **games_to_come.by_day(games),
        "words": [_pieces(line) for line in in_words(findings(fit))],
        "diagnosis": diagnosis(fit),
        "explorer": chances is not None,
        "kind": chances and chances["kind"],
        **_units(fit.spec.likelihood),
        "draws": thinned.shape[0] * thinned.shape[1],
        "all_draws": fit.shape[0] * fit.shape[1],
    }
    data = {
        "teams": list(found.teams),
        "moments": [_plain(one) for one in moments],
        "explorer": chances,
        "start": _start(rows, moments, now, games),
        "curves": {"moments": [_plain(one) for one in past], **curves(rated)},
    }
    return shown, data


def _units(likelihood: Likelihood) -> dict[str, Any]:
    """What is scored, and how many digits of its average matter."""
    goals = isinstance(likelihood, PairedPoisson)
    return {"unit": "goals", "digits": 2} if goals else {"unit": "points", "digits": 1}


def _pieces(line: str) -> list[str]:
    """A sentence cut at its brackets: every second piece is one in brackets."""
    return re.split(r"(\([^()]*\))", line.replace("-0.", "\u22120."))


def _plain(moment: Moment) -> dict[str, Any]:
    return {
        "season": moment.season,
        "week": moment.week,
        "first": f"{moment.first:%Y-%m-%d}",
        "last": f"{moment.last:%Y-%m-%d}",
    }


def _start(
    rows: list[dict[str, Any]],
    moments: list[Moment],
    now: Moment,
    games: list[dict[str, Any]],
) -> dict[str, Any]:
    """What the explorer shows first: the first game to come, or the two best teams."""
    for game in games:
        if game["playable"]:
            names = ["home_place", "away_place", "moment", "neutral", "date"]
            names += ["line", "over_under"]
            return {name.removesuffix("_place"): game[name] for name in names}
    after = min(moments.index(now) + 1, len(moments) - 1)
    best = [row["place"] for row in rows[:2]]
    return {"home": best[0], "away": best[1], "moment": after, "neutral": False}


def _with_scale(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows, and for each column the ends of the scale that its bars share."""
    names = ("net", "attack", "defence", "home")
    ends = {
        name: (min(row[name]["low"] for row in rows), max(row[name]["high"] for row in rows))
        for name in names
    }
    return {"rows": rows, "ends": ends}


def _backtest_title(told: dict[str, Any]) -> str:
    seasons = told["seasons"]
    if not seasons:
        raise DataError("summary.csv: found no season, expected one at least.")
    span = seasons[0] if len(seasons) == 1 else f"{seasons[0]} to {seasons[-1]}"
    return f"How good were the forecasts? {span}"
