"""A table of games in, from a file or a frame; a validated one out."""

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from dpmf import display
from dpmf.data import Dyads
from dpmf.data.columns import numbers, whole
from dpmf.data.frames import opened
from dpmf.errors import DataError, DpmfWarning
from dpmf.sports import calendar
from dpmf.sports.calendar import Calendar
from dpmf.sports.columns import EXPERTS, FLAGS, ROLES, SCORES, TEAMS, meanings
from dpmf.sports.dates import days
from dpmf.sports.table_files import read_table, source_of

AT_HOME = 0.5  # venue of the home team's cell; the visitors' is its mirror image


@dataclasses.dataclass(frozen=True, eq=False, init=False, repr=False)
class Games:
    """Games in the order they were played, with season, week and venue.

    `frame` has the columns date, season, week, home_team, away_team, home_score, away_score
    (NaN where not played yet), home (the venue of the home team's cell: 1/2, or 0 on neutral
    ground), neutral, is_playoff, and the experts' columns that the table had. `calendar`
    says which day belongs to which week of which season.
    """

    frame: pd.DataFrame
    calendar: Calendar

    def __init__(
        self,
        table: Any,
        *,
        columns: Mapping[str, str] | None = None,
        playoffs: bool = False,
        resolution: str = "1w",
        upcoming: bool = False,
        after: "Games | Calendar | None" = None,
        season_start: Any = None,
        day_first: bool | None = None,
        source: str = "games",
    ) -> None:
        """Args:
        table: A pandas or polars frame with the columns date, home, away, home_score and
            away_score; season, neutral, is_playoff, spread_home, total and elo_home_prob
            are read where present, anything else is ignored with a notice.
        columns: Standard name -> name in the table. What people call these columns
            otherwise (HomeTeam, visitor, FTHG, ...) is guessed, with a notice.
        playoffs: Whether playoff games stay.
        resolution: What time is rounded to, such as "1w" or "1d"; that of `after` if given.
        upcoming: Whether the games are yet to be played, and have no scores.
        after: Games played before these, or their calendar, which these continue; without
            them the first game of each season must be in the table.
        season_start: With `after`: first day of the season that follows, where the table
            does not hold its first game.
        day_first: Whether 03/04/2008 is the third of April; None asks the column as a whole.
        source: Where the table came from, for messages.
        """
        opened_table = opened(table, source=source)
        found = meanings(
            opened_table.columns,
            columns,
            upcoming=upcoming,
            usable=lambda role, name: _usable(opened_table, role, name),
            source=source,
        )
        frame = _checked(opened_table, found, upcoming, day_first, source)
        _tell_ignored(opened_table, found, source)
        if after is None:
            own = _found_calendar(frame, resolution)
        else:
            known = after.calendar if isinstance(after, Games) else after
            own = _continued_calendar(frame, known, season_start, source)
        frame["home"] = np.where(frame["neutral"], 0.0, AT_HOME)
        frame["week"] = own.weeks(frame["date"], frame["season"])
        frame = frame.sort_values("date", kind="stable", ignore_index=True)
        if not playoffs:
            frame = frame[~frame["is_playoff"]].reset_index(drop=True)
        if frame.empty:
            raise DataError(
                f"{source}: all games are playoff games; ask for them with playoffs=True."
            )
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "calendar", own.over(frame["date"], frame["season"]))

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        season = self.frame["season"]
        teams = len(set(self.frame["home_team"]) | set(self.frame["away_team"]))
        return f"{len(self):,} games of {teams} teams, seasons {season.min()} to {season.max()}"

    def _repr_html_(self) -> str:
        dates = self.frame["date"]
        names = sorted({*self.frame["home_team"], *self.frame["away_team"]})
        rows = {
            "games": f"{len(self):,}",
            "teams": f"{len(names):,}: {display.some(names)}",
            "days": f"{dates.min():%Y-%m-%d} to {dates.max():%Y-%m-%d}",
            "seasons": display.some(self.seasons),
        }
        return display.table("Games", rows)

    @property
    def seasons(self) -> list[int]:
        """All seasons, in order."""
        return sorted(self.frame["season"].unique().tolist())

    def between(self, first: int, last: int) -> "Games":
        """The games of some seasons, first and last included."""
        return self.where(self.frame["season"].between(first, last))

    def before(self, date: Any) -> "Games":
        """The games played before a day."""
        return self.where(self.frame["date"] < calendar.day_of(date, "date"))

    def where(self, mask: Any) -> "Games":
        """Some of the games; weeks and seasons stay as they are."""
        some, frame = object.__new__(Games), self.frame[mask].reset_index(drop=True)
        object.__setattr__(some, "frame", frame)
        object.__setattr__(some, "calendar", self.calendar.over(frame["date"], frame["season"]))
        return some

    def dyads(self) -> Dyads:
        """One event per game: what each attack scores against the other team's defence."""
        return dyads(self.frame)


def dyads(frame: pd.DataFrame) -> Dyads:
    """The frame of a `Games` as encoded events."""
    with warnings.catch_warnings():
        # One season, or one week, is an ordinary table of games.
        warnings.filterwarnings("ignore", "games: input .* is constant", DpmfWarning)
        return Dyads.from_frame(
            frame,
            row="home_team",
            col="away_team",
            value=("home_score", "away_score"),
            inputs=["season", "week", "home"],
            mirrored=["home"],
            source="games",
        )


