"""Forecasters in, parted into pieces of work for an executor; their tables out."""

import dataclasses
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.dispatch import finished, sealed
from dpmf.backtest.forecaster import Forecaster, Part, Plan
from dpmf.backtest.parcel import packed
from dpmf.backtest.pieces import Order, Piece, Sender
from dpmf.backtest.records import Records
from dpmf.backtest.scoring import Tables, joined
from dpmf.errors import DpmfWarning
from dpmf.inference.progress import Report


class Named(NamedTuple):
    """A forecaster and what it is called."""

    name: str
    forecaster: Forecaster


class _Slot(NamedTuple):
    """A part of a forecaster, and the place of its tables."""

    owner: Named
    part: Part

    @property
    def label(self) -> str:
        """The part's own name: from when on, and how many cutoffs."""
        return f"{self.part.cutoffs[0].start:%Y-%m-%d}-{len(self.part.cutoffs)}"


def _parts(
    owner: Named, frame: pd.DataFrame, days: Sequence[Cutoff], plan: Plan
) -> Sequence[Part]:
    forecaster: Any = owner.forecaster  # one that is `divisible`
    return forecaster.parts(frame, days, plan)


def divisible(forecaster: Forecaster) -> bool:
    """Whether a forecaster can say which parts it has."""
    return hasattr(forecaster, "parts")


def made_by(
    executor: Executor,
    wanted: Sequence[Named],
    frame: pd.DataFrame,
    days: Sequence[Cutoff],
    plan: Plan,
    records: Records | None,
    report: Report,
) -> list[Tables]:
    """The tables of forecasters, their parts made by the workers of an executor.

    Args:
        executor: One that `require_usable` has nothing against.
        wanted: Forecasters that have parts.
        frame: All games.
        days: When forecasts are made.
        plan: How.
        records: Where finished parts are kept.
        report: Told of finished parts.
    """
    slots = [
        _Slot(owner, part) for owner in wanted for part in _parts(owner, frame, days, plan)
    ]
    found: dict[int, Tables] = {}
    for number, slot in enumerate(slots):
        kept = records and records.found(*slot.owner, slot.label)
        if kept:
            found[number] = kept
    missing = [number for number in range(len(slots)) if number not in found]
    sender = Sender.here()
    told: set[str] = set()
    with packed(frame) as games:
        pieces = []
        for number in missing:
            owner, part = slots[number]
            stem = records.stem(*owner).absolute() if records else None
            own = dataclasses.replace(plan, unfinished=stem)
            order = sealed(executor, Order(*owner, part, own))
            pieces.append(Piece(sender, games, order))
        for place, done in finished(executor, pieces, frame):
            number = missing[place]
            found[number] = done.tables
            if records:
                records.keep(*slots[number].owner, done.tables, slots[number].label)
            for message in set(done.told) - told:
                warnings.warn(message, DpmfWarning, stacklevel=3)
            told |= set(done.told)
            report("parts", len(found), len(slots))
    return [
        joined([found[number] for number, slot in enumerate(slots) if slot.owner is owner])
        for owner in wanted
    ]
