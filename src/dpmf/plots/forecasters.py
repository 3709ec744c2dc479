"""Scores of a backtest in; those of some forecasters out, by what they are called."""

import pandas as pd

from dpmf.errors import DataError


def by_forecaster(
    scores: pd.DataFrame, forecaster: str | None, column: str
) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each forecaster and rank that have a column.

    Raises:
        DataError: There is none.
    """
    names = list(dict.fromkeys(scores["forecaster"]))
    if forecaster is not None and forecaster not in names:
        raise DataError(f"forecaster={forecaster!r}, expected one of {', '.join(names)}.")
    wanted = names if forecaster is None else [forecaster]
    known = scores[scores["forecaster"].isin(wanted) & scores[column].notna()]
    if known.empty:
        raise DataError(f"forecaster={forecaster!r} has no {column!r}: it says who wins alone.")
    grouped = known.groupby(["forecaster", "rank"], sort=False, dropna=False)
    several = known.groupby("forecaster")["rank"].nunique().max() > 1
    return [
        (f"{name}, rank {rank:.0f}" if several and pd.notna(rank) else str(name), own)
        for (name, rank), own in grouped
    ]
