"""docs/benchmarks.md, from what benchmarks have left in benchmarks/results.

python benchmarks/page.py
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from places import ROOT, known_result
from ratios import told

from dpmf.whole import write_whole

PAGE = ROOT / "docs" / "benchmarks.md"
SCRIPTS = {
    "bench-startup": "seconds until the command, the import and a first fit do something",
    "bench-samplers": "effective draws per second, against NUTS and elliptical slices",
    "bench-backtest": "weekly refits of an NBA season, against kickscore and melo",
    "bench-daily": "a season of the NBA refitted every day, for a GPU",
    "bench-memory": "the most memory that a fit of three NBA seasons holds",
    "bench-load": "memory of long fits and backtests, against that of short ones",
    "bench-scaling": "time and memory as events, members, inputs, rank and chains grow",
    "bench-ratings": "ratings of films and lectures, against PMF, myFM and SVD++",
    "bench-links": "which films a viewer rates next, against logistic matrix factorization",
    "bench-million": "a million simulated ratings, for a GPU",
}
HEAD = """# Benchmarks

Written by `python benchmarks/page.py` from `benchmarks/results`. Every number has its command
beside it. The forecasts themselves are measured in [the paper again](reproduction.md);
[where the time goes](speed.md) says what stands between these figures and faster ones.

| command | what it measures |
| --- | --- |
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
## Size, {on}

`make bench-scaling`, jax {jax}: Matérn 1/2 over weeks, everything sampled by
`hmc`, {warmup} steps of warm-up and {draws} draws. One size at a time, from {base}.
A draw is one of every chain. Memory is the most that the process held beyond what it held
before; on a CPU most of it is the compiler's. A slope is that of a line through the
logarithms: 1 is linear growth; that of effective draws is of fits with R-hat of at most 1.05.
"""
BESIDE = """
Each table was made by a process of its own (`python benchmarks/scaling.py --sizes` and its
name), which shared the device: a point that took much longer than its neighbours may have
waited.
"""
SAMPLERS = """
## Samplers, on {device}, {cores} cores

`make bench-samplers` with rank {rank}, {chains} chains, jax {jax}: {block}, {coordinates:,}
coordinates. Effective draws are those of the predicted means of the next block's games. A
contestant that has not converged (R-hat above 1.05) within its limit enters with its effective
draws as an upper bound. NUTS is given draws of the posterior to start from, the variance of
every coordinate and a step size, all from `hmc`.
"""
RUNS = {
    "sampled": "Everything sampled",
    "fixed": "Kernel hyperparameters held",
    "white": "All but the members' functions held",
}
CONTESTANT = {
    "compile_s": "compile, s",
    "warmup_s": "warm-up, s",
    "sample_s": "sampling, s",
    "draws": "draws of a chain",
    "ess_median": "effective, median",
    "ess_min": "least",
    "ess_median_per_s": "per second of sampling",
    "ess_median_per_total_s": "of all",
    "rhat_max": "largest R-hat",
    "converged": "converged",
    "minutes": "limit, min",
}
WEEKLY = """
## A season of weekly refits

`make bench-backtest`, on {cores} cores ({device}): season {season} of the NBA, {games:,} games,
{cutoffs} refits, each with {chains} chains of {warmup} steps of warm-up and {draws} draws.
Rest is whether a team played the day before; pace, how much is scored in the league. kickscore
knows strengths and a home advantage, and with rest what the day before costs.

"""
FORECASTER = {
    "seconds": "seconds",
    "log_loss": "log loss of the winner",
    "winner_error_pct": "winner error, %",
    "margin_rmse": "RMSE of the margin",
    "ess_median_least": "effective draws, median, of the worst refit",
    "rhat_max": "largest R-hat",
}
DAILY = """
## A season of daily refits{cached}

`make bench-daily`, on {device} and {cores} cores, jax {jax}: season {season} of the NBA, rank
{rank}, {cutoffs} refits side by side, everything sampled, {chains} chains of {warmup} steps of
warm-up and {draws} draws: {seconds:g} s, log probability {mean_log_prob:g}, winner error
{winner_error_pct:g} %, effective draws at least {ess_median_least:g} (median over predicted
means), largest R-hat {rhat_max:g}, above 1.05 at {rhat_above_1_05} of the refits.
"""
CACHED = ", with the compiled programs of an earlier run"
MEMORY = """
## Memory

`make bench-memory`, on {device}, jax {jax}: {games:,} games, rank {rank}, {chains} chains,
{warmup} steps of warm-up and {draws} draws: at most {peak_mib:,} MiB of the whole process, of
them {draws_mib:,} MiB of kept draws.
"""
LOAD = """
## Load

