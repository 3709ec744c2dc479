"""The README's examples run as they stand there, only shorter."""

import re
from pathlib import Path

import numpy as np

README = Path(__file__).parent.parent / "README.md"


def test_the_examples_run(tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    shorter = re.sub(r"warmup=\d+,\s+draws=\d+", "warmup=20, draws=10", "\n".join(blocks))
    assert len(blocks) == 3
    assert shorter.count("warmup=20, draws=10") == 3
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(shorter, names)
    assert np.isfinite(names["forecast"].mean).all()
    assert len(names["forecast"]) == 63
    assert len(names["data"]) == len(names["played"])
    assert set(names["result"].summary["forecaster"]) == {"PMF", "home"}
    assert (tmp_path / "fit.nc").is_file()


def test_the_two_commands_stand_at_the_top():
    top = README.read_text()[:800]
    assert "make demo" in top
    assert "make test" in top
