"""How long until something happens: the command, the import, the first draw.

    python benchmarks/startup.py

The first fit is that of the embedded games (three seasons, DPMF(t,h), K=1) in a process of its
own: seconds from its first import until 25 steps of warm-up are done, with nothing compiled
before, and with the programs that the first process has left in jax's persistent cache.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from places import write_result

TIMES = 5
FIT = """
import os
import time
begun = time.monotonic()
import dpmf
games = dpmf.Games(dpmf.datasets.nfl()).between(2016, 2018)
def told(stage, done, total):
    print(time.monotonic() - begun, flush=True)
    os._exit(0)
dpmf.sports.score_model(1).fit(games, progress=told)
"""


def main() -> None:
    """Measure, print, write."""
    command = Path(sys.executable).parent / "dpmf"
    found = {
        "cores": os.cpu_count(),
        "help_s": _best([str(command), "--help"]),
        "import_s": _best([sys.executable, "-c", "import dpmf"]),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first_fit_cold_s", "first_fit_cached_s"):
            found[name] = _first_fit(folder)
    print(json.dumps(found, indent=1))
    write_result("startup", found)


def _best(command: list[str]) -> float:
    """Seconds of the fastest of a few calls: the others waited for the machine."""

    def once() -> float:
        begun = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - begun

    return round(min(once() for _ in range(TIMES)), 3)


def _first_fit(cache: str) -> float:
    about = {
        "JAX_COMPILATION_CACHE_DIR": cache,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    told = subprocess.run(
        [sys.executable, "-c", FIT],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | about,
    )
    return round(float(told.stdout.splitlines()[-1]), 2)


if __name__ == "__main__":
    main()
