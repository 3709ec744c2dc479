"""Rows kept as JSON, one file per proof, and the page made from all of them."""

import datetime
import json
from importlib.metadata import version
from pathlib import Path

import jax

from proofs.row import CAUGHT, TOTAL_FALSE_ALARM, Row

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "proofs.md"

HEAD = """# What was proved

Made by `proofs/run.py` from `proofs/results`; the table below says by which version, and where
a run was not that of `make prove` as it stands. A proof that is not listed has no full-size
result. Each proof is one module in `proofs/`, and small versions of all of them run in
`make test` or `make test-long`. p-values are the smallest over all compared quantities, times
their number. Versions of proofs made before 0.4.0 are those of the commits that brought them.

False-alarm rate: {total:g} for the table as a whole, so a row passes if its
p-value is above {each:.1e}; a planted bug counts as caught below {caught:g}.

| proof | case | engine | compared | size | p-value | note | holds |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def keep(proof: str, rows: list[Row], seconds: float) -> None:
    """Write the rows of one proof, replacing its earlier ones."""
    RESULTS.mkdir(exist_ok=True)
    plain = {
        "rows": [row._asdict() for row in rows],
        "dpmf": version("dpmf"),
        "device": jax.devices()[0].device_kind,
        "seconds": round(seconds),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    (RESULTS / f"{proof}.json").write_text(json.dumps(plain, indent=1) + "\n")


def write_page() -> bool:
    """Make the page from whatever results there are; whether every row holds."""
    kept = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    rows = [Row(**row) for one in kept.values() for row in one["rows"]]
    each = TOTAL_FALSE_ALARM / max(sum(not row.planted for row in rows), 1)
    page = HEAD.format(total=TOTAL_FALSE_ALARM, each=each, caught=CAUGHT)
    page += "".join(_line(row, each) for row in rows)
    page += (
        "\n| proof | dpmf | device | wall time | date | remark |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
    )
    for proof, one in kept.items():
        page += (
            f"| {proof} | {one['dpmf']} | {one['device']} | {one['seconds']} s | {one['date']} "
        )
        page += f"| {one.get('remark', '')} |\n"
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page)
    return all(row.passed(each) for row in rows)


def _line(row: Row, false_alarm: float) -> str:
    holds = row.passed(false_alarm)
    verdict = (
        ("caught" if holds else "NOT CAUGHT") if row.planted else ("yes" if holds else "NO")
    )
    p_value = f"{row.p_value:.2g}"
    cells = [
        row.proof,
        row.case,
        row.engine,
        row.quantity,
        row.size,
        p_value,
        row.note,
        verdict,
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
