"""The paper's figures, from the real games.

    python benchmarks/figures.py [--out FOLDER]

Score densities of four games of Cleveland against Los Angeles (rank 3), the gap between
seasons (rank 4), attack and defence of Cleveland over time, and all length scales. Pages
are written one by one, and those that are there already are left alone.
"""

import argparse
from pathlib import Path

import pandas as pd
from places import NBA, ROOT

import dpmf
from dpmf import plots
from dpmf.posterior import Fit
from dpmf.sports import Games, score_model
from dpmf.whole import make_folder, write_whole

# Season, home team, visitors: the first meeting of each kind in the season.
SHOWN = [(2004, "LAL", "CLE"), (2004, "CLE", "LAL"), (2008, "LAL", "CLE"), (2008, "CLE", "LAL")]
WINDOW = 3  # seasons
SIZES = {"chains": 4, "warmup": 600, "draws": 400}


def main() -> None:
    """Make whatever is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=Path, default=NBA)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "unfinished" / "figures"
    )
    options = parser.parse_args()
    make_folder(options.out)
    games = dpmf.read_games(options.games)
    for season, home, away in SHOWN:
        path = options.out / f"{season}-{away}-at-{home}.html"
        if not path.exists():
            _write(path, _score_density(games, season, home, away))
    names = ("gaps.html", "lengths.html", "ratings.html")
    if not all((options.out / name).exists() for name in names):
        fit = _fitted(games, 4, 2004, games.frame["date"].max())
        _write(options.out / "gaps.html", plots.gaps(fit))
        _write(options.out / "lengths.html", plots.length_scales(fit))
        _write(options.out / "ratings.html", plots.ratings(fit, "CLE"))


def _fitted(games: Games, rank: int, season: int, day: pd.Timestamp) -> Fit:
    """The paper's model, given what was known on a day of a season."""
    known = games.between(season - WINDOW + 1, season).before(day)
    fit = score_model(rank, paper=True).fit(known, **SIZES, seed=season)
    print(fit, flush=True)
    return fit


def _score_density(games: Games, season: int, home: str, away: str):
    frame = games.frame
    chosen = (frame["season"] == season) & (frame["home_team"] == home)
    game = frame[chosen & (frame["away_team"] == away)].iloc[0]
    first = frame.loc[frame["season"] == season, "date"].min()
    block = first + pd.Timedelta(days=(game["date"] - first).days // 28 * 28)
    fit = _fitted(games, 3, season, block)
    forecast = fit.predict(pd.DataFrame([game]), source="games")
    total, spread = game["total"], game["spread_home"]
    return plots.score_density(
        forecast,
        line=((total - spread) / 2, (total + spread) / 2),
        outcome=(game["home_score"], game["away_score"]),
    )


def _write(path: Path, figure) -> None:
    page = figure.to_html(include_plotlyjs=True)
    write_whole(path, lambda place: place.write_text(page))
    print(path, flush=True)


if __name__ == "__main__":
    main()
