"""A table of games in, from a file or a frame; a validated one out."""

import dataclasses
import warnings
import zlib
from lzma import LZMAError
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import narwhals as nw
import numpy as np
import pandas as pd

from dpmf.data import Dyads
from dpmf.data.columns import numbers, whole
from dpmf.data.frames import opened
from dpmf.errors import ConfigError, DataError, DpmfWarning, FileError
from dpmf.sports import calendar

TEAMS, SCORES = ["home", "away"], ["home_score", "away_score"]
GOALS = ["home_goals", "away_goals"]  # the scores, as tables of football call them
FLAGS = ["neutral", "is_playoff"]
EXPERTS = ["spread_home", "total", "elo_home_prob"]
NOTHING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "<NA>"]
AT_HOME = 0.5  # venue of the home team's cell; the visitors' is its mirror image


@dataclasses.dataclass(frozen=True, eq=False, init=False, repr=False)
class Games:
    """Games in the order they were played, with season, week and venue.

    `frame` has the columns date, season, week, home_team, away_team, home_score, away_score
    (NaN where not played yet), home (the venue of the home team's cell: 1/2, or 0 on neutral
    ground), neutral, is_playoff, and the experts' columns that the table had.
    """

    frame: pd.DataFrame

    def __init__(
        self,
        table: Any,
        *,
        playoffs: bool = False,
        resolution: str = "1w",
        upcoming: bool = False,
        after: "Games | None" = None,
        source: str = "games",
    ) -> None:
        """Args:
        table: A pandas or polars frame with the columns date, home, away, home_score and
            away_score, or home_goals and away_goals for the last two; season, neutral,
            is_playoff, spread_home, total and elo_home_prob are read where present, anything
            else is ignored with a notice.
        playoffs: Whether playoff games stay.
        resolution: What time is rounded to, such as "1w" or "1d".
        upcoming: Whether the games are yet to be played, and have no scores.
        after: Games played before these, whose calendar they continue; without them the
            first game of each season must be in the table.
        source: Where the table came from, for messages.
        """
        frame = _checked(opened(table, source=source), upcoming, after, source)
        earlier = [] if after is None else [after.frame]
        both = pd.concat([*earlier, frame], ignore_index=True)[["date", "season"]]
        weeks = calendar.weeks(both["date"], both["season"], resolution)
        frame["week"] = weeks.to_numpy()[len(both) - len(frame) :]
        if not playoffs:
            frame = frame[~frame["is_playoff"]]
        if frame.empty:
            raise DataError(
                f"{source}: all games are playoff games; ask for them with playoffs=True."
            )
        object.__setattr__(self, "frame", frame.reset_index(drop=True))

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        season = self.frame["season"]
        teams = len(set(self.frame["home_team"]) | set(self.frame["away_team"]))
        return f"{len(self):,} games of {teams} teams, seasons {season.min()} to {season.max()}"

    @property
    def seasons(self) -> list[int]:
        """All seasons, in order."""
        return sorted(self.frame["season"].unique().tolist())

    def between(self, first: int, last: int) -> "Games":
        """The games of some seasons, first and last included."""
        return self.where(self.frame["season"].between(first, last))

    def before(self, date: Any) -> "Games":
        """The games played before a day."""
        try:
            day = pd.Timestamp(date)
        except (TypeError, ValueError):
            raise ConfigError(f"date={date!r}, expected a day such as '2008-12-25'.") from None
        return self.where(self.frame["date"] < day)

    def where(self, mask: Any) -> "Games":
        """Some of the games; weeks and seasons stay as they are."""
        some = object.__new__(Games)
        object.__setattr__(some, "frame", self.frame[mask].reset_index(drop=True))
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


def read_games(path: Any, **options: Any) -> Games:
    """Read games from a CSV file, which may be compressed.

    Args:
        path: The file.
        **options: `playoffs`, `resolution`, `upcoming` and `after`, as for `Games`.

    Raises:
        FileError: The file cannot be read.
        DataError: It holds no usable games.
    """
    try:
        names = _header(Path(path))
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # The name of a team is the text in the file: 01 is not 1, and NA may be a team.
            table = pd.read_csv(
                Path(path),
                index_col=False,
                dtype=dict.fromkeys(TEAMS, str),
                keep_default_na=False,
                na_values={name: [""] if name in TEAMS else NOTHING for name in names},
            )
    except (TypeError, pd.errors.ParserWarning) as error:
        raise DataError(f"{path}: this is no CSV table ({error}).") from error
    except (OSError, EOFError, ImportError, zlib.error, BadZipFile, LZMAError) as error:
        raise FileError(f"{path}: cannot be read ({error}).") from error
    except ValueError as error:  # what pandas raises for anything that is no table
        raise DataError(f"{path}: this is no CSV table ({error}).") from error
    return Games(table, source=str(path), **options)


