"""Examples in Markdown pages: found, made shorter, run in the order in which they stand."""

import re
from pathlib import Path
from typing import NamedTuple

from command import status

ROOT = Path(__file__).parent.parent
_STEP = re.compile(
    r"```python\n(?P<python>.*?)```|^    dpmf (?P<dpmf>[^\n]*)$", re.DOTALL | re.M
)
_SIZES = re.compile(r"warmup=\d+,\s+draws=\d+")
SHORT = "warmup=20, draws=10"


class Step(NamedTuple):
    """One example: a block of Python, or the words of a command."""

    kind: str  # "python" or "dpmf"
    text: str


def steps(page: Path) -> list[Step]:
    """All examples of a page; what follows a `#` in a command is a remark."""
    found = _STEP.finditer(
        re.sub(r"^(    dpmf .*?) +#.*$", r"\1", page.read_text(), flags=re.M)
    )
    return [Step(one.lastgroup or "", one[one.lastgroup or 0]) for one in found]


def shorter(code: str) -> str:
    """The same with few draws."""
    return _SIZES.sub(SHORT, code)


def run(examples: list[Step], tiny: dict[str, list[str]]) -> dict:
    """Run them in the current folder.

    Args:
        examples: Of one page.
        tiny: Words to add to a command, such as `fit`, so that it is quick.

    Returns:
        The names that the blocks of Python have defined.
    """
    names: dict = {"__name__": "example"}
    for kind, text in examples:
        if kind == "python":
            exec(shorter(text), names)
        else:
            words = text.split()
            assert status(*words, *tiny.get(words[0], [])) == 0, f"dpmf {text}"
    return names
