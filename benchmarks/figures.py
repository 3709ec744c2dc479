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
# Of one fit to three seasons.
OF_THE_LEAGUE = {
    "gaps": plots.gaps,
    "lengths": plots.length_scales,
    "ratings": lambda fit: plots.ratings(fit, "CLE"),
}
WINDOW = 3  # seasons


def main() -> None:
    """Make whatever is missing."""
    options = _options()
    make_folder(options.out)
    games = dpmf.read_games(options.games)
    for season, home, away in SHOWN:
        name = f"{season}-{away}-at-{home}"
        if _wanted(name, options):
            _write(name, _score_density(games, season, home, away, options), options)
    if any(_wanted(name, options) for name in OF_THE_LEAGUE):
        fit = _fitted(games, 4, 2004, games.frame["date"].max(), options)
        for name, picture in OF_THE_LEAGUE.items():
            _write(name, picture(fit), options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=Path, default=NBA)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=600)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--only", default="", help="pages whose names begin like this")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "unfinished" / "figures"
    )
    return parser.parse_args()


def _wanted(name: str, options: argparse.Namespace) -> bool:
    return name.startswith(options.only) and not _page(name, options).exists()


def _page(name: str, options: argparse.Namespace) -> Path:
    return options.out / f"{name}.html"


def _fitted(
    games: Games, rank: int, season: int, day: pd.Timestamp, options: argparse.Namespace
) -> Fit:
    """The paper's model, given what was known on a day of a season."""
    known = games.between(season - WINDOW + 1, season).before(day)
    sizes = {name: getattr(options, name) for name in ("chains", "warmup", "draws")}
    fit = score_model(rank, paper=True).fit(known, **sizes, seed=season)
    print(fit, flush=True)
    return fit


def _score_density(
    games: Games, season: int, home: str, away: str, options: argparse.Namespace
):
    frame = games.frame
    chosen = (frame["season"] == season) & (frame["home_team"] == home)
    game = frame[chosen & (frame["away_team"] == away)].iloc[0]
    first = frame.loc[frame["season"] == season, "date"].min()
    block = first + pd.Timedelta(days=(game["date"] - first).days // 28 * 28)
    fit = _fitted(games, 3, season, block, options)
    forecast = fit.predict(pd.DataFrame([game]), source="games")
    total, spread = game["total"], game["spread_home"]
    return plots.score_density(
        forecast,
        line=((total - spread) / 2, (total + spread) / 2),
        outcome=(game["home_score"], game["away_score"]),
    )


def _write(name: str, figure, options: argparse.Namespace) -> None:
    page, path = figure.to_html(include_plotlyjs=True), _page(name, options)
    write_whole(path, lambda place: place.write_text(page))
    print(path, flush=True)


if __name__ == "__main__":
    main()
