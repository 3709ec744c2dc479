"""A density in; lines of text that show it out."""

import numpy as np
from jaxtyping import Float

BLOCKS = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#@"  # for terminals that know letters alone


def density_lines(
    density: Float[np.ndarray, " columns"], *, height: int = 6, blocks: bool = True
) -> list[str]:
    """A picture of a density, the top line first.

    Args:
        density: One value for each column of characters.
        height: Lines.
        blocks: Whether block characters may be used.
    """
    marks = BLOCKS if blocks else PLAIN
    eighths = np.round(density / density.max() * height * 8).astype(int)
    rows = range(height - 1, -1, -1)
    return ["".join(marks[int(np.clip(n - 8 * row, 0, 8))] for n in eighths) for row in rows]


def axis_lines(low: float, high: float, width: int, marks: dict[float, str]) -> list[str]:
    """An axis with labels under some values: a line of ticks, and one of labels.

    Args:
        low: Value at the left end.
        high: Value at the right end.
        width: Characters.
        marks: Value -> label; a label that would run into the one before it is left out.
    """
    ticks, labels = ["-"] * width, [" "] * width
    free = 0
    for value, label in sorted(marks.items()):
        place = round((value - low) / (high - low) * (width - 1))
        if not 0 <= place < width:
            continue
        ticks[place] = "+"
        start = min(max(place - len(label) // 2, 0), width - len(label))
        if start >= free:
            labels[start : start + len(label)] = label
            free = start + len(label) + 1
    return ["".join(ticks), "".join(labels).rstrip()]
