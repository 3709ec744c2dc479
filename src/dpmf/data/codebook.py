"""What the columns of a frame mean, and which name or level has which number."""

import datetime
from dataclasses import dataclass
from typing import Any

from dpmf.data.columns import Kind
from dpmf.data.names import Names, from_json, to_json
from dpmf.shown import shown


@dataclass(frozen=True)
class InputColumn:
    """One column of side information, and how its entries become numbers.

    Numbers stay as they are; dates are days since 1970-01-01 in UTC; booleans are 0
    and 1; a category is the place of its level.
    """

    name: str
    kind: Kind
    levels: Names = ()  # of a category, in first-seen order

    def worded(self, entry: float) -> str:
        """An encoded entry as a message shows it."""
        if self.kind == "category":
            return shown(self.levels[int(entry)])
        if self.kind == "date":
            return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=entry))
        return str(bool(entry)) if self.kind == "boolean" else f"{entry:g}"


@dataclass(frozen=True)
class Codebook:
    """The numbering of members and category levels, in first-seen order.

    It only ever grows at the end, so that a number once given keeps its meaning.
    """

    row: str
    col: str
    value: tuple[str, ...]  # one name, or two: the second cell swaps row and column
    row_names: Names = ()
    col_names: Names = ()  # equal to `row_names` where there are two values
    inputs: tuple[InputColumn, ...] = ()
    mirrored: tuple[str, ...] = ()  # inputs that change sign in the second cell
    row_attributes: tuple[str, ...] = ()  # inputs that are the same in all events of a row
    col_attributes: tuple[str, ...] = ()  # the same of columns

    @property
    def pair(self) -> int:
        """Cells per event."""
        return len(self.value)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the input columns, in the order of the encoded array."""
        return tuple(column.name for column in self.inputs)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the input columns that describe a member."""
        return self.row_attributes + self.col_attributes

    def to_dict(self) -> dict[str, Any]:
        """The codebook as JSON can hold it."""
        return {
            "row": self.row,
            "col": self.col,
            "value": list(self.value),
            "row_names": [to_json(name) for name in self.row_names],
            "col_names": [to_json(name) for name in self.col_names],
            "inputs": [
                {"name": i.name, "kind": i.kind, "levels": [to_json(x) for x in i.levels]}
                for i in self.inputs
            ],
            "mirrored": list(self.mirrored),
            "row_attributes": list(self.row_attributes),
            "col_attributes": list(self.col_attributes),
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Codebook":
        """The codebook that `to_dict` stored."""
        return cls(
            row=stored["row"],
            col=stored["col"],
            value=tuple(stored["value"]),
            row_names=tuple(map(from_json, stored["row_names"])),
            col_names=tuple(map(from_json, stored["col_names"])),
            inputs=tuple(
                InputColumn(i["name"], i["kind"], tuple(map(from_json, i["levels"])))
                for i in stored["inputs"]
            ),
            mirrored=tuple(stored["mirrored"]),
            row_attributes=tuple(stored.get("row_attributes", ())),  # older ones have none
            col_attributes=tuple(stored.get("col_attributes", ())),
        )
