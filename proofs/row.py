"""What one proof found, and when that counts as passed."""

from typing import NamedTuple

import numpy as np

TOTAL_FALSE_ALARM = 1e-3  # of one complete run, shared equally by all of its rows
CAUGHT = 1e-6  # a planted bug must give a p-value below this


class Row(NamedTuple):
    """One line of the table."""

    proof: str
    case: str
    engine: str
    quantity: str  # how many were compared, and which one came out worst
    size: str
    p_value: float  # smallest over the quantities, times their number; 1 where exact
    note: str = ""
    good: bool = True  # criteria that are not p-values
    planted: bool = False  # a bug was planted: the row passes if the proof fails

    def passed(self, false_alarm: float) -> bool:
        """Whether the row holds at a false-alarm rate."""
        if self.planted:
            return self.p_value < CAUGHT or not self.good
        return self.good and self.p_value > false_alarm  # NaN fails


def worst(p_values: dict[str, np.ndarray]) -> tuple[float, str]:
    """The smallest p-value after Bonferroni over all entries, and what it belongs to."""
    count = sum(np.size(p) for p in p_values.values())
    smallest = {name: float(np.min(p)) for name, p in p_values.items()}
    name = min(smallest, key=lambda n: (not np.isnan(smallest[n]), smallest[n]))
    return min(1.0, smallest[name] * count), f"{count} compared; worst: {name}"


def require(rows: list[Row], false_alarm: float) -> None:
    """Fail with every row that does not hold.

    Args:
        rows: Of one test.
        false_alarm: Of the test as a whole.
    """
    failed = [row for row in rows if not row.passed(false_alarm / len(rows))]
    assert not failed, "\n".join(str(row) for row in failed)
