"""The folder of a backtest in; the tables that a page shows of it out."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpmf.backtest.calibration import BAND, flatness, reliability
from dpmf.backtest.summary import ALL
from dpmf.errors import DataError, UnreadableFile

CONVERGED = 1.05  # R-hat of the predicted means
MARKET = "line"  # the forecaster that is the betting market
EXPLAINED = {
    "line": "betting line",
    "home": "home advantage alone",
    "elo": "Elo",
    "elo538": "Elo (FiveThirtyEight)",
}


class Metric(NamedTuple):
    """A column of the tables."""

    name: str
    title: str
    layout: str
    best: str  # "high" or "low"


METRICS = [
    Metric("mean_log_prob", "Log probability", "{:.3f}", "high"),
    Metric("winner_error_pct", "Winner wrong, %", "{:.1f}", "low"),
    Metric("score_rmse", "RMSE of the scores", "{:.2f}", "low"),
    Metric("log_loss", "Log loss of the winner", "{:.3f}", "low"),
    Metric("crps_margin", "CRPS of the margin", "{:.2f}", "low"),
    Metric("rps", "Ranked probability score", "{:.4f}", "low"),
]
NEEDED = {
    "scores": ["forecaster", "rank", "home_score", "away_score", "p_home", "pit_margin"],
    "summary": ["forecaster", "rank", "season", "games", "seen", "mean_log_prob"],
    "fits": ["rhat_max", "ess_median"],
}


class Results(NamedTuple):
    """What a backtest left in its folder."""

    scores: pd.DataFrame
    summary: pd.DataFrame
    fits: pd.DataFrame  # empty where no forecaster was fitted

    @staticmethod
    def read(folder: Path) -> "Results":
        """The tables of a folder.

        Raises:
            UnreadableFile: One of them is not there or cannot be read.
            DataError: One of them is not what a backtest writes.
        """
        scores, summary = (_table(folder, name) for name in ("scores", "summary"))
        fits = folder / "fits.csv"
        has_fits = fits.exists() and fits.read_text().strip() != ""
        return Results(
            scores,
            summary.assign(season=summary["season"].astype(str)),
            _table(folder, "fits") if has_fits else pd.DataFrame(),
        )


def _table(folder: Path, name: str) -> pd.DataFrame:
    path = folder / f"{name}.csv"
    try:
        found = pd.read_csv(path, dtype={"home": str, "away": str, "forecaster": str})
    except OSError as error:
        raise UnreadableFile(
            f"{path}: cannot be read ({error.strerror}), expected the folder of a `dpmf "
            "backtest` that has finished."
        ) from error
    except ValueError as error:
        raise DataError(f"{path}: this is no CSV table ({error}).") from error
    needed = [] if name == "fits" and found.empty else NEEDED[name]  # baselines have no fits
    missing = [column for column in needed if column not in found]
    if name == "summary" and not missing and ALL not in set(found["season"]):
        raise DataError(
            f"{path}: column 'season' has no {ALL!r}, expected what `dpmf backtest` writes."
        )
    if missing:
        raise DataError(
            f"{path}: there is no column {missing[0]!r}, expected what `dpmf backtest` writes."
        )
    return found


def shown(results: Results) -> dict[str, Any]:
    """Everything that the page says about a backtest, as plain values."""
    summary = results.summary
    seasons = [one for one in dict.fromkeys(summary["season"]) if one != ALL]
    metrics = [
        one for one in METRICS if one.name in summary and summary[one.name].notna().any()
    ]
    return {
        "seasons": seasons,
        "games": int(summary.loc[summary["season"] == ALL, "games"].max()),
        "overall": _overall(summary, metrics),
        "tables": [_by_season(summary, metric, seasons) for metric in metrics[:3]],
        "seen": sorted(
            set(summary.loc[summary["seen"] & (summary["season"] != ALL), "season"])
        ),
        "market": MARKET in set(summary["forecaster"]),
        "published": "mean_log_prob_published" in summary
        and bool(summary["mean_log_prob_published"].notna().any()),
        "fits": _fits(results.fits),
    }


def calibration(results: Results) -> list[dict[str, Any]]:
    """Reliability and PIT histograms of every forecaster that gave chances.

    One of them is marked as the best: that of the highest log probability, but for the market.
    """
    found = []
    own = results.summary[results.summary["season"] == ALL]
    ranked = own[own["forecaster"] != MARKET].sort_values("mean_log_prob", ascending=False)
    best = [named(*key) for key in ranked[["forecaster", "rank"]].itertuples(index=False)][:1]
    grouped = results.scores.groupby(["forecaster", "rank"], sort=False, dropna=False)
    for key, events in grouped:
        if not events["p_home"].notna().any():
            continue
        curve = {name: value.tolist() for name, value in reliability(events)._asdict().items()}
        name = named(*key)
        entry: dict[str, Any] = {"name": name, "best": name in best, "reliability": curve}
        for which in ("margin", "total"):
            pit = events.get(f"pit_{which}")
            if pit is not None and pit.notna().any():
                level = flatness(pit)
                entry[which] = {**level._asdict(), "counts": level.counts.tolist()}
        found.append(entry)
    return found


def band_percent() -> str:
    """The probability of error bars, as the page says it."""
    return f"{100 * BAND:.0f} %"


def named(forecaster: Any, rank: Any) -> str:
    """A forecaster in words, with the rank of a model."""
    title = EXPLAINED.get(str(forecaster), str(forecaster))
    return title if pd.isna(rank) else f"{title}, rank {float(rank):.0f}"


def _overall(summary: pd.DataFrame, metrics: list[Metric]) -> dict[str, Any]:
    """One row per forecaster, over all seasons; the best of each column is marked."""
    own = summary[summary["season"] == ALL]
    rows: list[dict[str, Any]] = []
    for _, row in own.iterrows():
        cells = [_cell(row, metric) for metric in metrics]
        kind = "market" if row["forecaster"] == MARKET else "other"
        rows.append(
            {"name": named(row["forecaster"], row["rank"]), "cells": cells, "kind": kind}
        )
    _mark_best(rows, own, metrics)
    return {"metrics": [metric._asdict() for metric in metrics], "rows": rows}


def _mark_best(rows: list[dict[str, Any]], own: pd.DataFrame, metrics: list[Metric]) -> None:
    """The best forecast that is not the market's: the market knows more than the file."""
    for column, metric in enumerate(metrics):
        values = own[metric.name].where(own["forecaster"] != MARKET).reset_index(drop=True)
        if values.notna().any():
            best = values.idxmax() if metric.best == "high" else values.idxmin()
            rows[int(best)]["cells"][column]["best"] = True


