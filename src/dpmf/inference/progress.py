"""How far a fit has come, told to a terminal or to anyone who asks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, int], None]  # stage, steps done, steps in all


@contextmanager
def reporting(progress: bool | Report) -> Iterator[Report]:
    """A function to call after every chunk of work.

    Args:
        progress: True draws a bar if standard error is a terminal, False stays silent; a
            function is called with the stage, the steps done and the steps in all.
    """
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.disable = not bar.console.is_terminal
        task = bar.add_task("compiling", total=None)

        def report(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total)

        yield report
