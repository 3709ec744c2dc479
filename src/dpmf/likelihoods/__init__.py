"""Noise models: how observed values scatter around the matrix entries.

A likelihood of your own is two small classes. The first is the noise at known
parameters, a pytree with `log_prob` and `sample`; the second names the parameters and
their priors. Where cells are independent, `IndependentNoise` with one log probability per
cell lets all members move at once:

    import dataclasses
    import jax.numpy as jnp, jax.random as jr
    from dpmf.likelihoods import IndependentNoise, Likelihood, data_scales
    from dpmf.priors import HalfNormal
    from dpmf.types import pytree_dataclass

    @pytree_dataclass
    class LaplaceNoise(IndependentNoise):
        width: object

        def cell_log_prob(self, y, values):
            return -jnp.abs(values - y) / self.width - jnp.log(2 * self.width)

        def sample(self, key, y):
            return y + self.width * jr.laplace(key, y.shape)

    @dataclasses.dataclass(frozen=True)
    class Laplace(Likelihood):
        def priors(self, spread):
            return {"width": HalfNormal(spread)}

        def at(self, parameters):
            return LaplaceNoise(parameters["width"])

        def scales(self, values):
            return data_scales(values)

        def centre(self, values):
            return float(values.mean())

`scales` and `centre` say how large y is and where it starts. Without them they are those of a
link scale (2.5 and 0), which suits logits and nothing else.

For dependent cells write `Noise.log_prob` instead, and `Noise.split` if auxiliary
variables make them independent; without it members move one after another. Optional, for
comfort: `Noise.mean` and `Noise.covariance` (closed forms instead of sampled moments),
`Likelihood.check` (refuse impossible values), and for pairs `Noise.first_exceeds` and, where
values are counts, `Noise.equal`.
"""

from dpmf.likelihoods.base import IndependentNoise, Likelihood, Noise
from dpmf.likelihoods.bernoulli import Bernoulli
from dpmf.likelihoods.gaussian import Gaussian, data_scales
from dpmf.likelihoods.negative_binomial import NegativeBinomial
from dpmf.likelihoods.ordinal import Ordinal
from dpmf.likelihoods.paired import PairedGaussian
from dpmf.likelihoods.paired_poisson import PairedPoisson
from dpmf.likelihoods.poisson import Poisson
from dpmf.likelihoods.student import StudentT

__all__ = [
    "Bernoulli",
    "Gaussian",
    "IndependentNoise",
    "Likelihood",
    "NegativeBinomial",
    "Noise",
    "Ordinal",
    "PairedGaussian",
    "PairedPoisson",
    "Poisson",
    "StudentT",
    "data_scales",
]
