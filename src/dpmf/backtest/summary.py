"""Scores of single events in; means by season, and differences with their errors, out."""

import numpy as np
import pandas as pd

COLUMNS = [
    "forecaster",
    "rank",
    "season",
    "games",
    "mean_log_prob",
    "winner_error_pct",
    "score_rmse",
]
ALL = "All"
# The gains of a forecaster over another: which score of an event, and whether more is better.
GAINS = {
    "gain": ("log_prob", 1.0),
    "winner_gain_pct": ("winner_error", -100.0),
    "log_loss_gain": ("log_loss", -1.0),
    "brier_gain": ("brier", -1.0),
    "crps_margin_gain": ("crps_margin", -1.0),
    "crps_total_gain": ("crps_total", -1.0),
}


# Of win, draw and loss, where a draw has a probability: means of these besides.
OUTCOMES = ("p_win", "p_draw", "p_loss", "rps", "outcome_log_loss")


def summary(scores: pd.DataFrame, against: str | None = None) -> pd.DataFrame:
    """One row per forecaster, rank and season; "All" is the plain mean of the seasons.

    Args:
        scores: One row per event and forecaster.
        against: A forecaster. Others get their gains over it, paired by event, with
            standard errors: `gain` in log probability, `rmse_gain`, `winner_gain_pct`, and
            those of the other scores; more is always better.
    """
    keys = ["forecaster", "rank", "season"]
    grouped = scores.groupby(keys, sort=False, dropna=False)
    outcomes = {name: (name, "mean") for name in OUTCOMES if name in scores}
    table = grouped.agg(
        games=("log_prob", "size"),
        mean_log_prob=("log_prob", "mean"),
        winner_error_pct=("winner_error", lambda x: 100 * x.mean()),
        score_rmse=("squared_error", lambda x: np.sqrt(x.mean())),
        log_loss=("log_loss", "mean"),
        brier=("brier", "mean"),
        crps_margin=("crps_margin", "mean"),
        crps_total=("crps_total", "mean"),
        **outcomes,
        seen=("seen", "any"),  # by hyperparameters that were learned on this season too
    ).reset_index()
    if against is not None:
        table = table.merge(_differences(scores, against), on=keys, how="left")
    table["season"] = table["season"].astype(str)
    table = pd.concat([table, _all(table)], ignore_index=True)
    table = _with_closed(table, scores)
    return table[COLUMNS + [name for name in table.columns if name not in COLUMNS]]


def _all(table: pd.DataFrame) -> pd.DataFrame:
    numbers = [n for n in table.columns if n not in ("forecaster", "rank", "season", "seen")]
    grouped = table.groupby(["forecaster", "rank"], sort=False, dropna=False)
    means = grouped[numbers].mean()
    means["games"] = grouped["games"].sum()
    means["seen"] = grouped["seen"].any()
    for name in (name for name in table if str(name).endswith("_se")):
        # Of a mean of independent seasons.
        known = grouped[name].count().replace(0, np.nan)
        means[name] = np.sqrt(grouped[name].agg(lambda x: (x**2).sum())) / known
    return means.reset_index().assign(season=ALL)


def _differences(scores: pd.DataFrame, against: str) -> pd.DataFrame:
    """Mean gains over `against`, and their standard errors."""
    keys = ["forecaster", "rank", "season"]
    scores = scores.reset_index(drop=True)
    base = scores[scores["forecaster"] == against].drop_duplicates("event").set_index("event")
    columns = {}
    for gain, (name, sign) in GAINS.items():
        columns[gain] = sign * (scores[name] - scores["event"].map(base[name]))
    # RMSE is no mean; to first order its error is that of the mean of square / (2 RMSE).
    theirs = scores["event"].map(base["squared_error"])
    own = scores["squared_error"].where(theirs.notna())
    halves = [one / (2 * _rmse(one, scores[keys])) for one in (theirs, own)]
    columns["rmse_gain"] = 2 * (halves[0] - halves[1])
    gains = pd.concat([scores[keys], pd.DataFrame(columns)], axis=1)
    grouped = gains.groupby(keys, sort=False, dropna=False)
    means, errors = grouped.mean(), grouped.std(ddof=1) / np.sqrt(grouped.count())
    errors["rmse_gain"] /= 2
    table = means.join(errors.add_suffix("_se"))
    names = [name for gain in columns for name in (gain, f"{gain}_se")]
    return table[names].reset_index()


def _rmse(squares: pd.Series, keys: pd.DataFrame) -> pd.Series:
    """Of the group of each event."""
    groups = [keys[name] for name in keys]
    return np.sqrt(squares.groupby(groups, dropna=False).transform("mean"))


def _with_closed(table: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """With the share, in percent, of the distance from PMF to the line that each closes.

    All three are compared on the games that have a line. PMF is that of the rank that does
    best over all seasons: nobody may win against a rank that was badly chosen.
    """
    line = scores[(scores["forecaster"] == "line") & scores["log_prob"].notna()]
    pmf = table[(table["forecaster"] == "PMF") & (table["season"] == ALL)]
    if pmf.empty or line.empty:
        return table
    common = scores[scores["event"].isin(line["event"])]
    means = common.groupby(["forecaster", "rank", "season"], dropna=False)["log_prob"].mean()
    by_season = means.reset_index()
    everything = by_season.groupby(["forecaster", "rank"], dropna=False)["log_prob"].mean()
    every = everything.reset_index().assign(season=ALL)
    own = pd.concat([by_season.assign(season=by_season["season"].astype(str)), every])
    best = pmf.loc[pmf["mean_log_prob"].idxmax(), "rank"]
    ends = {}
    for name, rank in (("PMF", best), ("line", np.nan)):
        chosen = own["rank"].isna() if np.isnan(rank) else own["rank"] == rank
        ends[name] = own[(own["forecaster"] == name) & chosen].set_index("season")["log_prob"]
    start, end = own["season"].map(ends["PMF"]), own["season"].map(ends["line"])
    closed = own.assign(closed_pct=100 * (own["log_prob"] - start) / (end - start))
    keys = ["forecaster", "rank", "season"]
    return table.merge(closed[[*keys, "closed_pct"]], on=keys, how="left")
