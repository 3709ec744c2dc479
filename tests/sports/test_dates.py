"""Days as people write them."""

import re

import narwhals as nw
import pandas as pd
import pytest

from dpmf import DataError
from dpmf.sports.dates import days


def read(*entries, **options):
    table = nw.from_native(pd.DataFrame({"Date": list(entries)}), eager_only=True)
    return days(table, "Date", source="games.csv", **options).dt.strftime("%Y-%m-%d").tolist()


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["2008-12-25", "2009-01-02"], ["2008-12-25", "2009-01-02"]),
        ([20081225], ["2008-12-25"]),
        (["2008-12-25T19:30:00"], ["2008-12-25"]),
        (["03/04/2008", "25/12/2008"], ["2008-04-03", "2008-12-25"]),
        (["03/04/2008", "12/25/2008"], ["2008-03-04", "2008-12-25"]),
        (["03.04.2008", "25.12.2008 19:30"], ["2008-04-03", "2008-12-25"]),
        (["04/04/2008"], ["2008-04-04"]),
        (["Thu Dec 25 2008", "25 December 2008"], ["2008-12-25", "2008-12-25"]),
    ],
)
def test_days(entries, expected):
    assert read(*entries) == expected


def test_what_is_said_decides():
    assert read("03/04/2008", day_first=True) == ["2008-04-03"]
    assert read("03/04/2008", day_first=False) == ["2008-03-04"]


@pytest.mark.parametrize(
    ("entries", "options", "message"),
    [
        (
            ["03/04/2008", "05/06/2008"],
            {},
            "games.csv: row 1, column 'Date': found '03/04/2008', which may be day 3 of month "
            "4 or day 4 of month 3, and no other row tells; write days as 2008-12-25, or say "
            "which comes first (day_first, --day-first)",
        ),
        (
            ["03/04/2008", "25/12/2008", "12/25/2008"],
            {},
            "found '25/12/2008' in row 2 and '12/25/2008' in row 3, expected the day or the "
            "month first in all",
        ),
        (
            ["12/25/2008"],
            {"day_first": True},
            "row 1, column 'Date': found '12/25/2008', expected the day first, as said; there "
            "is no month 25",
        ),
        (["31/02/2008"], {}, "row 1, column 'Date': found '31/02/2008', expected a date"),
        (["13/08/05"], {}, "row 1, column 'Date': found '13/08/05', expected a date such as"),
        (["Dec 25"], {}, "found 'Dec 25', expected a date"),
    ],
)
def test_refusals(entries, options, message):
    with pytest.raises(DataError, match=re.escape(message)):
        read(*entries, **options)
