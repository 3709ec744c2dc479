r"""Between parameters and the free coordinates that samplers move, with the prior of both.

The data speak about $u \cdot \mathrm{softplus}(v)$, so doubling one factor and halving
the other changes nothing: in the parameters themselves the posterior is a ridge, hundreds
of times longer than wide. The free coordinates lie along it. With
$c = \mathrm{softplus}(\mu_V)$ they are

* $\mu_V$ itself, which walks along the ridge,
* $H^\top (c\,\mu_U)$: the average value of y first ($H$ is orthogonal and its first column
  is constant, because y sums over features), then contrasts between features,
* $\log (c\,s_U)$, the spread of y due to rows,
* $\log (s_V\,\mathrm{sigmoid}(\mu_V)/c)$, its relative spread due to columns,

each divided by its prior scale. Only the first map has a Jacobian that is not 1.
"""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Key

from dpmf.model.spec import SideSpec, Spec
from dpmf.model.state import FREE_ALL, Fixed, Parameters, Side, Theta
from dpmf.priors import Prior


def parameters(spec: Spec, free: Parameters, fixed: Fixed = FREE_ALL) -> Parameters:
    """Values at free coordinates; what is fixed comes from `fixed`."""
    cols_mean = spec.cols.mean.value(free.cols.mean)
    unit = jax.nn.softplus(cols_mean)
    slope = unit / jax.nn.sigmoid(cols_mean)
    rows_mean = spec.rows.mean.sd * _rotated(sum_first(spec.rank), free.rows.mean) / unit
    return Parameters(
        _side(spec.rows, free.rows, fixed.rows, rows_mean, 1 / unit),
        _side(spec.cols, free.cols, fixed.cols, cols_mean, slope),
        {name: prior.value(free.noise[name]) for name, prior in spec.noise().items()},
    )


def free_coordinates(spec: Spec, values: Parameters, fixed: Fixed = FREE_ALL) -> Parameters:
    """The inverse of `parameters`; None for whatever `fixed` holds."""
    unit = jax.nn.softplus(values.cols.mean)
    slope = unit / jax.nn.sigmoid(values.cols.mean)
    scaled = values.rows.mean * unit / spec.rows.mean.sd
    rows_mean = _rotated(sum_first(spec.rank).T, scaled)
    cols_mean = spec.cols.mean.free(values.cols.mean)
    return Parameters(
        _free_side(spec.rows, values.rows, fixed.rows, rows_mean, 1 / unit),
        _free_side(spec.cols, values.cols, fixed.cols, cols_mean, slope),
        {name: prior.free(values.noise[name]) for name, prior in spec.noise().items()},
    )


def log_prior(spec: Spec, free: Parameters, fixed: Fixed = FREE_ALL) -> Float[Array, ""]:
    """Log density of the free coordinates under the prior."""
    cols_mean = spec.cols.mean.value(free.cols.mean)
    unit = jax.nn.softplus(cols_mean)
    slope = unit / jax.nn.sigmoid(cols_mean)
    rows_mean = _rotated(sum_first(spec.rank), free.rows.mean) / unit
    jacobian = -jnp.sum(jnp.log(unit))  # of rows_mean given the free coordinates
    total = spec.rows.mean.log_density(rows_mean) + jacobian
    total += spec.cols.mean.log_density(free.cols.mean)
    total += _log_prior_side(spec.rows, free.rows, fixed.rows, -jnp.log(unit))
    total += _log_prior_side(spec.cols, free.cols, fixed.cols, jnp.log(slope))
    for name, prior in spec.noise().items():
        total += prior.log_density(free.noise[name])
    return total


def sample_parameters(spec: Spec, key: Key[Array, ""]) -> Parameters:
    """Parameters drawn from the prior."""
    key_rows, key_cols, key_noise = jr.split(key, 3)
    noise = spec.noise()
    keys = jr.split(key_noise, max(len(noise), 1))
    return Parameters(
        _sample_side(spec.rows, spec.rank, key_rows),
        _sample_side(spec.cols, spec.rank, key_cols),
        {name: prior.sample(k) for k, (name, prior) in zip(keys, noise.items(), strict=False)},
    )


def sum_first(rank: int) -> Float[Array, "rank rank"]:
    """An orthogonal matrix whose first column is constant: Helmert's."""
    each = np.arange(rank)
    rotation = np.where(each[:, None] < each, 1.0, 0.0) - np.diag(each)
    rotation[:, 0] = 1.0
    lengths = np.sqrt(np.where(each > 0, each * (each + 1), rank))
    return jnp.asarray(rotation / lengths)


