"""Options that several commands share."""

import warnings
from typing import Annotated

import typer

from dpmf.cli import choices
from dpmf.errors import DpmfWarning


def _hushed(quiet: bool) -> bool:
    if quiet:
        warnings.simplefilter("ignore", DpmfWarning)
    return quiet


def _offering(*words: str):
    """Completion of a word in the shell; the last one, where commas part them."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + word for word in words if word.startswith(last)]

    return complete


MODEL, READING, SAMPLING = "The model", "Reading the file", "Sampling"  # panels of --help
GAMES = "CSV (.csv, .csv.gz) or Parquet file of games, or - for standard input."

Quiet = Annotated[
    bool, typer.Option("--quiet", callback=_hushed, help="Print nothing but errors.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Names in the file, where they are unusual: home=HomeTeam,away=Guest.",
        rich_help_panel=READING,
    ),
]
DayFirst = Annotated[
    bool | None,
    typer.Option(
        "--day-first/--month-first",
        help="What 03/04/2008 means, if no row tells.",
        rich_help_panel=READING,
    ),
]
Playoffs = Annotated[
    bool,
    typer.Option("--playoffs", help="Count playoff games.", rich_help_panel=READING),
]
Kernel = Annotated[
    str | None,
    typer.Option(
        help="Over time: matern12 (the default), se (the paper's), matern32, matern52 or rq.",
        rich_help_panel=MODEL,
        autocompletion=_offering(*choices.KERNELS),
    ),
]
Likelihood = Annotated[
    str | None,
    typer.Option(
        help="paired-gaussian (the default), or paired-poisson for goals: win, draw, loss.",
        rich_help_panel=MODEL,
        autocompletion=_offering(*choices.LIKELIHOODS),
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="hmc (the default), or slice, the paper's.",
        autocompletion=_offering("hmc", "slice"),
        rich_help_panel=SAMPLING,
    ),
]
Mean = Annotated[
    str | None,
    typer.Option(
        help="pooled (the default), or constant, the paper's.",
        autocompletion=_offering("constant", "pooled"),
        rich_help_panel=MODEL,
    ),
]
Side = Annotated[
    str,
    typer.Option(
        help="Side information: none, or some of time, home, rest, pace with + between.",
        autocompletion=_offering(*choices.OFFERED),
        rich_help_panel=MODEL,
    ),
]
Sides = Annotated[
    str,
    typer.Option(
        help="As for `dpmf fit`, such as time+home; a comma between models.",
        autocompletion=_offering(*choices.OFFERED),
        rich_help_panel=MODEL,
    ),
]
Chains = Annotated[int | None, typer.Option(help="Of every fit.", rich_help_panel=SAMPLING)]
Warmup = Annotated[
    int | None,
    typer.Option(help="Steps before draws are kept.", rich_help_panel=SAMPLING),
]
Draws = Annotated[
    int | None, typer.Option(help="Kept draws of every chain.", rich_help_panel=SAMPLING)
]
Thin = Annotated[
    int | None,
    typer.Option(help="Steps per kept draw; 1 with --draws.", rich_help_panel=SAMPLING),
]
Seed = Annotated[
    int,
    typer.Option(help="The same seed gives the same forecasts.", rich_help_panel=SAMPLING),
]
SeasonStart = Annotated[
    str | None, typer.Option(help="First day of a season later than those of the fit.")
]
