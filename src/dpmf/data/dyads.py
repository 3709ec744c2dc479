"""Events between the rows and the columns of a matrix, as arrays with a codebook."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from jaxtyping import Float, Int

from dpmf import display
from dpmf.data import encoding
from dpmf.data.alike import tell_alike
from dpmf.data.attributes import Attribute
from dpmf.data.codebook import Codebook
from dpmf.data.frames import nearest, opened
from dpmf.data.names import Names
from dpmf.data.places import spot
from dpmf.data.roles import blank_codebook
from dpmf.errors import DataError, DpmfWarning


@dataclass(frozen=True, repr=False, eq=False)
class Dyads:
    """Who met whom, with what side information, and what happened.

    An event observes one cell of the matrix, or two: then the second cell swaps row
    and column, as the two scores of a game do.
    """

    codebook: Codebook
    rows: Int[np.ndarray, "events pair"]  # places in `row_names`
    cols: Int[np.ndarray, "events pair"]  # places in `col_names`
    inputs: Float[np.ndarray, "events pair columns"]  # encoded side information
    values: Float[np.ndarray, "events pair"]  # NaN where not observed

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        row: str,
        col: str,
        value: str | Sequence[str],
        inputs: Sequence[str] = (),
        mirrored: Sequence[str] = (),
        row_attributes: Sequence[str] = (),
        col_attributes: Sequence[str] = (),
        source: str = "frame",
    ) -> "Dyads":
        """Encode a frame with one event in each row.

        Args:
            frame: A pandas or polars frame; it is left as it is.
            row: Column that names the row member, such as the user or the home team.
            col: Column that names the column member.
            value: Column of what was observed, or two such columns: the second value is
                that of the cell with row and column swapped, and both sides then share
                one set of names.
            inputs: Columns of side information: numbers, dates, booleans or categories.
                Text is a category.
            mirrored: The inputs that change sign in the second cell, such as `home`.
            row_attributes: Columns that describe the row member and are the same in all of its
                events, such as a user's age. They are inputs of kernels but for those of the
                rows themselves, and need not be given again for members already known.
            col_attributes: The same of the column member.
            source: Where the frame came from, for messages.

        Returns:
            The events as arrays. Names and levels are numbered in first-seen order.

        Raises:
            DataError: The frame cannot be used; the message says where and why.
        """
        table = opened(frame, source=source)
        codebook = blank_codebook(
            table,
            row=row,
            col=col,
            value=value,
            inputs=inputs,
            mirrored=mirrored,
            row_attributes=row_attributes,
            col_attributes=col_attributes,
            source=source,
        )
        dyads = _encoded(table, codebook, source, optional=False)
        for attribute in dyads.attributes():
            attribute.require_constant(source=source)
        _require_two_names(dyads, source)
        _tell_names_alike(dyads, source)
        for place, name in enumerate(dyads.input_names):
            if np.ptp(dyads.inputs[..., place]) == 0:
                message = f"{source}: input {name!r} is constant, so it carries no information."
                warnings.warn(message, DpmfWarning, stacklevel=2)
        return dyads

    def encode(self, frame: Any, *, source: str = "frame", values: bool = True) -> "Dyads":
        """Encode another frame with the numbering of this one.

        Args:
            frame: A frame with the same row, column and input columns. Value columns
                may be absent or wholly missing: the values are then NaN. Columns of attributes
                may be absent where all members are known.
            source: Where the frame came from, for messages.
            values: Whether value columns are read where there are any.

        Returns:
            The events of `frame`. Its codebook is this one with new members and new
            category levels appended, so that old numbers keep their meaning.

        Raises:
            DataError: The frame cannot be used; the message says where and why.
        """
        table = opened(frame, source=source)
        if not values:
            table = table.drop(self.codebook.value, strict=False)
        new = _encoded(table, self.codebook, source, optional=True, known=self.attributes())
        if self.codebook.attributes:
            for attribute in self.followed_by(new).attributes():
                attribute.require_constant(source=source, before=self.events)
        return new

    def take(self, events: Sequence[int] | np.ndarray) -> "Dyads":
        """Some of the events, by place or by mask, with the same codebook."""
        places = np.arange(self.events)[events]
        return replace(
            self,
            rows=self.rows[places],
            cols=self.cols[places],
            inputs=self.inputs[places],
            values=self.values[places],
        )

    def followed_by(self, more: "Dyads") -> "Dyads":
        """These events and, after them, others that `encode` has read."""
        parts = {
            name: np.concatenate([getattr(self, name), getattr(more, name)])
            for name in ("rows", "cols", "inputs", "values")
        }
        return Dyads(more.codebook, **parts)

    def attributes(self) -> list[Attribute]:
        """The columns that describe a member, with whom they describe in each event."""
        book = self.codebook
        sides = (
            (book.row_attributes, book.row, self.row_names, self.rows),
            (book.col_attributes, book.col, self.col_names, self.cols),
        )
        columns = {one.name: one for one in book.inputs}
        return [
            Attribute(columns[name], side, members, places[:, 0], self.column(name)[:, 0])
            for names, side, members, places in sides
            for name in names
        ]

    def column(self, name: str) -> Float[np.ndarray, "events pair"]:
        """One input column, encoded, for every cell."""
        if name not in self.input_names:
            hint = nearest(name, self.input_names)
            raise DataError(f"there is no input {name!r}. {hint}")
        return self.inputs[..., self.input_names.index(name)]

    @property
    def events(self) -> int:
        """Number of events."""
        return self.rows.shape[0]

    @property
    def pair(self) -> int:
        """Cells per event, 1 or 2."""
        return self.rows.shape[1]

    @property
    def cells(self) -> int:
        """Number of cells of all events."""
        return self.rows.size

    @property
    def row_names(self) -> Names:
        """Names of the rows, in first-seen order."""
        return self.codebook.row_names

    @property
    def col_names(self) -> Names:
        """Names of the columns, in first-seen order."""
        return self.codebook.col_names

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the input columns."""
        return self.codebook.input_names

    def __len__(self) -> int:
        return self.events

    def __repr__(self) -> str:
        inputs = f"inputs: {self._inputs()}" if self.input_names else "no inputs"
        return (
            f"{self.events:,} events, {self.pair} cell{'s' if self.pair > 1 else ''} each; "
            f"{len(self.row_names):,} rows, {len(self.col_names):,} columns; {inputs}"
        )

    def _repr_html_(self) -> str:
        book = self.codebook
        rows = {
            "events": f"{self.events:,}, {self.pair} cell{'s' if self.pair > 1 else ''} each",
            f"rows: {book.row}": f"{len(self.row_names):,}: {display.some(self.row_names)}",
            f"columns: {book.col}": f"{len(self.col_names):,}: {display.some(self.col_names)}",
            "values": ", ".join(book.value),
            "inputs": self._inputs() or "none",
        }
        return display.table("Dyads", rows)

    def _inputs(self) -> str:
        """The input columns, and whom they describe."""
        whose = {attribute.column.name: attribute.side for attribute in self.attributes()}
        told = (f"{n} of {whose[n]}" if n in whose else n for n in self.input_names)
        return ", ".join(told)


