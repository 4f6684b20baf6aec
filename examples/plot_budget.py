"""
What a budget costs
===================

Sparse rows over 5,000 features. Learners with an exact budget after every row, beside plain SGD that keeps
everything.
"""

import matplotlib.pyplot as plt

from streamsieve import BARDAClassifier, OFSClassifier, SFSAClassifier, SGDClassifier, simulate

stream = simulate.sparse(10_000, p=5000, k=50, nnz=100, block_size=1000)
X_test, y_test = stream.take(2000, start=stream.n)
budgets = (10, 25, 50, 100, 200)


def accuracy(model):
    for X, y in stream:
        model.partial_fit(X, y, classes=[-1, 1])
    return model.score(X_test, y_test)


figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for kind in (BARDAClassifier, OFSClassifier, SFSAClassifier):
    ax.plot(budgets, [accuracy(kind(k)) for k in budgets], "o-", label=kind.__name__)
ax.axhline(accuracy(SGDClassifier()), color="grey", ls="--", lw=0.8, label="SGDClassifier, all features")
ax.axvline(50, color="grey", lw=0.5)
ax.set(xscale="log", xlabel="features", ylabel="accuracy")
ax.set_xticks(budgets, [str(k) for k in budgets])
ax.minorticks_off()
ax.legend(frameon=False)
