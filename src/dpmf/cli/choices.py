"""Words of the command line in; the values they stand for out."""

from collections.abc import Callable
from typing import Any

from dpmf.errors import ConfigError

SIDES = ("time", "home", "rest", "pace")
OFFERED = ("none", *SIDES, "time+home", "time+home+rest", "time+home+rest+pace")
KERNELS = {
    "se": "SquaredExponential",
    "matern12": "Matern12",
    "matern32": "Matern32",
    "matern52": "Matern52",
    "rq": "RationalQuadratic",
}

LIKELIHOODS = {"paired-gaussian": "PairedGaussian", "paired-poisson": "PairedPoisson"}


def ranks(text: str) -> list[int]:
    """`1,2,3` as numbers."""
    found = [_number(one, "--rank") for one in _parts(text, "--rank")]
    if min(found) < 1:
        raise ConfigError(f"--rank {text}: expected numbers of at least 1.")
    return list(dict.fromkeys(found))


def sides(text: str) -> list[tuple[str, ...]]:
    """`none,time+home` as tuples of side information."""
    return list(dict.fromkeys(side(one) for one in _parts(text, "--side")))


def side(text: str) -> tuple[str, ...]:
    """One of these, such as `time+home`."""
    word = text.strip()
    found = () if word == "none" else tuple(word.split("+"))
    if not {*found} <= {*SIDES} or len({*found}) < len(found):
        expected = ", ".join(("none", *SIDES))
        raise ConfigError(
            f"--side: found {word!r}, expected one of {expected}, or some with + between them."
        )
    return tuple(one for one in SIDES if one in found)


def constant_mean(word: str | None) -> bool | None:
    """Whether the mean is constant; None stays."""
    known = {None: None, "constant": True, "pooled": False}
    if word not in known:
        raise ConfigError(f"--mean: found {word!r}, expected constant or pooled.")
    return known[word]


def columns(text: str | None) -> dict[str, str] | None:
    """`home=HomeTeam,away=Guest` as standard name -> name in the file; None stays."""
    if text is None:
        return None
    found: dict[str, str] = {}
    for part in _parts(text, "--columns"):
        role, sign, name = (one.strip() for one in part.partition("="))
        if not (role and sign and name):
            raise ConfigError(f"--columns: found {part!r}, expected such as home=HomeTeam.")
        if role in found:
            raise ConfigError(f"--columns: {role} is given twice, expected it once.")
        found[role] = name
    return found


def words(text: str | None, option: str) -> list[str] | None:
    """Words with commas between them, each once; None stays."""
    return None if text is None else list(dict.fromkeys(_parts(text, option)))


def seasons(text: str | None, option: str = "--seasons") -> list[int] | None:
    """`2002:2008` or `2003,2005` as years; None stays."""
    if text is None:
        return None
    found: list[int] = []
    for part in _parts(text, option):
        first, colon, last = part.partition(":")
        start = _number(first, option)
        end = _number(last, option) if colon else start
        if end < start:
            raise ConfigError(f"{option} {part}: the last one is before the first.")
        found += range(start, end + 1)
    return list(dict.fromkeys(found))


def kernel(name: str | None) -> Callable[[Any], Any] | None:
    """The class of a kernel over time; None stays."""
    if name is None:
        return None
    from dpmf import kernels

    return getattr(kernels, _one_of(KERNELS, name, "--kernel"))


def likelihood(name: str | None) -> Any:
    """The noise of both scores; None stays."""
    if name is None:
        return None
    from dpmf import likelihoods

    word = name.replace("_", "-")
    return getattr(likelihoods, _one_of(LIKELIHOODS, word, "--likelihood"))()


def workers(executor: str, scheduler: str | None) -> str | None:
    """The address of Dask's scheduler, "" for workers on this machine; None is no Dask."""
    if executor not in ("local", "dask"):
        raise ConfigError(f"--executor: found {executor!r}, expected local or dask.")
    if executor == "local" and scheduler is not None:
        raise ConfigError("--scheduler is Dask's: expected --executor dask beside it.")
    return None if executor == "local" else scheduler or ""


def counts(likelihood: Any) -> bool:
    """Whether a likelihood is one of whole numbers."""
    from dpmf.likelihoods import PairedPoisson

    return isinstance(likelihood, PairedPoisson)


def _parts(text: str, option: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise ConfigError(f"{option} {text!r}: expected words with a comma between them.")
    return parts


def _number(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(f"{option}: found {text!r}, expected a whole number.") from None


def _one_of(known: dict[str, Any], word: str, option: str) -> Any:
    if word not in known:
        expected = ", ".join(known)
        raise ConfigError(f"{option}: found {word!r}, expected one of {expected}.")
    return known[word]
