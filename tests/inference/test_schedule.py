"""Every step of a warm-up is spent."""

from dpmf.inference.schedule import windows


def test_windows_sum_to_the_warmup():
    for warmup in range(2001):
        found = windows(warmup)
        assert sum(window.steps for window in found) == warmup
        assert all(window.steps > 0 for window in found)


def test_the_last_window_settles_the_step_size():
    last = windows(500)[-1]
    assert not last.close and not last.learn_length
    assert last.steps >= 50


def test_a_resumed_warmup_keeps_the_scales():
    (only,) = windows(100, resumed=True)
    assert only.steps == 100 and only.learn_length and not only.close
    assert windows(0, resumed=True) == []