def _by_season(summary: pd.DataFrame, metric: Metric, seasons: list[str]) -> dict[str, Any]:
    rows = []
    every = [*seasons, ALL]
    for key, own in summary.groupby(["forecaster", "rank"], sort=False, dropna=False):
        if own[metric.name].notna().any():
            at, nothing = own.set_index("season"), pd.Series({metric.name: math.nan})
            cells = [_cell(at.loc[s] if s in at.index else nothing, metric) for s in every]
            kind = "market" if key[0] == MARKET else "other"
            rows.append({"name": named(*key), "cells": cells, "kind": kind})
    return {"title": metric.title, "seasons": every, "rows": rows}


def _cell(row: pd.Series, metric: Metric) -> dict[str, Any]:
    published = row.get(f"{metric.name}_published", math.nan)
    return {
        "value": _said(row[metric.name], metric.layout),
        "published": _said(published, metric.layout),
        "best": False,
    }


def _said(value: float, layout: str) -> str:
    # A minus sign, not a hyphen.
    return "" if math.isnan(value) else layout.format(value).replace("-", "\u2212")


def _fits(fits: pd.DataFrame) -> dict[str, Any] | None:
    if fits.empty:
        return None
    return {
        "count": len(fits),
        "worst": f"{fits['rhat_max'].max():.3f}",
        "odd": int((~(fits["rhat_max"] <= CONVERGED)).sum()),
        "limit": CONVERGED,
        "ess": f"{fits['ess_median'].median():,.0f}",
    }
