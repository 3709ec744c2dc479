"""Slopes are powers, and every point of a size has the events that it says."""

import pytest
import scaling


@pytest.mark.parametrize("power", [0.0, 1.0, 3.0])
def test_a_slope_is_the_power(power):
    sizes = [10, 20, 40, 80]
    assert scaling.slope(sizes, [7.0 * size**power for size in sizes]) == pytest.approx(power)


@pytest.mark.parametrize("name", scaling.POINTS)
def test_every_size_has_four_points_and_the_base_is_one(name):
    points = scaling.POINTS[name]
    assert len(points) >= 4
    assert scaling.BASE[name] in points


@pytest.mark.parametrize(("name", "column"), [("members", "row"), ("inputs", "week")])
def test_events_have_all_members_and_weeks(name, column):
    for value in scaling.POINTS[name]:
        frame = scaling.events(scaling.BASE | {name: value})
        assert len(frame) == scaling.BASE["events"]
        assert frame[column].nunique() == value


def test_a_fit_that_has_not_converged_has_no_part_in_a_slope():
    row = dict.fromkeys(scaling.MEASURES, 1.0)
    rows = [row | {"rank": rank, "rhat_max": 1.0} for rank in (1, 2, 4)]
    rows.append(row | {"rank": 8, "rhat_max": 1.2, "s_per_effective": 99.0})
    assert scaling.slopes_of("rank", rows)["s_per_effective"] == pytest.approx(0.0, abs=1e-9)
    rows[0]["rhat_max"] = 1.2
    assert scaling.slopes_of("rank", rows)["s_per_effective"] is None
    assert scaling.slopes_of("rank", rows)["s_per_draw"] == pytest.approx(0.0, abs=1e-9)


def test_too_few_draws_are_refused():
    with pytest.raises(SystemExit, match="at least 100"):
        scaling.measured(scaling.BASE, warmup=10, draws=99)
