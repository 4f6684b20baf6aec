"""Standard errors, p-values and selections with guarantees, from averages, without reading rows again.

========== =====================================================================================
ols        least squares with classical, robust, fold or cluster errors
fdr        features at a false discovery rate: BH, BY, knockoffs, screen and test
split      select on some folds, estimate on the others: honest intervals and p-values
knockoffs  features that beat their knockoffs
anytime    tests that are valid after every row
stability  features that are selected from most random halves of the rows
========== =====================================================================================
"""

from .anytime import Anytime, anytime
from .fdr import fdr
from .knockoffs import knockoffs
from .ols import ols
from .split import split
from .stability import stability

__all__ = ["Anytime", "anytime", "fdr", "knockoffs", "ols", "split", "stability"]
