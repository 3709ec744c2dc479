"""The model as a user writes it, and the way from data to a fit."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from dpmf import display
from dpmf.checks import positive_number, whole_number
from dpmf.collection import no_collection
from dpmf.data import Dyads
from dpmf.errors import ConfigError
from dpmf.inference.chains import Draws, Sizes, run
from dpmf.inference.checkpoint import Place
from dpmf.inference.hyperparameters import Hyperparameters
from dpmf.inference.identity import data_digest, digest
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Report, reporting
from dpmf.inference.request import (
    require_dyads,
    require_kind,
    require_not_own,
    require_values,
    same_model,
    within,
)
from dpmf.inference.simulation import Simulation, simulated
from dpmf.inference.start import starts as fresh_starts
from dpmf.kernels import Constant, Kernel, SquaredExponential
from dpmf.likelihoods import Gaussian, Likelihood, PairedGaussian
from dpmf.model.grid import training_columns
from dpmf.model.inputs import GRID, KINDS, Inputs, chosen
from dpmf.model.layout import grids, layout
from dpmf.model.spec import Spec, spec
from dpmf.model.state import FREE_ALL

if TYPE_CHECKING:
    import dpmf.posterior.fit

Pair = tuple[Any, Any]
BUDGET = 512 * 2**20  # bytes of kept states


@dataclasses.dataclass(frozen=True, repr=False)
class DPMF:
    """Dependent probabilistic matrix factorization (Adams, Dahl and Murray 2010).

    y = u_m(x) . softplus(v_n(x)): every row m and column n has `rank` feature functions
    of the inputs x with Gaussian-process priors.

    Attributes:
        rank: Number of latent functions K of each side.
        kernel: Correlation over the inputs; a pair gives rows and columns their own.
        likelihood: Noise model; None takes `Gaussian`, or `PairedGaussian` for pairs.
        mean: "constant" (the paper), or "pooled": a function of the inputs that all
            members of a side share. A pair gives rows and columns their own.
        mean_kernel: Kernel of the pooled mean; None takes a squared exponential on
            `home` where there is such an input, else the side's own kernel.
        scale: Root mean square of the values; None takes it from the training data.
        spread: Their standard deviation; None takes it from the training data.
        inputs: How functions are represented: "grid", on the distinct inputs of all events;
            "markov", at every member's own inputs, for Matern 1/2 of one column, at a cost that
            is linear in them; "member", at every member's own inputs, for any kernel; "basis",
            a series of waves for smooth and periodic kernels of one column, whose correlations
            are exact within 0.005 for inputs up to a quarter of the training range beyond it;
            "auto" chooses, and the fit says what and why. A pair gives rows and columns their
            own. The model is the same; a pooled mean is always on "auto".
        intercepts: Whether every row and every column also adds a number of its own to y,
            whatever it meets: y = b_m + c_n + u_m(x) . softplus(v_n(x)).
    """

    rank: int = 1
    kernel: Kernel | Pair = Constant()  # noqa: RUF009
    likelihood: Likelihood | None = None
    mean: str | Pair = "constant"
    mean_kernel: Kernel | Pair | None = None
    scale: float | None = None
    spread: float | None = None
    inputs: str | Pair = "auto"
    intercepts: bool = False

    def __repr__(self) -> str:
        """The choices that were made."""
        chosen = (f"{name}={value}" for name, value in self._choices().items())
        return f"{type(self).__name__}({', '.join(chosen)})"

    def _repr_html_(self) -> str:
        return display.table(type(self).__name__, self._choices())

    def _choices(self) -> dict[str, str]:
        """Every choice that is not left to the data, as a user would write it."""
        every = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: _spelled(value) for name, value in every.items() if value is not None}

    def __post_init__(self) -> None:
        """Refuse a model that has no meaning."""
        object.__setattr__(self, "rank", whole_number("rank", self.rank, 1))
        for name in ("kernel", "mean", "mean_kernel", "inputs"):
            choice = getattr(self, name)
            if isinstance(choice, tuple) and len(choice) != 2:
                raise ConfigError(
                    f"{name} holds {len(choice)} choices, expected one, or a pair of them for "
                    "rows and columns."
                )
        pooled = (one for one in _both(self.mean_kernel) if one is not None)
        for kernel in (*_both(self.kernel), *pooled):
            if not isinstance(kernel, Kernel):
                raise ConfigError(
                    f"kernel={kernel!r}, expected a kernel such as Matern12('time'), or a "
                    "pair of them for rows and columns."
                )
        if not (self.likelihood is None or isinstance(self.likelihood, Likelihood)):
            raise ConfigError(
                f"likelihood={self.likelihood!r}, expected a likelihood such as Gaussian()."
            )
        if self.mean_kernel is not None and "pooled" not in _both(self.mean):
            raise ConfigError(
                "mean_kernel is given but mean='constant' has no kernel; set mean='pooled'."
            )
        for mean in _both(self.mean):
            if mean not in ("constant", "pooled"):
                raise ConfigError(f"mean={mean!r}, expected 'constant' or 'pooled'.")
        for inputs in _both(self.inputs):
            if inputs not in KINDS:
                kinds = ", ".join(map(repr, KINDS))
                raise ConfigError(f"inputs={inputs!r}, expected one of {kinds}.")
        if not isinstance(self.intercepts, bool):
            raise ConfigError(f"intercepts={self.intercepts!r}, expected True or False.")
        for name in ("scale", "spread"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, positive_number(name, value))

    def spec(self, data: Dyads) -> Spec:
        """The model with all constants, which come from `data` unless they were given.

        Raises:
            ConfigError: A kernel reads an input that the data do not have.
            DataError: The likelihood cannot produce the values.
        """
        likelihood = self._likelihood(data)
        likelihood.check(data.values)
        return self._spec(data, likelihood)

    def _likelihood(self, data: Dyads) -> Likelihood:
        return self.likelihood or (Gaussian() if data.pair == 1 else PairedGaussian())

    def _spec(self, data: Dyads, likelihood: Likelihood) -> Spec:
        scale, spread = self.scale, self.spread
        if scale is None or spread is None:
            found = likelihood.scales(data.values)
            scale = found[0] if scale is None else scale
            spread = found[1] if spread is None else spread
        kernels = [self._kernels(side, data) for side in (0, 1)]
        rows = self._inputs(0, kernels[0], data, data.rows, len(data.row_names))
        cols = self._inputs(1, kernels[1], data, data.cols, len(data.col_names))
        inputs = (rows, cols)
        both = (kernels[0], kernels[1])
        return spec(self.rank, *both, likelihood, scale, spread, inputs, self.intercepts)

    def _inputs(self, side, kernels, data: Dyads, member, members) -> tuple[Inputs, Inputs]:
        kernel, pooled = kernels
        wanted = _both(self.inputs)[side]
        own = chosen(wanted, kernel, data, member.reshape(-1), members)
        everyone = np.zeros(data.cells, int)
        return own, chosen("auto", pooled, data, everyone, 1) if pooled else GRID

    def _kernels(self, side: int, data: Dyads) -> tuple[Kernel, Kernel | None]:
        kernel = _both(self.kernel)[side]
        pooled = None
        if _both(self.mean)[side] == "pooled":
            pooled = _both(self.mean_kernel)[side]
            if pooled is None:
                on_home = "home" in data.input_names
                pooled = SquaredExponential("home") if on_home else kernel
        require_not_own(kernel, data, side)
        columns = training_columns(data)
        for one in (kernel, pooled):
            missing = [name for name in (one.columns if one else ()) if name not in columns]
            if missing:
                have = ", ".join(data.input_names) or "none"
                raise ConfigError(
                    f"kernel {one}: there is no input {missing[0]!r} (the data have: {have}). "
                    "Name it in `inputs=` when you make the Dyads."
                )
            texts = {column.name: column for column in data.codebook.inputs if column.levels}
            for name in (name for name in (one.measured if one else ()) if name in texts):
                raise ConfigError(
                    f"kernel {one}: input {name!r} is text, such as "
                    f"{texts[name].levels[0]!r}, which has no distances. Convert the column to "
                    f"numbers or dates first, or use Categorical({name!r})."
                )
        return kernel.bounded(columns), pooled.bounded(columns) if pooled else None

    def simulate(self, data: Dyads, *, seed: int = 0) -> Simulation:
        """Draw values for the events of `data` from the prior.

        Args:
            data: Who meets whom at which inputs. Its values are replaced; they set the
                scales unless `scale` and `spread` are given.
            seed: The same seed gives the same draw.
        """
        require_dyads(data)
        with jax.enable_x64(True):
            settled = self._spec(data, self._likelihood(data))  # values are to be replaced
            return simulated(settled, data, seed)

    def fit(
        self,
        data: Dyads,
        *,
        chains: int = 4,
        warmup: int = 500,
        draws: int = 500,
        thin: int = 1,
        seed: int = 0,
        engine: str = "hmc",
        start: "Any | None" = None,
        hyperparameters: Hyperparameters | None = None,
        progress: bool | Report = True,
        budget: int = BUDGET,
        checkpoint: str | Path | None = None,
    ) -> "dpmf.posterior.fit.Fit":
        """Sample the posterior.

        Args:
            data: Training events.
            chains: Independent chains, run as one vectorised program.
            warmup: Steps of each chain before draws are kept.
            draws: Kept draws of each chain.
            thin: Steps per kept draw.
            seed: The same seed gives the same draws on the same device.
            engine: "hmc", or "slice" as in the paper.
            start: An earlier fit of the same model whose last states to start from; its
                events, inputs and members may differ from those of `data`.
            hyperparameters: Values to hold fixed instead of sampling them.
            progress: A bar on a terminal, or a function called with (stage, done, total).
            budget: Bytes that kept states may take; past it they are thinned, with a
                warning.
            checkpoint: Folder that the run is kept in, at most ten seconds behind. If it is
                stopped, the same call goes on from there, to the same draws. Draws then are
                on disk, not in memory: the fit reads them from this folder, which can be
                deleted once the fit is saved.

        Returns:
            A fit with its draws, diagnostics, and forecasts.

        Raises:
            ConfigError: The call or the model has no meaning.
            DataError: The data do not fit the model.
            SamplingError: A chain cannot start.
            FileError: The checkpoint cannot be read or written.
        """
        from dpmf.posterior.fit import Fit

        require_dyads(data)
        require_kind("start", start, Fit)
        require_kind("hyperparameters", hyperparameters, Hyperparameters)
        chains, warmup = whole_number("chains", chains, 1), whole_number("warmup", warmup, 0)
        draws, thin = whole_number("draws", draws, 1), whole_number("thin", thin, 1)
        seed, budget = whole_number("seed", seed, 0), whole_number("budget", budget, 1)
        if engine not in ("hmc", "slice"):
            raise ConfigError(f"engine={engine!r}, expected 'hmc' or 'slice'.")
        require_values(data)
        stages = {"warm-up": warmup, "sampling": draws * thin}
        with jax.enable_x64(True), reporting(progress, chains, stages) as report:
            with no_collection():
                settled = self.spec(data) if start is None else same_model(self, start, data)
                over = grids(settled, data) if start is None else start.grids_over(data)
                points, arrays = layout(over, data)
                fixed = FREE_ALL if hyperparameters is None else hyperparameters.fixed(settled)
                problem = Problem(arrays, fixed, settled)
                key_start, key_run = jr.split(jr.key(seed))
                if start is None:
                    centre = settled.likelihood.centre(data.values)
                    each = jax.vmap(lambda c: jr.fold_in(key_start, c))(jnp.arange(chains))
                    starts = fresh_starts(problem, jnp.asarray(centre), each)
                else:
                    starts = start.last_states(points, data, fixed, chains, seed)
                sizes = within(budget, problem, chains, Sizes(warmup, draws, thin))
                place = None if checkpoint is None else _place(checkpoint, data, seed, start)
            kept: Draws = run(engine, problem, starts, sizes, key_run, report, place)
            return Fit.of(self, problem, points, data, kept, engine, sizes, seed)


def PMF(rank: int = 1, likelihood: Likelihood | None = None, **options: Any) -> DPMF:
    """Bayesian probabilistic matrix factorization: this model with constant kernels.

    Args:
        rank: Number of latent features.
        likelihood: Noise model.
        **options: `scale`, `spread` and `intercepts`, as for `DPMF`.
    """
    return DPMF(rank=rank, kernel=Constant(), likelihood=likelihood, **options)


def _place(folder: str | Path, data: Dyads, seed: int, start: Any) -> Place:
    """Where a fit is kept, with what tells it apart."""
    states = None if start is None else jax.tree.map(lambda x: x[:, -1], start.draws.states)
    return Place(
        Path(folder), {"data": data_digest(data), "seed": seed, "start": digest(states)}
    )


def _spelled(choice: Any) -> str:
    if isinstance(choice, tuple):
        return f"({', '.join(map(_spelled, choice))})"
    return str(choice) if isinstance(choice, Kernel) else repr(choice)


def _both(choice: Any) -> Pair:
    return choice if isinstance(choice, tuple) else (choice, choice)
