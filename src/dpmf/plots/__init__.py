"""One function per picture; each returns a plotly figure."""

from dpmf.plots.hyperparameters import gaps, length_scales
from dpmf.plots.ratings import ratings
from dpmf.plots.score_density import score_density

__all__ = ["gaps", "length_scales", "ratings", "score_density"]
