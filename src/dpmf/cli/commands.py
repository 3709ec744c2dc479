"""The words of the `dpmf` command: arguments in, the work of one module each out."""

import importlib.metadata
from pathlib import Path
from typing import Annotated

import typer

from dpmf.cli import choices, options

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # `main` words the errors that a user can mend
)


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"dpmf {importlib.metadata.version('dpmf')}")
        raise typer.Exit
    return wanted


@app.callback()
def _dpmf(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Who met whom, when, where, and what happened: forecasts with honest uncertainty."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo writes.")] = Path("demo"),
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Fit the embedded NFL games, measure the forecasts, and write a page to look at."""
    from dpmf.cli.demo import run  # jax is imported only when work begins

    run(out, quiet=quiet, json=json)


@app.command()
def fit(
    games: Annotated[str, typer.Argument(help=options.GAMES, metavar="GAMES.csv")],
    out: Annotated[Path, typer.Option(help="File for the fit, such as fit.nc.")],
    rank: Annotated[
        int, typer.Option(help="Latent features.", rich_help_panel=options.MODEL)
    ] = 1,
    side: options.Side = "time+home",
    kernel: options.Kernel = None,
    mean: options.Mean = None,
    likelihood: options.Likelihood = None,
    window: Annotated[
        int | None,
        typer.Option(
            help="Latest seasons to learn from; all unless given.",
            rich_help_panel=options.READING,
        ),
    ] = None,
    resolution: Annotated[
        str, typer.Option(help="What time is rounded to.", rich_help_panel=options.READING)
    ] = "1w",
    playoffs: options.Playoffs = False,
    columns: options.Columns = None,
    day_first: options.DayFirst = None,
    engine: options.Engine = None,
    chains: options.Chains = None,
    warmup: options.Warmup = None,
    draws: options.Draws = None,
    thin: options.Thin = None,
    seed: options.Seed = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder that a stopped run goes on from; beside --out.", show_default=False
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Learn from the games in a file, and keep what was learned.

    Such as: dpmf fit games.csv --out fit.nc

    GAMES.csv needs the columns date, home, away, home_score and away_score,
    or names like these.
    Without options: 4 chains of 1,000 draws, three steps apart, after 400 of warm-up.
    A run that was stopped goes on when the same command is given again.
    """
    from dpmf.cli.fit import run  # jax is imported only when work begins

    run(
        games,
        out,
        rank=rank,
        side=choices.side(side),
        kernel=choices.kernel(kernel),
        mean=mean,
        likelihood=choices.likelihood(likelihood),
        window=window,
        reading={
            "columns": choices.columns(columns),
            "day_first": day_first,
            "playoffs": playoffs,
            "resolution": resolution,
        },
        sampling={
            "engine": engine,
            "chains": chains,
            "warmup": warmup,
            "draws": draws,
            "thin": thin,
            "seed": seed,
        },
        checkpoint=checkpoint,
        quiet=quiet,
        json=json,
    )