def _header(path: Path) -> list[str]:
    """The names of the columns; a name that is there twice is refused.

    pandas would rename the second.
    """
    header = pd.read_csv(path, header=None, nrows=1, dtype=str, index_col=False)
    names = [str(name) for name in header.iloc[0].dropna()]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"{path}: the column {twice[0]!r} is there twice, expected it once.")
    return names


def _checked(
    table: nw.DataFrame, upcoming: bool, after: Games | None, source: str
) -> pd.DataFrame:
    """Typed columns, in the order of play."""
    columns: dict[str, Any] = {"date": _dates(table, source)}
    for name in TEAMS:
        columns[f"{name}_team"] = _team_names(table, name, source)
    _require_opponents(columns, source)
    for name, given in zip(SCORES, _score_names(table, source), strict=True):
        columns[name] = (
            np.full(len(table), np.nan)
            if upcoming
            else numbers(whole(table, given, source=source), source=source)
        )
    for name in FLAGS:
        found = name in table.columns
        columns[name] = _flags(table, name, source) if found else np.zeros(len(table), bool)
    for name in EXPERTS:
        if name in table.columns:
            columns[name] = _some_numbers(table, name, source)
    frame = pd.DataFrame(columns)
    if "season" in table.columns:
        frame["season"] = _seasons(table, source)
    elif after is None:
        frame["season"] = calendar.seasons(frame["date"])
    else:
        frame["season"] = calendar.continued(after.frame, frame["date"])
    frame["home"] = np.where(frame["neutral"], 0.0, AT_HOME)
    _tell_ignored(table, source)
    return frame.sort_values("date", kind="stable", ignore_index=True)


def _score_names(table: nw.DataFrame, source: str) -> list[str]:
    """What the table calls the scores."""
    goals = [name for name in GOALS if name in table.columns]
    scores = [name for name in SCORES if name in table.columns]
    if goals and scores:
        raise DataError(
            f"{source}: found both {scores[0]!r} and {goals[0]!r}, expected the scores under "
            "one name; drop the other columns."
        )
    return GOALS if goals else SCORES


def _dates(table: nw.DataFrame, source: str) -> pd.Series:
    series = whole(table, "date", source=source)
    given = pd.Series(series.to_list())
    # As text, so that 20081225 is a day and not a number of nanoseconds.
    spelled = given.map(lambda x: str(x).strip() if isinstance(x, str | int) else x)
    short = spelled.map(lambda x: isinstance(x, str) and len(x) < 8)  # a year is no day
    try:
        dates = pd.to_datetime(spelled.mask(short), errors="coerce", format="ISO8601")
    except ValueError as error:  # mixed time zones
        raise DataError(
            f"{source}: column 'date': {error}; expected days such as 2008-12-25."
        ) from error
    wrong = np.flatnonzero(dates.isna())
    if wrong.size:
        raise DataError(
            f"{source}: row {wrong[0] + 1}, column 'date': found {spelled[wrong[0]]!r}, "
            "expected a date such as 2008-12-25; convert the column first."
        )
    return dates.dt.tz_localize(None).dt.normalize()


def _seasons(table: nw.DataFrame, source: str) -> np.ndarray:
    found = numbers(whole(table, "season", source=source), source=source)
    wrong = np.flatnonzero(found != np.round(found))
    if wrong.size:
        raise DataError(
            f"{source}: row {wrong[0] + 1}, column 'season': found {found[wrong[0]]:g}, "
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


def _some_numbers(table: nw.DataFrame, name: str, source: str) -> np.ndarray:
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
    if name.endswith("_prob"):
        impossible |= ((found < 0) | (found > 1)).to_numpy()
    for row in np.flatnonzero(impossible)[:1].tolist():
        expected = "a probability" if name.endswith("_prob") else "a finite number"
        raise DataError(
            f"{source}: row {row + 1}, column {name!r}: found {found[row]:g}, expected "
            f"{expected} or nothing; mend the entry or leave it empty."
        )
    return found.to_numpy(float)


def _tell_ignored(table: nw.DataFrame, source: str) -> None:
    known = {"date", "season", "week", *TEAMS, *SCORES, *GOALS, *FLAGS, *EXPERTS}
    ignored = [name for name in table.columns if name not in known]
    if ignored:
        message = f"{source}: columns that are not used: {', '.join(ignored)}."
        warnings.warn(message, DpmfWarning, stacklevel=4)
