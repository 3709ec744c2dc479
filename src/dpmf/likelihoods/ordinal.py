"""Ordered levels, such as one to five stars, with learned cut points."""

import dataclasses
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, Key, Shaped

from dpmf.checks import whole_number
from dpmf.errors import ConfigError, DataError
from dpmf.likelihoods.base import OWN, OWNER, IndependentNoise, Likelihood, Own, first_row
from dpmf.priors import HalfNormal, Normal, Prior
from dpmf.types import pytree_dataclass

FEW = 64  # entries of a table, up to which a GPU compares instead of adding


@pytree_dataclass
class OrdinalNoise(IndependentNoise):
    r"""Cumulative logit: $P(z \le l) = \mathrm{sigmoid}(c_l - y)$ for levels 1, 2, ..."""

    cuts: Float[Array, "*owners cuts"]  # increasing; one fewer than there are levels
    # Logarithms of the gaps between them: a level that somebody never gives may have a gap
    # that is lost in the digits of the cuts.
    log_gaps: Float[Array, "*owners gaps"]
    owner: Int[Array, "events pair"] | None = None  # whose cuts a cell has; None: all the same

    def level_log_probs(
        self, y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair levels"]:
        """Log probability of every level."""
        edge = self._of_cells(self.cuts) - y[:, :, None]
        below = jax.nn.log_sigmoid(edge)  # log P(z <= l)
        above = jax.nn.log_sigmoid(-edge)  # log P(z > l)
        # P(l) = P(z <= l) P(z > l - 1) (1 - exp(-(c_l - c_{l-1}))): stable in both tails.
        middle = below[:, :, 1:] + above[:, :, :-1] + self._of_cells(self._added())
        return jnp.concatenate([below[:, :, :1], middle, above[:, :, -1:]], axis=2)

    def cell_log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Log probability of each cell's level."""
        # The two cuts around a level say all: other levels would cost most of a gradient.
        level, there = values.reshape(-1).astype(int) - 1, y.reshape(-1)
        end = jnp.full((*self.cuts.shape[:-1], 1), jnp.inf)
        nothing = jnp.zeros_like(end)
        gaps = jnp.concatenate([nothing, self._added(), nothing], axis=-1)
        upper = jnp.concatenate([self.cuts, end], axis=-1)
        lower = jnp.concatenate([-end, self.cuts], axis=-1)
        if self.owner is not None:
            level = self.owner.reshape(-1) * upper.shape[-1] + level
        chosen = _chosen(jnp.stack([upper, lower, gaps]).reshape(3, -1), level)
        each = chosen[2] - _both_softplus(there - chosen[0], chosen[1] - there)
        return each.reshape(y.shape)

    def _of_cells(self, table: Float[Array, "*owners some"]) -> Float[Array, "*cells some"]:
        """What each cell finds in a table of its owner."""
        return table[None, None] if self.owner is None else table[self.owner]

    def _added(self) -> Float[Array, "*owners gaps"]:
        """What is added to log P(z <= l) + log P(z > l - 1): stable in both tails."""
        return jnp.log(-jnp.expm1(-jnp.exp(self.log_gaps)))

    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Levels 1, 2, ..."""
        return 1.0 + jr.categorical(key, self.level_log_probs(y), axis=2)

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Expected level."""
        levels = 1.0 + jnp.arange(self.cuts.shape[-1] + 1)
        return jnp.exp(self.level_log_probs(y)) @ levels

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """Variance of the level on the diagonal."""
        levels = 1.0 + jnp.arange(self.cuts.shape[-1] + 1)
        second = jnp.exp(self.level_log_probs(y)) @ levels**2
        variance = second - self.mean(y) ** 2
        return variance[:, :, None] * jnp.eye(y.shape[1])[None]


@jax.custom_vjp
def _chosen(
    table: Float[Array, "some levels"], level: Int[Array, " cells"]
) -> Float[Array, "some cells"]:
    """What each cell finds at its level."""
    # Or a CPU would compute the entries of the table anew for every cell.
    return jax.lax.optimization_barrier(table)[:, level]


def _chosen_forward(table, level):
    return _chosen(table, level), (level, jnp.arange(table.shape[1]))


def _chosen_backward(saved, cotangent):
    level, levels = saved
    if len(levels) > FEW:
        return _added(level, levels, cotangent), None
    found = jax.lax.platform_dependent(*saved, cotangent, cpu=_added, default=_compared)
    return found, None


def _added(level, levels, cotangent):
    """Sums of the cotangents of each level."""
    return jnp.zeros((len(cotangent), len(levels))).at[:, level].add(cotangent)


def _compared(level, levels, cotangent):
    """The same for a GPU, whose threads would queue at the same few places."""
    own = level == levels[:, None]
    return jnp.sum(jnp.where(own, cotangent[:, None], 0.0), axis=2)


_chosen.defvjp(_chosen_forward, _chosen_backward)


@jax.custom_jvp
def _both_softplus(a: Float[Array, "*shape"], b: Float[Array, "*shape"]) -> Array:
    """softplus(a) + softplus(b), with the one logarithm of a product between 1 and 4."""
    logs = jnp.log((1 + jnp.exp(-jnp.abs(a))) * (1 + jnp.exp(-jnp.abs(b))))
    return jnp.maximum(a, 0.0) + jnp.maximum(b, 0.0) + logs


@_both_softplus.defjvp
def _both_softplus_jvp(primals, tangents):
    slopes = [jax.nn.sigmoid(x) for x in primals]
    moved = sum(slope * tangent for slope, tangent in zip(slopes, tangents, strict=True))
    return _both_softplus(*primals), moved


@dataclasses.dataclass(frozen=True)
class Ordinal(Likelihood):
    """Ratings 1, 2, ..., `levels`; the cut points between them are learned.

    Some people never give half a star, and some nothing but the best: with `own_cuts` every
    row has gaps of its own between the cuts. Their logarithms are normal among the rows, with
    a learned mean and standard deviation for each gap. The middle cut (of an even number, the
    upper of the two) is the same for all: with `DPMF(intercepts=True)`, which belongs to it,
    to shift all cuts of a row is to shift its y.
    """

    levels: int
    own_cuts: bool = False

    def __post_init__(self) -> None:
        """Refuse a scale without two levels, or without a gap that could be a row's own."""
        if not isinstance(self.own_cuts, bool):
            raise ConfigError(f"Ordinal: own_cuts={self.own_cuts!r}, expected True or False.")
        least = 3 if self.own_cuts else 2
        object.__setattr__(self, "levels", whole_number("Ordinal: levels", self.levels, least))

    @property
    def shifts(self) -> str:
        return "middle_cut" if self.own_cuts else "first_cut"

    @property
    def own(self) -> Own | None:
        return Own(self.levels - 2, "log_gaps", "gap_sd") if self.own_cuts else None

    def priors(self, spread: float) -> dict[str, Prior]:
        """First (or middle) cut N(0, 3^2), logarithms of the gaps N(0, 1).

        Standard deviations of the logarithms of rows' own gaps: half-normal(1).
        """
        size = (self.levels - 2,)
        found = {self.shifts: Normal(0.0, 3.0, (1,)), "log_gaps": Normal(0.0, 1.0, size)}
        return found | ({"gap_sd": HalfNormal(1.0, size)} if self.own_cuts else {})

    def at(self, parameters: Mapping[str, Shaped[Array, "..."]]) -> OrdinalNoise:
        """The noise at known cut points."""
        if not self.own_cuts:
            gaps = jnp.exp(parameters["log_gaps"])
            steps = jnp.concatenate([jnp.zeros(1), jnp.cumsum(gaps)])
            return OrdinalNoise(parameters["first_cut"] + steps, parameters["log_gaps"])
        logs = parameters["log_gaps"] + parameters["gap_sd"] * parameters[OWN]
        gaps = jnp.cumsum(jnp.exp(logs), axis=-1)
        steps = jnp.concatenate([jnp.zeros_like(gaps[..., :1]), gaps], axis=-1)
        middle = (self.levels - 1) // 2
        cuts = parameters["middle_cut"] + steps - steps[..., middle : middle + 1]
        return OrdinalNoise(cuts, logs, parameters[OWNER])

    def centre(self, values: Float[np.ndarray, "events pair"]) -> float:
        """The scale of y, since only its distance from the cuts counts.

        Where y is positive, columns with larger features are better; where it is negative,
        they are worse. All chains start on one side, since they rarely cross over.
        """
        return self.scales(values)[0]

    def check(self, values: Float[np.ndarray, "events pair"]) -> None:
        """Refuse anything but whole levels in range."""
        super().check(values)
        wrong = (values != np.round(values)) | (values < 1) | (values > self.levels)
        if wrong.any():
            raise DataError(
                f"Ordinal: row {first_row(wrong)} holds {values[wrong][0]:g}, expected a whole "
                f"level from 1 to {self.levels}. Recode the values or change `levels`."
            )
