"""Run the proofs and write docs/proofs.md; `run.py [proof ...]` runs only those named."""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import jax  # noqa: E402

from proofs import (  # noqa: E402
    agreement,
    attributes,
    bugs,
    calibration,
    conditioning,
    extension,
    geweke,
    intercepts,
    irregular,
    linear,
    own_cuts,
    strong,
    table,
)
from proofs.row import CAUGHT, Row  # noqa: E402


def proofs(options: argparse.Namespace) -> dict[str, Callable[[], list[Row]]]:
    """The proofs by name, in the order they run."""
    small = options.small
    geweke_size = geweke.SMALL if small else geweke.FULL
    calibration_size = calibration.SMALL if small else calibration.FULL
    return {
        "linear": lambda: linear.prove(linear.SMALL if small else linear.FULL),
        "extension": lambda: extension.prove(extension.SMALL if small else extension.FULL),
        "conditioning": lambda: conditioning.prove(
            conditioning.SMALL if small else conditioning.FULL
        ),
        "geweke-slice": lambda: geweke.prove(geweke_size, engines=("slice",)),
        "geweke-hmc": lambda: geweke.prove(geweke_size, engines=("hmc",)),
        "attributes": lambda: attributes.prove(geweke_size),
        "irregular": lambda: irregular.prove(geweke_size),
        "intercepts": lambda: intercepts.prove(geweke_size),
        "own-cuts": lambda: own_cuts.prove(geweke_size),
        "planted": lambda: bugs.prove(small),
        **{
            f"calibration-{engine}-{case}": partial(
                calibration.prove, calibration_size, engine, case
            )
            for engine in ("hmc", "slice")
            for case in calibration.CASES
        },
        "strong": lambda: strong.prove(strong.SMALL if small else strong.FULL),
        "agreement": lambda: agreement.prove(
            agreement.SMALL if small else agreement.FULL,
            options.work,
            minutes=options.minutes,
            engines=tuple(options.engines.split(",")),
            batch=options.batch,
        ),
    }


def main() -> None:
    """Parse, run, write; exit 1 unless every row holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proof", nargs="*", help="linear, geweke, ...; all if left out")
    parser.add_argument("--small", action="store_true", help="sizes of the tests")
    parser.add_argument("--work", type=Path, default=ROOT / "proofs" / "unfinished")
    parser.add_argument("--minutes", type=float, default=None, help="stop and save after")
    parser.add_argument("--engines", default="hmc,slice,nuts", help="of `agreement`")
    parser.add_argument("--batch", type=int, default=0, help="further chains of `agreement`")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    options = parser.parse_args()
    known = proofs(options)
    unknown = set(options.proof) - set(known)
    if unknown:
        parser.error(f"no proof {sorted(unknown)}; there are {sorted(known)}")
    with jax.enable_x64(True):
        for name in [] if options.page else options.proof or known:
            begun = time.monotonic()
            rows = known[name]()
            if rows:
                table.keep(name, rows, time.monotonic() - begun)
            for row in rows:
                print(name, row.passed(CAUGHT), *row, sep=" | ", flush=True)
    holds = table.write_page()
    print(f"every row holds: {holds}")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
