"""How far a fit has come, told to a terminal or to anyone who asks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from jaxtyping import Float

Report = Callable[[str, int, int], None]  # stage, steps done, steps in all
LEAST = 4  # draws of a chain that an R-hat can be told from
MEMORY = 3600.0  # seconds of work that the time left is estimated from: chunks may be slow


class Display:
    """A report that is drawn, and can show whether the chains agree so far."""

    def __init__(self, bar: Any, chains: int | None, stages: Mapping[str, int]) -> None:
        """Args:
        bar: A `rich` progress bar.
        chains: How many run; None says nothing of them.
        stages: Steps of each stage, in order, so that the time left is that of all of them;
            a stage that is not among them is a bar of its own.
        """
        self.bar, self.stages = bar, stages
        own = f"{chains} chain{'s' if chains > 1 else ''}  " if chains else ""
        self.task = bar.add_task("compiling", total=None, own=own, count="", rhat="")

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Draw how far a stage has come."""
        fields = {"description": stage, "count": f"{done}/{total}"}
        if stage not in self.stages:
            self.bar.update(self.task, completed=done, total=total, **fields)
            return
        names = list(self.stages)
        before = sum(self.stages[name] for name in names[: names.index(stage)])
        completed = before + self.stages[stage] * done / total
        whole = sum(self.stages.values())
        self.bar.update(self.task, completed=completed, total=whole, **fields)

    def agree(self, traces: Float[np.ndarray, "chains draws"]) -> None:
        """Show R-hat of a number that every chain has traced so far."""
        if self.bar.disable or traces.shape[0] < 2 or traces.shape[1] < LEAST:
            return
        from arviz_stats.base import array_stats

        with np.errstate(divide="ignore", invalid="ignore"):  # a chain that never moved
            rhat = float(array_stats.rhat(np.asarray(traces)))
        self.bar.update(self.task, rhat=f"R-hat {rhat:.3f}  ")


@contextmanager
def reporting(
    progress: bool | Report,
    chains: int | None = None,
    stages: Mapping[str, int] | None = None,
) -> Iterator[Report]:
    """A function to call after every chunk of work.

    Args:
        progress: True draws a bar if standard error is a terminal, False stays silent; a
            function is called with the stage, the steps done and the steps in all.
        chains: How many run, for the bar.
        stages: Steps of each stage, for the time left.
    """
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        """The time left in words; until there is something to tell it from, the time taken."""

        def render(self, task: Any) -> Any:
            if task.total is None:
                return Text(f"{task.elapsed or 0:.0f} s so far", style="progress.elapsed")
            return super().render(task) + Text(" left", style="progress.remaining")

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(),
        TextColumn("{task.fields[count]}  {task.fields[own]}{task.fields[rhat]}"),
        TimeLeft(),
    )
    console = Console(stderr=True)
    drawn = console.is_terminal
    bar = Progress(
        *columns,
        console=console,
        transient=True,
        speed_estimate_period=MEMORY,
        disable=not drawn,
    )
    # Old versions of rich end a bar that was never drawn with an empty line.
    with bar if drawn else nullcontext():
        yield Display(bar, chains, stages or {})
