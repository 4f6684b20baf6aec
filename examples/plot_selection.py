"""
What was selected, and how certain it is
========================================

Bars are effects, and lines are their 95 % intervals given the selection. BIC selects five of the ten
features of the diabetes data.
"""

from sklearn.datasets import load_diabetes

from streamsieve import OBestSubsetRegressor, SelectionDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = OBestSubsetRegressor(k="auto").fit(X, y)
SelectionDisplay.from_estimator(model)

# %%
# **Take home.** Intervals given the selection are too narrow, because the same rows chose the features.
# `honest=0.5` gives intervals that are valid after selection.
