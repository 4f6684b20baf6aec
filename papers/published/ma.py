"""[Ma] Tables 2, 3 and 4: `ma`."""

from __future__ import annotations

from itertools import product

from . import parse_table

SETS = ("dexter", "arcene")
LOSSES = ("hinge", "logistic")
# Tables 2 and 3 in the order of METHODS (ours once): mean | standard deviation of errors and shares, in
# percent. Table 4: kappa of truncated gradient and of ours.
PUBLISHED = dict(
    zip(
        product(LOSSES, SETS),
        parse_table("""
            7.77 8.37 11.42 10.91 6.58 | .96 .91 .59 1.21 .57 |
            29.46 14.74 1.61 37.69 1.98 | .35 .82 .06 2.43 .15 | 0.46 0.61
            19.26 22.06 22.10 18.72 17.60 | 3.67 8.08 4.00 3.26 2.62 |
            98.22 61.08 12.15 54.5 3.67 | .07 25.55 .90 13.37 .40 | 0.26 0.55
            7.91 10.25 9.41 10.45 6.41 | .36 .58 .68 .81 .43 |
            38.76 13.91 4.84 30.21 1.32 | .00 .71 .14 1.87 .13 | 0.23 0.58
            17.38 19.48 21.62 18.44 13.38 | 2.93 5.01 2.05 3.11 1.26 |
            98.36 88.34 12.71 45.96 5.35 | .00 4.38 .27 9.76 .24 | 0.35 0.69
        """),
    )
)