`make bench-load`, cores: {cores}, jax {jax}. Memory is the most that the process held at once,
pages of files left out; in the first row of a table also what its compiler held, whose programs
the others find. Of a fit (PMF, 2,000 members a side,
3,000 events, 2 chains) kept draws are on disk, or in memory; of a backtest (30 teams, a cutoff
every week, 2 chains of 200 draws) they are on disk, and its table of scores in memory.

"""
LOADED = {
    "draws": "draws of a chain",
    "cutoffs": "cutoffs",
    "kept_on": "kept",
    "draws_mib": "MiB of draws",
    "most_mib": "MiB held",
    "seconds": "seconds",
}
RATED = """
## Ratings

`make bench-ratings`, on {cores} cores. All learn from the same ratings and are scored as
probabilities of the rating levels (`benchmarks/rated.py` says how). *last* holds out the last
tenth of each user's ratings, *random* a tenth of all. Calibration is how far chances are off,
on average. Of films, users are functions of how many ratings they had given before, in rounds
of 50; peers are told nothing of time. The largest R-hat below is that of held-out means; what
a fit says of itself looks at hyperparameters too, which may move slower.
"""
DISAGREEING = " Its chains do not agree on held-out means: it does not count."
MILLION = """
## A million ratings

`make bench-million`, on {device}, jax {jax}, dpmf {dpmf}: {ratings:,} simulated ratings by
{users:,} users of {films:,} films, rank {rank}, {chains} chains, {warmup} steps of warm-up and
{draws} of sampling, fitted in {fit_s:g} seconds, compilation included. Of 500 held-out means
the largest R-hat is {rhat_max:.3f} and the median of effective draws {ess_median:.0f}; the mean
log probability of what was held out is {mean_log_prob:.4f}, under the chances it was drawn with
{mean_log_prob_of_the_truth:.4f}. Of all that a fit looks at it says: {line}
"""
LINKS = """
## Links

`make bench-links`, on {cores} cores: {links:,} links of {members:,} members to learn from,
and the last tenth of each viewer's links to forecast, both beside pairs without a link: one was
drawn for every link, and left out if it was one itself; {seconds:g} seconds in all.

