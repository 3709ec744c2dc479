"""Dates of games in; seasons, and the time within a season, out."""

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpmf.backtest.cutoffs import duration
from dpmf.data.places import place
from dpmf.errors import ConfigError, DataError, DpmfWarning
from dpmf.sports.rest import DAY, Days, days_before, days_from, days_of, joined

OFF_SEASON = 45  # days without a game that end a season; a longer break needs a season column
YEAR = 364  # days between the first games of two seasons, where only one is known: 52 weeks
OPENING = 7  # days after the expected first day within which a first game is the opening one


def seasons(dates: pd.Series) -> pd.Series:
    """The year in which each game's season began, found from the gaps between dates."""
    days = np.sort(dates.unique())
    starts = np.concatenate([[True], np.diff(days) > np.timedelta64(OFF_SEASON, "D")])
    labels: list[int] = []
    for year in pd.DatetimeIndex(days[starts]).year:
        labels.append(max(int(year), labels[-1] + 1) if labels else int(year))
    by_day = dict(zip(days, np.array(labels)[np.cumsum(starts) - 1], strict=True))
    return dates.map(by_day).astype(int)


class Season(NamedTuple):
    """A season as far as it is known."""

    number: int  # the year in which it began, or whatever the games file calls it
    first: pd.Timestamp  # day of its first game
    last: pd.Timestamp  # day of the last game seen


