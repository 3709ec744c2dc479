"""Days in any of the ways in which people write them: read as meant, or refused."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmf import DataError
from dpmf.sports.games import typed
from dpmf.sports.table_files import read_table
from fuzz.written import files

CLEAR = [
    "%Y-%m-%d", "%Y%m%d", "%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%B %d, %Y", "%a %b %d %Y",
    "%A, %d %B %Y", "%d-%b-%Y", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d %B %Y 7:30 PM",
]  # fmt: skip
ORDERED = {"%d/%m/%Y": True, "%m/%d/%Y": False, "%d.%m.%Y": True, "%m-%d-%Y 19:05": False}
DAYS = st.lists(
    st.dates(datetime.date(1890, 1, 1), datetime.date(2100, 1, 1)), min_size=1, max_size=6
)


def read(place, entries, **options):
    rows = "".join(f'"{one}",A,B,1,2\n' for one in entries)
    place.write_text(f"date,home,away,home_score,away_score\n{rows}")
    table, source = read_table(place)
    return typed(table, source=source, **options)["date"].dt.date.tolist()


@files("dates")
@given(DAYS, st.lists(st.sampled_from(CLEAR), min_size=6, max_size=6), st.data())
def test_days_are_those_that_were_meant(place, days, clear, data):
    """Some are told in a way that has one meaning, the others in one that may have two."""
    form = data.draw(st.sampled_from(list(ORDERED)))
    mixed = data.draw(st.lists(st.booleans(), min_size=6, max_size=6))
    said = data.draw(st.sampled_from([None, ORDERED[form]]))
    forms = [form if odd else one for one, odd in zip(clear, mixed, strict=True)]
    entries = [day.strftime(one) for day, one in zip(days, forms, strict=False)]
    asked = [day for day, odd in zip(days, mixed, strict=False) if odd]
    settled = any(day.day > 12 for day in asked) or all(day.day == day.month for day in asked)
    if said is not None or settled:
        assert read(place, entries, day_first=said) == days
        return
    first = next(n for n, day in enumerate(days) if mixed[n] and day.day != day.month)
    with pytest.raises(DataError, match=f"line {first + 2}, column 'date': found .* may be"):
        read(place, entries)


@given(st.lists(st.text("0123456789/-. TZ:", max_size=12), min_size=1, max_size=3))
@files("dates")
def test_digits_in_any_order_are_a_day_that_they_spell_or_refused(place, entries):
    try:
        days = read(place, entries)
    except DataError as error:
        assert str(error).startswith(f"{place}: line ")
        return
    for day, entry in zip(days, entries, strict=True):
        assert f"{day.year:04d}" in entry and str(day.day) in entry and str(day.month) in entry


def test_the_order_of_one_separator_says_nothing_of_another(place):
    with pytest.raises(
        DataError, match=r"line 3, column 'date': found '03/04/2008', which may"
    ):
        read(place, ["25.12.2008", "03/04/2008"])
