"""One function per picture; each returns a plotly figure."""

from dpmf.plots.calibration import calibration
from dpmf.plots.hyperparameters import gaps, length_scales
from dpmf.plots.pit import pit
from dpmf.plots.ranks import ranks
from dpmf.plots.ratings import ratings
from dpmf.plots.score_density import score_density
from dpmf.plots.trace import trace

__all__ = [
    "calibration",
    "gaps",
    "length_scales",
    "pit",
    "ranks",
    "ratings",
    "score_density",
    "trace",
]
