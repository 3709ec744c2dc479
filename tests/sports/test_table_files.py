"""Files of games: compressed, Parquet, or standard input."""

import gzip
import importlib
import io
import types

import polars as pl
import pytest

from dpmf import ConfigError, DataError, read_games
from dpmf.errors import UnreadableFile
from league import league


def given(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))


def csv() -> bytes:
    return league().to_csv(index=False).encode()


def parquet() -> bytes:
    place = io.BytesIO()
    pl.DataFrame(league().to_dict("list")).write_parquet(place)
    return place.getvalue()


@pytest.mark.parametrize("content", [csv, parquet, lambda: gzip.compress(csv())])
def test_standard_input(monkeypatch, content):
    given(monkeypatch, content())
    assert len(read_games("-")) == 72


def test_parquet_is_the_same_as_csv(tmp_path):
    (tmp_path / "a.parquet").write_bytes(parquet())
    (tmp_path / "a.csv").write_bytes(csv())
    read = [read_games(tmp_path / name).frame for name in ("a.parquet", "a.csv")]
    assert read[0].equals(read[1])


def test_bad_parquet(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match=r"a\.parquet: this is no Parquet table"):
        read_games(tmp_path / "a.parquet")
    with pytest.raises(UnreadableFile, match=r"none\.parquet: cannot be read"):
        read_games(tmp_path / "none.parquet")


def test_nothing_that_reads_parquet(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(parquet())

    def missing(name, *rest):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ConfigError, match="needs pyarrow or polars; pip install pyarrow"):
        read_games(tmp_path / "a.parquet")


def test_messages_name_standard_input(monkeypatch):
    given(monkeypatch, b"date,home\n")
    with pytest.raises(DataError, match="standard input: there are no events"):
        read_games("-")
    given(monkeypatch, b"")
    with pytest.raises(DataError, match="standard input: this is no CSV table"):
        read_games("-")


def test_text_that_is_not_utf_8(tmp_path):
    path = tmp_path / "games.csv"
    path.write_bytes(
        "date,home,away,home_score,away_score\n2001-09-09,Köln,B,1,2\n".encode("latin-1")
    )
    with pytest.raises(
        DataError,
        match=r"games\.csv: line 2, column 'home': found bytes that are no UTF-8 text .* save",
    ):
        read_games(path)


def test_names_of_teams_are_text_whatever_their_column_is_called(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("date,Mannschaft,visitor,home_score,away_score\n2001-09-09,01,NA,1,2\n")
    with pytest.warns(UserWarning, match="took 'visitor' as away"):
        frame = read_games(path, columns={"home": "Mannschaft"}).frame
    assert frame[["home_team", "away_team"]].values.tolist() == [["01", "NA"]]
