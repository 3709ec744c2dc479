"""docs/benchmarks.md, from what benchmarks have left in benchmarks/results.

python benchmarks/page.py
"""

from pathlib import Path
from typing import Any

from places import ROOT, known_result

from dpmf.whole import write_whole

PAGE = ROOT / "docs" / "benchmarks.md"
SCRIPTS = {
    "startup": "seconds until the command, the import and a first fit do something",
    "scaling": "time and memory as events, members, inputs, rank and chains grow",
    "samplers": "effective draws per second, against NUTS and elliptical slices",
    "weekly": "weekly refits of an NBA season, against kickscore and melo",
    "daily": "a season of the NBA refitted every day, for a GPU",
}
TARGETS = {"weekly": "bench-backtest"}
HEAD = """# Benchmarks

Written by `python benchmarks/page.py` from `benchmarks/results`. Every number has its command
beside it. The forecasts themselves are measured in [the paper again](reproduction.md).

| command | what it measures | result |
| --- | --- | --- |
"""
START = """
## Start

`make bench-startup`, on {cores} cores. The first fit is that of three embedded NFL seasons,
DPMF(t,h), rank 1, until 25 steps of warm-up are done.

| what | seconds |
| --- | --- |
| `dpmf --help` | {help_s:g} |
| `import dpmf` | {import_s:g} |
| a first fit, nothing compiled before | {first_fit_cold_s:g} |
| the same, with the compiled programs of an earlier process | {first_fit_cached_s:g} |
"""
SIZE = """
## Size

`make bench-scaling`, on {cores} cores, jax {jax}: Matérn 1/2 over weeks, everything sampled by
`hmc`, {warmup} steps of warm-up and {draws} draws. One size at a time, from {base}.
A draw is one of every chain. Memory is the most that the process held beyond what it held
before; on a CPU most of it is the compiler's. A slope is that of a line through the
logarithms: 1 is linear growth; that of effective draws is of fits with R-hat of at most 1.05.
"""
MEASURES = {
    "s_per_evaluation": ("ms per evaluation", 1000, 2),
    "s_per_draw": ("ms per draw", 1000, 0),
    "s_per_effective": ("ms per effective draw", 1000, 0),
    "memory_mb": ("MB", 1, 0),
    "rhat_max": ("largest R-hat", 1, 3),
}


def main() -> None:
    """Write the page."""
    text = page()
    write_whole(PAGE, lambda place: Path(place).write_text(text))


def page() -> str:
    """All that is known, as Markdown."""
    found = {name: known_result(name) for name in SCRIPTS}
    rows = (
        f"| `make {_target(name)}` | {what} | {_where(name, found[name])} |\n"
        for name, what in SCRIPTS.items()
    )
    tables = (write(found[name]) for name, write in TABLES.items() if found[name])
    return HEAD + "".join(rows) + "".join(tables)


def startup(found: dict[str, Any]) -> str:
    """Seconds of the first things."""
    return START.format(**found)


def scaling(found: dict[str, Any]) -> str:
    """A table for every size."""
    base = ", ".join(f"{name} {value:,}" for name, value in found["base"].items())
    tables = (_size(name, one) for name, one in found["sizes"].items())
    return SIZE.format(**found | {"base": base}) + "".join(tables)


def _size(name: str, found: dict[str, Any]) -> str:
    heads = [name, *(head for head, _, _ in MEASURES.values())]
    rows = [[f"{one[name]:,}", *_figures(one)] for one in found["points"]]
    slopes = [found["slopes"].get(measure) for measure in MEASURES]
    last = ["slope", *("" if one is None else f"{one:g}" for one in slopes)]
    lines = [heads, ["---"] * len(heads), *rows, last]
    return f"\n### {name.capitalize()}\n\n" + "".join(
        f"| {' | '.join(line)} |\n" for line in lines
    )


def _figures(point: dict[str, Any]) -> list[str]:
    return [f"{point[name] * by:,.{digits}f}" for name, (_, by, digits) in MEASURES.items()]


def _target(name: str) -> str:
    return TARGETS.get(name, f"bench-{name}")


def _where(name: str, found: dict[str, Any]) -> str:
    if not found:
        return "none is kept yet"
    return "below" if name in TABLES else f"`benchmarks/results/{name}.json`"


TABLES = {"startup": startup, "scaling": scaling}


if __name__ == "__main__":
    main()
