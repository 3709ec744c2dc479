"""Hyperparameters held fixed: given values, or one actual draw of an earlier fit."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from dpmf.errors import ConfigError
from dpmf.model.spec import SideSpec, Spec
from dpmf.model.state import Fixed, Parameters, Side
from dpmf.priors import LogUniform, Prior

Arrays = dict[str, Any]


@dataclasses.dataclass(frozen=True, eq=False)
class Hyperparameters:
    """Values to hold; whatever is None is sampled.

    `theta` maps each label of the kernel's hyperparameters to one row per latent
    function; `sd` and `corr` make Sigma = diag(sd) corr diag(sd).
    """

    rows_theta: Arrays | None = None
    cols_theta: Arrays | None = None
    rows_sd: Any = None
    cols_sd: Any = None
    rows_corr: Any = None
    cols_corr: Any = None
    rows_pooled_theta: Arrays | None = None
    cols_pooled_theta: Arrays | None = None
    rows_pooled_sd: Any = None
    cols_pooled_sd: Any = None

    @staticmethod
    def of(values: Parameters, *, sigma: bool = True) -> "Hyperparameters":
        """The hyperparameters of one draw; `sigma=False` leaves the covariances free."""
        held: dict[str, Any] = {}
        for name in ("rows", "cols"):
            side: Side = getattr(values, name)
            held[f"{name}_theta"] = side.theta
            held[f"{name}_pooled_theta"] = side.pooled_theta
            if sigma:
                held[f"{name}_sd"] = side.sd
                held[f"{name}_corr"] = np.asarray(side.corr) @ np.asarray(side.corr).T
                held[f"{name}_pooled_sd"] = side.pooled_sd
        return Hyperparameters(**jax.tree.map(np.asarray, held))

    def fixed(self, spec: Spec) -> Fixed:
        """The values as the density takes them.

        Raises:
            ConfigError: A label or a shape does not fit the model.
        """
        return Fixed(self._side("rows", spec.rows, spec), self._side("cols", spec.cols, spec))

    def _side(self, name: str, side: SideSpec, spec: Spec) -> Side:
        def array(part: str, shape: tuple[int, ...]) -> Any:
            value = getattr(self, f"{name}_{part}")
            return None if value is None else _shaped(f"{name}_{part}", value, shape)

        corr = array("corr", (spec.rank, spec.rank))
        pooled = side.pooled is not None
        for part in ("pooled_sd", "pooled_theta"):
            if not pooled and getattr(self, f"{name}_{part}") is not None:
                raise ConfigError(
                    f"{name}_{part} is given but the mean of the {name} is constant; "
                    "leave it out, or set mean='pooled'."
                )
        return Side(
            None,
            array("sd", (spec.rank,)),
            None if corr is None else _factor(f"{name}_corr", np.asarray(corr)),
            self._theta(f"{name}_theta", side.theta(), spec.rank),
            array("pooled_sd", (spec.rank,)) if pooled else None,
            self._theta(f"{name}_pooled_theta", side.pooled_theta(), spec.rank)
            if pooled
            else None,
        )

    def _theta(self, part: str, priors: dict[str, Prior], rank: int) -> Any:
        given = getattr(self, part)
        if given is None:
            return None
        if set(given) != set(priors):
            raise ConfigError(
                f"{part}: found {sorted(given)}, expected {sorted(priors)}. "
                "Give a value for every hyperparameter of the kernel."
            )
        found = {
            label: _shaped(f"{part}[{label!r}]", given[label], (rank, *prior.shape))
            for label, prior in priors.items()
        }
        for label, prior in priors.items():
            # A length may be held outside the bounds within which it would be sampled.
            if not isinstance(prior, LogUniform):
                _require_domain(f"{part}[{label!r}]", found[label], prior)
        return found


def central(
    values: Parameters,
) -> tuple[int, int]:
    """The draw nearest to all others, as (chain, draw).

    Distances are taken in hyperparameters sorted over the K functions and in the
    eigenvalues of Sigma, which do not change when functions swap labels; a median over
    label-switched chains would be a point that no chain ever visited.

    Args:
        values: Draws with leading axes (chains, draws).
    """
    columns: list[Float[np.ndarray, "draws elements"]] = []
    draws = np.asarray(values.rows.mean).shape[1]
    for side in (values.rows, values.cols):
        for theta in (side.theta, side.pooled_theta):
            columns += [
                _flat(np.log(np.sort(np.asarray(v), axis=2))) for v in (theta or {}).values()
            ]
        scaled = np.asarray(side.sd)[..., None] * np.asarray(side.corr)
        columns.append(_flat(np.log(np.linalg.svd(scaled, compute_uv=False))))
        if side.pooled_sd is not None:
            columns.append(_flat(np.log(np.sort(np.asarray(side.pooled_sd), axis=2))))
    points = np.concatenate(columns, axis=1)
    points = points / np.maximum(points.std(axis=0), 1e-12)
    others = points[:: max(1, len(points) // 1000)]
    distance = [np.linalg.norm(others - point, axis=1).mean() for point in points]
    chain, draw = divmod(int(np.argmin(distance)), draws)
    return chain, draw


def _factor(name: str, corr: np.ndarray) -> Any:
    try:
        return jnp.asarray(np.linalg.cholesky(corr))
    except np.linalg.LinAlgError as error:
        raise ConfigError(f"{name}: expected a positive definite matrix.") from error


def _require_domain(name: str, values: Any, prior: Prior) -> None:
    """Refuse values that the prior can never give, such as weights that do not sum to 1."""
    for value in values:
        if not np.allclose(prior.value(prior.free(value)), value, rtol=1e-6):
            raise ConfigError(
                f"{name}: found {np.asarray(value).tolist()}, expected a value within {prior}."
            )


def _flat(value: np.ndarray) -> np.ndarray:
    return value.reshape(value.shape[0] * value.shape[1], -1)


def _shaped(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        raise ConfigError(f"{name}: found {value!r}, expected numbers.") from None
    if found.shape != shape:
        raise ConfigError(f"{name}: found shape {found.shape}, expected {shape}.")
    if name.endswith("_corr"):
        positive = np.all(np.linalg.eigvalsh(found) > 0)
        if not (positive and np.allclose(np.diag(found), 1) and np.allclose(found, found.T)):
            raise ConfigError(f"{name}: expected a positive definite correlation matrix.")
    elif not (np.isfinite(found).all() and (found > 0).all()):
        raise ConfigError(f"{name}: expected finite positive numbers.")
    return jnp.asarray(found)