def _rotated(
    rotation: Float[Array, "rank rank"], vector: Float[Array, " rank"]
) -> Float[Array, " rank"]:
    """A product written out: a library's may differ in the last bit from call to call."""
    return sum((rotation[:, k] * vector[k] for k in range(len(rotation))), jnp.zeros(()))


def _side(
    spec: SideSpec,
    free: Side,
    fixed: Side,
    mean: Float[Array, " rank"],
    stretch: Float[Array, " rank"],
) -> Side:
    def sd(part: str) -> Float[Array, " rank"] | None:
        if getattr(fixed, part) is not None:
            return getattr(fixed, part)
        return spec.sd.value(getattr(free, part)) * stretch

    pooled = spec.pooled is not None
    return Side(
        mean,
        sd("sd"),
        spec.corr.value(free.corr) if fixed.corr is None else fixed.corr,
        _theta(spec.theta(), free.theta) if fixed.theta is None else fixed.theta,
        sd("pooled_sd") if pooled else None,
        (
            _theta(spec.pooled_theta(), free.pooled_theta)
            if fixed.pooled_theta is None
            else fixed.pooled_theta
        )
        if pooled
        else None,
        spec.intercept.value(free.intercept_sd) if spec.intercept else None,
    )


def _free_side(
    spec: SideSpec,
    values: Side,
    fixed: Side,
    mean: Float[Array, " rank"],
    stretch: Float[Array, " rank"],
) -> Side:
    def sd(part: str) -> Float[Array, " rank"] | None:
        value = getattr(values, part)
        held = value is None or getattr(fixed, part) is not None
        return None if held else spec.sd.free(value / stretch)

    def theta(part: str, priors: dict[str, Prior]) -> Theta | None:
        value = getattr(values, part)
        held = value is None or getattr(fixed, part) is not None
        return None if held else _map_theta(priors, value, lambda prior, v: prior.free(v))

    return Side(
        mean,
        sd("sd"),
        spec.corr.free(values.corr) if fixed.corr is None else None,
        theta("theta", spec.theta()),
        sd("pooled_sd"),
        theta("pooled_theta", spec.pooled_theta()),
        spec.intercept.free(values.intercept_sd) if spec.intercept else None,
    )


def _log_prior_side(
    spec: SideSpec, free: Side, fixed: Side, log_stretch: Float[Array, " rank"]
) -> Float[Array, ""]:
    total = jnp.zeros(())
    for part in (free.sd, free.pooled_sd):
        if part is not None:
            total += spec.sd.log_density(part + log_stretch)
    if free.corr is not None:
        total += spec.corr.log_density(free.corr)
    if spec.intercept is not None:
        total += spec.intercept.log_density(free.intercept_sd)
    for priors, theta in (
        (spec.theta(), free.theta),
        (spec.pooled_theta(), free.pooled_theta),
    ):
        if theta is not None:
            densities = _map_theta(priors, theta, lambda prior, f: prior.log_density(f))
            total += sum(jnp.sum(d) for d in densities.values())
    return total


def _sample_side(spec: SideSpec, rank: int, key: Key[Array, ""]) -> Side:
    key_mean, key_sd, key_corr, key_theta, key_pooled_sd, key_pooled = jr.split(key, 6)
    pooled = spec.pooled is not None
    return Side(
        spec.mean.sample(key_mean),
        spec.sd.sample(key_sd),
        spec.corr.sample(key_corr),
        _sample_theta(spec.theta(), rank, key_theta),
        spec.sd.sample(key_pooled_sd) if pooled else None,
        _sample_theta(spec.pooled_theta(), rank, key_pooled) if pooled else None,
        spec.intercept.sample(jr.fold_in(key, 6)) if spec.intercept else None,
    )


def _theta(priors: dict[str, Prior], free: Theta | None) -> Theta:
    assert free is not None
    return _map_theta(priors, free, lambda prior, f: prior.value(f))


def _map_theta(priors: dict[str, Prior], theta: Theta, function) -> Theta:
    """Apply `function(prior, entry)` to the entry of each latent function."""
    return {
        name: jax.vmap(lambda x, p=p: function(p, x))(theta[name]) for name, p in priors.items()
    }


def _sample_theta(priors: dict[str, Prior], rank: int, key: Key[Array, ""]) -> Theta:
    keys = jr.split(key, max(len(priors), 1))
    return {
        name: jax.vmap(prior.sample)(jr.split(k, rank))
        for k, (name, prior) in zip(keys, priors.items(), strict=False)
    }
