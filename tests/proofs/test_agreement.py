"""Both engines predict the same games alike; the full proof adds NumPyro's NUTS."""

import numpy as np
from proofs.row import require
from proofs.sums import added, load

from chance import FALSE_ALARM
from proofs import agreement


def test_engines_agree(tmp_path):
    rows = agreement.prove(agreement.SMALL, tmp_path)
    assert len(rows) == 3
    require(rows, FALSE_ALARM)


def test_a_stopped_run_goes_on(tmp_path):
    few = {"chains": {"slice": 2}, "warmup": {"slice": 2}, "chunk": {"slice": 2}}
    size = agreement.SMALL._replace(error=0.0, draws={"slice": 2}, **few)
    for draws in (2, 4):
        agreement.prove(size._replace(draws={"slice": draws}), tmp_path, engines=("slice",))
        assert load(tmp_path, "slice").count.tolist() == [draws, draws]


def test_a_shift_beyond_the_error_is_told_apart():
    random = np.random.default_rng(0)
    draws = {name: random.normal(shift, 1.0, (64, 100, 5)) for name, shift in _SHIFTS.items()}
    sums = {name: added(None, x) for name, x in draws.items()}
    size = agreement.SMALL._replace(error=0.03)
    verdicts = [row.passed(FALSE_ALARM) for row in agreement.compared(sums, size, 1)]
    assert verdicts == [True, True, False]


_SHIFTS = {"hmc": 0.0, "slice": 0.15}
