"""Teams of upcoming games in; those that a fit has never seen out, with a notice."""

import difflib
import warnings
from collections.abc import Iterable, Sequence

from dpmf.errors import DpmfWarning


def unseen(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """The names that are not known, each once, in the order in which they come."""
    return [name for name in dict.fromkeys(names) if name not in set(known)]


def as_known(name: str, known: Sequence[str]) -> str:
    """A name as it was learned, where it differs only in case or outer spaces from one."""
    alike = [each for each in known if each.strip().casefold() == name.strip().casefold()]
    return alike[0] if name not in known and len(alike) == 1 else name


def tell_unseen(strangers: Sequence[str], known: Sequence[str], *, source: str) -> None:
    """Warn of teams that nothing is known about, and of names that look like theirs.

    Args:
        strangers: Teams that were not among those learned from.
        known: Teams that were.
        source: Where the games came from.
    """
    if strangers:
        one = len(strangers) == 1
        warnings.warn(
            f"{source}: {'a team' if one else 'teams'} never seen in training: "
            f"{', '.join(_with_hint(name, known) for name in strangers)}; "
            f"{'its' if one else 'their'} forecasts are those of any team of the league.",
            DpmfWarning,
            stacklevel=3,
        )


def _with_hint(name: str, known: Sequence[str]) -> str:
    folded = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=2, cutoff=0.6)
    if not close:
        return repr(name)
    return f"{name!r} (did you mean {' or '.join(repr(folded[one]) for one in close)}?)"
