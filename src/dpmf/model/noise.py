"""The noise of a state: shared parameters, and what every row has for itself."""

from jaxtyping import Array, Float

from dpmf.likelihoods import Noise
from dpmf.likelihoods.base import OWN, OWNER
from dpmf.model.layout import Layout
from dpmf.model.spec import Spec
from dpmf.model.state import Parameters, White


def noise_at(spec: Spec, white: White, values: Parameters, arrays: Layout) -> Noise:
    """The noise of every cell."""
    return own_noise_at(spec, white.rows_noise, values, arrays)


def own_noise_at(
    spec: Spec, own: Float[Array, "rows count"] | None, values: Parameters, arrays: Layout
) -> Noise:
    """The same, where the rows' own numbers are not those of a state."""
    if own is None:
        return spec.likelihood.at(values.noise)
    owner = arrays.rows.member.entry.reshape(arrays.values.shape)
    return spec.likelihood.at(values.noise | {OWN: own, OWNER: owner})
