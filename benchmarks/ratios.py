"""How fast our samplers are against theirs, in effective draws per second of sampling."""

from typing import Any

# Of each run: ours, theirs, and the name of the ratio.
PAIRS = {
    "fixed": ("hmc", "nuts", "ratio_hmc_to_nuts"),
    "sampled": ("hmc", "nuts", "ratio_hmc_to_nuts"),
    "white": ("members", "one_ellipse", "ratio_slice_to_one_ellipse"),
}


def ratios(runs: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """By name and run; None where ours has not converged."""
    found: dict[str, dict[str, float | None]] = {}
    for run, (ours, theirs, name) in PAIRS.items():
        both = runs.get(run, {"contestants": {}})["contestants"]
        if ours in both and theirs in both:
            one, other = both[ours], both[theirs]
            speeds = [row["ess_median"] / row["sample_s"] for row in (one, other)]
            sure = one["converged"] and one["rated"]
            found.setdefault(name, {})[run] = round(speeds[0] / speeds[1], 2) if sure else None
    return found


def told(found: dict[str, Any]) -> str:
    """The ratios in words, a line for each run."""
    lines = []
    for run, (ours, theirs, name) in PAIRS.items():
        if run not in found.get(name, {}):
            continue
        ratio = found[name][run]
        if ratio is None:
            lines.append(f"{run}: {ours} and {theirs} cannot be compared")
            continue
        at_least = "" if found["runs"][run]["contestants"][theirs]["converged"] else "at least "
        lines.append(f"{run}: {ours} is {at_least}{ratio} times as fast as {theirs}")
    return "\n".join(lines)
