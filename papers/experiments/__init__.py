"""The experiments, a module each.

An experiment is a module of this package with three functions:

- ``jobs(runs, quick)``: the independent jobs, each a dict of keyword arguments that JSON can hold;
- ``measure(**job)``: the outcome of a job, nested figures by name, JSON too;
- ``report(outcomes)``: the tables and figures with the published numbers. A setting that was not run
  (`outcomes.where(...)` is empty) has no row.

If it also has ``methods(**job)``, the names of the methods that a job compares, each method has an outcome of
its own: ``measure(methods, **job)`` measures those given, and returns their outcomes by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


PAPERS = "The papers' experiments"
DIFFERENCES = "Why figures differ"
OWN = "Beyond the papers"


@dataclass(frozen=True)
class Experiment:
    """What an experiment shows, its runs by default, and its minutes on two cores.

    `quick_minutes` are for one run of the quick scale, `paper_minutes` for `runs` runs of the paper's scale:
    measured, or estimated from fewer runs (`forgetting`, `zhai`) or from the seconds in its table (`wide`);
    None if unknown. `kind` is the heading under which it is listed.
    """

    shows: str
    runs: int
    quick_minutes: float
    paper_minutes: float | None
    kind: str = PAPERS


EXPERIMENTS = {
    "detection": Experiment(
        "[Sun] Tables 5.1, 5.2, A.1, [Slides]: features found by the averages, p = 1,000", 5, 0.3, 6
    ),
    "wide": Experiment("[Sun] Table A.1, [Slides], its second half: p = 10,000, k = 1,000", 2, 16, 80),
    "classification": Experiment(
        "[Sun] Tables 5.3, 5.4, [Slides]: features found from labels, p = 1,000", 5, 0.1, 5
    ),
    "sfsa": Experiment("[Sun] Tables 4.1 to 4.4: found by SFSA and competitors, p = 10,000", 3, 0.6, None),
    "recovery": Experiment("[Sun] Figures 5.1 to 5.3: what OLSth finds, predicted and measured", 10, 0.1, 6),
    "regret": Experiment("[Sun] Figure 5.4, [Susan] Figure 1: regret against n", 2, 0.7, None),
    "drift": Experiment(
        "[Sun] Table 5.5, Figures 5.5, 5.6: drifting coefficients, with and without adaptation", 5, 0.5, None
    ),
    "susan": Experiment("[Susan] Table 2: SIHT, OLST and OLST-then-TSGD, p = 1,000", 5, 0.2, None),
    "real": Experiment(
        "[Sun] Table 5.6: dexter, and six other sets where their files are found", 20, 0.3, None
    ),
    "zhai": Experiment("[Zhai] Figures 1 to 3: accuracy against the budget on real data", 10, 0.2, 46),
    "ma": Experiment(
        "[Ma] Tables 2 to 4, Figures 1 to 3: error, sparsity and stability on real data", 10, 0.2, None
    ),
    "bounds": Experiment(
        "[Sun] Corollaries 1, 3, [Zhai] Theorems 1, 2: bounds compared with measurements", 5, 0.1, None
    ),
    "theory": Experiment(
        "[Sun] Theorems 1, 3, 5, Proposition 5, Table 3.1, [Ma] Lemmas 1, 2, Theorem 1: theory, measured",
        5,
        0.1,
        None,
    ),
    "readings": Experiment(
        "[Sun] Table 4.4: possible origins of the competitors' numbers", 5, 0.2, 2.5, DIFFERENCES
    ),
    "explained": Experiment(
        "Why figures are worse than published: an experiment for each cause", 5, 1.9, None, DIFFERENCES
    ),
    "attainable": Experiment(
        "Best possible results on these rows, where a published figure is better", 5, 0.1, None, DIFFERENCES
    ),
    "exceptions": Experiment(
        "Lost contests: more runs, and the best parameters in a paper's ranges", 5, 0.1, None, DIFFERENCES
    ),
    "protocol": Experiment(
        "[Ma] Tables 2 and 3: which features and rows the paper used", 5, 0.1, None, DIFFERENCES
    ),
    "forgetting": Experiment(
        "Adaptive forgetting compared with fixed half-lives, four kinds of drift", 3, 0.3, 1.2, OWN
    ),
    "constraints": Experiment("Distance of solutions from their optimality conditions", 20, 0.1, 0.5, OWN),
    "inference": Experiment(
        "Coverage, false discoveries, any-time tests and stability in simulations",
        2,
        0.5,
        None,
        OWN,
    ),
}


def load_experiment(name: str) -> ModuleType:
    """The module of an experiment, imported on first use."""
    return import_module(f".{name}", __name__)
