"""The paper's models of scores, by the side information they use."""

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from dpmf import display
from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import Forecasts, Part, Plan, Whole
from dpmf.errors import ConfigError
from dpmf.inference.estimator import DPMF
from dpmf.kernels import Constant, Kernel, Matern12, SeasonGap, SquaredExponential
from dpmf.likelihoods import Likelihood, PairedGaussian, PairedPoisson
from dpmf.posterior import Fit, Forecast
from dpmf.sports import cutoff_fits, season_fits
from dpmf.sports.games import INPUTS, Games
from dpmf.sports.notes import notes
from dpmf.sports.rest import tell_even

SIDES = ("time", "home", "rest", "pace")
LETTERS = {"time": "t", "home": "h", "rest": "r", "pace": "p"}
POOLED = ("home", "rest", "pace")  # what the mean of all teams is a function of


@dataclasses.dataclass(frozen=True, repr=False)
class ScoreModel:
    """Attack and defence of every team, as functions of some side information."""

    rank: int
    side: tuple[str, ...]
    time_kernel: Callable[[Any], Kernel]
    pooled: bool
    likelihood: Likelihood | None = None  # None is the paired Gaussian

    def __repr__(self) -> str:
        """Its name and choices."""
        return f"{self.name}, {', '.join(self._choices().values())}"

    def _repr_html_(self) -> str:
        return display.table(f"Score model {self.name}", self._choices())

    def _choices(self) -> dict[str, str]:
        time = getattr(self.time_kernel, "__name__", repr(self.time_kernel))
        return {
            "rank": f"rank {self.rank}",
            **({"time": f"{time} over time"} if "time" in self.side else {}),
            "mean": f"{'pooled' if self._shared else 'constant'} mean",
            "likelihood": repr(self.likelihood or PairedGaussian()),
        }

    @property
    def _shared(self) -> tuple[str, ...]:
        """What a mean of all teams is a function of."""
        return tuple(one for one in POOLED if self.pooled and one in self.side)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns of games that it may read."""
        return (*INPUTS, "rest") if "rest" in self.side else INPUTS

    @property
    def name(self) -> str:
        """As the paper calls it: PMF, DPMF(t), DPMF(h) or DPMF(t,h); and so on."""
        letters = ",".join(LETTERS[one] for one in self.side)
        return f"DPMF({letters})" if letters else "PMF"

    def model(self, lengths: dict[int, float] | None = None, **options: Any) -> DPMF:
        """The model behind it.

        Args:
            lengths: Weeks of each season; found from the training games if left out.
            **options: `scale` and `spread`, as for `DPMF`.
        """
        venue = SquaredExponential("home")
        time = self.time_kernel(SeasonGap("season", "week", lengths=lengths))
        kernel: Kernel = Constant()
        if "time" in self.side:
            kernel = time
        if "home" in self.side:
            kernel = venue * kernel if "time" in self.side else venue
        if self._shared:
            # On the rows alone: a product of two pooled means could not be told apart.
            known = {
                "home": venue,
                "rest": SquaredExponential("rest"),
                "pace": Constant() + time,  # an average that stays, and what changes
            }
            shared = functools.reduce(operator.mul, (known[one] for one in self._shared))
            options |= {"mean": ("pooled", "constant"), "mean_kernel": (shared, None)}
        return DPMF(rank=self.rank, kernel=kernel, likelihood=self.likelihood, **options)

    def fit(self, games: Games, **options: Any) -> Fit:
        """Sample the posterior given games; options are those of `DPMF.fit`.

        The fit keeps the calendar of the games, so that later ones can be placed in it.
        """
        fit = self.model().fit(games.dyads(self.inputs), **options)
        return dataclasses.replace(fit, notes={**fit.notes, **notes(self.name, games)})

    def predict(self, fit: Fit, games: Games, *, seed: int = 0) -> Forecast:
        """Forecast the scores of games."""
        return fit.predict(games.frame, seed=seed, source="games")

    def forecasts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Forecasts:
        """Predictions at every cutoff of a backtest."""
        tell_even(frame, self.inputs)
        protocol = season_fits if plan.protocol == "paper" else cutoff_fits
        return protocol.forecasts(self, frame, cutoffs, plan)

    def parts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Sequence[Part]:
        """The same as pieces of work; by the paper's protocol all of it is one."""
        if plan.protocol == "paper":  # its blocks go on from each other
            return [Whole(self, tuple(cutoffs))]
        tell_even(frame, self.inputs)
        return cutoff_fits.programs(self, frame, cutoffs, plan)


def score_model(
    rank: int = 1,
    side: tuple[str, ...] = ("time", "home"),
    *,
    kernel: Any = None,
    paper: bool = False,
    likelihood: Likelihood | None = None,
) -> ScoreModel:
    """A model of both scores of a game.

    Args:
        rank: Number of latent features.
        side: Side information: some of "time", "home", "rest" and "pace", or nothing, which
            is PMF. Of rest and pace the mean of all teams is a function, not every team's own:
            a team is tired that played the day before (found from the days of all games in
            the table, so leave none out), and pace is how much is scored in the league,
            which changes over time.
        kernel: Kernel over time, such as `kernels.Matern12`.
        paper: The paper's own choices: a squared exponential over time, and a constant
            mean. The default is Matern 1/2 and, where "home", "rest" or "pace" is part of
            the side information, a mean of the attacks that is a function of them.
        likelihood: `PairedGaussian()`, which it is if left out, or `PairedPoisson()` for
            goals, which gives a draw a probability.
    """
    side = tuple(side)
    unknown = [one for one in side if one not in SIDES]
    if unknown or len(set(side)) < len(side):
        raise ConfigError(f"side={side!r}, expected some of {SIDES!r}, each once.")
    if paper and {"rest", "pace"} & {*side}:
        raise ConfigError(
            f"side={side!r}: rest and pace enter the mean of all teams, which is constant in "
            "the paper; leave them out, or take another mean (paper=False, --mean pooled)."
        )
    if kernel is not None and not callable(kernel):
        raise ConfigError(
            f"kernel={kernel!r}, expected a kind of kernel such as kernels.Matern12, which is "
            "then given the time."
        )
    if not (likelihood is None or isinstance(likelihood, PairedGaussian | PairedPoisson)):
        raise ConfigError(
            f"likelihood={likelihood!r}, expected PairedGaussian() or PairedPoisson()."
        )
    if kernel is None:
        kernel = SquaredExponential if paper else Matern12
    ordered = tuple(one for one in SIDES if one in side)
    return ScoreModel(rank, ordered, kernel, pooled=not paper, likelihood=likelihood)
