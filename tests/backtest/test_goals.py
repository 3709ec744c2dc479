"""Predictions of goals: every figure against a table of all pairs of scores."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf.backtest.goals import Goals
from dpmf.backtest.metrics import MARGIN, TOTAL, scored
from dpmf.backtest.summary import summary
from dpmf.likelihoods.paired_poisson import PairedPoissonNoise
from planted import planted

COUNTS = 40
VALUES = np.array([[2.0, 1.0], [0.0, 0.0], [1.0, 4.0], [35.0, 0.0]])
Y = np.random.default_rng(0).normal([0.4, 0.1], 0.3, (5, 4, 2))
SHARED = np.array([0.0, 0.1, 0.2, 0.5, 1.0])


@pytest.fixture(scope="module")
def chances():
    """Of every pair of counts, averaged over the draws: (events, counts, counts)."""
    pairs = np.stack(np.indices((COUNTS, COUNTS)), axis=-1).reshape(-1, 2).astype(float)
    total = np.zeros((4, COUNTS * COUNTS))
    with jax.enable_x64(True):
        for y, shared in zip(Y, SHARED, strict=True):
            noise = PairedPoissonNoise(jnp.asarray(shared))
            for event in range(4):
                at = jnp.broadcast_to(jnp.asarray(y[event]), pairs.shape)
                total[event] += np.exp(noise.log_prob(at, jnp.asarray(pairs)))
    return total.reshape(4, COUNTS, COUNTS) / len(Y)


def sums(chances, direction, event):
    """Values of a sum of both counts with their chances."""
    first, second = np.indices((COUNTS, COUNTS))
    along = direction[0] * first + direction[1] * second
    return along.reshape(-1), chances[event].reshape(-1)


def assert_table(kind, chances):
    goals = kind(Y, SHARED)
    rows = scored(goals, VALUES)
    for event in range(4):
        ours, theirs = VALUES[event].astype(int)
        assert rows["log_prob"][event] == pytest.approx(
            np.log(chances[event, ours, theirs]), rel=1e-9
        )
        means = [chances[event].sum(axis=1 - side) @ np.arange(COUNTS) for side in (0, 1)]
        np.testing.assert_allclose(goals.scores[event], means, rtol=1e-9)
        for name, direction in (("margin", MARGIN), ("total", TOTAL)):
            at, (along, weight) = VALUES[event] @ direction, sums(chances, direction, event)
            expected = weight[along < at].sum() + 0.5 * weight[along == at].sum()
            assert rows[f"pit_{name}"][event] == pytest.approx(expected, abs=1e-9)
            spread = weight @ np.abs(along[:, None] - along[None]) @ weight / 2
            crps = weight @ np.abs(along - at) - spread
            assert rows[f"crps_{name}"][event] == pytest.approx(crps, abs=1e-7)
        along, weight = sums(chances, MARGIN, event)
        outcome = [weight[sign * along > 0].sum() for sign in (1, -1)]
        assert rows["p_win"][event] == pytest.approx(outcome[0], abs=1e-10)
        assert rows["p_draw"][event] == pytest.approx(weight[along == 0].sum(), abs=1e-10)
        assert rows["p_loss"][event] == pytest.approx(outcome[1], abs=1e-10)


def test_every_figure_is_a_sum_over_all_scores(chances):
    assert_table(Goals, chances)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("table[:, k:, k:] += both", "table[:, :size - k, :size - k] += both"),
        ("below + 0.5 * equal", "below + equal"),
        ("at - sums[-1] - 1", "at - sums[-1]"),
        ("sums[None] >= at", "sums[None] > at"),
        ('drawn = self._over_draws("equal")', 'drawn = 0.9 * self._over_draws("equal")'),
    ],
    ids=["not shifted", "no half", "one too many", "at the step", "fewer draws"],
)
def test_wrong_figures_are_found(old, new, chances, unchecked):
    if "sums[-1]" in old:  # seen only where a score is beyond the table
        chances = None
    wrong = planted(Goals, old, new)
    with pytest.raises(AssertionError):
        assert_beyond(wrong) if chances is None else assert_table(wrong, chances)


def assert_beyond(kind):
    """CRPS of a total far beyond everything likely: the distance less half the spread."""
    goals = kind(np.full((1, 1, 2), -30.0), np.array([1e-13]))  # no goals at all
    assert goals.crps(TOTAL, np.array([400.0]))[0] == pytest.approx(400.0)
    assert goals.crps(MARGIN, np.array([-400.0]))[0] == pytest.approx(400.0)


def test_scores_beyond_the_table():
    assert_beyond(Goals)


def test_a_chain_that_has_strayed_fills_no_memory():
    goals = Goals(np.array([[[25.0, 0.0]], [[0.3, 0.1]]]), np.array([0.1, 0.1]))
    assert goals._table.shape == (1, 300, 300)
    assert goals._table.sum() == pytest.approx(1)


def test_scores_of_the_three_outcomes_by_hand(monkeypatch):
    told = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    monkeypatch.setattr(Goals, "outcomes", told)
    values = np.array([[2.0, 1.0], [1.0, 1.0], [0.0, 3.0], [0.0, 1.0]])
    rows = scored(Goals(Y, SHARED), values)
    expected = [(0.25 + 0.04) / 2, (0.25 + 0.04) / 2, (0.25 + 0.64) / 2, 1.0]
    np.testing.assert_allclose(rows["rps"], expected)
    expected = [-np.log(0.5), -np.log(0.3), -np.log(0.2), -np.log(1e-12)]
    np.testing.assert_allclose(rows["outcome_log_loss"], expected)
    np.testing.assert_allclose(rows["p_home"][:3], 0.65)
    whole = rows.assign(forecaster="PMF", rank=1.0, season=2001, seen=False, event=range(4))
    table = summary(whole).iloc[0]
    assert table["rps"] == pytest.approx(rows["rps"].mean())
    assert table["outcome_log_loss"] == pytest.approx(rows["outcome_log_loss"].mean())
    assert table["p_draw"] == pytest.approx(0.225)
