"""A fit as one netCDF file, written whole or not at all, read without running any code."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import jax
import numpy as np
import xarray as xr

from dpmf.data import Codebook, Dyads
from dpmf.errors import ConfigError, FileError, UnreadableFile
from dpmf.inference.chains import Draws, Sizes
from dpmf.inference.diagnostics import Diagnostics, Reweighting, divergent_share
from dpmf.inference.estimator import DPMF
from dpmf.kernels import Kernel
from dpmf.likelihoods import Likelihood
from dpmf.model.layout import Grids
from dpmf.model.points import Points
from dpmf.model.saved_points import points_from
from dpmf.model.spec import Spec
from dpmf.model.state import Fixed, Parameters, Side, State, White
from dpmf.posterior.fit import Fit
from dpmf.seal import sealed, write_sealed
from dpmf.whole import write_whole

FORMAT = 4  # of the file; a newer one is refused
SEALED = 2  # the first that has a checksum
_ENGINE: Any = "h5netcdf"


def save(fit: Fit, path: Any) -> None:
    """Write a fit.

    Args:
        fit: What to write.
        path: The file; an earlier one is replaced only when the new one is complete.

    Raises:
        FileError: The file cannot be written; an earlier one is untouched.
    """
    target = Path(path)
    plain, arrays = _taken_apart(fit)
    variables = {
        name: (tuple(f"{name}:{axis}" for axis in range(value.ndim)), value)
        for name, value in arrays.items()
    }
    dataset = xr.Dataset(variables, attrs={"dpmf": json.dumps(plain)})
    contents = _image(dataset)
    write_whole(target, lambda place: write_sealed(place, contents))


def load(path: Any) -> Fit:
    """Read a fit that `Fit.save` wrote; its predictions are identical.

    Nothing in the file is run: it holds numbers and the names of kernels and likelihoods.

    Args:
        path: The file.

    Raises:
        UnreadableFile: It is missing.
        FileError: It is not such a file, damaged, or of a newer version.
    """
    target = Path(path)
    if not target.is_file():
        raise UnreadableFile(f"{target}: there is no such file.")
    plain, arrays = _contents(target)
    try:
        return _put_together(plain, arrays)
    except ConfigError as error:  # a kernel or likelihood that is not imported here
        raise FileError(f"{target}: {error}") from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{target}: the saved fit is damaged ({error!r}).") from error


def _image(dataset: xr.Dataset) -> bytes:
    """The bytes of a netCDF file, made in memory.

    HDF5 on a full disk fails again and again, also when it closes what it could not write.
    """
    with h5py.File("fit.nc", "w", driver="core", backing_store=False) as file:
        with h5netcdf.File(file, "w") as netcdf:
            dataset.dump_to_store(xr.backends.H5NetCDFStore(netcdf))
        file.flush()
        return file.id.get_file_image()


def _contents(target: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        unbroken = sealed(target)
        if unbroken is False:
            raise FileError(
                f"{target}: the saved fit is damaged (its checksum is not that of what is in "
                "it); make it again, or take a copy."
            )
        with xr.open_dataset(target, engine=_ENGINE) as dataset:
            if "dpmf" not in dataset.attrs:
                raise FileError(f"{target}: this is no file that dpmf saved.")
            plain = json.loads(dataset.attrs["dpmf"])
            if plain["format"] > FORMAT:
                raise FileError(
                    f"{target}: written by dpmf {plain['version']} in a newer format. "
                    "Upgrade dpmf to read it."
                )
            if unbroken is None and plain["format"] >= SEALED:
                raise FileError(
                    f"{target}: the saved fit is damaged (its checksum is missing); make it "
                    "again, or take a copy."
                )
            return plain, {str(name): np.array(value) for name, value in dataset.items()}
    except FileError:
        raise
    except Exception as error:  # h5py, xarray and json each have their own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(
            f"{target}: cannot be read as a saved fit ({reason}); expected what `dpmf fit` or "
            "`Fit.save` wrote."
        ) from error


def _taken_apart(fit: Fit) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    arrays: dict[str, np.ndarray] = {}

    def keep(prefix: str, tree: Any) -> Any:
        """Store every array under a name; what remains is the tree of names."""
        leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
        names = {}
        for place, (keys, leaf) in enumerate(leaves):
            name = f"{prefix}{place}"
            arrays[name] = np.asarray(leaf)
            names[name] = jax.tree_util.keystr(keys)
        return names

    names = {
        "states": keep("state", fit.draws.states),
        "fixed": keep("fixed", fit.fixed),
        "data": keep("data", _data_arrays(fit.data)),
        "stats": keep("stat", fit.draws.stats),
        "tuning": keep("tuning", fit.draws.tuning),
    }
    points = dict.fromkeys(Grids._fields)
    for name, own in fit.grids._asdict().items():
        points[name], parts = (None, ()) if own is None else own.plain()
        arrays |= {f"grid_{name}_{place}": part for place, part in enumerate(parts)}
    told = fit.diagnostics
    arrays |= {"rhat": told.rhat, "ess_bulk": told.ess_bulk, "ess_tail": told.ess_tail}
    plain = {
        "format": FORMAT,
        "version": version("dpmf"),
        "names": names,
        "model": _model_to_dict(fit.model),
        "spec": fit.spec.to_dict(),
        "codebook": fit.data.codebook.to_dict(),
        "grids": points,
        "structure": _structure(fit.draws.states.free),
        "fixed": _structure(Parameters(fit.fixed.rows, fit.fixed.cols, {})),
        "engine": fit.engine,
        "sizes": list(fit.sizes),
        "seed": fit.seed,
        "notes": dict(fit.notes),
        "diagnosed": list(told.names),
        "divergences": told.divergences,
        "stayed": told.stayed,
        "divergent": told.divergent,
        "reweighted": [list(one) for one in told.reweighted],
    }
    return plain, arrays


def _put_together(plain: dict[str, Any], arrays: dict[str, np.ndarray]) -> Fit:
    def leaves(prefix: str) -> list[np.ndarray]:
        count = sum(1 for name in arrays if name.rstrip("0123456789") == prefix)
        return [arrays[f"{prefix}{place}"] for place in range(count)]

    def points(name: str) -> Points | None:
        stem = f"grid_{name}_"
        count = sum(1 for one in arrays if one.rstrip("0123456789") == stem)
        parts = [arrays[f"{stem}{place}"] for place in range(count)]
        return plain["grids"][name] and points_from(plain["grids"][name], parts)

    spec = Spec.from_dict(plain["spec"])
    free = _template(plain["structure"])
    pooled = [side.pooled is not None or None for side in (spec.rows, spec.cols)]
    added = [None if side.intercept is None else 0 for side in (spec.rows, spec.cols)]
    added.append(0 if spec.likelihood.own else None)
    white = White(0, 0, *(one and 0 for one in pooled), *added)
    states = _filled(State(white, free), leaves("state"))
    fixed_sides = _template(plain["fixed"])
    fixed = _filled(Fixed(fixed_sides.rows, fixed_sides.cols), leaves("fixed"))
    data_names = sorted(_DATA)
    data = dict(zip(data_names, leaves("data"), strict=True))

    def named(prefix: str, group: str) -> dict[str, np.ndarray]:
        labels = [key[2:-2] for key in plain["names"][group].values()]
        return dict(zip(labels, leaves(prefix), strict=True))

    stats = named("stat", "stats")
    told = Diagnostics(
        tuple(plain["diagnosed"]),
        arrays["rhat"],
        arrays["ess_bulk"],
        arrays["ess_tail"],
        plain["divergences"],
        plain["stayed"],
        plain.get("divergent", divergent_share(stats)),  # older files do not say it
        tuple(Reweighting(*one) for one in plain.get("reweighted", ())),
    )
    return Fit(
        _model_from_dict(plain["model"]),
        spec,
        Grids._make(points(name) for name in Grids._fields),
        fixed,
        Dyads(Codebook.from_dict(plain["codebook"]), **data),
        Draws(states, stats, named("tuning", "tuning")),
        plain["engine"],
        Sizes(*plain["sizes"]),
        plain["seed"],
        told,
        plain.get("notes", {}),
    )


_DATA = ("rows", "cols", "inputs", "values")


def _data_arrays(data: Dyads) -> dict[str, np.ndarray]:
    return {name: getattr(data, name) for name in _DATA}


def _structure(values: Parameters) -> dict[str, Any]:
    """Which parts there are, without their arrays."""

    def side(one: Side) -> dict[str, Any]:
        def shown(part: Any) -> Any:
            return sorted(part) if isinstance(part, dict) else part is not None

        return {name: shown(part) for name, part in one._asdict().items()}

    return {"rows": side(values.rows), "cols": side(values.cols), "noise": sorted(values.noise)}


def _template(structure: dict[str, Any]) -> Parameters:
    def side(parts: dict[str, Any]) -> Side:
        def blank(part: Any) -> Any:
            return dict.fromkeys(part, 0) if isinstance(part, list) else (0 if part else None)

        return Side(**{name: blank(part) for name, part in parts.items()})

    noise = dict.fromkeys(structure["noise"], 0)
    return Parameters(side(structure["rows"]), side(structure["cols"]), noise)


def _filled(template: Any, leaves: list[np.ndarray]) -> Any:
    return jax.tree.unflatten(jax.tree.structure(template), leaves)


def _model_to_dict(model: DPMF) -> dict[str, Any]:
    def plain(choice: Any) -> Any:
        if isinstance(choice, tuple):
            return [plain(one) for one in choice]
        return choice.to_dict() if hasattr(choice, "to_dict") else choice

    return {name: plain(getattr(model, name)) for name in model.__dataclass_fields__}


def _model_from_dict(saved: dict[str, Any]) -> DPMF:
    def kernel(choice: Any) -> Any:
        if isinstance(choice, list):
            return tuple(kernel(one) for one in choice)
        return choice and Kernel.from_dict(choice)

    fields = dict(saved)
    fields["kernel"], fields["mean_kernel"] = (
        kernel(saved["kernel"]),
        kernel(saved["mean_kernel"]),
    )
    fields["likelihood"] = saved["likelihood"] and Likelihood.from_dict(saved["likelihood"])
    for name in ("mean", "inputs"):
        choice = saved.get(name, "auto")  # files of format 1 say nothing of inputs
        fields[name] = tuple(choice) if isinstance(choice, list) else choice
    fields.setdefault("intercepts", False)  # nor do those of format 2 of intercepts
    return DPMF(**fields)
