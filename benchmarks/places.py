"""Where benchmarks find the games, and where they leave what they found."""

import json
from pathlib import Path
from typing import Any

from dpmf.whole import make_folder, write_whole

ROOT = Path(__file__).resolve().parents[1]
NBA = ROOT.parent / "shared" / "data" / "nba_games.csv.gz"
RESULTS = ROOT / "benchmarks" / "results"


def known_result(name: str) -> dict[str, Any]:
    """What benchmarks/results/NAME.json holds; nothing where there is none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write_result(name: str, found: dict[str, Any]) -> None:
    """Write benchmarks/results/NAME.json, whole or not at all."""
    make_folder(RESULTS)
    text = json.dumps(found, indent=1) + "\n"
    write_whole(RESULTS / f"{name}.json", lambda place: place.write_text(text))
