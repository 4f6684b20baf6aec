"""
BIC, EBIC and cross-validation choosing k
=========================================

Criteria are computed from the same averages as the models. Cross-validation needs no second pass either:
the averages of all rows minus those of a fold are the averages of the other folds. The dashed line is the
true size.
"""

import matplotlib.pyplot as plt

from streamsieve import FoldAverages, cross_validate, path, simulate

folds = FoldAverages(5)
for X, y in simulate.correlated(1500, p=150, k=15, signal=(0.1, 0.5)):
    folds.update(X, y)
models = path(folds.total(), "olsth")
validated = cross_validate(folds, "olsth", ks=range(60))

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for name in ("aic", "bic", "ebic"):
    curve = getattr(models, name)[:60]
    left.plot(models.k[:60], curve - curve.min(), label=f"{name.upper()}, k = {models.best_k(name)}")
left.set(xlabel="features, k", ylabel="above the lowest", ylim=(0, 400), title="criteria")
right.errorbar(validated.k, validated.mean, validated.stderr, errorevery=3, lw=1)
best, sparse = validated.best_index(), validated.best_index(one_stderr=True)
right.plot(validated.k[best], validated.mean[best], "o", label=f"lowest, k = {validated.k[best]}")
label = f"one standard error, k = {validated.k[sparse]}"
right.plot(validated.k[sparse], validated.mean[sparse], "s", label=label)
right.set(xlabel="features, k", ylabel="share of the variance left", title="5-fold cross-validation")
for ax in (left, right):
    ax.axvline(15, color="grey", ls="--", lw=0.8)
    ax.legend(frameon=False)

# %%
# **Take home.** BIC, EBIC and cross-validation find the true size here. AIC selects too many features.
# The one-standard-error rule chooses a slightly smaller model.
