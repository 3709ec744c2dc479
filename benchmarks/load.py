"""Memory of long runs against short ones: fits of many draws, backtests of many cutoffs.

    python benchmarks/load.py [--only backtests] [--draws 1000 10000] [--cutoffs 25 50 500]

Every run is a process of its own (benchmarks/memory.py) that keeps its draws on disk; fits
also run with all draws in memory. The first fit, and the first backtest, compile; the others
find those programs. Results go to benchmarks/results/load.json, where `--only` leaves the rest.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from places import ROOT, known_result, write_result

from dpmf.inference.identity import cores

MEMORY = ROOT / "benchmarks" / "memory.py"


def measured(what: str, size: str, count: int, programs: str, *, kept: bool) -> dict[str, Any]:
    """One run in a process of its own, which finds and leaves compiled programs in a folder."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, str(MEMORY), what, f"--{size}", f"{count}"]
        place = ["--checkpoint", str(Path(folder) / "run")] if kept else []
        known = os.environ | {"JAX_COMPILATION_CACHE_DIR": programs}
        printed = subprocess.run(
            [*words, *place], check=True, capture_output=True, text=True, env=known
        )
    told = json.loads(printed.stdout.splitlines()[-1])
    found = {
        size: count,
        "kept_on": "disk" if kept else "memory",
        "most_mib": round(told["most_bytes"] / 2**20),
        "seconds": round(time.monotonic() - began),
    }
    if what == "fit":
        found["draws_mib"] = round(told["bytes_of_draws"] / 2**20)
    print(json.dumps(found), flush=True)
    return found


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--cutoffs", type=int, nargs="+", default=[25, 50, 500])
    parser.add_argument("--only", choices=["fits", "backtests"])
    given = parser.parse_args()
    wanted = [given.only] if given.only else ["fits", "backtests"]
    with tempfile.TemporaryDirectory() as programs:
        run(wanted, given.draws, given.cutoffs, programs)


def run(wanted: list[str], draws: list[int], cutoffs: list[int], programs: str) -> None:
    """Run what is wanted, write what was found."""
    about = {"cores": cores(), "jax": version("jax")}
    known = known_result("load")
    if known and known["about"] != about and len(wanted) == 1:
        sys.exit(f"load.json was measured with {known['about']}, not {about}: run all of it.")
    found: dict[str, Any] = known | {"about": about}
    if "fits" in wanted:
        found["fits"] = [
            measured("fit", "draws", count, programs, kept=kept)
            for kept in (True, False)
            for count in draws
        ]
        write_result("load", found)  # the rest takes longer
    if "backtests" in wanted:
        found["backtests"] = [
            measured("backtest", "cutoffs", count, programs, kept=True) for count in cutoffs
        ]
        write_result("load", found)


if __name__ == "__main__":
    main()