"""
CONTESTANTS = {
    "dpmf": "DPMF, users with their own cuts",
    "dpmf_shared": "DPMF, one set of cuts",
    "pmf": "PMF, users with their own cuts",
    "myfm_probit": "myFM, ordered probit",
    "myfm_regression": "myFM, regression",
    "svdpp": "Surprise, SVD++",
}
PAIRS = (
    ("dpmf", "kickscore"),
    ("dpmf_rest_pace", "kickscore"),
    ("dpmf_rest_pace", "kickscore_rest"),
)
SCORES = {  # digits
    "rmse": ("RMSE", 4),
    "mean_log_prob": ("mean log probability", 4),
    "calibration": ("calibration", 4),
    "fit_s": ("seconds", 0),
    "peak_mib": ("MiB", 0),
}
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
    rows = (f"| `make {target}` | {what} |\n" for target, what in SCRIPTS.items())
    found = {name: known_result(name) for name in TABLES}
    tables = (write(found[name]) for name, write in TABLES.items() if found[name])
    return HEAD + "".join(rows) + "".join(tables)


def startup(found: dict[str, Any]) -> str:
    """Seconds of the first things."""
    return START.format(**found)


def samplers(found: dict[str, Any]) -> str:
    """A table for every run."""
    text = SAMPLERS.format(**found["about"])
    for run, what in RUNS.items():
        if run not in found["runs"]:
            continue
        rows = found["runs"][run]["contestants"]
        lines = [
            [name, *(_entry(row, key) for key in CONTESTANT)] for name, row in rows.items()
        ]
        remark = found["runs"][run].get("remark")
        title = f"{what}, {remark}" if remark else what
        text += f"\n{title}:\n\n{_table(['', *CONTESTANT.values()], lines)}"
    return text + "".join(f"\n- {line}" for line in told(found).splitlines()) + "\n"


def weekly(found: dict[str, Any]) -> str:
    """Forecasters side by side."""
    names = [name for name in found if isinstance(found[name], dict) and name != "about"]
    lines = [[name, *(_entry(found[name], key) for key in FORECASTER)] for name in names]
    return (
        WEEKLY.format(**found["about"] | found["dpmf"])
        + _table(["", *FORECASTER.values()], lines)
        + "\nSeconds, as a multiple of each other's: "
        + "; ".join(_multiple(found, *pair) for pair in PAIRS if {*pair} <= {*names})
        + ".\n"
    )


def _multiple(found: dict[str, Any], one: str, other: str) -> str:
    return f"{one} {found[one]['seconds'] / found[other]['seconds']:.1f} of {other}"


def daily(found: dict[str, Any], cached: str = "") -> str:
    """One line of figures."""
    return DAILY.format(**found | found["about"], cached=cached)


def memory(found: dict[str, Any]) -> str:
    """One line of figures."""
    return MEMORY.format(**found | found["about"])


def load(found: dict[str, Any]) -> str:
    """A table of fits, and one of backtests."""
    text = LOAD.format(**found["about"])
    tables = []
    for what in (one for one in ("fits", "backtests") if one in found):
        rows = found[what]
        heads = [key for key in LOADED if key in rows[0]]
        lines = [
            [
                f"{row[key]:,}" if isinstance(row[key], int) else f"on {row[key]}"
                for key in heads
            ]
            for row in rows
        ]
        tables.append(_table([LOADED[key] for key in heads], lines))
    return (text + "\n".join(tables)).replace("on memory", "in memory")


def scaling(found: dict[str, Any]) -> str:
    """A table for every size."""
    base = ", ".join(f"{name} {value:,}" for name, value in found["base"].items())
    tables = (_size(name, one) for name, one in found["sizes"].items())
    device = next(iter(found["sizes"].values()))["points"][0]["device"]
    on = f"on {found['cores']} cores" if device == "cpu" else f"on {device}"
    beside = "beside" in found
    if beside:
        on += f", {found['beside']} fits at a time"
    text = SIZE.format(**found | {"base": base, "on": on})
    return text + BESIDE * beside + "".join(tables)


def ratings(found: dict[str, Any]) -> str:
    """A table for every data set and split, and how the cost grows."""
    text = RATED.format(**found["machine"])
    for name in ("movielens", "insteval"):
        for how, rows in found.get(name, {}).items():
            heads = ["", *(head for head, _ in SCORES.values())]
            lines = [heads, ["---"] * len(heads)]
            for who, row in rows.items():
                figures = (f"{row[key]:,.{digits}f}" for key, (_, digits) in SCORES.items())
                lines.append([CONTESTANTS[who], *figures])
            table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
            text += f"\n### {name}, {how}\n\n{table}" + _agreement(rows)
    if "ladder" in found:
        slope = found["ladder"]["slopes"]["s_per_evaluation"]
        sizes = ", ".join(f"{row['ratings']:,}" for row in found["ladder"]["points"])
        text += (
            f"\nOver {sizes} ratings the cost of an evaluation grows with slope {slope:g} "
            "(`python benchmarks/ratings.py --ladder`, of fits too short to count).\n"
        )
    return text


def _agreement(rows: dict[str, dict[str, Any]]) -> str:
    """How the chains of our own fits agree on held-out means."""
    lines = (
        f"{CONTESTANTS[who]}: rank {row['rank']}, {row['chains']} chains, {row['warmup']} "
        f"steps of warm-up and {row['draws']} draws, {row['thin']} steps apart; "
        f"of 500 held-out means the largest R-hat is {row['rhat_max']:.3f}, "
        f"effective draws are {row['ess_median']:.0f} in the median. "
        f"Of all that a fit looks at it says: {row['line']}"
        f"{'' if row['counts'] else DISAGREEING}\n"
        for who, row in rows.items()
        if "rhat_max" in row
    )
    return "".join(f"\n{line}" for line in lines)


def million(found: dict[str, Any]) -> str:
    """One paragraph."""
    return MILLION.format(**found)


def links(found: dict[str, Any]) -> str:
    """Both contestants."""
    names = {"dpmf": "PMF with intercepts", "logistic": "logistic matrix factorization"}
    rows = [
        [names[who], f"{found[who]['auc']:.3f}", f"{found[who]['log_loss']:.3f}"]
        for who in names
    ]
    return LINKS.format(**found) + _table(["", "AUC", "log loss"], rows)


def _size(name: str, found: dict[str, Any]) -> str:
    heads = [name, *(head for head, _, _ in MEASURES.values())]
    rows = [[f"{one[name]:,}", *_figures(one)] for one in found["points"]]
    slopes = [found["slopes"].get(measure) for measure in MEASURES]
    last = ["slope", *("" if one is None else f"{one:g}" for one in slopes)]
    return f"\n### {name.capitalize()}\n\n{_table(heads, [*rows, last])}"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _entry(row: dict[str, Any], key: str) -> str:
    if key not in row:
        return ""
    value = row[key]
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:,.4g}"


def _figures(point: dict[str, Any]) -> list[str]:
    return [f"{point[name] * by:,.{digits}f}" for name, (_, by, digits) in MEASURES.items()]


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "startup": startup,
    "samplers": samplers,
    "samplers-h200": samplers,
    "weekly": weekly,
    "daily": daily,
    "daily-cached": partial(daily, cached=CACHED),
    "peak-memory": memory,
    "load": load,
    "ratings": ratings,
    "links": links,
    "million": million,
    "scaling": scaling,
    "scaling-h200": scaling,
    "scaling-h200-wide": scaling,
}


if __name__ == "__main__":
    main()
