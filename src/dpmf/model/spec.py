"""Everything about a model that is settled before sampling: structure, priors, constants."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from dpmf.kernels import Kernel
from dpmf.likelihoods import Likelihood
from dpmf.model.inputs import GRID, Inputs
from dpmf.priors import LKJ, HalfNormal, Normal, Prior

UNIT_MEAN = 0.54  # softplus(0.54) = 1: the column side has no units


@dataclasses.dataclass(frozen=True)
class SideSpec:
    """One side of the matrix: its kernels, and the priors of what its members share."""

    kernel: Kernel  # of every member's functions, bounds filled in
    pooled: Kernel | None  # of the mean function that all members share; None: constant
    mean: Normal
    sd: HalfNormal  # of the functions of one member, and of the pooled mean
    corr: LKJ
    inputs: Inputs = GRID  # how the functions are represented
    pooled_inputs: Inputs = GRID
    intercept: HalfNormal | None = None  # sd of what each member adds to y; None: nothing

    @property
    def columns(self) -> frozenset[str]:
        """The inputs that its functions and their mean read."""
        return frozenset(self.kernel.columns + (self.pooled.columns if self.pooled else ()))

    def theta(self) -> dict[str, Prior]:
        """Priors of the kernel's hyperparameters, those of one latent function."""
        return self.kernel.priors()

    def pooled_theta(self) -> dict[str, Prior]:
        """The same for the pooled mean; empty when the mean is constant."""
        return self.pooled.priors() if self.pooled else {}


@dataclasses.dataclass(frozen=True)
class Spec:
    """A model with all its constants, computed once from the training data or given."""

    rank: int
    rows: SideSpec
    cols: SideSpec
    likelihood: Likelihood
    scale: float  # root mean square of the values; 2.5 on a link scale
    spread: float  # their standard deviation; 2.5 on a link scale

    @property
    def columns(self) -> frozenset[str]:
        """The inputs that the model reads."""
        return self.rows.columns | self.cols.columns

    def noise(self) -> dict[str, Prior]:
        """Priors of the likelihood's parameters."""
        return self.likelihood.priors(self.spread)

    def inputs_line(self) -> str:
        """One plain line: how functions are represented, and why."""
        rows, cols = self.rows, self.cols
        said = {"rows": rows.inputs, "columns": cols.inputs}
        said |= {"mean of rows": rows.pooled_inputs} if rows.pooled else {}
        said |= {"mean of columns": cols.pooled_inputs} if cols.pooled else {}
        same: dict[str, list[str]] = {}
        for name, one in said.items():
            same.setdefault(str(one), []).append(name)
        return "; ".join(f"inputs of {', '.join(who)}: {what}" for what, who in same.items())

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` turns back into the same spec."""

        def side(one: SideSpec) -> dict[str, Any]:
            pooled = one.pooled.to_dict() if one.pooled else None
            return {
                "kernel": one.kernel.to_dict(),
                "pooled": pooled,
                "inputs": one.inputs.to_dict(),
                "pooled_inputs": one.pooled_inputs.to_dict(),
            }

        return {
            "rank": self.rank,
            "rows": side(self.rows),
            "cols": side(self.cols),
            "likelihood": self.likelihood.to_dict(),
            "scale": self.scale,
            "spread": self.spread,
            "intercepts": self.rows.intercept is not None,
        }

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> "Spec":
        """The spec that `to_dict` described."""

        def kernels(one: Mapping[str, Any]) -> tuple[Kernel, Kernel | None]:
            pooled = Kernel.from_dict(one["pooled"]) if one["pooled"] else None
            return Kernel.from_dict(one["kernel"]), pooled

        def inputs(one: Mapping[str, Any]) -> tuple[Inputs, Inputs]:
            saved = (one.get(name) for name in ("inputs", "pooled_inputs"))
            own, pooled = (GRID if each is None else Inputs.from_dict(each) for each in saved)
            return own, pooled

        return spec(
            plain["rank"],
            kernels(plain["rows"]),
            kernels(plain["cols"]),
            Likelihood.from_dict(plain["likelihood"]),
            plain["scale"],
            plain["spread"],
            (inputs(plain["rows"]), inputs(plain["cols"])),
            plain.get("intercepts", False),
        )


def spec(
    rank: int,
    rows: tuple[Kernel, Kernel | None],
    cols: tuple[Kernel, Kernel | None],
    likelihood: Likelihood,
    scale: float,
    spread: float,
    inputs: tuple[tuple[Inputs, Inputs], tuple[Inputs, Inputs]] = ((GRID, GRID), (GRID, GRID)),
    intercepts: bool = False,
) -> Spec:
    """Put the priors together: U carries the units of the values, V has none.

    Args:
        rank: Number of latent functions K.
        rows: Kernel of the row functions and of their pooled mean (None: constant mean).
        cols: The same for the columns.
        likelihood: Noise model.
        scale: Root mean square of the values.
        spread: Standard deviation of the values.
        inputs: How the functions of rows and of their pooled mean are represented, and those
            of columns.
        intercepts: Whether every row and every column adds a number of its own to y.
    """
    size, root = (rank,), math.sqrt(rank)
    corr = LKJ(rank)
    intercept = HalfNormal(spread) if intercepts else None
    units, none = Normal(0.0, scale / root, size), Normal(UNIT_MEAN, 1.0, size)
    return Spec(
        rank,
        SideSpec(*rows, units, HalfNormal(spread / root, size), corr, *inputs[0], intercept),
        SideSpec(*cols, none, HalfNormal(1.0, size), corr, *inputs[1], intercept),
        likelihood,
        scale,
        spread,
    )
