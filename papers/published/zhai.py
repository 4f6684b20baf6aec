"""[Zhai] Table 2 and what it says of its figures: `zhai`. Accuracies are drawn there, not printed."""

from __future__ import annotations

# Features, training and test rows.
SIZES = {
    "dexter": (20_000, 300, 300),
    "basehock": (26_214, 1_197, 796),
    "arcene": (10_000, 100, 100),
    "gisette": (5_000, 6_000, 1_000),
    "pcmac": (26_214, 1_168, 777),
    "farm_ads": (54_877, 3_313, 830),
}
# What 5.2 says of Figures 1 and 2, and the budgets it is about: (better, worse, at least, at most).
CLAIMS = {
    "B-ARDA has the highest accuracy at every small budget": ("B-ARDA", ("B-AMD", "OFS", "SOFS"), 0, 200),
    "B-AMD is better than SOFS at small budgets": ("B-AMD", ("SOFS",), 0, 200),
    "OFS is better than B-AMD at small budgets": ("OFS", ("B-AMD",), 0, 100),
    "B-ARDA is better than OFS at large budgets": ("B-ARDA", ("OFS",), 1000, 10**9),
    "B-AMD is better than OFS at large budgets": ("B-AMD", ("OFS",), 1000, 10**9),
    "SOFS is better than OFS at large budgets": ("SOFS", ("OFS",), 1000, 10**9),
}
# What 5.3 says of Figure 3, of few features: (better, worse).
L1_CLAIMS = {
    "B-ARDA is better than l1-ARDA": ("B-ARDA", "l1-ARDA"),
    "B-AMD is better than Ada-FOBOS": ("B-AMD", "Ada-FOBOS"),
    "B-ARDA is better than B-AMD": ("B-ARDA", "B-AMD"),
    "B-ARDA is better than Ada-FOBOS": ("B-ARDA", "Ada-FOBOS"),
    "l1-ARDA is better than B-AMD": ("l1-ARDA", "B-AMD"),
    "l1-ARDA is better than Ada-FOBOS": ("l1-ARDA", "Ada-FOBOS"),
}
