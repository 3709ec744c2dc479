"""The flag that GPUs need is asked for where there may be one, and nowhere else."""

import importlib.util
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from dpmf import DPMF
from dpmf.inference import position, theta
from dpmf.inference.deterministic import FLAG, PLUGINS, ask_for_determinism
from dpmf.samplers import hmc
from inference.fitted import FORM, game_dyads, games, problem_of, state_of


@pytest.fixture(params=[False, True])
def plugin(request, monkeypatch):
    known = {PLUGINS[0]} if request.param else set()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in known or None)
    return request.param


@pytest.mark.parametrize("given", [None, "--xla_dump_to=here"])
def test_it_is_added_where_there_may_be_a_gpu(plugin, given, monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if given:
        monkeypatch.setenv("XLA_FLAGS", given)
    ask_for_determinism()
    own = f"--{FLAG}=true"
    expected = f"{given} {own}" if given else own
    assert os.environ.get("XLA_FLAGS") == (expected if plugin else given)


def test_a_user_who_has_decided_is_left_alone(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setenv("XLA_FLAGS", f"--{FLAG}=false")
    ask_for_determinism()
    assert os.environ["XLA_FLAGS"] == f"--{FLAG}=false"


def test_jax_knows_the_flag_and_reads_it():
    """It is there before jax starts, and flags that jax does not know end the process."""
    code = (
        "import importlib.util, os\n"
        "os.environ.pop('XLA_FLAGS', None)\n"
        "found = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *a: name in {PLUGINS!r} or found(name, *a)\n"
        "from jax._src import xla_bridge\n"
        "import dpmf\n"
        "dpmf.kernels.Matern12('time'), dpmf.likelihoods.PairedGaussian()\n"
        "import dpmf.inference.identity\n"
        "assert not xla_bridge.backends_are_initialized()\n"
        "importlib.util.find_spec = found\n"
        "import jax.numpy as jnp\n"
        "import dpmf.inference.engines\n"
        "print(os.environ['XLA_FLAGS'], jnp.ones(3).sum())\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.split() == [f"--{FLAG}=true", "3.0"], found.stderr


def scattered(jaxpr) -> list[str]:
    """Scatters whose order matters, in a program and all that it calls."""
    found = []
    for one in jaxpr.eqns:
        if one.primitive.name.startswith("scatter") and not one.params["unique_indices"]:
            found.append(f"{one.primitive.name} {one.source_info.traceback}")
        for value in jax.tree.leaves(one.params, is_leaf=lambda x: hasattr(x, "eqns")):
            inner = getattr(value, "jaxpr", value)
            found += scattered(inner) if hasattr(inner, "eqns") else []
    return found


@pytest.mark.parametrize("model", [DPMF(2, FORM), DPMF(2, FORM, mean="pooled")], ids=str)
def test_trajectories_scatter_nothing_whose_order_matters(x64, model):
    """Asked for determinism, a GPU sorts before each such scatter: 20 ms instead of 4."""
    problem = problem_of(model, game_dyads(games()))
    given, rest, known = theta.held(problem, state_of(problem, 3))
    here = position.position(given, rest, known)
    dim, few = here.shape[0], jnp.arange(3)
    tuning = hmc.Tuning(jnp.asarray(0.1), jnp.ones(dim), jnp.ones(()), few, jnp.eye(3))

    def step(key, here):
        def density(x):
            return position.log_density(given, x, known)

        return hmc.step(key, here, density, tuning, jnp.asarray(2))[0]

    program = jax.make_jaxpr(jax.vmap(step))(
        jax.random.split(jax.random.key(0), 2), here[None] + jnp.zeros((2, 1))
    )
    assert not scattered(program.jaxpr)


def test_a_scatter_within_loops_is_found(x64):
    def turn(_, x):
        return x.at[jnp.arange(3)].add(1.0)

    program = jax.make_jaxpr(jax.vmap(lambda x: jax.lax.fori_loop(0, 2, turn, x)))(
        jnp.zeros((2, 5))
    )
    assert scattered(program.jaxpr)


@pytest.mark.parametrize("engine", ["hmc", "slice"])
def test_two_processes_give_the_same_bits_on_a_gpu(engine):
    """Of games, and of ratings whose members have very different numbers of events."""
    if jax.default_backend() != "gpu":
        pytest.skip("there is no GPU here")
    first, second = (_digests(engine) for _ in range(2))
    assert first == second
    assert len(set(first)) == len(first) == 2


def _digests(engine: str) -> list[str]:
    code = (
        "import hashlib, numpy as np, pandas as pd, jax, dpmf\n"
        "def tell(fit):\n"
        "    leaves = jax.tree.leaves(fit.draws.states)\n"
        "    print(hashlib.sha256(b''.join(map(np.ndarray.tobytes, leaves))).hexdigest())\n"
        f"few = dict(engine={engine!r}, chains=4, warmup=30, draws=20, progress=False)\n"
        "games = dpmf.Games(dpmf.datasets.nfl()).between(2018, 2018)\n"
        "tell(dpmf.sports.score_model(2).fit(games, **few))\n"
        "random = np.random.default_rng(0)\n"
        "rated = {'user': random.zipf(1.3, 3000) % 97,\n"
        "         'film': random.integers(60, size=3000),\n"
        "         'day': random.permutation(3000) / 10,\n"
        "         'stars': random.integers(1, 6, size=3000)}\n"
        "names = dict(row='user', col='film', value='stars', inputs=['day'])\n"
        "data = dpmf.Dyads.from_frame(pd.DataFrame(rated), **names)\n"
        "model = dpmf.DPMF(1, dpmf.kernels.Matern12('day'), dpmf.likelihoods.Ordinal(5))\n"
        "tell(model.fit(data, **few))\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return told.stdout.split()
