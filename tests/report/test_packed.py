"""Numbers and text survive the way into the browser."""

import json

import numpy as np
import pytest

from dpmf.report.packed import packed, script_json, unpacked
from dpmf.report.rendering import plain, signed


def test_numbers_come_back_to_half_a_step():
    values = (
        np.random.default_rng(0).normal(size=(2, 3, 50)) * np.array([1e3, 1e-3])[:, None, None]
    )
    back = unpacked(packed(values), values.shape)
    for one, other in zip(values, back, strict=True):
        assert np.abs(one - other).max() <= 0.5001 * np.ptp(one) / 65535


def test_a_constant_comes_back_as_it_was():
    values = np.full((1, 4), 2.5)
    np.testing.assert_array_equal(unpacked(packed(values), (1, 4)), values)


@pytest.mark.parametrize("text", ["</script>", "<!--", "&lt;", "\u2028", '"', "]]>"])
def test_nothing_ends_the_script_around_it(text):
    written = script_json({text: [text]})
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written) == {text: [text]}


def test_json_says_no_numbers_that_it_cannot():
    with pytest.raises(ValueError, match="JSON"):
        script_json([float("nan")])


def test_signs_are_minus_signs_and_zero_has_none():
    assert [plain(x, 1) for x in (1.25, -1.26, -0.04, 0.0)] == [
        "1.2",
        "\u22121.3",
        "0.0",
        "0.0",
    ]
    assert [signed(x, 0) for x in (1.2, -1.2, -0.2)] == ["+1", "\u22121", "+0"]
