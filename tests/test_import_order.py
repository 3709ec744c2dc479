"""A folder imports only from the ones above it, and nothing imports jax too early."""

import ast
import functools
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpmf

SOURCE = Path(dpmf.__file__).parent

STAGES = [
    ["errors", "checks", "collection", "display", "types", "priors", "shown", "whole", "seal"],
    ["data", "datasets"],
    ["kernels"],
    ["likelihoods"],
    ["model"],
    ["samplers"],
    ["inference"],
    ["posterior"],
    ["backtest"],
    ["sports"],
    ["plots"],
    ["report"],
    ["cli"],
]
LEVEL = {name: level for level, names in enumerate(STAGES) for name in names}
KNOWS_ROOT_ONLY = "samplers"  # transition kernels know nothing of the model


def module_level(statements: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module is imported.

    Those inside functions run later, so they may point downwards: `DPMF.fit` returns
    what `posterior` defines. Those under `if TYPE_CHECKING:` never run.
    """
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from module_level(statement.orelse)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for block in ("body", "handlers", "orelse", "finalbody"):
                yield from module_level(getattr(statement, block, []))


def imported(source: str, module: str) -> Iterator[str]:
    """Parts of `dpmf` that the source of `module` imports, by their first name."""
    for statement in module_level(ast.parse(source).body):
        if isinstance(statement, ast.Import):
            targets = [alias.name for alias in statement.names]
        else:
            base = statement.module or ""
            if statement.level:
                parents = module.split(".")[: -statement.level]
                base = ".".join([*parents, base] if base else parents)
            targets = [f"{base}.{alias.name}" for alias in statement.names]
        for target in targets:
            package, *rest = target.split(".")
            if package == "dpmf":
                yield rest[0] if rest else "dpmf"


def violations(source: str, module: str) -> list[str]:
    """What is wrong with the imports in the source of `module`."""
    part = module.split(".")[1]
    if part not in LEVEL:
        return [f"{module}: {part} has no place in STAGES; give it one"]
    found = []
    for other in imported(source, module):
        if other == part:
            continue
        if other not in LEVEL or LEVEL[other] > LEVEL[part]:
            found.append(f"{module} imports {other}, which is not above {part}")
        elif part == KNOWS_ROOT_ONLY and LEVEL[other] > 0:
            found.append(f"{module} imports {other}, but {part} know nothing of the model")
    return found


def modules() -> dict[str, Path]:
    """All files of the package but its own `__init__`, by the name to resolve from."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {
        ".".join(["dpmf", *path.relative_to(SOURCE).with_suffix("").parts]): path
        for path in paths
        if path != SOURCE / "__init__.py"
    }


@pytest.mark.parametrize("module", modules())
def test_imports_point_upwards(module):
    assert violations(modules()[module].read_text(), module) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("dpmf.data.dyads", "from dpmf.model.density import log_density"),
        ("dpmf.data.dyads", "import dpmf.model.density"),
        ("dpmf.data.dyads", "from dpmf import model"),
        ("dpmf.data.dyads", "from ..model import density"),
        ("dpmf.data.dyads", "from .. import model"),
        ("dpmf.data.__init__", "from ..model import density"),
        ("dpmf.errors", "from .data import Dyads"),
        ("dpmf.kernels.base", "from dpmf import DPMF"),
        ("dpmf.kernels.base", "import dpmf"),
        ("dpmf.kernels.base", "try:\n    import dpmf.model\nexcept ImportError:\n    pass"),
        ("dpmf.kernels.base", "try:\n    pass\nexcept ImportError:\n    import dpmf.model"),
        ("dpmf.kernels.base", "class A:\n    import dpmf.model"),
        ("dpmf.kernels.base", "if TYPE_CHECKING:\n    pass\nelse:\n    import dpmf.model"),
        ("dpmf.samplers.slice", "from dpmf.model.density import log_density"),
        ("dpmf.samplers.slice", "from dpmf.kernels import Matern12"),
        ("dpmf.utils", "import numpy"),
    ],
)
def test_a_planted_import_is_found(module, source):
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("dpmf.model.density", "from dpmf.data.dyads import Dyads"),
        ("dpmf.model.density", "from dpmf import kernels, priors"),
        ("dpmf.model.density", "from .features import features"),
        ("dpmf.model.__init__", "from .features import features"),
        ("dpmf.samplers.slice", "from dpmf.errors import SamplingError"),
        ("dpmf.inference.estimator", "def fit():\n    from dpmf.posterior import Fit"),
        ("dpmf.inference.estimator", "if TYPE_CHECKING:\n    from dpmf.posterior import Fit"),
        ("dpmf.data.dyads", "import numpy\nfrom pandas import DataFrame"),
    ],
)
def test_a_rightful_import_is_let_through(module, source):
    assert violations(source, module) == []


@pytest.mark.parametrize(
    "work",
    [
        "import dpmf",
        "import dpmf; dir(dpmf); dpmf.__version__; dpmf.DataError",
        "from dpmf.cli import main; main(['--help'])",
        "from dpmf.cli import main; main(['demo', '--help'])",
        "from dpmf.cli import main; main(['fit', '--help'])",
        "from dpmf.cli import main; main(['predict', '--help'])",
        "from dpmf.cli import main; main(['report', '--help'])",
    ],
)
def test_jax_is_not_imported_before_work_begins(work):
    check = "import sys\ntry:\n    {}\nfinally:\n    assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", check.format(work)], check=True, capture_output=True)


def test_the_check_for_jax_can_fail():
    check = "import jax, sys\nassert 'jax' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", check], capture_output=True).returncode == 1


@pytest.mark.parametrize("name", dpmf.__all__)
def test_public_names_resolve_and_explain_themselves(name):
    value = getattr(dpmf, name)
    assert inspect.getdoc(value)
    if inspect.isclass(value):
        # The defaults of a dataclass's fields are explained by the class.
        shown = (staticmethod, classmethod, property, functools.cached_property)
        methods = [
            n
            for n, one in vars(value).items()
            if not n.startswith("_") and (inspect.isfunction(one) or isinstance(one, shown))
        ]
        assert [n for n in methods if not inspect.getdoc(getattr(value, n))] == []


def test_public_names_are_listed():
    assert set(dpmf.__all__) <= set(dir(dpmf))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dpmf' has no attribute 'nosuch'"):
        dpmf.nosuch  # noqa: B018