def read_games(path: Any, *, columns: Mapping[str, str] | None = None, **options: Any) -> Games:
    """Read games from a file.

    Args:
        path: A CSV file, which may be compressed, a Parquet file, or "-" for standard input.
        columns: Standard name -> name in the file, such as {"home": "HomeTeam"}; columns that
            are not named here, nor by their standard name, are guessed, with a notice.
        **options: `playoffs`, `resolution`, `upcoming`, `after` and others, as for `Games`.

    Raises:
        UnreadableFile: The file cannot be read.
        DataError: It holds no usable games.
    """
    table = read_table(path, columns)
    return Games(table, columns=columns, source=source_of(path), **options)


def _checked(
    table: nw.DataFrame,
    found: dict[str, str],
    upcoming: bool,
    day_first: bool | None,
    source: str,
) -> pd.DataFrame:
    """Typed columns under their standard names; teams as home_team and away_team."""
    columns: dict[str, Any] = {
        "date": days(table, found["date"], day_first=day_first, source=source)
    }
    for role in TEAMS:
        columns[f"{role}_team"] = _team_names(table, found[role], source)
    _require_opponents(columns, source)
    for role in SCORES:
        columns[role] = (
            np.full(len(table), np.nan)
            if upcoming
            else numbers(whole(table, found[role], source=source), source=source)
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


def _found_calendar(frame: pd.DataFrame, resolution: str) -> Calendar:
    """The calendar of games alone; seasons are filled in where the table has none."""
    if "season" not in frame:
        frame["season"] = calendar.seasons(frame["date"])
    return Calendar.of(frame["date"], frame["season"], resolution)


def _continued_calendar(
    frame: pd.DataFrame, known: Calendar, opening: Any, source: str
) -> Calendar:
    """The calendar of games that come after others."""
    if "season" not in frame:
        frame["season"] = known.numbers(frame["date"])
    dates, seasons = frame["date"], frame["season"]
    return known.continued(dates, seasons, opening=opening, source=source)


def _usable(table: nw.DataFrame, role: str, name: str) -> bool:
    """Whether a column whose name was guessed holds what the role asks for."""
    entries = pd.to_numeric(pd.Series(table[name].to_list()), errors="coerce")
    if role in EXPERTS:
        return bool(entries.notna().any())
    if role in FLAGS:
        return bool(entries.isin([0, 1]).all())
    return bool((entries == entries.round()).all())


def _seasons(table: nw.DataFrame, name: str, source: str) -> np.ndarray:
    found = numbers(whole(table, name, source=source), source=source)
    wrong = np.flatnonzero(found != np.round(found))
    if wrong.size:
        raise DataError(
            f"{source}: row {wrong[0] + 1}, column {name!r}: found {found[wrong[0]]:g}, "
            "expected a whole number, the year in which the season began."
        )
    return found.astype(int)


def _team_names(table: nw.DataFrame, name: str, source: str) -> list[str]:
    found = [_spelled(each) for each in whole(table, name, source=source).to_list()]
    if "" in found:
        raise DataError(
            f"{source}: row {found.index('') + 1}, column {name!r}: found nothing, expected "
            "the name of a team; mend the row or drop it."
        )
    return found


def _spelled(name: Any) -> str:
    whole_number = isinstance(name, float) and name.is_integer()
    return str(int(name)) if whole_number else str(name).strip()


def _require_opponents(columns: dict[str, Any], source: str) -> None:
    pairs = zip(columns["home_team"], columns["away_team"], strict=True)
    for row, (home, away) in enumerate(pairs):
        if home == away:
            raise DataError(
                f"{source}: row {row + 1}: {home!r} plays against itself, expected two teams; "
                "mend the row or drop it."
            )


def _flags(table: nw.DataFrame, name: str, source: str) -> np.ndarray:
    found = numbers(whole(table, name, source=source), source=source)
    wrong = np.flatnonzero((found != 0) & (found != 1))
    if wrong.size:
        raise DataError(
            f"{source}: row {wrong[0] + 1}, column {name!r}: found {found[wrong[0]]:g}, "
            "expected 0 or 1; convert the column first."
        )
    return found == 1


def _some_numbers(table: nw.DataFrame, name: str, source: str, probability: bool) -> np.ndarray:
    """Numbers, or NaN where an entry is empty."""
    given = pd.Series(table[name].to_list(), dtype=object)
    empty = given.isna() | (given.astype(str).str.strip() == "")
    found = pd.to_numeric(given.where(~empty), errors="coerce")
    wrong = np.flatnonzero(found.isna() & ~empty)
    if wrong.size:
        raise DataError(
            f"{source}: row {wrong[0] + 1}, column {name!r}: found {given[wrong[0]]!r}, "
            "expected a number or nothing; mend the entry or leave it empty."
        )
    impossible = np.isinf(found.to_numpy(float))
    if probability:
        impossible |= ((found < 0) | (found > 1)).to_numpy()
    for row in np.flatnonzero(impossible)[:1].tolist():
        expected = "a probability" if probability else "a finite number"
        raise DataError(
            f"{source}: row {row + 1}, column {name!r}: found {found[row]:g}, expected "
            f"{expected} or nothing; mend the entry or leave it empty."
        )
    return found.to_numpy(float)


def _tell_ignored(table: nw.DataFrame, found: dict[str, str], source: str) -> None:
    known = {"week", *ROLES, *found.values()}
    ignored = [name for name in table.columns if name not in known]
    if ignored:
        message = f"{source}: columns that are not used: {', '.join(ignored)}."
        warnings.warn(message, DpmfWarning, stacklevel=4)
