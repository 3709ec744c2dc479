"""What follows from draws: forecasts, ArviZ, files."""

from dpmf.posterior.files import load
from dpmf.posterior.fit import Fit
from dpmf.posterior.forecast import Forecast

__all__ = ["Fit", "Forecast", "load"]
