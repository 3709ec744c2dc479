"""Files that were torn, or never were tables: refused in our own words, or read."""

import random
import re
import types

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from command import status
from dpmf import DpmfError, read_games
from fuzz.written import ENCODINGS, encoded, files, games, written
from fuzz.written import NAMES as HEADER

ODD = [b"\0", b"\xff", b"\xfe\xff", b'"', b"\r", b"\n", b",", b";", b"\x1b[31m", b"\xe2\x80"]


def outcome(place) -> None:
    """Read, or refused with the name of the file in one plain message."""
    try:
        read = read_games(place).frame
    except DpmfError as error:
        assert str(error).startswith(f"{place}: ")
        assert len(str(error)) < 1000
        return
    assert len(read) and read.notna().all(axis=None)
    assert (read["home_team"] != read["away_team"]).all()
    assert read["date"].is_monotonic_increasing


@files("torn")
@given(games(), st.integers(0, 2**32), st.sampled_from(list(ENCODINGS)), st.booleans())
def test_torn_files(place, found, seed, encoding, packed):
    random_ = random.Random(seed)
    text, _ = written([HEADER, *(game.fields() for game in found)], random_=random_)
    raw = bytearray(encoded(text, encoding, packed))
    for _ in range(random_.randint(1, 3)):
        at = random_.randrange(len(raw) + 1)
        how = random_.randrange(4)
        if how == 0:
            del raw[at:]
        elif how == 1:
            del raw[at : at + random_.randint(1, 9)]
        elif how == 2:
            raw[at:at] = random_.choice(ODD)
        elif at < len(raw):
            raw[at] ^= 1 << random_.randrange(8)
    place.write_bytes(raw)
    outcome(place)


@files("soup")
@given(st.one_of(st.binary(max_size=80), st.text(max_size=60).map(lambda t: t.encode("utf-8"))))
@example(b"PAR1")
@example(b"\x1f\x8b")
@example(b"BZh9")
@example(b"\xfd7zXZ\x00")
def test_soup(place, raw):
    place.write_bytes(raw)
    with pytest.raises(DpmfError, match=re.escape(f"{place}: ")):
        read_games(place)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"a,b\n1\n", b'"', b"\x1f\x8b\x08"])
def test_the_command_says_it_in_one_line(place, content, capsys, monkeypatch):
    place.write_bytes(content)
    assert status("fit", str(place), "--out", str(place.parent / "fit.nc")) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"dpmf: {place}: ") and printed.count("\n") == 1
    stdin = types.SimpleNamespace(buffer=place.open("rb"))
    monkeypatch.setattr("sys.stdin", stdin)
    assert status("fit", "-", "--out", str(place.parent / "fit.nc")) == 2
    assert capsys.readouterr().err.startswith("dpmf: standard input: ")
