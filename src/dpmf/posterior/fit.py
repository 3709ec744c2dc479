"""A fitted model: draws, what they say about themselves, and forecasts."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpmf import display
from dpmf.checks import whole_number
from dpmf.data import Dyads
from dpmf.errors import ConfigError
from dpmf.inference.chains import Draws, Sizes
from dpmf.inference.diagnostics import Diagnostics, diagnostics, over_draws, quantities
from dpmf.inference.estimator import DPMF
from dpmf.inference.hyperparameters import Hyperparameters, central
from dpmf.inference.identity import data_digest, made_by
from dpmf.inference.problem import Problem
from dpmf.likelihoods.base import OWN
from dpmf.model.layout import Grids, layout
from dpmf.model.spec import Spec
from dpmf.model.state import Fixed, Parameters, State
from dpmf.posterior import warm_start
from dpmf.posterior.extension import predictions
from dpmf.posterior.forecast import Forecast

MADE = "made by"  # the note of versions, device and data


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Posterior draws of a model, and everything that follows from them."""

    model: DPMF
    spec: Spec
    grids: Grids
    fixed: Fixed
    data: Dyads
    draws: Draws
    engine: str
    sizes: Sizes
    seed: int
    diagnostics: Diagnostics
    notes: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # saved with it, as JSON

    @staticmethod
    def of(
        model: DPMF,
        problem: Problem,
        points: Grids,
        data: Dyads,
        draws: Draws,
        engine: str,
        sizes: Sizes,
        seed: int,
    ) -> "Fit":
        """Wrap up what the chains left behind."""
        checked = diagnostics(quantities(problem, draws.states), draws.stats)
        fixed = jax.tree.map(np.asarray, problem.fixed)
        made = {MADE: {**made_by(), "data": data_digest(data)}}
        return Fit(
            model, problem.spec, points, fixed, data, draws, engine, sizes, seed, checked, made
        )

    def __repr__(self) -> str:
        """What was fitted, and whether to trust it."""
        chains, draws = self.shape
        return (
            f"Fit of {self.data!r}\n"
            f"rank {self.spec.rank}, engine {self.engine}, {chains} chains x {draws} draws\n"
            f"{self.spec.inputs_line()}\n"
            f"{self.diagnostics.line()}"
        )

    def _repr_html_(self) -> str:
        chains, draws = self.shape
        kernels = dict.fromkeys(str(side.kernel) for side in (self.spec.rows, self.spec.cols))
        rows = {
            "data": repr(self.data),
            "rank": self.spec.rank,
            "kernel": " and ".join(kernels),
            "likelihood": type(self.spec.likelihood).__name__,
            "draws": f"{chains} chains of {draws:,}, engine {self.engine}, seed {self.seed}",
        }
        return display.table("Fit", rows, self.diagnostics.line())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of chains, and of draws in each."""
        mean = self.draws.states.free.rows.mean
        return mean.shape[0], mean.shape[1]

    @functools.cached_property
    def problem(self) -> Problem:
        """The training problem as arrays."""
        with jax.enable_x64(True):
            fixed = jax.tree.map(jnp.asarray, self.fixed)
            return Problem(layout(self.grids, self.data)[1], fixed, self.spec)

    @functools.cached_property
    def parameters(self) -> Parameters:
        """Means, covariances, hyperparameters and noise; axes (chains, draws, ...)."""
        problem = self.problem
        with jax.enable_x64(True):
            return over_draws(problem.parameters, self.draws.states)

    def predict(self, frame: Any, *, seed: int = 0, source: str = "frame") -> Forecast:
        """Forecast events, at old or new inputs, of old or new members.

        Every draw of the functions is carried to the new inputs exactly; a member never
        seen draws its functions from the population.

        Args:
            frame: A pandas or polars frame with the columns that the training frame had;
                value columns are optional and ignored.
            seed: Of the function values at new inputs and of new members.
            source: Where the frame came from, for messages.

        Returns:
            A mixture over draws for each event.

        Raises:
            DataError: The frame cannot be used.
        """
        upcoming = self.data.encode(frame, source=source, values=False)
        some = owner = None
        if self.spec.likelihood.own is not None:
            some, place = np.unique(upcoming.rows, return_inverse=True)
            owner = place.reshape(upcoming.rows.shape)
        with jax.enable_x64(True):
            y, own = predictions(
                self.problem, self.grids, self.draws.states, upcoming, seed, some
            )
        flat = self.shape[0] * self.shape[1]
        noise = {n: v.reshape(flat, *v.shape[2:]) for n, v in self.parameters.noise.items()}
        y = y.reshape(flat, *y.shape[2:])
        if own is not None:
            noise[OWN] = own.reshape(flat, *own.shape[2:])
        return Forecast(upcoming, self.spec.likelihood, y, noise, owner)

    def condition(
        self,
        frame: Any,
        *,
        update: str = "new",
        steps: int = 100,
        seed: int = 0,
        source: str = "frame",
    ) -> "Fit":
        """This fit given a handful of new events as well, without fitting again.

        In every draw the functions of some members, and whatever else a member has for itself
        (an intercept, cut points), move to what they are given the new events and all else in
        the draw; then draws are weighted by the marginal likelihood of the new
        events, their weights smoothed, and as many drawn by weight. Whoever is updated, the
        result stands for the posterior that a fit to all events together has. How well is told
        by `diagnostics.reweighted`: Pareto k, with a warning past 0.7, and the effective sample
        size of the weights. R-hat and the like stay those of the draws before.

        Args:
            frame: Events that the fit has not seen, with the columns of the training frame.
            update: Whose functions move. "new": members never seen, of whom every event must
                have one; "rows", "cols" or "both": known ones of the new events too.
            steps: In which the new events come in; more make steadier weights.
            seed: The same seed gives the same draws on the same device.
            source: Where the frame came from, for messages.

        Returns:
            A fit of all events, with as many draws; some of them are equal.

        Raises:
            ConfigError: A choice has no meaning.
            DataError: The frame cannot be used, or an event has nobody to update.
            SamplingError: The new events are impossible under every draw.
        """
        from dpmf.posterior.conditioning import conditioned

        return conditioned(self, frame, update, steps, seed, source)

    def thinned(self, draws: int) -> "Fit":
        """The same fit with fewer draws, spread evenly over those of every chain.

        Diagnostics stay those of all draws.

        Args:
            draws: To keep, of all chains together; at least one of each stays.
        """
        chains, count = self.shape
        each = min(max(whole_number("draws", draws, 1) // chains, 1), count)
        some = np.linspace(0, count - 1, each).astype(int)
        kept = jax.tree.map(lambda x: np.asarray(x)[:, some], self.draws.states)
        stats = {name: np.asarray(x)[:, some] for name, x in self.draws.stats.items()}
        return dataclasses.replace(self, draws=self.draws._replace(states=kept, stats=stats))

    def hyperparameters(
        self, which: str = "central", *, chain: int = 0, sigma: bool = True
    ) -> Hyperparameters:
        """One actual draw of the hyperparameters, to hold fixed in another fit.

        Args:
            which: "central", the draw nearest to all others, or "last", the final state
                of a chain, as in the paper.
            chain: The chain whose last state is taken.
            sigma: Whether Sigma is held as well.
        """
        if which not in ("central", "last"):
            raise ConfigError(f"which={which!r}, expected 'central' or 'last'.")
        if not 0 <= chain < self.shape[0]:
            raise ConfigError(f"chain={chain!r}, expected 0 to {self.shape[0] - 1}.")
        at = central(self.parameters) if which == "central" else (chain, -1)
        one = jax.tree.map(lambda x: np.asarray(x)[at], self.parameters)
        return Hyperparameters.of(one, sigma=sigma)

    def to_arviz(self, *, seed: int = 0) -> Any:
        """The fit as an ArviZ DataTree.

        Groups: posterior, sample_stats, observed_data, log_likelihood and
        posterior_predictive.
        """
        from dpmf.posterior.arviz import datatree

        return datatree(self, seed)

    def save(self, path: Any) -> None:
        """Write everything to one netCDF file, whole or not at all."""
        from dpmf.posterior.files import save

        save(self, path)

    def grids_over(self, data: Dyads) -> Grids:
        """Points of other events, of the kinds that they are here."""
        return warm_start.grids_over(self.grids, data)

    def last_states(
        self, points: Grids, data: Dyads, fixed: Fixed, chains: int, seed: int
    ) -> State:
        """The last state of each chain, carried over to another problem of the same model.

        Args:
            points: Grids of the new problem.
            data: Its events; members are matched by name.
            fixed: Its fixed hyperparameters.
            chains: How many states to give; chains are reused in turn.
            seed: Of whatever has no old value.
        """
        return warm_start.last_states(self, points, data, fixed, chains, seed)
