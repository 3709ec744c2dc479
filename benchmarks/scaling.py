"""How time and memory grow with the problem, one size at a time.

    python benchmarks/scaling.py [--sizes events,members,inputs,rank,chains] [--points 4]
        [--name scaling]

Events of two sets of members over weeks, one function of time for each member and feature
(Matern 1/2, everything sampled by `hmc`). Each point is fitted in a process of its own. A draw
is one of every chain. Seconds are those of sampling once compiled: per evaluation of the
density (slices of hyperparameters included), which is what grows with a size alone; per draw,
which also depends on how long trajectories have become; and per effective draw of the fitted
means (median). Memory is the most that the process held beyond what it held before: on a CPU
most of it is the compiler's, on a GPU it is what was in use there. Slopes are those of a line
through the logarithms (1 is linear growth); per effective draw, of converged fits alone. Sizes
that were measured before, in the same way, stay among the results.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from places import known_result, write_result

import dpmf

BASE = {"events": 2000, "members": 20, "inputs": 40, "rank": 2, "chains": 4}
POINTS = {  # the base is one of each
    "events": [1000, 2000, 4000, 8000],
    "members": [10, 20, 40, 80],
    "inputs": [20, 40, 80, 160],
    "rank": [1, 2, 4, 8],
    "chains": [2, 4, 8, 16],
}
WARMUP, DRAWS = 200, 200
CELLS = 40  # fitted means whose effective draws are counted
MEASURES = ("s_per_evaluation", "s_per_draw", "s_per_effective", "memory_mb")
CONVERGED = 1.05  # R-hat


def main() -> None:
    """Measure every point, print slopes, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="scaling", help="of the results")
    parser.add_argument("--sizes", default=",".join(POINTS))
    parser.add_argument("--points", type=int, default=4, help="of each size, smallest first")
    parser.add_argument("--warmup", type=int, default=WARMUP)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--point", type=json.loads, help="measure this one, print it as JSON")
    options = parser.parse_args()
    if options.point:
        print(json.dumps(measured(options.point, options.warmup, options.draws)))
        return
    chosen = {name: POINTS[name][: options.points] for name in options.sizes.split(",")}
    about = {"base": BASE, "warmup": options.warmup, "draws": options.draws}
    about |= {"cores": os.cpu_count(), "jax": version("jax"), "dpmf": dpmf.__version__}
    found: dict[str, dict[str, Any]] = {}
    seen: dict[str, dict[str, Any]] = {}
    for name, values in chosen.items():
        rows = []
        for value in values:
            key = json.dumps(BASE | {name: value})
            if key not in seen:
                seen[key] = _in_its_own_process(key, options.warmup, options.draws)
            rows.append({name: value} | seen[key])
            print(json.dumps(rows[-1]), flush=True)
        slopes = slopes_of(name, rows)
        print(name, slopes, flush=True)
        found[name] = {"points": rows, "slopes": slopes}
        if len(values) < len(POINTS[name]):
            print("a part of the points: nothing is written")
            continue
        kept = known_result(options.name)
        others = kept.get("sizes", {}) if kept.items() >= about.items() else {}
        write_result(options.name, about | {"sizes": others | found})


def slopes_of(name: str, rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """The slope of each measure; None where fewer than three points have one."""
    found: dict[str, float | None] = {}
    for measure in MEASURES:
        used = rows
        if measure == "s_per_effective":
            used = [row for row in rows if row["rhat_max"] <= CONVERGED]
        sizes, values = [row[name] for row in used], [row[measure] for row in used]
        found[measure] = slope(sizes, values) if len(used) >= 3 else None
    return found


def slope(sizes: list[int], values: list[float]) -> float:
    """Of a line through the logarithms."""
    return round(float(np.polyfit(np.log(sizes), np.log(values), 1)[0]), 2)


def measured(sizes: dict[str, int], warmup: int, draws: int) -> dict[str, Any]:
    """What one fit took."""
    import jax

    from dpmf.inference.chains import CHUNK
    from dpmf.inference.diagnostics import diagnostics

    if draws < 2 * CHUNK:
        raise SystemExit(f"--draws {draws}: at least {2 * CHUNK}, of which {CHUNK} are timed.")
    data = dpmf.Dyads.from_frame(
        events(sizes), row="row", col="col", value="value", inputs=["week"]
    )
    model = dpmf.DPMF(rank=sizes["rank"], kernel=dpmf.kernels.Matern12("week"))
    times: list[float] = []

    def told(stage: str, done: int, total: int) -> None:
        if stage == "sampling":
            times.append(time.monotonic())

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fit = model.fit(
        data, chains=sizes["chains"], warmup=warmup, draws=draws, progress=told, seed=1
    )
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    device = jax.devices()[0]
    if device.platform == "gpu":
        peak = device.memory_stats()["peak_bytes_in_use"] / 2**20
    # The first chunk also compiles what keeps its draws.
    per_draw = (times[-1] - times[0]) / (draws - CHUNK)
    some = np.linspace(0, len(data.values) - 1, CELLS).astype(int)
    mean = fit.predict(events(sizes).iloc[some]).y
    cells = np.asarray(mean).reshape(sizes["chains"], draws, -1)
    checked = diagnostics({"y": cells}, fit.draws.stats)
    effective = float(np.median(checked.ess_bulk))
    steps = float(np.mean(fit.draws.stats["steps"]))
    return {
        "device": device.device_kind,
        "s_per_evaluation": per_draw / (steps + 1),
        "s_per_draw": per_draw,
        "s_per_effective": per_draw * draws / effective,
        "effective": effective,
        "rhat_max": float(np.max(checked.rhat)),
        "steps": steps,
        "memory_mb": peak,
    }


def events(sizes: dict[str, int]) -> pd.DataFrame:
    """Events of members whose strength wanders; every member and week has some."""
    count, members, weeks = sizes["events"], sizes["members"], sizes["inputs"]
    generator = np.random.default_rng(0)
    walks = generator.normal(0, 0.3, (2, members, weeks)).cumsum(axis=2)
    row = np.arange(count) % members
    col = generator.permutation(count) % members
    week = generator.permutation(count) % weeks
    value = 20 + walks[0, row, week] + walks[1, col, week] + generator.normal(0, 2, count)
    return pd.DataFrame({"row": row, "col": col, "week": week, "value": value})


def _in_its_own_process(sizes: str, warmup: int, draws: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--point", sizes]
    command += ["--warmup", str(warmup), "--draws", str(draws)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(told.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
