"""What a page shows in; its HTML out, with style, scripts and data inside."""

from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from dpmf.report.packed import script_json

SCRIPTS = [
    "normal.js",
    "svg.js",
    "contours.js",
    "gaussian.js",
    "poisson.js",
    "explorer.js",
    "curves.js",
    "calibration.js",
    "sorting.js",
    "sections.js",
    "main.js",
]


def rendered(shown: dict[str, Any], data: dict[str, Any]) -> str:
    """The page.

    Args:
        shown: What the templates say; they escape all of it.
        data: What the scripts read.
    """
    templates = files("dpmf.report") / "templates"

    def own(name: str) -> Markup:
        return Markup((templates / name).read_text(encoding="utf-8"))

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpmf.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"signed": signed, "plain": plain}
    return environment.get_template("page.html").render(
        **dict.fromkeys(("ratings", "upcoming", "results", "diagnosis", "calibration"), None)
        | shown,
        style=own("style.css"),
        script=Markup("\n").join(own(name) for name in SCRIPTS),
        data=Markup(script_json(data)),
    )


def plain(number: float, digits: int) -> str:
    """A number with a minus sign, not a hyphen, and no negative zero."""
    text = f"{number:.{digits}f}"
    zero = not text.strip("-0.")
    return text.removeprefix("-") if zero else text.replace("-", "\u2212")


def signed(number: float, digits: int) -> str:
    """The same with a sign in any case."""
    text = plain(number, digits)
    return text if text.startswith("\u2212") else f"+{text}"
