"""Columns of a games table by what people call them; what each of them means out."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence

from dpmf.data.frames import nearest
from dpmf.errors import ConfigError, DataError, DpmfWarning

TEAMS, SCORES = ["home", "away"], ["home_score", "away_score"]
FLAGS = ["neutral", "is_playoff"]
EXPERTS = ["spread_home", "total", "elo_home_prob"]
NEEDED = ["date", *TEAMS, *SCORES]
ROLES = [*NEEDED, "season", *FLAGS, *EXPERTS]

# As `plain` writes them. A name in a later group counts only where none of an earlier group
# is there. Spreads are never guessed: half of the world writes them with the other sign.
_NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "date": (
        ("date",),
        ("gamedate", "matchdate", "gameday", "dategame", "datetime", "startdate", "dateutc"),
        ("gamedateest", "kickoff", "starttime", "day"),
    ),
    "home": (
        ("home",),
        ("hometeam", "hometeamname", "homename", "homeneutral", "host", "hostteam"),
        ("hometeamabbreviation", "hometeamabbr", "homeabbr", "homecode"),
        ("hometeamid", "homeid"),
    ),
    "away": (
        ("away",),
        (
            "awayteam",
            "awayteamname",
            "awayname",
            "visitor",
            "visitors",
            "visitorteam",
            "visitingteam",
            "visitorneutral",
            "road",
            "roadteam",
            "guest",
            "guestteam",
        ),
        ("awayteamabbreviation", "awayteamabbr", "awayabbr", "awaycode"),
        ("awayteamid", "visitorteamid", "awayid"),
    ),
    "home_score": (
        ("homescore",),
        ("homepts", "homepoints", "homegoals", "homeruns", "hometeamscore", "hometeampoints"),
        ("ptshome", "scorehome", "pointshome", "goalshome", "runshome", "hscore", "hpts"),
        ("fthg", "hg", "homefinal"),
    ),
    "away_score": (
        ("awayscore",),
        ("awaypts", "awaypoints", "awaygoals", "awayruns", "awayteamscore", "awayteampoints"),
        ("visitorscore", "visitorpts", "visitorpoints", "visitorteamscore", "roadscore"),
        ("ptsaway", "scoreaway", "pointsaway", "goalsaway", "runsaway", "ascore", "apts"),
        ("ftag", "ag", "awayfinal"),
    ),
    "season": (("season",), ("seasonyear", "seasonstart", "seasonstartyear")),
    "neutral": (("neutral",), ("neutralsite", "isneutral", "neutralground", "neutralvenue")),
    "is_playoff": (("isplayoff",), ("playoff", "playoffs", "isplayoffs", "postseason")),
    "total": (("total",), ("totalline", "overunder", "overunderline", "ouline")),
}
_SCORE_WORDS = ("pts", "points", "score", "goals", "runs")  # after the team whose they are


def plain(name: str) -> str:
    """A name in small letters, without anything between its words."""
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def meanings(
    names: Sequence[str],
    columns: Mapping[str, str] | None = None,
    *,
    upcoming: bool = False,
    usable: Callable[[str, str], bool] = lambda role, name: True,
    source: str,
) -> dict[str, str]:
    """The column that holds each part of a game.

    What is said in `columns` comes first, then standard names, then what people call such
    columns; one notice tells what was guessed.

    Args:
        names: Of the table's columns.
        columns: Standard name -> name in the table.
        upcoming: Whether the games are yet to be played: scores are then not looked for.
        usable: Whether a column may be guessed to be what is not needed, by what is in it.
        source: Where the table came from, for messages.

    Raises:
        ConfigError: `columns` names something that does not exist.
        DataError: Several columns may be the one that is meant, or a needed one is missing.
    """
    wanted = [role for role in ROLES if not (upcoming and role in SCORES)]
    found = _said(names, columns or {}, wanted, source)
    for role in wanted:
        if role not in found and role in names and role not in found.values():
            found[role] = role
    guessed = {}
    for role in wanted:
        if role not in found:
            free = [name for name in names if name not in {*found.values(), *ROLES}]
            known = {one for group in _NAMES.get(role, ()) for one in group}
            if role not in NEEDED:
                free = [n for n in free if plain(n) in known and usable(role, n)]
            one = _guess(role, free, source)
            if one is not None:
                found[role] = guessed[role] = one
    missing = [role for role in NEEDED if role in wanted and role not in found]
    if missing:
        raise DataError(
            f"{source}: there is no column {missing[0]!r}. {nearest(missing[0], names)} "
            f"{_advice(missing[0], 'NAME')}"
        )
    if guessed:
        told = ", ".join(f"{name!r} as {role}" for role, name in guessed.items())
        message = f"{source}: took {told}; --columns or columns= says otherwise."
        warnings.warn(message, DpmfWarning, stacklevel=5)
    return found


def team_columns(names: Sequence[str], columns: Mapping[str, str] | None) -> list[str]:
    """Those that may hold the names of teams, which are text whatever they look like."""
    known = {one for role in TEAMS for group in _NAMES[role] for one in group}
    said = {columns[role] for role in TEAMS if columns and role in columns}
    return [name for name in names if plain(name) in known or name in said]


def told_apart(names: Sequence[str]) -> list[str]:
    """The names of a header, with two columns of scores named after the teams before them.

    `Visitor,PTS,Home,PTS` is a common way to write a game: the second is `PTS (home)` then.
    """
    words = [plain(name) for name in names]
    sides = {one: role for role in TEAMS for group in _NAMES[role] for one in group}
    result = list(names)
    for word in _SCORE_WORDS:
        places = [place for place, one in enumerate(words) if one == word]
        before = [sides.get(words[place - 1]) if place else None for place in places]
        if len(places) == 2 and set(before) == set(TEAMS):
            for place, side in zip(places, before, strict=True):
                result[place] = f"{names[place]} ({side})"
    return result


def _said(
    names: Sequence[str], columns: Mapping[str, str], wanted: Sequence[str], source: str
) -> dict[str, str]:
    for role, name in columns.items():
        if role not in ROLES:
            raise ConfigError(
                f"columns: there is no {role!r} in a games table. {nearest(role, ROLES)} Write "
                "the standard name first, as in home=HomeTeam."
            )
        if role in wanted and name not in names:
            raise DataError(f"{source}: there is no column {name!r}. {nearest(name, names)}")
        twice = [other for other, own in columns.items() if own == name and other != role]
        if twice:
            raise ConfigError(
                f"columns: {name!r} is given as {role} and as {twice[0]}, expected two columns."
            )
    return {role: name for role, name in columns.items() if role in wanted}


def _guess(role: str, names: Sequence[str], source: str) -> str | None:
    for group in _NAMES.get(role, ()):
        possible = [name for name in names if plain(name) in group]
        if len(possible) > 1:
            raise DataError(
                f"{source}: the column {role!r} may be {' or '.join(map(repr, possible))}, "
                f"expected one of them. {_advice(role, possible[0])}"
            )
        if possible:
            return possible[0]
    return None


def _advice(role: str, name: str) -> str:
    return f"Say which it is: --columns {role}={name}, or columns={{{role!r}: {name!r}}}."
