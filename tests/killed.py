"""Work in a process of its own that is killed, again and again, until it is left in peace."""

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PRELUDE = """
import jax, os, signal, threading
from dpmf.inference import checkpoint
jax.config.update("jax_disable_most_optimizations", True)
# Ctrl-C is ignored by whatever was started in the background, and by all that starts from it.
signal.signal(signal.SIGINT, signal.default_int_handler)
checkpoint.EVERY = 0.0  # save at the end of every chunk
reports = 0

def told(stage, done, total):
    global reports
    reports += 1
    print(stage, done, flush=True)
    if reports == {report}:  # not at once: a moment later, whatever is going on then
        threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGKILL)).start()
"""


def begun(
    code: str, cache: Path, report: int = 0, delay: float = 0.0, **options
) -> subprocess.Popen:
    """A process that runs some code, killed after a report of its progress if one is named."""
    own = {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE.format(report=report, delay=delay) + code],
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def killed(code: str, cache: Path, reports: Sequence[int], longest: float) -> list[list[str]]:
    """Run code that tells `told` of its progress, killed some time after each of some reports.

    Returns:
        What each run has told; the last of them ran to its end.
    """
    moments, told = random.Random(0), []
    for report in (*reports, 0):
        process = begun(code, cache, report, moments.uniform(0.0, longest))
        printed, errors = process.communicate(timeout=300)
        assert process.returncode == (-9 if report else 0), (printed, errors)
        told.append(printed.splitlines())
    return told
