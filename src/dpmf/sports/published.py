"""Table 1 of Adams, Dahl and Murray (2010), beside the same rows of a backtest."""

from importlib.resources import files

import pandas as pd

from dpmf.backtest.summary import ALL

METRICS = ["mean_log_prob", "winner_error_pct", "score_rmse"]
KEYS = ["forecaster", "rank", "season"]
# Regular-season games of the NBA; of 2009 those of the first four weeks, which the paper
# forecast (its errors there are multiples of 1/210, so it counted nine games more).
GAMES = {"2002": 1189, "2003": 1189, **{str(s): 1230 for s in range(2004, 2009)}, "2009": 201}


def published() -> pd.DataFrame:
    """The paper's table: forecaster, rank, season and three metrics; `line` is its expert."""
    with files("dpmf.sports").joinpath("published.csv").open() as stream:
        return pd.read_csv(stream, dtype={"season": str})


def with_published(summary: pd.DataFrame) -> pd.DataFrame:
    """A summary with the published values in columns of their own.

    They are there where the paper has the forecaster and the season has as many games as
    the NBA's had. "All" is the mean of the same seasons as in the summary, and is left out
    if one of them was not published.
    """
    table = summary.merge(published(), on=KEYS, how="left", suffixes=("", "_published"))
    columns = [f"{name}_published" for name in METRICS]
    expected = table["season"].map(GAMES)
    table.loc[table["games"] != expected, columns] = float("nan")
    single = table[table["season"] != ALL]
    means = single.groupby(["forecaster", "rank"], dropna=False)[columns].agg(
        lambda values: values.mean(skipna=False)
    )
    everything = table["season"] == ALL
    pairs = pd.MultiIndex.from_frame(table.loc[everything, ["forecaster", "rank"]])
    table.loc[everything, columns] = means.reindex(pairs).to_numpy()
    return table
