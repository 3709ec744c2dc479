"""Tests on random output, with a stated chance of false alarm."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

FALSE_ALARM = 1e-6  # per test; a failure is a bug, not bad luck


def assert_mean(per_chain: ArrayLike, expected: ArrayLike) -> None:
    """Independent chains: their spread is the error bar, no ESS estimate needed.

    Args:
        per_chain: One average per chain, shape (chains, ...).
        expected: What they should average to, shape (...).
    """
    per_chain = np.asarray(per_chain)
    expected = np.broadcast_to(np.asarray(expected), per_chain.shape[1:])
    # Student's t rather than z, so that the rate holds for a handful of chains too.
    _assert_likely(stats.ttest_1samp(per_chain, expected[None], axis=0))


def assert_same_mean(a: ArrayLike, b: ArrayLike) -> None:
    """Two sets of independent chains, of any two spreads, have the same mean.

    Args:
        a: One average per chain, shape (chains, ...).
        b: The same from the other source; the number of chains may differ.
    """
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape[1:] == b.shape[1:], f"shapes {a.shape} and {b.shape} do not match"
    _assert_likely(stats.ttest_ind(a, b, axis=0, equal_var=False))


def _assert_likely(test) -> None:
    smallest = np.min(test.pvalue) * np.size(test.pvalue)  # Bonferroni over all entries
    off = np.max(np.abs(test.statistic))
    assert smallest > FALSE_ALARM, f"off by {off:.1f} standard errors"  # NaN fails too


def assert_uniform(ranks: ArrayLike, bins: int) -> None:
    """Ranks are equally often each of 0, ..., bins - 1 (chi-square on their histogram).

    Args:
        ranks: Integers from independent simulations, shape (simulations, ...).
        bins: How many values a rank can take. For the rank among L draws that is L + 1;
            to use fewer bins, divide the ranks by a width that divides L + 1.
    """
    ranks = np.asarray(ranks)
    if len(ranks) < 10 * bins:
        raise ValueError(f"{len(ranks)} ranks are too few for {bins} bins: use fewer bins")
    if ranks.min() < 0 or ranks.max() >= bins:
        raise ValueError(f"ranks run from {ranks.min()} to {ranks.max()}, not 0 to {bins - 1}")
    columns = ranks.reshape(len(ranks), -1).T
    counts = np.stack([np.bincount(column, minlength=bins) for column in columns])
    smallest = stats.chisquare(counts, axis=1).pvalue.min() * len(counts)
    assert smallest > FALSE_ALARM, f"ranks are not uniform: p = {smallest:.1e}"
