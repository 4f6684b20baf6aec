"""
Selection stability
===================

The same rows are learned in twelve orders, each in one pass. Which features are always selected, and which
only by chance? SIHT decides after every row which features to keep. TSGD decides only when the model is
read.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from streamsieve import SIHTClassifier, StabilityDisplay, TSGDClassifier

X, y = make_classification(600, 200, n_informative=8, n_redundant=0, shuffle=False, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
estimators = (SIHTClassifier(15, max_iter=1, init="zero"), TSGDClassifier(15, max_iter=1))
for estimator, ax in zip(estimators, axes):
    display = StabilityDisplay.from_estimator(estimator, X, y, n_permutations=12, ax=ax)
    ax.set_xlabel(type(estimator).__name__)
    print(type(estimator).__name__, np.round(display.stability.kappa, 2))

# %%
# **Take home.** If another order of the rows gives other features, do not interpret single features.
# Measure the stability first, with `metrics.selection_stability`.
