"""Tables in, arrays out: who met whom, with what side information, and what happened."""

from dpmf.data.codebook import Codebook, InputColumn
from dpmf.data.distinct import distinct, extended
from dpmf.data.dyads import Dyads

__all__ = ["Codebook", "Dyads", "InputColumn", "distinct", "extended"]
