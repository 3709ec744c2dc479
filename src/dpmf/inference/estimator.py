"""The model as a user writes it, and the way from data to a fit."""

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from dpmf.data import Dyads
from dpmf.errors import ConfigError, DataError, DpmfWarning
from dpmf.inference.chains import Draws, Sizes, run
from dpmf.inference.hyperparameters import Hyperparameters
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Report, reporting
from dpmf.inference.start import starts as fresh_starts
from dpmf.kernels import Constant, Kernel, SquaredExponential
from dpmf.likelihoods import Gaussian, Likelihood, PairedGaussian
from dpmf.model.coordinates import parameters
from dpmf.model.grid import training_columns
from dpmf.model.layout import grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.simulate import simulate_state, simulate_values
from dpmf.model.spec import Spec, spec
from dpmf.model.state import FREE_ALL, Parameters, State

if TYPE_CHECKING:
    import dpmf.posterior.fit

Pair = tuple[Any, Any]
BUDGET = 512 * 2**20  # bytes of kept states


@dataclasses.dataclass(frozen=True, eq=False)
class Simulation:
    """Events drawn from the prior, with what produced them."""

    data: Dyads
    parameters: Parameters
    y: np.ndarray
    state: State


@dataclasses.dataclass(frozen=True)
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
    """

    rank: int = 1
    kernel: Kernel | Pair = Constant()  # noqa: RUF009
    likelihood: Likelihood | None = None
    mean: str | Pair = "constant"
    mean_kernel: Kernel | Pair | None = None
    scale: float | None = None
    spread: float | None = None

    def __post_init__(self) -> None:
        """Refuse a model that has no meaning."""
        object.__setattr__(self, "rank", _whole(("rank", self.rank, 1))[0])
        for name in ("kernel", "mean", "mean_kernel"):
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
        for kernel in _both(self.mean_kernel):
            if kernel is not None and not isinstance(kernel, Kernel):
                raise ConfigError(f"mean_kernel={kernel!r}, expected a kernel or None.")
        if self.mean_kernel is not None and "pooled" not in _both(self.mean):
            raise ConfigError(
                "mean_kernel is given but mean='constant' has no kernel; set mean='pooled'."
            )
        for mean in _both(self.mean):
            if mean not in ("constant", "pooled"):
                raise ConfigError(f"mean={mean!r}, expected 'constant' or 'pooled'.")
        for name in ("scale", "spread"):
            value = getattr(self, name)
            if value is None:
                continue
            number = isinstance(value, int | float | np.number)
            if not (number and np.isfinite(value) and value > 0):
                raise ConfigError(f"{name}={value!r}, expected a positive number or None.")
            object.__setattr__(self, name, float(value))

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
        return spec(self.rank, kernels[0], kernels[1], likelihood, scale, spread)

    def _kernels(self, side: int, data: Dyads) -> tuple[Kernel, Kernel | None]:
        kernel = _both(self.kernel)[side]
        pooled = None
        if _both(self.mean)[side] == "pooled":
            pooled = _both(self.mean_kernel)[side]
            if pooled is None:
                on_home = "home" in data.input_names
                pooled = SquaredExponential("home") if on_home else kernel
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
        _require_dyads(data)
        with jax.enable_x64(True):
            settled = self._spec(data, self._likelihood(data))  # values are to be replaced
            arrays = layout(grids(settled, data), data)[1]
            key_state, key_values = jr.split(jr.key(seed))
            state = simulate_state(settled, arrays, key_state)
            values = parameters(settled, state.free)
            y = predictor(settled, state.white, values, arrays)
            drawn = simulate_values(settled, state, arrays, key_values)
            simulated = dataclasses.replace(data, values=np.asarray(drawn))
            host = jax.tree.map(np.asarray, (values, state))
            return Simulation(simulated, host[0], np.asarray(y), host[1])

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

        Returns:
            A fit with its draws, diagnostics, and forecasts.

        Raises:
            ConfigError: The call or the model has no meaning.
            DataError: The data do not fit the model.
            SamplingError: A chain cannot start.
        """
        from dpmf.posterior.fit import Fit

        _require_dyads(data)
        for name, value, wanted in (
            ("start", start, Fit),
            ("hyperparameters", hyperparameters, Hyperparameters),
        ):
            if not (value is None or isinstance(value, wanted)):
                raise ConfigError(
                    f"{name} is a {type(value).__name__}, expected a {wanted.__name__}."
                )
        chains, warmup, draws, thin, seed, budget = _whole(
            ("chains", chains, 1),
            ("warmup", warmup, 0),
            ("draws", draws, 1),
            ("thin", thin, 1),
            ("seed", seed, 0),
            ("budget", budget, 1),
        )
        if engine not in ("hmc", "slice"):
            raise ConfigError(f"engine={engine!r}, expected 'hmc' or 'slice'.")
        _require_values(data)
        with jax.enable_x64(True), reporting(progress) as report:
            settled = self.spec(data) if start is None else _same_model(self, start, data)
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
            sizes = _within(budget, problem, chains, Sizes(warmup, draws, thin))
            kept: Draws = run(engine, problem, starts, sizes, key_run, report)
            return Fit.of(self, problem, points, data, kept, engine, sizes, seed)


