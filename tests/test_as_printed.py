"""Names are promises: rows as given, no intercept, no refit and a given step are the paper's algorithm.

No fixture helps here: only parameters that a user has. Columns far from zero, units that differ and labels of
which few are positive would show any help that is left.
"""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import streamsieve
from reference import budgeted, ftrl, olst, regularised, sfsa, sgd, stabilized
from reference.passive_aggressive import passive_aggressive
from streamsieve.methods import METHODS

#: What turns the help off that a learner has by default; the rest is its own.
PAPER = {"standardize": False, "fit_intercept": False, "refit": False, "eta": 0.02}
K, N, P = 4, 300, 30


def rows(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)) * (rng.random((N, P)) < 0.4) * np.exp(rng.normal(size=P) / 2)
    X[:, 5] += 3.0
    X[:, 6] = 2.0
    target = 1.0 + X[:, 7] - 2 * X[:, 21] + 0.3 * rng.normal(size=N)
    return X, target if task == "regression" else np.where(target > 2.0, 1.0, -1.0)


def descent(X, y, loss, truncate=None, start=None):
    w, _, _ = sgd.descend(X, y, loss, 0.02, "constant", 0.0, np.ones(N), False, False, truncate, start)
    return w


def tsgd(X, y, loss):
    return sgd.Truncate(K)(descent(X, y, loss), np.ones(P))


def olst_then_tsgd(X, y, loss):
    (first,), _ = olst.olst(X[:100], y[:100], K, 0.5, intercept=False, standardize=False)
    return descent(X, y, loss, sgd.Truncate(K), (100, first, 0.0))


def annealed(X, y, loss):
    sizes, steps = sfsa.schedule(P, K, 8, 1.0, 12), np.full(12, 0.02)
    w, _, _ = sfsa.sfsa(
        X, y[:, None], np.ones(N), k=K, sizes=sizes, steps=steps, batch=25, loss=loss, intercept=False
    )
    return w[:, 0]


def one_penalty(twin, schedule="constant"):
    return lambda X, y, loss: twin(X, y, loss, np.ones(N), 0.02, schedule, 0.01, intercept=False)[0]


def one_budget(twin, *args, **options):
    def learn(X, y, loss):
        more = {"loss": loss} if twin in (budgeted.barda, budgeted.bamd) else {}
        return twin(X, y[:, None], np.ones(N), K, *args, **options, **more)[0][:, 0]

    return learn


def aggressive(X, y, loss):
    epsilon = 0.1 if loss == "squared" else None
    return passive_aggressive(X, y[:, None], np.ones(N), K, 1.0, epsilon=epsilon)[0][:, 0]


def bursts(X, y, loss):
    order = stabilized.shuffled(0, 0, 0, N)
    return stabilized.bursts(X, y, order, sgd.LOSSES[loss][0], 5, 0.004, 0.02, universal=False)


#: Of each learner: the parameters of its paper, and the paper's algorithm.
PRINTED = {
    "SGD": ({}, descent),
    "SFSA": ({"maturity": 8, "annealing": 1.0, "warmup": 0.0, "ladder": False}, annealed),
    "TSGD": ({}, tsgd),
    "SIHT": ({}, lambda X, y, loss: descent(X, y, loss, sgd.Truncate(K))),
    "OLST": ({"ridge": 0.5}, lambda X, y, _: olst.olst(X, y, K, 0.5, None, False, False)[0][0]),
    "OLSTThenTSGD": ({"C": 100, "ridge": 0.5}, olst_then_tsgd),
    "FTRLProximal": (
        {"beta": 1.0, "alpha": 0.3},
        lambda X, y, loss: ftrl.ftrl(X, y, loss, np.ones(N), 0.02, 1.0, 0.3, 0.0, False, False)[0],
    ),
    "BARDA": ({"alpha": 0.01}, one_budget(budgeted.barda, 0.02, 0.01)),
    "BAMD": ({"alpha": 0.01}, one_budget(budgeted.bamd, 0.02, 0.01)),
    "OFS": ({"alpha": 0.01}, one_budget(budgeted.ofs, 0.02, 0.01)),
    "SOFS": ({"gamma": 1.0}, one_budget(budgeted.sofs, 1.0)),
    "PassiveAggressive": ({}, aggressive),
    "TruncatedGradient": ({"alpha": 0.01}, one_penalty(regularised.truncated_gradient)),
    "FOBOS": ({"alpha": 0.01}, one_penalty(regularised.fobos, "sqrt")),
    "RDA": ({"alpha": 0.01}, one_penalty(regularised.rda, "sqrt")),
    "L1ARDA": ({"alpha": 0.01}, one_penalty(functools.partial(regularised.adaptive, dual=True))),
    "AdaFOBOS": ({"alpha": 0.01}, one_penalty(functools.partial(regularised.adaptive, dual=False))),
    "SADMM": ({"alpha": 0.01, "rho": 1.0, "form": "opg"}, one_penalty(regularised.sadmm)),
    "StabilizedSGD": (
        {"gravity": 0.004, "burst_size": 5, "n_paths": 1, "threshold": 0.0, "burst_growth": 1e9},
        bursts,
    ),
}


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", [name for name, e in METHODS.items() if e.module.startswith("learners.")])
def test_with_all_help_off_a_learner_is_its_paper(name, layout):
    options, paper = PRINTED[name]
    for task, estimator in METHODS[name].estimators.items():
        kind = getattr(streamsieve, estimator)
        known = kind().get_params()
        off = {param: value for param, value in PAPER.items() if param in known} | options
        if known.get("k") is not None:
            off["k"] = K
        X, y = rows(task)
        model = kind(**off).partial_fit(
            layout(X), y, **({} if task == "regression" else {"classes": [-1, 1]})
        )
        w = paper(X, y, getattr(model.method_, "loss", "squared"))
        assert np.count_nonzero(w) > 1
        assert_allclose(np.ravel(model.coef_), w, rtol=1e-8, atol=1e-11)
        assert not np.any(model.intercept_)
        # one pass of `fit` in the order of the rows is the same
        once = {"max_iter": 1, "shuffle": False, "init": "zero"}
        once = {param: value for param, value in once.items() if param in known}
        fitted = kind(**off, **once).fit(layout(X), y)
        assert_allclose(fitted.coef_, model.coef_, rtol=1e-12, atol=1e-14)
