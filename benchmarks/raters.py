"""The contestants: ratings to learn from in, forecasts of others out.

All learn from the same ratings. A contestant whose forecasts are points gets a normal
distribution around them, with the standard deviation that is best on a part of the training
ratings, held out as the test ratings are, after learning from the rest.
"""

import contextlib
import io
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from rated import Forecast, Ratings, gaussian_probs, split, tuned_sd

FM_RANK, FM_STEPS, FM_KEPT = 10, 400, 300  # of myFM: rank, Gibbs sweeps, and those kept
BATCH = 2000  # ratings forecast at once
DIAGNOSED = 500  # held-out means whose chains are compared
# In which a user's taste may change. Left to itself, a feature may also become the mood of a
# day, or of some ratings, which says nothing of any other: a mode that chains do not leave.
SLOW = {"day": (365.0, 80_000.0), "round": (2.0, 600.0)}


class Task(NamedTuple):
    """What a contestant is given."""

    ratings: Ratings
    split: str
    train: pd.DataFrame
    test: pd.DataFrame
    seed: int
    options: dict[str, Any]


class Found(NamedTuple):
    """What it says, and what else is known about its fit."""

    forecast: Forecast
    about: dict[str, Any]


Fitted = Callable[[pd.DataFrame], Found]  # forecasts of a contestant that has learned


def dpmf_own(task: Task) -> Fitted:
    """This package: functions of time, or of covariates; users with cut points of their own."""
    return _dpmf(task, dependent=True, own_cuts=True)


def dpmf_shared(task: Task) -> Fitted:
    """The same with one set of cut points for all, as the peers have."""
    return _dpmf(task, dependent=True, own_cuts=False)


def pmf(task: Task) -> Fitted:
    """This package with constant kernels, the rest as `dpmf`: Bayesian PMF."""
    return _dpmf(task, dependent=False, own_cuts=True)


def myfm_probit(task: Task) -> Fitted:
    """myFM's ordered probit, with user and item ids, and covariates but times."""
    import myfm

    design = _Design(task)
    model = myfm.MyFMOrderedProbit(rank=FM_RANK, random_seed=task.seed)
    level = task.ratings.level(task.train)
    _quietly(model.fit, design.of(task.train), level, **design.steps)

    def forecast(frame: pd.DataFrame) -> Found:
        probs = model.predict_proba(design.of(frame))
        return Found(Forecast(probs @ task.ratings.levels, probs), {"rank": FM_RANK})

    return forecast


def myfm_regression(task: Task) -> Fitted:
    """myFM's regression, each kept draw with its own noise."""
    import myfm

    design, levels = _Design(task), task.ratings.levels
    model = myfm.MyFMRegressor(rank=FM_RANK, random_seed=task.seed)
    _quietly(model.fit, design.of(task.train), task.train["value"].to_numpy(), **design.steps)
    kept = model.predictor_.samples
    noise = [one.alpha**-0.5 for one in model.history_.hypers[-len(kept) :]]

    def forecast(frame: pd.DataFrame) -> Found:
        x = design.of(frame)
        mean, probs = np.zeros(len(frame)), np.zeros((len(frame), len(levels)))
        for draw, sd in zip(kept, noise, strict=True):
            each = draw.predict_score(x, [])
            mean += each / len(kept)
            probs += gaussian_probs(each, np.full(len(each), sd), levels) / len(kept)
        return Found(Forecast(np.clip(mean, levels[0], levels[-1]), probs), {"rank": FM_RANK})

    return forecast


def svdpp(task: Task) -> Fitted:
    """Surprise's SVD++ as it comes; its points become distributions as said above."""
    rest, cut = split(task.train, task.split, task.seed + 1)
    level, levels = task.ratings.level(cut), task.ratings.levels
    sd = tuned_sd(_points(_svdpp(rest, task), cut), level, levels)
    model = _svdpp(task.train, task)

    def forecast(frame: pd.DataFrame) -> Found:
        mean = _points(model, frame)
        probs = gaussian_probs(mean, np.full(len(mean), sd), levels)
        return Found(Forecast(mean, probs), {"sd": sd})

    return forecast


CONTESTANTS: dict[str, Callable[[Task], Fitted]] = {
    "dpmf": dpmf_own,
    "dpmf_shared": dpmf_shared,
    "pmf": pmf,
    "myfm_probit": myfm_probit,
    "myfm_regression": myfm_regression,
    "svdpp": svdpp,
}


def _svdpp(train: pd.DataFrame, task: Task) -> Any:
    import surprise

    scale = surprise.Reader(rating_scale=(task.ratings.levels[0], task.ratings.levels[-1]))
    data = surprise.Dataset.load_from_df(train[["user", "item", "value"]], scale)
    return surprise.SVDpp(random_state=task.seed).fit(data.build_full_trainset())


def _points(model: Any, test: pd.DataFrame) -> np.ndarray:
    pairs = zip(test["user"], test["item"], strict=True)
    return np.array([model.predict(user, item).est for user, item in pairs])


