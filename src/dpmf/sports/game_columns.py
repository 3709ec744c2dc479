"""The columns of a games table in; typed ones under standard names out."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from dpmf.data.columns import missing, number, numbers, whole
from dpmf.data.frames import column, misfit
from dpmf.data.places import place
from dpmf.errors import DataError
from dpmf.likelihoods.counts import LARGEST as LARGEST_COUNT
from dpmf.shown import shown
from dpmf.sports.columns import EXPERTS, FLAGS, SCORES, TEAMS
from dpmf.sports.dates import days

LARGEST = 1e15  # score; from here on not every whole number is one of its own
SEASONS = 1_000_000  # largest number of a season
_TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def game_columns(
    table: nw.DataFrame,
    found: Mapping[str, str],
    *,
    upcoming: bool,
    counts: bool,
    day_first: bool | None,
    source: str,
) -> pd.DataFrame:
    """The table with teams as home_team and away_team, and scores NaN if upcoming.

    A game that has neither score, in a table where others have, was not played yet: NaN too.

    Args:
        table: Any table of games.
        found: Standard name -> name in the table.
        upcoming: Whether the games are yet to be played.
        counts: Whether scores must be whole numbers of at least 0.
        day_first: As for `days`.
        source: Where the table came from.

    Raises:
        DataError: An entry is not what it should be; the message says where.
    """
    columns: dict[str, Any] = {
        "date": days(table, found["date"], day_first=day_first, source=source)
    }
    for role in TEAMS:
        columns[f"{role}_team"] = _team_names(table, found[role], source)
    _require_opponents(columns, found["away"], source)
    ahead = _not_played(table, found, upcoming, source)
    for role in SCORES:
        nothing = np.full(len(table), np.nan)
        columns[role] = (
            nothing if upcoming else _scores(table, found[role], ahead, counts, source)
        )
    for role in FLAGS:
        absent = np.zeros(len(table), bool)
        columns[role] = _flags(table, found[role], source) if role in found else absent
    for role in EXPERTS:
        if role in found:
            columns[role] = _some_numbers(table, found[role], source, role.endswith("_prob"))
    if "season" in found:
        columns["season"] = _seasons(table, found["season"], source)
    return pd.DataFrame(columns)


def usable(table: nw.DataFrame, role: str, name: str) -> bool:
    """Whether a column whose name was guessed holds what the role asks for."""
    try:
        if role in EXPERTS:
            return bool(np.isfinite(_some_numbers(table, name, "", False)).any())
        _flags(table, name, "") if role in FLAGS else _seasons(table, name, "")
    except DataError:
        return False
    return True


def _not_played(
    table: nw.DataFrame, found: Mapping[str, str], upcoming: bool, source: str
) -> Bool[np.ndarray, " events"]:
    """Where both scores are missing; nowhere, if that is everywhere."""
    if upcoming:
        return np.zeros(len(table), bool)
    first, second = (missing(column(table, found[role], source=source)) for role in SCORES)
    return first & second & ~(first & second).all()


def _scores(
    table: nw.DataFrame,
    name: str,
    ahead: Bool[np.ndarray, " events"],
    counts: bool,
    source: str,
) -> Float[np.ndarray, " events"]:
    series = column(table, name, source=source)
    found = numbers(series, source=source, absent=ahead)
    wrong, expected, advice = np.abs(found) > LARGEST, "a score", "mend the row or drop it"
    if counts:
        wrong = (found < 0) | (found != np.round(found)) | (found > LARGEST_COUNT)
        expected = f"a count, a whole number from 0 to {LARGEST_COUNT:g}"
        advice = "mend the row, or take the likelihood paired-gaussian"
    for row in np.flatnonzero(wrong & ~ahead)[:1].tolist():
        raise misfit(series, row, f"{found[row]:g}", expected, advice, source=source)
    return found


def _seasons(table: nw.DataFrame, name: str, source: str) -> Int[np.ndarray, " events"]:
    series = whole(table, name, source=source)
    found = numbers(series, source=source)
    for row in np.flatnonzero((found != np.round(found)) | (np.abs(found) > SEASONS))[:1]:
        expected, advice = "a whole number", "write the year in which the season began"
        raise misfit(series, int(row), f"{found[row]:g}", expected, advice, source=source)
    return found.astype(int)


def _team_names(table: nw.DataFrame, name: str, source: str) -> list[str]:
    series = whole(table, name, source=source)
    found = [_spelled(each) for each in series.to_list()]
    if "" in found:
        advice = "mend the row or drop it"
        raise misfit(
            series, found.index(""), "nothing", "the name of a team", advice, source=source
        )
    return found


def _spelled(name: Any) -> str:
    whole_number = isinstance(name, float) and name.is_integer()
    return str(int(name)) if whole_number else str(name).strip()


def _require_opponents(columns: Mapping[str, Any], name: str, source: str) -> None:
    pairs = zip(columns["home_team"], columns["away_team"], strict=True)
    for row, (home, away) in enumerate(pairs):
        if home == away:
            raise DataError(
                f"{place(source, row)}, column {name!r}: {shown(home)} plays against itself, "
                "expected two teams; mend the row or drop it."
            )


def _flags(table: nw.DataFrame, name: str, source: str) -> Bool[np.ndarray, " events"]:
    """Whether each entry is 1, true or yes, where the others are 0, false or no."""
    series = whole(table, name, source=source)
    words = [str(entry).strip().lower() for entry in series.to_list()]
    if set(words) <= set(_TRUTH):
        return np.array([_TRUTH[word] for word in words]) == 1
    found = numbers(series, source=source)
    for row in np.flatnonzero((found != 0) & (found != 1))[:1].tolist():
        advice = "convert the column first"
        raise misfit(series, row, f"{found[row]:g}", "0 or 1", advice, source=source)
    return found == 1


def _some_numbers(
    table: nw.DataFrame, name: str, source: str, probability: bool
) -> Float[np.ndarray, " events"]:
    """Numbers, or NaN where an entry is empty."""
    series = table[name]
    entries = series.to_list()
    texts = np.array([isinstance(one, str) and not one.strip() for one in entries], bool)
    there = np.flatnonzero(~(missing(series) | texts))
    found = np.full(len(series), np.nan)
    if series.dtype.is_numeric():
        found[there] = series.cast(nw.Float64).to_numpy()[there]
    else:
        rows = there.tolist()
        found[rows] = [number(series, row, entries[row], source=source) for row in rows]
    possible = (found >= 0) & (found <= 1) if probability else np.abs(found) <= LARGEST
    impossible = ~possible
    impossible[np.setdiff1d(np.arange(len(found)), there)] = False
    for row in np.flatnonzero(impossible)[:1].tolist():
        expected = "a probability or nothing" if probability else "a finite number or nothing"
        advice = "mend the entry or leave it empty"
        raise misfit(series, row, f"{found[row]:g}", expected, advice, source=source)
    return found
