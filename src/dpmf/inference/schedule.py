"""How the steps of a warm-up are spent."""

from typing import NamedTuple


class Window(NamedTuple):
    """A stretch of warm-up."""

    steps: int
    most: int  # leapfrog steps in one trajectory: early ones are not worth more
    learn_length: bool
    close: bool  # take new scales from it at its end


def windows(warmup: int, resumed: bool = False) -> list[Window]:
    """Short windows first, while the scales are poor; the last one settles the step size.

    Args:
        warmup: Steps in all; every one of them is used.
        resumed: Whether the scales come from an earlier warm-up; they are then kept.
    """
    if resumed:
        return [Window(warmup, 256, True, False)] if warmup else []
    shares = [0.1, 0.1, 0.15, 0.25, 0.25]
    most = [16, 32, 64, 128, 256]
    steps = [int(share * warmup) for share in shares]
    last = warmup - sum(steps)
    learning = [
        Window(count, limit, i > 1, i > 0)
        for i, (count, limit) in enumerate(zip(steps, most, strict=True))
    ]
    return [w for w in [*learning, Window(last, 256, False, False)] if w.steps > 0]
