"""Columns that describe a member: the same in all of its events, so they are remembered."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dpmf.data.codebook import InputColumn
from dpmf.data.names import Names
from dpmf.data.places import place
from dpmf.errors import DataError
from dpmf.shown import shown


class Attribute(NamedTuple):
    """One such column: of each event the member that it describes, and its entry."""

    column: InputColumn
    side: str  # the column that names the members
    names: Names
    member: Int[np.ndarray, " events"]
    entries: Float[np.ndarray, " events"]  # encoded

    def known(self) -> Float[np.ndarray, " members"]:
        """The entry of each member, by its first event; NaN where it has none."""
        found = np.full(len(self.names), np.nan)
        found[self.member[::-1]] = self.entries[::-1]
        return found

    def require_constant(self, *, source: str, before: int = 0) -> None:
        """Refuse a member with two entries.

        Args:
            source: Where the events came from.
            before: How many of the first events came from elsewhere: those of training.
        """
        known = self.known()[self.member]
        for event in np.flatnonzero(self.entries != known)[:1].tolist():
            member = self.member[event]
            first = int(np.argmax(self.member == member))
            where = "in training" if first < before else f"in row {first - before + 1}"
            raise DataError(
                f"{place(source, event - before)}, column {self.column.name!r}: found "
                f"{self.column.worded(self.entries[event])} for {shown(self.names[member])}, "
                f"which has {self.column.worded(known[event])} {where}; expected one entry for "
                f"each {self.side!r}, since an attribute describes the member. Correct it, or "
                f"name the column in inputs= if it changes from event to event."
            )

    def recalled(
        self, member: Int[np.ndarray, " new_events"], names: Names, *, source: str
    ) -> Float[np.ndarray, " new_events"]:
        """The entries of other events, which do not say them.

        Args:
            member: Whom the column describes in each of them.
            names: Of these members; those that were known have the same numbers.
            source: Where the events came from.
        """
        known = np.append(self.known(), np.full(len(names) - len(self.names), np.nan))
        for event in np.flatnonzero(np.isnan(known[member]))[:1].tolist():
            raise DataError(
                f"{source}: there is no column {self.column.name!r}, and {self.side} "
                f"{shown(names[member[event]])} ({place(source, event)}) is not known from "
                "training; expected the attributes of every new member. Add the column."
            )
        return known[member]