def PMF(rank: int = 1, likelihood: Likelihood | None = None, **options: Any) -> DPMF:
    """Bayesian probabilistic matrix factorization: this model with constant kernels.

    Args:
        rank: Number of latent features.
        likelihood: Noise model.
        **options: `scale` and `spread`, as for `DPMF`.
    """
    return DPMF(rank=rank, kernel=Constant(), likelihood=likelihood, **options)


def _both(choice: Any) -> Pair:
    return choice if isinstance(choice, tuple) else (choice, choice)


def _whole(*numbers: tuple[str, Any, int]) -> list[int]:
    """Whole numbers of any integer type, each at least what it must be."""
    for name, value, least in numbers:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or value < least:
            raise ConfigError(f"{name}={value!r}, expected a whole number of at least {least}.")
    return [int(value) for _, value, _ in numbers]


def _require_dyads(data: Any) -> None:
    if not isinstance(data, Dyads):
        raise ConfigError(
            f"data is a {type(data).__name__}, expected Dyads: encode a frame with "
            "dpmf.Dyads.from_frame first."
        )


def _require_values(data: Dyads) -> None:
    """Refuse to learn from nothing, or from events that were encoded without a value."""
    if not data.events:
        raise DataError("there are no events, expected at least one to learn from.")
    wrong = np.flatnonzero(~np.isfinite(data.values).all(axis=1))
    if wrong.size:
        raise DataError(
            f"row {wrong[0] + 1} has no value, expected one for every event to learn from. "
            "Drop the rows without values."
        )


def _same_model(model: DPMF, start: Any, data: Dyads) -> Spec:
    """The earlier fit's constants, so that its states mean the same here."""
    if start.model != model:
        raise ConfigError("start: the earlier fit is of another model; expected the same one.")
    if start.data.pair != data.pair:
        raise ConfigError(
            f"start: the earlier fit has {start.data.pair} value(s) per event, these data "
            f"{data.pair}; expected the same number."
        )
    start.spec.likelihood.check(data.values)
    return start.spec


def _within(budget: int, problem: Problem, chains: int, sizes: Sizes) -> Sizes:
    """Thin further where the kept states would not fit."""
    each = 8 * chains * sum(leaf.size for leaf in jax.tree.leaves(problem.template()))
    room = max(budget // each, 1)
    if sizes.draws <= room:
        return sizes
    factor = -(-sizes.draws // room)
    kept = sizes.draws // factor
    warnings.warn(
        f"{sizes.draws} draws of {chains} chains need {each * sizes.draws / 2**20:.0f} MiB; "
        f"keeping one in {factor} ({kept} draws a chain) to stay within "
        f"{budget / 2**20:.0f} MiB. Raise `budget` to keep more.",
        DpmfWarning,
        stacklevel=3,
    )
    return Sizes(sizes.warmup, kept, sizes.thin * factor)
