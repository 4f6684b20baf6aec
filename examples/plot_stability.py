"""
Selection stability
===================

Fit the same rows in twenty orders: which features are selected always, which by chance? A plain truncated
gradient changes its mind with the order of the rows, a stabilized one hardly.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from streamsieve import StabilityDisplay, StabilizedSGDClassifier, TruncatedGradientClassifier

X, y = make_classification(600, 200, n_informative=8, n_redundant=0, shuffle=False, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
estimators = (TruncatedGradientClassifier(15), StabilizedSGDClassifier(15, n_paths=4, max_iter=10))
for estimator, ax in zip(estimators, axes):
    display = StabilityDisplay.from_estimator(estimator, X, y, n_permutations=12, ax=ax)
    ax.set_xlabel(type(estimator).__name__)
    print(type(estimator).__name__, np.round(display.stability.kappa, 2))
