"""New points of a Markov chain are drawn given the old ones, whatever their order."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from dpmf.model import bridge, markov
from dpmf.model.bridge import Bridge
from dpmf.model.tracks import Tracks, tracks
from model.diary import ROWS
from planted import planted

THETA = {"time.length": jnp.asarray([[7.0]])}
OLD = tracks("time", np.array([0, 0, 0, 1, 2]), np.array([3.0, 9.0, 10.5, 4.0, 1.0]))[0]
MORE = (np.array([0, 0, 0, 0, 1, 3, 3]), np.array([1.0, 4.0, 5.0, 30.0, 2.0, 0.0, 6.0]))


def wider() -> Tracks:
    """Points before, between and after old ones, and a new member."""
    member = np.concatenate([OLD.member, MORE[0]])
    return tracks("time", member, np.concatenate([OLD.at, MORE[1]]))[0]


def functions(points: Tracks, white) -> np.ndarray:
    over = markov.Steps(*(x[None] for x in points.track().steps(jnp.asarray(7.0))))
    return np.asarray(markov.coloured(jnp.asarray(white), over))


def joint(monkeypatch, way: Bridge, old: Tracks, new: Tracks) -> np.ndarray:
    """Covariance of old and new values: both are linear in old white and fresh normals."""
    count, fresh = len(old.at), way.every.gap.shape[0]
    columns = []
    for row in np.eye(count + fresh):
        normals = jnp.asarray(row[count:])[None]
        monkeypatch.setattr(bridge.jr, "normal", lambda key, shape, z=normals: z)
        white = jnp.asarray(row[:count])[None]
        there = way.widened(white, ROWS, THETA, jr.key(0))
        columns.append(np.concatenate([functions(old, white)[0], functions(new, there)[0]]))
    return np.array(columns).T @ np.array(columns)


def kernel(member, at) -> np.ndarray:
    same = np.equal.outer(member, member)
    return np.where(same, np.exp(-np.abs(np.subtract.outer(at, at)) / 7.0), 0.0)


def test_old_and_new_values_have_the_covariance_of_the_kernel(monkeypatch):
    new = wider()
    found = joint(monkeypatch, OLD.widening(new, 4), OLD, new)
    both = np.concatenate([OLD.member, new.member]), np.concatenate([OLD.at, new.at])
    np.testing.assert_allclose(found, kernel(*both), atol=1e-12)


def test_members_are_renamed_and_points_dropped(monkeypatch):
    """Old member 1 is now 0, old 0 is now 2, old 2 has left, and 1 is new."""
    new = tracks("time", np.array([0, 1, 2, 2]), np.array([5.0, 1.0, 8.0, 9.0]))[0]
    found = joint(monkeypatch, OLD.bridge(new, np.array([1, -1, 0])), OLD, new)
    member = np.concatenate([OLD.member, np.array([1, 3, 0])[new.member]])
    np.testing.assert_allclose(
        found, kernel(member, np.concatenate([OLD.at, new.at])), atol=1e-12
    )


def test_old_values_stay():
    new, random = wider(), np.random.default_rng(0)
    white = random.normal(size=(1, len(OLD.at)))
    there = OLD.carried(white, ROWS, THETA, new, np.array([0, 1, 2, -1]), random)
    place = tracks(
        "time", *(np.concatenate(x) for x in ((new.member, OLD.member), (new.at, OLD.at)))
    )
    kept = place[1][len(new.at) :]
    np.testing.assert_allclose(
        functions(new, there)[:, kept], functions(OLD, white), rtol=1e-12
    )


def test_nothing_known_is_the_prior(monkeypatch):
    new = wider()
    found = joint(monkeypatch, OLD.bridge(new, np.full(4, -1)), OLD, new)
    member = np.concatenate([OLD.member, 10 + new.member])
    np.testing.assert_allclose(
        found, kernel(member, np.concatenate([OLD.at, new.at])), atol=1e-12
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("jnp.exp(-since) * jnp.expm1(-2 * until) / both", "jnp.exp(-since)"),
        ("error[:, self.after]", "error[:, self.before]"),
    ],
    ids=["blind to what comes after", "one neighbour twice"],
)
def test_planted_bugs_are_found(monkeypatch, old, new):
    wrong = planted(Bridge, old, new)
    monkeypatch.setattr(Bridge, "widened", wrong.widened)
    monkeypatch.setattr(Bridge, "_weights", wrong._weights)
    with pytest.raises(AssertionError):
        test_old_and_new_values_have_the_covariance_of_the_kernel(monkeypatch)
