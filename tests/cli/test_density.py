"""Densities as text."""

import numpy as np

from dpmf.cli.density import axis_lines, density_lines


def test_columns_are_as_high_as_the_density():
    lines = density_lines(np.array([0.0, 0.25, 0.5, 1.0]), height=2)
    assert lines == ["   █", " ▄██"]


def test_letters_alone():
    lines = density_lines(np.array([0.0, 0.5, 1.0]), height=1, blocks=False)
    assert lines == [" =@"]
    assert all(mark.isascii() for mark in lines[0])


def test_an_axis_has_its_labels_where_the_values_are():
    ticks, labels = axis_lines(-10.0, 10.0, 21, {-5.0: "-5", 0.0: "0", 5.0: "+5", 50.0: "far"})
    assert ticks == "-----+----+----+-----"
    assert labels.index("0") == 10 and labels.index("-5") == 4 and "far" not in labels


def test_labels_never_run_into_each_other():
    assert axis_lines(0.0, 10.0, 11, {5.0: "five", 6.0: "six"})[1].split() == ["five"]