@app.command()
def predict(
    fit: Annotated[Path, typer.Argument(help="What `dpmf fit` wrote.", metavar="FIT.nc")],
    upcoming: Annotated[
        str | None,
        typer.Argument(
            help="Games to come: a file like that of the fit.", metavar="UPCOMING.csv"
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file for the forecasts.")] = None,
    interval: Annotated[float, typer.Option(help="Probability of intervals, percent.")] = 80.0,
    home: Annotated[str | None, typer.Option(help="One game instead of a file.")] = None,
    away: Annotated[str | None, typer.Option(help="The other team of that game.")] = None,
    date: Annotated[str | None, typer.Option(help="Its day, such as 2008-12-25.")] = None,
    neutral: Annotated[bool, typer.Option("--neutral", help="It has no home team.")] = False,
    spread_home: Annotated[
        float | None, typer.Option(help="Its line; negative: home is the favourite.")
    ] = None,
    total: Annotated[float | None, typer.Option(help="Its over/under.")] = None,
    season_start: options.SeasonStart = None,
    columns: options.Columns = None,
    day_first: options.DayFirst = None,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Forecast games: scores, who wins, spread and total, and bets on a line.

    Such as: dpmf predict fit.nc upcoming.csv --out forecasts.csv

    Or one game: dpmf predict fit.nc --home LAL --away CLE --date 2008-12-25

    A spread has the sign of a betting line: negative where home is expected to win.
    p_home_cover and p_over come where the file has spread_home and total;
    p_win, p_draw and p_loss where the fit learned from goals.
    """
    from dpmf.cli.predict import run

    run(
        fit,
        upcoming,
        out,
        interval=interval,
        game={
            "home": home,
            "away": away,
            "date": date,
            "neutral": neutral or None,
            "spread_home": spread_home,
            "total": total,
        },
        reading={
            "season_start": season_start,
            "columns": choices.columns(columns),
            "day_first": day_first,
        },
        seed=seed,
        quiet=quiet,
        json=json,
    )


@app.command()
def info(
    fit: Annotated[Path, typer.Argument(help="What `dpmf fit` wrote.", metavar="FIT.nc")],
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Say what a fit is, whether to trust it, and what it has learned."""
    from dpmf.cli.info import run

    run(fit, quiet=quiet, json=json)


@app.command()
def report(
    source: Annotated[
        Path, typer.Argument(metavar="FIT.nc|DIR", help="A fit, or the folder of a backtest.")
    ],
    out: Annotated[Path, typer.Option(help="HTML file for the page.")],
    upcoming: Annotated[
        str | None, typer.Option(help="Games to come: a file like that of the fit.")
    ] = None,
    backtest: Annotated[
        Path | None, typer.Option(help="Folder of a backtest, to show beside a fit.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Of the page.")] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            help="Behind the matchup explorer; 400, or fewer for a large league.", min=1
        ),
    ] = None,
    season_start: options.SeasonStart = None,
    columns: options.Columns = None,
    day_first: options.DayFirst = None,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write a page with ratings, their history, and forecasts of any matchup.

    Such as: dpmf report fit.nc --out page.html --upcoming upcoming.csv

    It is one file that needs no network. The folder of a backtest gives tables
    of how good the forecasts were, and whether chances meant what they said.
    """
    from dpmf.cli.report import run

    run(
        source,
        out,
        upcoming=upcoming,
        backtest=backtest,
        title=title,
        draws=draws,
        reading={
            "season_start": season_start,
            "columns": choices.columns(columns),
            "day_first": day_first,
        },
        seed=seed,
        quiet=quiet,
        json=json,
    )


@app.command()
def backtest(
    games: Annotated[str, typer.Argument(help=options.GAMES, metavar="GAMES.csv")],
    out: Annotated[
        Path, typer.Option(help="Folder for the results; a stopped run goes on from it.")
    ],
    rank: Annotated[str, typer.Option(help="Latent features, such as 1,2,3.")] = "1",
    side: options.Sides = "none,time+home",
    seasons: Annotated[
        str | None, typer.Option(help="To forecast, such as 2002:2008; all but the first.")
    ] = None,
    first_season: Annotated[int | None, typer.Option(help="Where history begins.")] = None,
    block: Annotated[str, typer.Option(help="Time between two cutoffs.")] = "4w",
    window: Annotated[
        int, typer.Option(help="Seasons to learn from, the current included.")
    ] = 3,
    protocol: Annotated[str, typer.Option(help="default, or paper.")] = "default",
    learn_from: Annotated[
        str | None,
        typer.Option(help="Paper: seasons of the long run; the first three forecast ones."),
    ] = None,
    playoffs: options.Playoffs = False,
    columns: options.Columns = None,
    day_first: options.DayFirst = None,
    kernel: options.Kernel = None,
    mean: options.Mean = None,
    likelihood: options.Likelihood = None,
    baselines: Annotated[
        str | None, typer.Option(help="Some of line,elo,elo538,melo,kickscore,home.")
    ] = None,
    engine: options.Engine = None,
    chains: options.Chains = None,
    warmup: options.Warmup = None,
    draws: options.Draws = None,
    seed: options.Seed = 0,
    executor: Annotated[
        str, typer.Option(help="Where models are fitted: local, or dask, on its workers.")
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(help="Dask's, such as tcp://10.0.0.1:8786; workers on this machine."),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Forecast past games as if they were to come, and score the forecasts.

    Such as: dpmf backtest games.csv --out results --seasons 2016:2018
    """
    from dpmf.cli.backtest import run

    run(
        games,
        out,
        workers=choices.workers(executor, scheduler),
        ranks=choices.ranks(rank),
        sides=choices.sides(side),
        kernel=choices.kernel(kernel),
        mean=mean,
        likelihood=choices.likelihood(likelihood),
        reading={
            "columns": choices.columns(columns),
            "day_first": day_first,
            "playoffs": playoffs,
        },
        quiet=quiet,
        json=json,
        seasons=choices.seasons(seasons),
        first_season=first_season,
        block=block,
        window=window,
        baselines=choices.words(baselines, "--baselines"),
        protocol=protocol,
        learn_from=choices.seasons(learn_from, "--learn-from"),
        engine=engine,
        chains=chains,
        warmup=warmup,
        draws=draws,
        seed=seed,
    )
