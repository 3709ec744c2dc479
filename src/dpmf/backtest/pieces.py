"""A piece of a backtest: what is sent to a worker, what it does, and what comes back."""

import dataclasses
import pickle
import uuid
from importlib.metadata import version
from typing import Any, NamedTuple

import jax
import pandas as pd

from dpmf.backtest.forecaster import Forecaster, Part, Plan
from dpmf.backtest.hearing import hearing
from dpmf.backtest.parcel import Parcel
from dpmf.backtest.scoring import Tables, tables
from dpmf.errors import ConfigError
from dpmf.inference.identity import ask_for_threads, threads

HERE = uuid.uuid4().hex  # this process
PACKAGES = ("dpmf", "jax", "jaxlib", "numpy", "scipy")  # that numbers come from


def versions() -> dict[str, str]:
    """Of the packages that numbers come from."""
    return {name: version(name) for name in PACKAGES}


class Sender(NamedTuple):
    """Who wants the work done, and what the numbers depend on there."""

    process: str
    versions: dict[str, str]
    threads: int

    @staticmethod
    def here() -> "Sender":
        """This process."""
        return Sender(HERE, versions(), threads())


class Order(NamedTuple):
    """A part of a forecaster whose tables are wanted."""

    name: str
    forecaster: Forecaster
    part: Part
    plan: Plan


class Piece(NamedTuple):
    """All that a worker must know.

    An order travels sealed: to open it is to import what it is made of, which starts jax.
    Before that a worker asks whether it has the right versions, and for threads.
    """

    sender: Sender
    games: Parcel
    order: Order | bytes


class Done(NamedTuple):
    """What a worker sends back: tables, but no draws."""

    tables: Tables
    told: tuple[str, ...]  # warnings


class Missing(NamedTuple):
    """The answer of a worker that does not have the games and cannot see their file."""


def work(piece: Piece, contents: Any = None) -> Done | Missing:
    """Do a piece of work.

    Args:
        piece: What to do.
        contents: The games, as a table or as their parcel's contents, where they came along.

    Raises:
        ConfigError: This process has other versions than the one that asks, or another number
            of threads.
    """
    far = piece.sender.process != HERE
    if far:
        _require_same(piece.sender.versions)
        # The number of threads belongs to the task, and not to the machine that runs it.
        _require_threads(ask_for_threads(piece.sender.threads), piece.sender.threads)
    frame = contents
    if not isinstance(contents, pd.DataFrame):
        frame = piece.games.opened(contents)
    if frame is None:
        return Missing()
    order = piece.order if isinstance(piece.order, Order) else pickle.loads(piece.order)
    if not far:
        return Done(_tables(order, frame), ())
    with hearing() as told:
        found = _tables(order, frame)
        return Done(found, told())


def _tables(order: Order, frame: pd.DataFrame) -> Tables:
    name, forecaster, part, plan = order
    stem = plan.unfinished
    if stem is not None and not stem.parent.is_dir():
        stem = None  # a machine that does not see the folder starts anew
    own = dataclasses.replace(plan, unfinished=stem)
    return tables(name, forecaster, frame, part.cutoffs, lambda: part.forecasts(frame, own))


def _require_same(wanted: dict[str, str]) -> None:
    found = versions()
    other = [name for name in wanted if found[name] != wanted[name]]
    if other:
        name = other[0]
        raise ConfigError(
            f"executor: a worker has {name} {found[name]}, this process {wanted[name]}, and "
            "its numbers would not be the same. Install the same versions everywhere."
        )


def _require_threads(found: int, wanted: int) -> None:
    # A GPU adds without them; to ask for it starts jax, which has been done for others here.
    if found != wanted and jax.default_backend() == "cpu":
        raise ConfigError(
            f"executor: a worker has started jax with {found} threads, for an earlier caller; "
            f"this process has {wanted}, and the numbers would not be the same. Start new "
            f"workers, or this process with PJRT_NPROC={found}."
        )
