"""The most memory that a process takes of its own while it fits, or backtests.

Pages of files, which the system can drop at any time, are not counted (Linux: RssAnon).

    python benchmarks/memory.py fit --draws 10000 --checkpoint run
    python benchmarks/memory.py backtest --cutoffs 500 --checkpoint folder
"""

import argparse
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

PAUSE = 0.005  # seconds between two looks
MEMBERS, EVENTS = 2000, 3000  # of each side; and who met whom
TEAMS, WEEKS = 30, 25  # of a season, in which every team plays every week
DAYS = 6  # from the first game of a week to its last: the last week is no odd days
CHAINS, DRAWS = 2, 200  # of a cutoff


def own_bytes() -> int:
    """What this process holds now, pages of files left out."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


@contextmanager
def watched() -> Iterator[list[int]]:
    """A list whose last entry is the most that was held at once."""
    most, done = [0], threading.Event()

    def look() -> None:
        while not done.is_set():
            most[-1] = max(most[-1], own_bytes())
            time.sleep(PAUSE)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


def fit(draws: int, checkpoint: Path | None) -> int:
    """Many members, so that a draw is large; bytes of all draws."""
    import jax

    from dpmf import PMF, Dyads

    random = np.random.default_rng(0)
    names = [f"{i}" for i in range(MEMBERS)]
    frame = pd.DataFrame(
        {
            "row": [*names, *random.choice(names, EVENTS - MEMBERS)],
            "col": [*names, *random.choice(names, EVENTS - MEMBERS)],
            "value": random.normal(3.0, 1.0, EVENTS),
        }
    )
    data = Dyads.from_frame(frame, row="row", col="col", value="value")
    options = {"chains": 2, "warmup": 50, "engine": "slice", "progress": False}
    found = PMF().fit(data, draws=draws, checkpoint=checkpoint, budget=2**40, **options)
    return sum(leaf.nbytes for leaf in jax.tree.leaves(found.draws.states))


def backtest(cutoffs: int, folder: Path | None) -> int:
    """A cutoff every week; the number of events that were scored."""
    import dpmf

    found = dpmf.backtest(
        dpmf.Games(_league(cutoffs)),
        [dpmf.sports.score_model(1, ())],
        block="1w",
        window=2,
        baselines=[],
        folder=folder,
        progress=False,
        engine="slice",
        chains=CHAINS,
        warmup=5,
        draws=DRAWS,
    )
    assert len(found.fits) == cutoffs, f"{len(found.fits)} fits of {cutoffs} cutoffs"
    return len(found.scores)


def _league(cutoffs: int) -> pd.DataFrame:
    """Games of so many weeks after a first season."""
    random = np.random.default_rng(0)
    rows = []
    for week in range(WEEKS + cutoffs):
        season, day = divmod(week, WEEKS)
        first = pd.Timestamp(f"{1950 + season}-09-02") + pd.Timedelta(weeks=day)
        order = random.permutation(TEAMS)
        for number, (home, away) in enumerate(zip(order[::2], order[1::2], strict=True)):
            date = first + pd.Timedelta(days=number % 2 * DAYS)
            rows.append((1950 + season, date, f"{home}", f"{away}", *random.poisson(40, 2)))
    names = ["season", "date", "home", "away", "home_score", "away_score"]
    return pd.DataFrame(rows, columns=names)


def main() -> None:
    """Print what was found as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["fit", "backtest"])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--cutoffs", type=int, default=50)
    parser.add_argument("--checkpoint", type=Path, help="folder; in memory if left out")
    given = parser.parse_args()
    with watched() as most:
        if given.what == "fit":
            told = {"draws": given.draws, "bytes_of_draws": fit(given.draws, given.checkpoint)}
        else:
            told = {
                "cutoffs": given.cutoffs,
                "scored": backtest(given.cutoffs, given.checkpoint),
            }
    print(json.dumps({"what": given.what, **told, "most_bytes": most[-1]}))


if __name__ == "__main__":
    main()
