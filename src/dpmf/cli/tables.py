"""A backtest's summary as the paper prints it: models down, seasons across."""

import math
from collections.abc import Iterator

import pandas as pd
from rich.table import Table

METRICS = {
    "mean_log_prob": ("Mean log probability of the scores", "{:.3f}"),
    "winner_error_pct": ("Winner wrong, %", "{:.1f}"),
    "score_rmse": ("RMSE of the scores", "{:.2f}"),
    "rps": ("Ranked probability score, three outcomes", "{:.4f}"),
    "outcome_log_loss": ("Log loss, three outcomes", "{:.4f}"),
}


def backtest_tables(summary: pd.DataFrame) -> Iterator[Table]:
    """One table per metric; the published value, where there is one, stands below ours."""
    seasons = list(dict.fromkeys(summary["season"]))
    seen = set(summary.loc[summary["seen"] & (summary["season"] != "All"), "season"])
    for metric, (title, layout) in METRICS.items():
        if metric not in summary:
            continue
        shown = summary[summary[metric].notna()]
        if shown.empty:
            continue
        beside = f"{metric}_published" in shown and shown[f"{metric}_published"].notna().any()
        title += " (published below)" if beside else ""
        table = Table(title=title, title_justify="left")
        table.add_column("model")
        table.add_column("K", justify="right")
        for season in seasons:
            table.add_column(f"{season}*" if season in seen else season, justify="right")
        for key, own in shown.groupby(["forecaster", "rank"], sort=False, dropna=False):
            name, rank = str(key[0]), float(key[1])
            by_season = own.set_index("season")
            cells = [_cell(by_season, season, metric, layout) for season in seasons]
            table.add_row(name, "" if math.isnan(rank) else f"{rank:.0f}", *cells)
        if seen:
            table.caption = "* hyperparameters were learned from these seasons too"
        yield table


def _cell(rows: pd.DataFrame, season: str, metric: str, layout: str) -> str:
    if season not in rows.index:
        return ""
    ours = layout.format(rows.loc[season, metric])
    name = f"{metric}_published"
    if name not in rows or pd.isna(rows.loc[season, name]):
        return ours
    return f"{ours}\n[dim]{layout.format(rows.loc[season, name])}[/dim]"
