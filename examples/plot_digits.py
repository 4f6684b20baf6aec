"""
Digits, and the pixels that distinguish them
============================================

Ten classes share one budget of 16 pixels out of 64. On the left is a digit, in the middle are its selected
pixels, and on the right the weights of these pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from streamsieve import SelectionDisplay, SieveClassifier

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
model = SieveClassifier(16).fit(X[order[:1200]], y[order[:1200]])
accuracy = model.score(X[order[1200:]], y[order[1200:]])

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
axes[0].imshow(X[7].reshape(8, 8), cmap="gray_r")
axes[1].imshow(np.where(model.get_support(), X[7], np.nan).reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
axes[0].set_title("a digit", loc="left", fontsize=11)
axes[1].set_title(f"what is left of it, accuracy {accuracy:.2f}", loc="left", fontsize=11)
for ax in axes[:2]:
    ax.set_xticks([])
    ax.set_yticks([])
SelectionDisplay.from_estimator(model, image_shape=(8, 8), ax=axes[2])

# %%
# **Take home.** All classes share one set of features, so k is the number of measurements that you have
# to make.
