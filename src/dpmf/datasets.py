"""Data sets that come with the package."""

from dpmf.data.embedded import nfl

__all__ = ["nfl"]
