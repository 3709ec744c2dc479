"""Print the lower bounds of our dependencies as pins: what pip calls a constraints file.

python tests/oldest.py > constraints.txt
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def pins(project: str) -> list[str]:
    """The oldest version of every package that users need, from the text of a project file."""
    settings = tomllib.loads(project)["project"]
    extras = settings.get("optional-dependencies", {})
    needed = [*settings["dependencies"], *extras.get("dask", [])]
    found = (re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", one) for one in needed)
    pairs = [match.groups() for match in found if match]
    if len(pairs) < len(needed):
        raise ValueError("a dependency has no lower bound, or more than that")
    return [f"{name}=={bound}" for name, bound in pairs]


if __name__ == "__main__":
    print("\n".join(pins(PROJECT.read_text())))
