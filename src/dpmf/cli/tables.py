"""Results in; tables for a terminal out."""

import math
from collections.abc import Iterator

import pandas as pd
from rich.table import Table

from dpmf.backtest.summary import ALL
from dpmf.cli.terminal import plain
from dpmf.report.results import named

LINES = 40  # games in a table of forecasts

METRICS = {
    "mean_log_prob": ("Mean log probability of the scores", "{:.3f}"),
    "winner_error_pct": ("Winner wrong, %", "{:.1f}"),
    "score_rmse": ("RMSE of the scores", "{:.2f}"),
    "rps": ("Ranked probability score, three outcomes", "{:.4f}"),
    "outcome_log_loss": ("Log loss, three outcomes", "{:.4f}"),
}


def backtest_tables(summary: pd.DataFrame) -> Iterator[Table]:
    """One table per metric, models down and seasons across, as the paper prints them.

    The published value, where there is one, stands below ours.
    """
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
            table.add_row(plain(name), "" if math.isnan(rank) else f"{rank:.0f}", *cells)
        if seen:
            table.caption = "* hyperparameters were learned from these seasons too"
        yield table


def season_table(summary: pd.DataFrame) -> Table:
    """A backtest of one season: forecasters down, metrics across."""
    season = next(one for one in summary["season"] if one != ALL)
    rows = summary[summary["season"] == season]
    shown = {name: how for name, how in METRICS.items() if _told(rows, name)}
    table = Table(title=f"{rows['games'].max():,.0f} games of {season}", title_justify="left")
    table.add_column("forecaster", no_wrap=True)
    for title, _ in shown.values():
        table.add_column(title, justify="right")
    for _, row in rows.iterrows():
        cells = [
            "" if pd.isna(row[name]) else layout.format(row[name])
            for name, (_, layout) in shown.items()
        ]
        table.add_row(plain(named(row["forecaster"], row["rank"])), *cells)
    return table


def _told(rows: pd.DataFrame, metric: str) -> bool:
    return metric in rows and bool(rows[metric].notna().any())


def _cell(rows: pd.DataFrame, season: str, metric: str, layout: str) -> str:
    if season not in rows.index:
        return ""
    ours = layout.format(rows.loc[season, metric])
    name = f"{metric}_published"
    if name not in rows or pd.isna(rows.loc[season, name]):
        return ours
    return f"{ours}\n[dim]{layout.format(rows.loc[season, name])}[/dim]"


def forecast_rows(
    table: pd.DataFrame, games: pd.DataFrame, interval: float, wide: bool = True
) -> Table:
    """Forecasts of games, one line each; those that do not fit on a page are counted.

    Args:
        table: What `forecast_table` gives.
        games: The frame of the same `Games`, which has the lines.
        interval: Of the table, in percent.
        wide: Whether there is room for intervals.
    """
    shown = Table()
    for name in ("date", "home", "away"):
        shown.add_column(name)
    within = [f"{interval:g} %"] if wide else []
    drawn = "p_draw" in table
    chances = ["p_win", "p_draw", "p_loss"] if drawn else ["p_home_win"]
    wins = "home wins" if wide else "wins"
    outcomes = [wins, "draws", "loses"] if drawn else [wins]
    titles = ["score", *outcomes, "spread", *within, "total", *within]
    bets = [
        (name, column, line)
        for name, column, line in (
            ("covers", "p_home_cover", "spread_home"),
            ("over", "p_over", "total"),
        )
        if column in table
    ]
    for name in [*titles, *(name for name, *_ in bets)]:
        shown.add_column(name, justify="right")
    tired = "tired" in table
    if tired:
        shown.add_column("tired")
    pairs = list(zip(table.to_dict("records"), games.to_dict("records"), strict=True))
    for row, game in pairs[:LINES]:
        cells = [
            f"{row['home_mean']:.1f}-{row['away_mean']:.1f}",
            *(f"{100 * row[name]:.0f} %" for name in chances),
            f"{row['spread']:+.1f}",
            *[f"{row['spread_low']:+.1f} to {row['spread_high']:+.1f}"] * wide,
            f"{row['total']:.1f}",
            *[f"{row['total_low']:.0f} to {row['total_high']:.0f}"] * wide,
        ]
        for name, column, line in bets:
            sign = "+g" if name == "covers" else "g"
            known = pd.notna(row[column])
            bet = f"{game[line]:{sign}}: " if wide else ""
            cells.append(f"{bet}{100 * row[column]:.0f} %" if known else "")
        names = (plain(str(row[name])) for name in ("date", "home", "away"))
        last = [plain(row["tired"])] if tired else []
        shown.add_row(*names, *cells, *last)
    caption = "spread: negative where home is expected to win, as in betting lines"
    if not wide:
        caption = f"wins: of the home team; {caption}"
    if len(pairs) > LINES:
        caption = f"and {len(pairs) - LINES:,} more games: --out writes all; {caption}"
    shown.caption = caption
    return shown
