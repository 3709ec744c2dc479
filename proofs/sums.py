"""Sums over the draws of independent chains in; means, sds and their Monte-Carlo errors out."""

from pathlib import Path
from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    """Per chain, over all kept draws: how many, their sum and that of their squares."""

    count: np.ndarray  # (chains,)
    first: np.ndarray  # (chains, quantities): y of the predicted events, sigma, rho
    second: np.ndarray


def load(work: Path, name: str) -> Sums | None:
    """The sums of all files whose name begins so, chain after chain."""
    parts = [read(path) for path in sorted(work.glob(f"{name}*.npz"))]
    return Sums(*map(np.concatenate, zip(*parts, strict=True))) if parts else None


def read(path: Path) -> Sums:
    """The sums of one file."""
    with np.load(path) as kept:
        count = np.broadcast_to(kept["count"], (len(kept["first"]),))
        return Sums(count, kept["first"], kept["second"])


def added(sums: Sums | None, x: np.ndarray) -> Sums:
    """Further draws counted; `x` has axes (chains, draws, quantities)."""
    first, second = x.sum(axis=1), (x**2).sum(axis=1)
    new = Sums(np.full(len(x), x.shape[1]), first, second)
    return new if sums is None else Sums(*map(np.add, sums, new))


def errors(sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """Monte-Carlo errors of mean and sd, over the posterior sd, of every quantity."""
    _, sd, of_mean, of_sd = estimates(sums)
    root = np.sqrt(len(of_mean))
    return of_mean.std(axis=0, ddof=1) / root / sd, of_sd.std(axis=0, ddof=1) / root / sd


def estimates(sums: Sums):
    """Mean and sd over all chains, and each chain's contribution to both."""
    first, second = (x / sums.count[:, None] for x in (sums.first, sums.second))
    mean = first.mean(axis=0)
    sd = np.sqrt(second.mean(axis=0) - mean**2)
    squares = second - 2 * first * mean + mean**2  # around the common mean
    return mean, sd, first, sd / 2 + squares / (2 * sd)  # linear in what a chain adds
