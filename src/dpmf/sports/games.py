"""A table of games in, from a file or a frame; a validated one out."""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from dpmf import display
from dpmf.data import Dyads
from dpmf.data.alike import tell_alike
from dpmf.data.frames import opened
from dpmf.data.places import spot
from dpmf.errors import DataError, DpmfWarning
from dpmf.shown import listed
from dpmf.sports import calendar
from dpmf.sports.calendar import Calendar
from dpmf.sports.columns import ROLES, meanings
from dpmf.sports.game_columns import game_columns, usable
from dpmf.sports.repeated import tell_repeated
from dpmf.sports.rest import rest, tell_even
from dpmf.sports.table_files import read_table

INPUTS = ("season", "week", "home")  # of the models that do not ask for more
MIRRORED = ("home", "rest")  # what one team has more of, the other has less
AT_HOME = 0.5  # venue of the home team's cell; the visitors' is its mirror image


@dataclasses.dataclass(frozen=True, eq=False, init=False, repr=False)
class Games:
    """Games in the order they were played, with season, week and venue.

    `frame` has the columns date, season, week, home_team, away_team, home_score, away_score
    (NaN where not played yet), home (the venue of the home team's cell: 1/2, or 0 on neutral
    ground), rest (1/2 where only the visitors played the day before, -1/2 where only the home
    team did), neutral, is_playoff, and the experts' columns that the table had. `calendar`
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
        counts: bool = False,
        after: "Games | Calendar | None" = None,
        season_start: Any = None,
        day_first: bool | None = None,
        source: str = "games",
    ) -> None:
        """Validate a table.

        Args:
            table: A pandas or polars frame with the columns date, home, away, home_score and
                away_score; season, neutral, is_playoff, spread_home, total and elo_home_prob
                are read where present, anything else is ignored with a notice.
            columns: Standard name -> name in the table. What people call these columns
                otherwise (HomeTeam, visitor, FTHG, ...) is guessed, with a notice.
            playoffs: Whether playoff games stay.
            resolution: What time is rounded to, such as "1w" or "1d"; that of `after` if given.
            upcoming: Whether the games are yet to be played, and have no scores.
            counts: Whether scores must be whole numbers of at least 0, as goals are.
            after: Games played before these, or their calendar, which these continue; without
                them the first game of each season must be in the table.
            season_start: With `after`: first day of the season that follows, where the table
                does not hold its first game.
            day_first: Whether 03/04/2008 is the third of April; None asks the whole column.
            source: Where the table came from, for messages.
        """
        frame = typed(
            table,
            columns,
            upcoming=upcoming,
            counts=counts,
            day_first=day_first,
            source=source,
        )
        _tell_teams_alike(frame, source)
        ahead = frame
        if not upcoming:
            tell_repeated(frame, source=source)
            frame, ahead = _played(frame, source)
        if after is None:
            own = _found_calendar(frame, resolution)
        else:
            known = after.calendar if isinstance(after, Games) else after
            own = _continued_calendar(frame, known, season_start, source)
        frame["home"] = np.where(frame["neutral"], 0.0, AT_HOME)
        frame["week"] = own.weeks(frame["date"], frame["season"])
        own = own.with_games(frame.iloc[:0] if upcoming else frame, ahead)
        frame["rest"] = rest(frame, own.every_day)
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
        """The games played before a day, by whoever knows no schedule beyond it."""
        day = calendar.day_of(date, "date")
        some = self.where(self.frame["date"] < day)
        object.__setattr__(some, "calendar", some.calendar.before(day))
        return some

    def where(self, mask: Any) -> "Games":
        """Some of the games; weeks and seasons stay as they are."""
        some, frame = object.__new__(Games), self.frame[mask].reset_index(drop=True)
        object.__setattr__(some, "frame", frame)
        own = self.calendar.over(frame["date"], frame["season"])
        object.__setattr__(some, "calendar", own)
        return some

    def dyads(self, inputs: Sequence[str] = INPUTS) -> Dyads:
        """One event per game: what each attack scores against the other team's defence.

        Args:
            inputs: What a model may depend on: some of season, week, home and rest.
        """
        tell_even(self.frame, inputs)
        return dyads(self.frame, inputs)


def dyads(frame: pd.DataFrame, inputs: Sequence[str] = INPUTS) -> Dyads:
    """The frame of a `Games` as encoded events."""
    with warnings.catch_warnings():
        # One season, or one week, is an ordinary table of games.
        warnings.filterwarnings("ignore", "games: input .* is constant", DpmfWarning)
        warnings.filterwarnings("ignore", "games: names that differ", DpmfWarning)  # was said
        return Dyads.from_frame(
            frame,
            row="home_team",
            col="away_team",
            value=("home_score", "away_score"),
            inputs=list(inputs),
            mirrored=[name for name in MIRRORED if name in inputs],
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
    table, source = read_table(path, columns)
    return Games(table, columns=columns, source=source, **options)


def typed(
    table: Any,
    columns: Mapping[str, str] | None = None,
    *,
    upcoming: bool = False,
    counts: bool = False,
    day_first: bool | None = None,
    source: str = "games",
) -> pd.DataFrame:
    """What a table says of its games, row by row, before they are put in order.

    The arguments are those of `Games`.

    Raises:
        DataError: It holds no usable games; the message says where.
    """
    whole = opened(table, source=source)
    found = meanings(
        whole.columns,
        columns,
        upcoming=upcoming,
        usable=lambda role, name: usable(whole, role, name),
        source=source,
    )
    frame = game_columns(
        whole, found, upcoming=upcoming, counts=counts, day_first=day_first, source=source
    )
    _tell_ignored(whole, found, source)
    return frame


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


def _played(frame: pd.DataFrame, source: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The games that have scores, under the numbers of their rows in the table; those to come.

    A list of a whole season may hold both. A game without scores before others that have them
    was moved, or never played: it is neither.
    """
    missing = frame["home_score"].isna()
    played = frame[~missing].copy()
    ahead = missing & (frame["date"] >= played["date"].max())
    reasons = {
        "not played yet": ahead,
        "but games after have scores, so moved or never played": missing & ~ahead,
    }
    for reason, some in reasons.items():
        if some.any():
            count, first = int(some.sum()), frame.loc[some, "date"].min()
            games = "a game without scores" if count == 1 else f"{count:,} games without scores"
            warnings.warn(
                f"{source}: left out {games}, {reason} (from {first:%Y-%m-%d} on).",
                DpmfWarning,
                stacklevel=3,
            )
    return played, frame[ahead]


def _tell_teams_alike(frame: pd.DataFrame, source: str) -> None:
    teams = [frame["home_team"], frame["away_team"]]

    def where(name: str) -> str:
        rows = [np.flatnonzero(column == name)[:1] for column in teams]
        return spot(source, int(np.concatenate(rows).min()))

    tell_alike(pd.concat(teams), where, source=source, depth=5)


def _tell_ignored(table: nw.DataFrame, found: dict[str, str], source: str) -> None:
    known = {"week", *ROLES, *found.values()}
    ignored = [name for name in table.columns if name not in known]
    if ignored:
        message = f"{source}: columns that are not used: {listed(ignored)}."
        warnings.warn(message, DpmfWarning, stacklevel=5)
