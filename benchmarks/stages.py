"""Where the time of a benchmark goes: compilation, layouts, steps, scores.

    python benchmarks/stages.py benchmarks/daily.py [its own options]

Runs another benchmark as it is, and prints seconds as they pass: stages of a backtest by the
default protocol, each call of the chains, and whatever jax traces or compiles for long.
"""

import functools
import runpy
import sys
import time
from typing import Any

import jax

from dpmf.backtest import rolling, scoring
from dpmf.inference import chains, engines
from dpmf.sports import cutoff_fits

STAGES = {
    cutoff_fits: ("posed", "common_shapes", "laid_out", "starts", "_run", "forecasts_of"),
    scoring: ("_scores",),
    rolling: ("tables", "summary"),
    engines: ("_blank", "_trajectories"),
    chains: ("_prepared",),
}
LONG = 0.5  # seconds
BEGUN = time.monotonic()


def timed(module: Any, name: str) -> None:
    """Let a function say how long it took, its results included."""
    function = getattr(module, name)

    @functools.wraps(function)
    def wrapped(*args: Any, **options: Any) -> Any:
        begun = time.monotonic()
        found = jax.block_until_ready(function(*args, **options))
        say(f"{name.lstrip('_')} took {time.monotonic() - begun:.2f}")
        return found

    setattr(module, name, wrapped)


def say(what: str) -> None:
    """A line, and when it was said."""
    print(f"[{time.monotonic() - BEGUN:7.1f}] {what}", flush=True)


def compiled(event: str, seconds: float, **about: Any) -> None:
    """What jax did, where it took long."""
    if seconds > LONG:
        say(f"    jax: {event.split('/')[-1]} {about.get('fun_name', '')} {seconds:.2f}")


if __name__ == "__main__":
    for module, names in STAGES.items():
        for name in names:
            timed(module, name)
    jax.monitoring.register_event_duration_secs_listener(compiled)
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
    say("end")
