"""The one list of methods. Exports, estimators, command line, laws, persistence and docs read it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

BOTH = ("regression", "classification")
SUFFIX = {"regression": "Regressor", "classification": "Classifier"}


class Entry(NamedTuple):
    """Where a method is defined, its family, and the tasks it takes."""

    name: str
    module: str
    family: str
    tasks: tuple[str, ...] = BOTH

    def load(self) -> Any:
        return getattr(import_module(f".{self.module}", __package__), self.name)

    @property
    def estimators(self) -> dict[str, str]:
        """Names of the estimators, by task."""
        return {task: self.name + SUFFIX[task] for task in self.tasks}


METHODS = {
    entry.name: entry
    for entry in (
        Entry("Sieve", "sieve.sieve", "flagship"),
        Entry("OLS", "averages.ols", "averages"),
        Entry("OLSth", "averages.olsth", "averages"),
        Entry("OFSA", "averages.ofsa", "averages"),
        Entry("OLasso", "averages.olasso", "averages"),
        Entry("OElasticNet", "averages.oelasticnet", "averages"),
        Entry("OAdaptiveLasso", "averages.oadaptivelasso", "averages"),
        Entry("OMCP", "averages.omcp", "averages"),
        Entry("OSCAD", "averages.oscad", "averages"),
        Entry("OBestSubset", "averages.obestsubset", "averages"),
        Entry("SGD", "learners.sgd", "stochastic"),
        Entry("SFSA", "learners.sfsa", "stochastic"),
        Entry("TSGD", "learners.tsgd", "stochastic"),
        Entry("SIHT", "learners.siht", "stochastic"),
        Entry("OLST", "learners.olst", "stochastic"),
        Entry("OLSTThenTSGD", "learners.olst_then_tsgd", "stochastic"),
        Entry("FTRLProximal", "learners.ftrl_proximal", "stochastic"),
        Entry("BARDA", "learners.barda", "budgeted"),
        Entry("BAMD", "learners.bamd", "budgeted"),
        Entry("OFS", "learners.ofs", "budgeted", ("classification",)),
        Entry("SOFS", "learners.sofs", "budgeted", ("classification",)),
        Entry("PassiveAggressive", "learners.passive_aggressive", "budgeted"),
        Entry("TruncatedGradient", "learners.truncated_gradient", "regularised"),
        Entry("FOBOS", "learners.fobos", "regularised"),
        Entry("RDA", "learners.rda", "regularised"),
        Entry("L1ARDA", "learners.l1arda", "regularised"),
        Entry("AdaFOBOS", "learners.adafobos", "regularised"),
        Entry("SADMM", "learners.sadmm", "regularised"),
        Entry("StabilizedSGD", "learners.stabilized", "stabilized"),
    )
}

#: What `Sieve` is with `effects` other than 'linear'.
EFFECTS = Entry("Effects", "effects.effects", "flagship")

#: Every estimator: (method, task).
ESTIMATORS = {name: (entry, task) for entry in METHODS.values() for task, name in entry.estimators.items()}


def method_class(name: str) -> Any:
    """The class of a method by its name in any case; KeyError if there is none."""
    found = {known.lower(): entry for known, entry in METHODS.items()}[name.lower()]
    return found.load()