@dataclasses.dataclass(frozen=True)
class Calendar:
    """Which day belongs to which week of which season, and on which each team has a game.

    Known seasons keep their first day, so that a later table of games is placed as it would
    have been together with the earlier one.
    """

    seasons: tuple[Season, ...]  # in the order of play
    resolution: str = "1w"  # what time is rounded to
    # They say who played the day before; those of games to come may still be moved.
    days: Days = dataclasses.field(default_factory=dict, hash=False, repr=False)
    scheduled: Days = dataclasses.field(default_factory=dict, hash=False, repr=False)

    @staticmethod
    def of(dates: pd.Series, numbers: pd.Series, resolution: str = "1w") -> "Calendar":
        """The calendar of games whose seasons are known, the first of each among them."""
        duration(resolution, "resolution")
        spans = dates.groupby(numbers.to_numpy()).agg(["min", "max"]).sort_values("min")
        found = (Season(int(s), low, high) for s, low, high in spans.itertuples())
        return Calendar(tuple(found), resolution)

    def over(self, dates: pd.Series, numbers: pd.Series) -> "Calendar":
        """What is left of it when only some games are known.

        First days of seasons stay as they are, and so do days of games until the season that
        follows: those that are left out have their days all the same, and a schedule is known
        before it is played.
        """
        some = {one.number: one for one in Calendar.of(dates, numbers).seasons}
        kept = [one for one in self.seasons if one.number in some]
        narrowed = tuple(one._replace(last=some[one.number].last) for one in kept)
        later = [one.first for one in self.seasons if kept and one.first > kept[-1].first]
        whole = self.before(min(later)) if later else self
        if not kept:
            whole = Calendar(())
        return dataclasses.replace(whole, seasons=narrowed, resolution=self.resolution)

    @property
    def every_day(self) -> Days:
        """On which each team has a game, played or to come."""
        return joined(self.days, self.scheduled)

    def before(self, end: pd.Timestamp) -> "Calendar":
        """The same without days of games from a day on."""
        days, scheduled = (days_before(one, end) for one in (self.days, self.scheduled))
        return dataclasses.replace(self, days=days, scheduled=scheduled)

    def with_games(self, played: pd.DataFrame, ahead: pd.DataFrame) -> "Calendar":
        """The same with the days of more games.

        What was to come until the last of their results was moved, unless it is among them; and
        if there are games to come among them, they are the schedule.
        """
        days, scheduled = joined(self.days, days_of(played)), days_of(ahead)
        if played.empty:
            scheduled = joined(self.scheduled, scheduled)
        elif ahead.empty:
            scheduled = days_from(self.scheduled, played["date"].max() + DAY)
        return dataclasses.replace(self, days=days, scheduled=scheduled)

    def weeks(self, dates: pd.Series, numbers: pd.Series) -> np.ndarray:
        """Time since the first game of each game's season, in weeks, rounded down."""
        step = duration(self.resolution, "resolution")
        firsts = numbers.map({one.number: one.first for one in self.seasons})
        return ((dates - firsts).dt.days // step * step / 7).to_numpy(float)

    def numbers(self, dates: pd.Series) -> np.ndarray:
        """The season of each day: a known one, or one that would follow the last known.

        An off-season is parted in the middle, so that one game a long time after the last
        known one finds its season too.
        """
        return np.array([self._number(day) for day in dates])

    def continued(
        self,
        dates: pd.Series,
        numbers: pd.Series,
        *,
        opening: Any = None,
        source: str = "games",
    ) -> "Calendar":
        """The calendar with the seasons of later games added to it.

        A season that was not known begins with its first game in the table if that is near
        the day that the earlier seasons suggest, else on that day.

        Args:
            dates: Of the later games, by the numbers of their rows in the table.
            numbers: Their seasons.
            opening: First day of the season that is not known, if the user says so.
            source: Where the games came from, for messages.

        Raises:
            ConfigError: The opening day is none, or that of a season already known.
            DataError: A game is before the first of its season, or of a season of the past
                that is not known.
        """
        known = {one.number: one for one in self.seasons}
        stated = {} if opening is None else self._stated(opening)
        for one in Calendar.of(dates, numbers).seasons:
            if one.number in known:
                last = max(known[one.number].last, one.last)
                known[one.number] = known[one.number]._replace(last=last)
                continue
            if one.number < self.seasons[-1].number:
                raise DataError(
                    f"{source}: found games of season {one.number}, which is not among those "
                    "that were learned from, nor later; drop them or learn from that one too."
                )
            first = stated.get(one.number, self._opening(one))
            known[one.number] = one._replace(first=first)
            if one.number not in stated:
                _tell_opening(one.number, first, source)
        for row, day, number in zip(dates.index, dates, numbers, strict=True):
            if day < known[number].first:
                _refuse_early(day, number, known[number].first, row, source)
        ordered = sorted(known.values(), key=lambda one: one.first)
        return dataclasses.replace(self, seasons=tuple(ordered))

    def to_dict(self) -> dict[str, Any]:
        """The calendar as JSON can hold it, with the days of its last season alone."""
        rows = [[s.number, f"{s.first:%Y-%m-%d}", f"{s.last:%Y-%m-%d}"] for s in self.seasons]

        def recent(days: Days) -> dict[str, list[str]]:
            some = days_from(days, self.seasons[-1].first) if self.seasons else {}
            return {
                str(t): [f"{day:%Y-%m-%d}" for day in sorted(own)] for t, own in some.items()
            }

        about = {"days": recent(self.days), "scheduled": recent(self.scheduled)}
        return {"resolution": self.resolution, "seasons": rows, **about}

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> "Calendar":
        """The calendar that `to_dict` described."""
        rows = plain["seasons"]
        found = (Season(int(n), pd.Timestamp(a), pd.Timestamp(b)) for n, a, b in rows)

        def days(name: str) -> Days:  # calendars of older fits have none
            known = dict(plain.get(name, {}))
            return {team: frozenset(map(pd.Timestamp, own)) for team, own in known.items()}

        return Calendar(tuple(found), plain["resolution"], days("days"), days("scheduled"))

    @property
    def _period(self) -> float:
        """Days from the first game of one season to that of the next."""
        pairs = zip(self.seasons, self.seasons[1:], strict=False)
        steps = [
            (b.first - a.first).days / (b.number - a.number)
            for a, b in pairs
            if b.number > a.number
        ]
        return float(np.median(steps) if steps else YEAR)

    def _number(self, day: pd.Timestamp) -> int:
        earlier = [place for place, one in enumerate(self.seasons) if one.first <= day]
        if not earlier:
            return self.seasons[0].number
        place = earlier[-1]
        own = self.seasons[place]
        if place + 1 < len(self.seasons):
            after = self.seasons[place + 1]
            middle = own.last + (after.first - own.last) / 2
            return own.number if day <= middle else after.number
        # The last season may go on: it lasts as long as the typical one before it at least.
        days = [(one.last - one.first).days for one in self.seasons[:-1]]
        length = max((own.last - own.first).days, float(np.median(days)) if days else 0.0)
        middle = length + max(self._period - length, 0.0) / 2
        past = (day - own.first).days - middle
        return own.number + (int(past // self._period) + 1 if past > 0 else 0)

    def _opening(self, season: Season) -> pd.Timestamp:
        """The first day of a season that was not known."""
        last = self.seasons[-1]
        days = round((season.number - last.number) * self._period)
        expected = last.first + pd.Timedelta(days=days)
        return season.first if (season.first - expected).days <= OPENING else expected

    def _stated(self, opening: Any) -> dict[int, pd.Timestamp]:
        day = day_of(opening, "season_start")
        number = self._number(day)
        for one in self.seasons:
            if one.number == number:
                raise ConfigError(
                    f"season_start={opening!r}: season {number} is known and began on "
                    f"{one.first:%Y-%m-%d}; expected the first day of a later one."
                )
        return {number: day}


def day_of(given: Any, name: str) -> pd.Timestamp:
    """A day as a timestamp.

    Raises:
        ConfigError: It is none.
    """
    try:
        day = pd.Timestamp(given)
    except (TypeError, ValueError):
        day = pd.NaT
    if pd.isna(day):
        raise ConfigError(f"{name}={given!r}, expected a day such as '2008-12-25'.")
    return day.tz_localize(None).normalize()


def _tell_opening(number: int, first: pd.Timestamp, source: str) -> None:
    warnings.warn(
        f"{source}: season {number} is later than all games that were learned from; it is "
        f"taken to begin on {first:%Y-%m-%d} (season_start, --season-start says otherwise).",
        DpmfWarning,
        stacklevel=5,
    )


def _refuse_early(
    day: pd.Timestamp, number: int, first: pd.Timestamp, row: int, source: str
) -> None:
    raise DataError(
        f"{place(source, row)}, column 'date': found {day:%Y-%m-%d}, expected a day from "
        f"{first:%Y-%m-%d} on, when season {number} began; drop the row or learn from earlier "
        "games too."
    )