class _Design:
    """Ratings as sparse indicators for myFM, one group of them per column."""

    def __init__(self, task: Task) -> None:
        covariates = [name for name in task.ratings.covariates if name not in SLOW]
        self.levels = {
            name: pd.Index(task.train[name].unique()) for name in ["user", "item", *covariates]
        }
        shapes = [len(index) for index in self.levels.values()]
        self.steps = {"n_iter": task.options.get("fm_steps", FM_STEPS)}
        self.steps |= {"n_kept_samples": task.options.get("fm_kept", FM_KEPT)}
        self.steps |= {"group_shapes": shapes}

    def of(self, frame: pd.DataFrame):
        """Indicators; one that was never seen is nowhere."""
        from scipy import sparse

        blocks = []
        for name, index in self.levels.items():
            place = index.get_indexer(frame[name])
            known = np.flatnonzero(place >= 0)
            shape = (len(frame), len(index))
            ones = np.ones(len(known))
            blocks.append(sparse.csr_matrix((ones, (known, place[known])), shape))
        return sparse.csr_matrix(sparse.hstack(blocks))


def _quietly(function, *args, **options) -> None:
    """Call something that draws a bar whatever it is told."""
    with contextlib.redirect_stderr(io.StringIO()):
        function(*args, **options)


def _dpmf(task: Task, *, dependent: bool, own_cuts: bool) -> Fitted:
    import dpmf
    from dpmf.likelihoods import Ordinal

    ratings, options = task.ratings, task.options
    chosen = _dependence(task) if dependent else {}
    chosen |= {name: options[name] for name in ("rank", "intercepts")}
    model = dpmf.DPMF(likelihood=Ordinal(len(ratings.levels), own_cuts), **chosen)
    data = dpmf.Dyads.from_frame(
        _levelled(task.train, ratings),
        row="user",
        col="item",
        value="level",
        inputs=_inputs(task) if dependent else [],
    )
    run = {name: options[name] for name in ("chains", "warmup", "draws", "thin")}
    fit = model.fit(data, seed=task.seed, progress=options.get("progress", False), **run)
    about = {
        "model": str(model),
        **{name: options[name] for name in ("rank", "intercepts")},
        "own_cuts": own_cuts,
        **run,
        "line": fit.diagnostics.line(),
    }
    if "steps" in fit.draws.stats:
        # Those of all steps between two draws are kept together.
        about["leapfrog_steps"] = float(np.mean(fit.draws.stats["steps"])) / run["thin"]

    def forecast(frame: pd.DataFrame) -> Found:
        frame = _levelled(frame, ratings)
        probs = []
        for first in range(0, len(frame), BATCH):
            probs.append(_level_probs(fit.predict(frame.iloc[first : first + BATCH])))
        joined = np.concatenate(probs)
        some = frame.iloc[np.linspace(0, len(frame) - 1, DIAGNOSED).astype(int)]
        agreement = _agreement(fit, some)
        return Found(Forecast(joined @ ratings.levels, joined), {**about, **agreement})

    return forecast


def _inputs(task: Task) -> list[str]:
    """The covariates that functions may depend on: of the clocks, the one that was chosen."""
    chosen = task.options["clock"]
    return [name for name in task.ratings.covariates if name not in SLOW or name == chosen]


def _dependence(task: Task) -> dict[str, Any]:
    """What the functions of each data set depend on."""
    from dpmf.kernels import Categorical, Constant, Matern12

    clock = task.options["clock"]
    if clock in task.ratings.covariates:  # users change, films do not
        return {"kernel": (Matern12(clock, length=SLOW[clock]), Constant())}
    # Students like some departments, lecturers get better or worse with time and suit some
    # ages, and a lecture for another department is another matter to both.
    there = Categorical("service") * Categorical("dept")
    then = Matern12("lectage") * Categorical("service") * Categorical("studage")
    return {
        "kernel": (there, then),
        "mean": ("pooled", "constant"),
        "mean_kernel": (there, None),
    }


def _levelled(frame: pd.DataFrame, ratings: Ratings) -> pd.DataFrame:
    return frame.assign(level=1.0 + ratings.level(frame))


def _level_probs(forecast) -> np.ndarray:
    """Probability of every level, averaged over draws."""

    def each(y, noise):
        return np.e ** forecast.noise_at(noise).level_log_probs(y)[:, 0]

    return forecast._over_draws(each).mean(axis=0)


def _agreement(fit, frame: pd.DataFrame) -> dict[str, Any]:
    """R-hat and effective draws of held-out means."""
    from dpmf.inference.diagnostics import diagnostics

    forecast = fit.predict(frame)
    # Not y: with ordered levels, y and all cuts together may wander.
    means = forecast._over_draws(lambda y, noise: forecast.noise_at(noise).mean(y))
    found = diagnostics({"mean": means.reshape(*fit.shape, len(frame))}, fit.draws.stats)
    return {
        "rhat_max": float(np.max(found.rhat)),
        "ess_median": float(np.median(found.ess_bulk)),
        "ess_min": float(np.min(found.ess_bulk)),
        "counts": bool(found.rhat.max() <= 1.05 and np.median(found.ess_bulk) >= 100),
    }
