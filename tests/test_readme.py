"""The README's example runs as it stands there, only shorter."""

import re
from pathlib import Path

import numpy as np

README = Path(__file__).parent.parent / "README.md"


def test_the_example_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    shorter = code.replace("warmup=300, draws=300", "warmup=20, draws=10")
    assert shorter != code
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(shorter, names)
    assert np.isfinite(names["forecast"].mean).all()
    assert len(names["forecast"]) == 48
    assert (tmp_path / "fit.nc").is_file()


def test_the_two_commands_stand_at_the_top():
    top = README.read_text()[:800]
    assert "make demo" in top
    assert "make test" in top
