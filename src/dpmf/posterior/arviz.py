"""A fit as an ArviZ DataTree, so that its tools (LOO, plots, summaries) work on it."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from dpmf.inference.diagnostics import over_draws
from dpmf.model.density import log_likelihoods
from dpmf.model.noise import noise_at
from dpmf.model.predictor import predictor
from dpmf.model.state import Side, State

_STATS = {"log_density": "lp", "acceptance": "acceptance_rate", "steps": "n_steps"}


def datatree(fit: Any, seed: int) -> Any:
    """All groups of a fit.

    Args:
        fit: A fit.
        seed: Of the posterior predictive draws.
    """
    from arviz_base import from_dict

    posterior, dims = _posterior(fit)
    values = fit.data.values
    per_event = ["event"] if values.shape[1] == 1 else ["event", "value"]
    observed = values[:, 0] if values.shape[1] == 1 else values
    log_likelihood, predictive = _per_event(fit, seed)
    if values.shape[1] == 1:
        predictive = predictive[..., 0]
    groups = {
        "posterior": posterior,
        "sample_stats": _stats(fit),
        "observed_data": {"values": observed},
        "log_likelihood": {"values": log_likelihood},
        "posterior_predictive": {"values": predictive},
    }
    rank = np.arange(fit.spec.rank)
    coords: dict[str, Any] = {
        "feature": rank,
        "feature_bis": rank,
        "event": np.arange(len(values)),
        "value": list(fit.data.codebook.value),
    }
    tree = from_dict(groups, coords=coords, dims={**dims, "values": per_event})
    # Log likelihoods are per event, whatever an event observes.
    event = {"values": (("chain", "draw", "event"), log_likelihood)}
    chains, draws = fit.shape
    own = {"chain": np.arange(chains), "draw": np.arange(draws), "event": coords["event"]}
    tree["log_likelihood"] = type(tree)(_dataset(event, own), name="log_likelihood")
    return tree


def _dataset(variables: dict[str, Any], coords: dict[str, Any]) -> Any:
    import xarray as xr

    return xr.Dataset(variables, coords=coords)


def _posterior(fit: Any) -> tuple[dict[str, np.ndarray], dict[str, list[str]]]:
    values = fit.parameters
    found: dict[str, np.ndarray] = dict(values.noise)
    dims: dict[str, list[str]] = {}

    def add(name: str, value: np.ndarray, names: list[str]) -> None:
        found[name], dims[name] = value, names

    for side in ("rows", "cols"):
        shared: Side = getattr(values, side)
        add(f"{side}_mean", shared.mean, ["feature"])
        add(f"{side}_sd", shared.sd, ["feature"])
        corr = np.einsum("...ik,...jk->...ij", shared.corr, shared.corr)
        add(f"{side}_corr", corr, ["feature", "feature_bis"])
        if shared.pooled_sd is not None:
            add(f"{side}_pooled_sd", shared.pooled_sd, ["feature"])
        if shared.intercept_sd is not None:
            add(f"{side}_intercept_sd", shared.intercept_sd, [])
        for part, theta in (("", shared.theta), ("pooled_", shared.pooled_theta)):
            for label, value in (theta or {}).items():
                name = f"{side}_{part}{label}".replace("/", "_")  # "/" parts groups
                add(name, value, ["feature", f"{name}_entry"])
    for name, value in values.noise.items():
        dims[name] = [f"{name}_entry"] * (value.ndim - 2)
    return found, dims


def _stats(fit: Any) -> dict[str, np.ndarray]:
    stats = {_STATS.get(name, name): value for name, value in fit.draws.stats.items()}
    if "diverging" in stats:
        stats["diverging"] = stats["diverging"] > 0
    return stats


def _per_event(fit: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Log likelihood and one predictive draw of each event, for each draw."""
    problem = fit.problem
    chains, draws = fit.shape

    with jax.enable_x64(True):
        key = jr.key(seed)

        def one(numbered: tuple[Any, State]):
            number, state = numbered
            values = problem.parameters(state)
            y = predictor(problem.spec, state.white, values, problem.arrays)
            noise = noise_at(problem.spec, state.white, values, problem.arrays)
            each = log_likelihoods(problem.spec, state, problem.arrays, problem.fixed)
            return each, noise.sample(jr.fold_in(key, number), y)

        numbers = jnp.arange(chains * draws).reshape(chains, draws)
        return over_draws(one, (numbers, fit.draws.states))