def _encoded(
    frame: nw.DataFrame,
    codebook: Codebook,
    source: str,
    optional: bool,
    known: Sequence[Attribute] = (),
) -> Dyads:
    codebook, rows, cols = encoding.members(frame, codebook, source=source)
    sides = {codebook.row: (rows[:, 0], codebook.row_names)}
    sides |= {codebook.col: (cols[:, 0], codebook.col_names)}
    recalled = {
        one.column.name: one.recalled(*sides[one.side], source=source)
        for one in known
        if one.column.name not in frame.columns
    }
    codebook, inputs = encoding.inputs(frame, codebook, recalled, source=source)
    values = encoding.values(frame, codebook, source=source, optional=optional)
    return Dyads(codebook, rows, cols, inputs, values)


def _tell_names_alike(dyads: Dyads, source: str) -> None:
    sides = [(dyads.row_names, dyads.rows)]
    if dyads.pair == 1:
        sides.append((dyads.col_names, dyads.cols))
    for names, places in sides:

        def where(name: str, names: Names = names, places: np.ndarray = places) -> str:
            found = (places == names.index(name)).any(axis=1)
            return spot(source, int(found.argmax()))

        tell_alike(names, where, source=source, depth=4)


def _require_two_names(dyads: Dyads, source: str) -> None:
    sides = (dyads.codebook.row, dyads.row_names), (dyads.codebook.col, dyads.col_names)
    for column, names in sides:
        if len(names) < 2:
            raise DataError(
                f"{source}: column {column!r}: found {names[0]!r} in every event, expected at "
                "least 2 different names; add events of others."
            )
