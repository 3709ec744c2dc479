"""The calendar of a fit in; the moments that a page can show out."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from dpmf.backtest.cutoffs import duration
from dpmf.posterior import Fit
from dpmf.sports import Games
from dpmf.sports.calendar import Calendar, Season

MOST = 60  # moments to choose from; a season of weeks has fewer, one of days may have more
CURVE = 160  # points of a curve


class Moment(NamedTuple):
    """A place in time, as the model counts it."""

    season: int
    week: float  # since the first game of its season
    first: pd.Timestamp  # the days that are rounded to it
    last: pd.Timestamp

    @property
    def place(self) -> tuple[int, float]:
        """What the model sees of it."""
        return self.season, self.week


def played(fit: Fit, calendar: Calendar) -> list[Moment]:
    """The moments of the games that were learned from, in order; evenly thinned if many."""
    columns = [fit.data.column(name)[:, 0] for name in ("season", "week")]
    places = np.unique(np.stack(columns, axis=1), axis=0)
    firsts = {one.number: one.first for one in calendar.seasons}
    every = [_moment(int(s), float(w), firsts[int(s)], calendar) for s, w in places]
    every.sort(key=lambda one: one.first)
    return _some(every, CURVE, keep=[every[-1]])


def eligible(calendar: Calendar, now: Moment, upcoming: Games | None = None) -> list[Moment]:
    """The moments of the season, that a matchup may be asked about.

    It is the season of the upcoming games, or else the last one that was learned from; it is
    taken to be as long as the typical earlier one at least.

    Args:
        calendar: Of the games that were learned from.
        now: The last of their moments, which is always among them.
        upcoming: Games whose moments are always among them too.
    """
    season, wanted = calendar.seasons[-1], [now]
    if upcoming is not None:
        later = upcoming.calendar
        season = max(season, later.seasons[-1], key=lambda one: one.first)
        firsts = {one.number: one.first for one in later.seasons}
        pairs = upcoming.frame[["season", "week"]].drop_duplicates()
        wanted += [
            _moment(int(s), float(w), firsts[int(s)], later)
            for s, w in pairs.itertuples(index=False)
        ]
    ends = [one.week for one in wanted if one.season == season.number]
    step = duration(calendar.resolution, "resolution") / 7
    weeks = np.arange(0, max([*ends, _typical(calendar, season)]) + step / 2, step)
    every = {one.place: one for one in wanted}
    for week in weeks:
        one = _moment(season.number, float(week), season.first, calendar)
        every.setdefault(one.place, one)
    ordered = sorted(every.values(), key=lambda one: one.first)
    return _some(ordered, MOST, keep=wanted)


def _moment(season: int, week: float, first: pd.Timestamp, calendar: Calendar) -> Moment:
    start = first + pd.Timedelta(days=round(7 * week))
    days = duration(calendar.resolution, "resolution")
    return Moment(season, week, start, start + pd.Timedelta(days=days - 1))


def _typical(calendar: Calendar, season: Season) -> float:
    """Weeks to the last moment of a season: the median of those before it."""
    step = duration(calendar.resolution, "resolution")
    earlier = [one for one in calendar.seasons if one.number != season.number]
    days = [(one.last - one.first).days // step * step for one in earlier]
    return float(np.median(days)) // step * step / 7 if days else 0.0


def _some(moments: list[Moment], most: int, keep: list[Moment]) -> list[Moment]:
    if len(moments) <= most:
        return moments
    chosen = np.linspace(0, len(moments) - 1, most).astype(int)
    places = {moments[i].place for i in chosen} | {one.place for one in keep}
    return [one for one in moments if one.place in places]
