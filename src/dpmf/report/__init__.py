"""The HTML page and its matchup explorer."""

from dpmf.report.document import page, write_page
from dpmf.report.results import Results

__all__ = ["Results", "page", "write_page"]
