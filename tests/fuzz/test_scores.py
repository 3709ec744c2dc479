"""Any text in the place of a score: read as the number that it is, or refused where it is."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from dpmf import DataError
from dpmf.sports.games import typed
from dpmf.sports.table_files import read_table
from fuzz.written import files, quoted

NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
TEXTS = st.one_of(
    st.from_regex(NUMBER, fullmatch=True),
    st.from_regex(r"[ 0-9.,eE+\-_()OT']{1,8}", fullmatch=True),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)


@files("scores")
@given(TEXTS)
def test_a_score_is_the_number_that_is_written_or_refused(place, text):
    game = f"2001-09-09,A,B,{quoted(text, ',', False)},2\n"
    raw = f"date,home,away,home_score,away_score\n2001-09-02,B,A,1,2\n{game}"
    place.write_bytes(raw.encode())
    table, source = read_table(place)
    try:
        found = typed(table, source=source)["home_score"].tolist()
    except DataError as error:
        assert str(error).startswith(f"{place}: line 3, column 'home_score': found ")
        assert not (NUMBER.fullmatch(text) and abs(float(text)) <= 1e15)
        return
    digits = "".join(str(unicodedata.digit(c, c)) for c in text).strip()  # of any script
    assert NUMBER.fullmatch(digits) and found == [1.0, float(digits)]
