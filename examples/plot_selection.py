"""
What was selected, and how sure that is
=======================================

Bars are weights, whiskers their 95 % intervals given the selection. Of the diabetes data's ten features,
five stand.
"""

from sklearn.datasets import load_diabetes

from streamsieve import OBestSubsetRegressor, SelectionDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = OBestSubsetRegressor(k="auto").fit(X, y)
SelectionDisplay.from_estimator(model)
