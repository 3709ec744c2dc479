"""Noise models: how observed values scatter around the matrix entries.

A likelihood of your own is two small classes. The first is the noise at known
parameters, a pytree with `log_prob` and `sample`; the second names the parameters and
their priors:

    import dataclasses
    import jax.numpy as jnp, jax.random as jr
    from dpmf.likelihoods import Likelihood, Noise
    from dpmf.priors import HalfNormal
    from dpmf.types import pytree_dataclass

    @pytree_dataclass
    class LaplaceNoise(Noise):
        width: object

        def log_prob(self, y, values):
            return jnp.sum(-jnp.abs(values - y) / self.width - jnp.log(2 * self.width), axis=1)

        def sample(self, key, y):
            return y + self.width * jr.laplace(key, y.shape)

    @dataclasses.dataclass(frozen=True)
    class Laplace(Likelihood):
        def priors(self, spread):
            return {"width": HalfNormal(spread)}

        def at(self, parameters):
            return LaplaceNoise(parameters["width"])

Optional, for speed and comfort: `Noise.split` (a log probability per cell lets all
members move at once), `Noise.mean` and `Noise.covariance` (closed forms instead of
sampled moments), `Likelihood.scales` and `Likelihood.centre` (for values that are not
on a link scale), `Likelihood.check` (refuse impossible values).
"""

from dpmf.likelihoods.base import Likelihood, Noise
from dpmf.likelihoods.bernoulli import Bernoulli
from dpmf.likelihoods.gaussian import Gaussian
from dpmf.likelihoods.ordinal import Ordinal
from dpmf.likelihoods.paired import PairedGaussian

__all__ = ["Bernoulli", "Gaussian", "Likelihood", "Noise", "Ordinal", "PairedGaussian"]
