"""
What a budget costs
===================

The rows are sparse and have 5,000 features, of which 50 matter (the vertical line). They are read once.
Learners with a budget of features are compared with SGD, which keeps all features.
"""

import matplotlib.pyplot as plt

from streamsieve import BARDAClassifier, SFSAClassifier, SGDClassifier, TSGDClassifier, simulate

stream = simulate.sparse(10_000, p=5000, k=50, nnz=100, block_size=1000)
X_test, y_test = stream.take(2000, start=stream.n)
budgets = (10, 25, 50, 100, 200)


def accuracy(model):
    for X, y in stream:
        model.partial_fit(X, y, classes=[-1, 1])
    return model.score(X_test, y_test)


figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
kinds = {
    "SFSA": SFSAClassifier,
    "TSGD": TSGDClassifier,
    "BARDA": lambda k: BARDAClassifier(k, standardize=False),  # the features have one scale already
}
for name, kind in kinds.items():
    ax.plot(budgets, [accuracy(kind(k)) for k in budgets], "o-", label=name)
ax.axhline(accuracy(SGDClassifier()), color="grey", ls="--", lw=0.8, label="SGD, all features")
ax.axvline(50, color="grey", lw=0.5)
ax.set(xscale="log", xlabel="features", ylabel="accuracy")
ax.set_xticks(budgets, [str(k) for k in budgets])
ax.minorticks_off()
ax.legend(frameon=False)

# %%
# **Take home.** A budget need not cost accuracy. With the right number of features, all three learners
# predict better than the model of all features, because features without effect have no weight. A budget
# that is too small costs more than one that is too large.
