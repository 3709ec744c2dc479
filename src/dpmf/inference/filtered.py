r"""What noisy copies tell of Markov chains (`copied`), by a filter that runs side by side.

With $f_t = a_t f_{t-1} + b_t w_t$ and $g_t = f_t + \sqrt{s}\,\epsilon_t$, Kalman's filter gives
$p(g)$ and, backwards, $f_t$ given $g$ and $f_{t+1}$. Its means are linear recurrences; its
variances $v_t = s p_t / (p_t + s)$ with $p_t = a_t^2 v_{t-1} + b_t^2$ are ratios of linear
functions of the one before, which can be put together in any grouping, as matrices can.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference.copied import Told
from dpmf.model.markov import Steps
from dpmf.model.recurrence import recurrence


@dataclasses.dataclass(frozen=True)
class Filtered(Told):
    """Of copies of the values of Markov chains that lie end to end."""

    steps: Steps
    surprise: Float[Array, " points"]  # of each copy, given those before, in deviations
    log_volume: Float[Array, ""]  # of the copies' deviations
    own: Float[Array, " points"]  # what a value has from its copy and those before
    back: Float[Array, " points"]  # what of the value after it is added to that
    left: Float[Array, " points"]  # deviation of a value once that one is known

    @staticmethod
    def by(steps: Steps, copy: Float[Array, " points"], spread: Float[Array, ""]) -> "Filtered":
        """From the steps of the chains, the copies and their variance."""
        decay, fresh = steps
        variance = _variances(steps, spread)
        predicted = decay**2 * _before(variance) + fresh**2
        whole = predicted + spread
        gain = predicted / whole
        mean = recurrence((spread / whole * decay)[None], (gain * copy)[None])[0]
        surprise = (copy - decay * _before(mean)) / jnp.sqrt(whole)
        # Behind the last point of a chain another one begins, whose decay is 0.
        ahead, next_fresh, next_predicted = (
            _after(one, last) for one, last in ((decay, 0.0), (fresh, 1.0), (predicted, 1.0))
        )
        unexplained = next_fresh**2 / next_predicted  # of the value after it
        return Filtered(
            steps,
            surprise,
            log_volume=0.5 * jnp.sum(jnp.log(whole)),
            own=unexplained * mean,
            back=variance * ahead / next_predicted,
            left=jnp.sqrt(variance * unexplained),
        )

    @property
    def log_density(self) -> Float[Array, ""]:
        return -0.5 * jnp.sum(self.surprise**2) - self.log_volume

    def held(
        self, white: Float[Array, " points"], values: Float[Array, " points"]
    ) -> Float[Array, " points"]:
        return (values - self.back * _after(values, 0.0) - self.own) / self.left

    def restored(
        self, held: Float[Array, " points"]
    ) -> tuple[Float[Array, " points"], Float[Array, " points"]]:
        new = (self.own + self.left * held)[::-1]
        values = recurrence(self.back[::-1][None], new[None])[0][::-1]
        return (values - self.steps.decay * _before(values)) / self.steps.fresh, values


def _variances(steps: Steps, spread: Float[Array, ""]) -> Float[Array, " points"]:
    """Of every value, given its copy and those before.

    Of each step from v to (A v + B) / (C v + 1), A, B and C; nothing is ever subtracted.
    """
    whole = steps.fresh**2 + spread
    a, b = steps.decay**2 / whole, steps.fresh**2 / whole

    def joined(first, second):
        a1, b1, c1 = first
        a2, b2, c2 = second
        whole = c2 * b1 + 1
        return (a2 * a1 + b2 * c1) / whole, (a2 * b1 + b2) / whole, (c2 * a1 + c1) / whole

    return jax.lax.associative_scan(joined, (spread * a, spread * b, a))[1]


def _before(values: Float[Array, " points"]) -> Float[Array, " points"]:
    return jnp.pad(values, (1, 0))[:-1]


def _after(values: Float[Array, " points"], last: float) -> Float[Array, " points"]:
    return jnp.pad(values, (0, 1), constant_values=last)[1:]
