"""Ratings: this package against PMF, myFM and SVD++, on the same splits and by the same scores.

    python benchmarks/ratings.py [--sets movielens,insteval] [--splits last,random]
        [--contestants dpmf,dpmf_shared,pmf,myfm_probit,myfm_regression,svdpp] [--ratings N]
        [--clock round|day] [--validate] [--ladder]

Each contestant learns in a process of its own, whose peak memory is told. Results are written
to benchmarks/results/ratings.json as they come, beside those of runs that were made before;
with --ratings, which takes a part of the training ratings, or --validate, which holds out from
them, as choices must be made, nothing is written. --ladder fits more and more ratings instead,
and prints how the cost of an evaluation grows.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from datetime import date
from importlib.metadata import version
from typing import Any

import numpy as np
from places import known_result, write_result
from rated import CLOCKS, SETS, scores, split
from raters import CONTESTANTS, Task
from scaling import slope

LADDER = (12_500, 25_000, 50_000, 90_000)
LADDER_STEPS = {"warmup": 100, "draws": 100}  # enough to time an evaluation, not to converge
PEERS = {"myfm": "myfm", "surprise": "scikit-surprise"}


def main() -> None:
    """Run what is asked for."""
    options = _options()
    if options.one:
        print(json.dumps(measured(*options.one.split(","), _settings(options))))
    elif options.ladder and options.validate:
        sys.exit("--ladder measures time: there is nothing to validate")
    elif options.ladder:
        _ladder(options)
    else:
        _contest(options)


def measured(name: str, how: str, contestant: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Scores, seconds and memory of one contestant on one split."""
    import jax

    jax.config.update("jax_num_cpu_devices", len(os.sched_getaffinity(0)))  # a chain on each
    ratings = SETS[name]()
    train, test = split(ratings.frame, how)
    if settings["validate"]:
        train, test = split(train, how, settings["seed"] + 1)
    train = part(train, settings["ratings"])
    clock = time.monotonic()
    told: list[tuple[str, int, float]] = []

    def progress(stage: str, done: int, total: int) -> None:
        told.append((stage, done, time.monotonic()))

    given = Task(ratings, how, train, test, settings["seed"], settings | {"progress": progress})
    forecaster = CONTESTANTS[contestant](given)
    fit_s = time.monotonic() - clock
    found = forecaster(test)
    figures = scores(found.forecast, test, ratings)
    row = {**figures, "fit_s": round(fit_s, 1), "ratings": len(train), **found.about}
    row["made"] = {"dpmf": version("dpmf"), "day": date.today().isoformat()}
    sampling = [(done, at) for stage, done, at in told if stage == "sampling"]
    if len(sampling) > 1:  # the first call also compiles what keeps its draws
        (first, start), (last, end) = sampling[0], sampling[-1]
        each = settings["thin"] * (row["leapfrog_steps"] + 1)
        row["s_per_evaluation"] = (end - start) / ((last - first) * each)
    return row | {"predict_s": round(time.monotonic() - clock - fit_s, 1), "peak_mib": peak()}


def part(frame, count: int | None):
    """Some of the ratings, at random."""
    if count is None or count >= len(frame):
        return frame
    return frame.iloc[np.sort(np.random.default_rng(0).permutation(len(frame))[:count])]


def peak() -> int:
    """The most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _contest(options: argparse.Namespace) -> None:
    written = options.ratings is None and not options.validate
    found = known_result(options.name) if written else {}
    found["machine"] = {"cores": os.cpu_count()}
    found["machine"] |= {name: version(package) for name, package in PEERS.items()}
    for name in options.sets.split(","):
        for how in (one for one in options.splits.split(",") if one in SETS[name]().splits):
            for contestant in options.contestants.split(","):
                row = _in_its_own_process([name, how, contestant], options)
                print(name, how, contestant, json.dumps(row), flush=True)
                found.setdefault(name, {}).setdefault(how, {})[contestant] = row
                if written:
                    write_result(options.name, found)
            print(told(name, how, found.get(name, {}).get(how, {})), flush=True)


def told(name: str, how: str, rows: dict[str, dict[str, Any]]) -> str:
    """The scores of one split as a table, best log probability first."""
    lines = [f"{name}, {how}: rmse, mean log probability, calibration, fit s, peak MiB"]
    for who, row in sorted(rows.items(), key=lambda item: -item[1]["mean_log_prob"]):
        lines.append(
            f"  {who:16} {row['rmse']:.4f} {row['mean_log_prob']:.4f} "
            f"{row['calibration']:.4f} {row['fit_s']:8.1f} {row['peak_mib']:6d}"
        )
    return "\n".join(lines)


def _ladder(options: argparse.Namespace) -> None:
    rows = []
    for count in LADDER:
        options.ratings = count
        options.warmup, options.draws = LADDER_STEPS["warmup"], LADDER_STEPS["draws"]
        row = _in_its_own_process(["movielens", "last", "dpmf"], options)
        rows.append(row)
        print(count, json.dumps(row), flush=True)
    sizes = [row["ratings"] for row in rows]
    grown = {name: slope(sizes, [row[name] for row in rows]) for name in ("s_per_evaluation",)}
    print(f"slope of seconds per evaluation with ratings: {grown['s_per_evaluation']}")
    found = known_result(options.name)
    found["ladder"] = {"points": rows, "slopes": grown}
    write_result(options.name, found)


def _in_its_own_process(which: list[str], options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", ",".join(which)]
    for name, value in _settings(options).items():
        word = value if isinstance(value, str) else json.dumps(value)
        command += [] if value is None else [f"--{name}", word]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


SETTINGS = ("ratings", "rank", "intercepts", "chains", "warmup", "draws", "thin", "seed")
SETTINGS += ("clock", "validate")


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name) for name in SETTINGS}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="ratings", help="of the results")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", default="last,random")
    parser.add_argument("--contestants", default=",".join(CONTESTANTS))
    parser.add_argument("--ratings", type=int, help="learn from so many of them alone")
    parser.add_argument("--ladder", action="store_true", help="how the cost grows")
    parser.add_argument("--rank", type=int, default=1, help="of dpmf and pmf")
    parser.add_argument("--intercepts", type=json.loads, default=True, help="true or false")
    parser.add_argument("--clock", choices=CLOCKS, default="round", help="of users who rate")
    parser.add_argument(
        "--validate",
        type=json.loads,
        nargs="?",
        const=True,
        default=False,
        help="true or false",
    )
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=400)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--thin", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", help="a set, split and contestant; print its row as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
