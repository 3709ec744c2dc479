"""Links at full size: `examples/links.py` with all its viewers and films, its figures kept.

    python benchmarks/links.py [--draws 150] [--name links]

Written to benchmarks/results/links.json: links to learn from, members, area under the curve and
log loss of this package and of logistic matrix factorization (`implicit`), seconds in all.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from places import ROOT, write_result

VIEWERS, FILMS = 671, 500
SIZES = re.compile(r"([\d,]+) links of ([\d,]+) members (.*)")
SCORES = re.compile(r"(\w+): AUC ([\d.]+), log loss ([\d.]+)")


def figures(said: str) -> dict[str, Any]:
    """What the example has printed, as numbers."""
    sizes = SIZES.search(said)
    assert sizes is not None, said
    links, members = (int(one.replace(",", "")) for one in sizes.groups()[:2])
    scores = {
        name.lower(): {"auc": float(auc), "log_loss": float(loss)}
        for name, auc, loss in SCORES.findall(said)
    }
    return {"links": links, "members": members, "fit": sizes.group(3), **scores}


def main() -> None:
    """Run the example once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="links", help="of the results")
    parser.add_argument("--draws", type=int, default=150)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "links.html")
        sizes = [str(one) for one in (VIEWERS, FILMS, options.draws)]
        command = [sys.executable, str(ROOT / "examples" / "links.py"), place, *sizes]
        clock = time.monotonic()
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = figures(done.stdout) | {"draws": options.draws}
    found |= {"seconds": round(time.monotonic() - clock, 1), "cores": os.cpu_count()}
    print(json.dumps(found, indent=1))
    write_result(options.name, found)


if __name__ == "__main__":
    main()
