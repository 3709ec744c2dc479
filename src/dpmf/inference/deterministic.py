"""GPUs that compute the same sums in the same order, every time.

On a GPU, XLA may add in whatever order threads arrive, and chooses among its multiplications
by timing them: two runs then differ in their last digits, and soon in all. It can be asked not
to, before jax starts.
"""

import importlib.util
import os

FLAG = "xla_gpu_deterministic_ops"
PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin")


def ask_for_determinism() -> None:
    """Add the flag to `XLA_FLAGS`, where jax may find a GPU and the user has not spoken of it.

    Once jax has started this says nothing.
    """
    given = os.environ.get("XLA_FLAGS", "")
    if FLAG in given or not any(importlib.util.find_spec(name) for name in PLUGINS):
        return
    os.environ["XLA_FLAGS"] = f"{given} --{FLAG}=true".strip()
