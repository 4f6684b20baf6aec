"""The papers' experiments, by one command each: `streamsieve experiment NAME`.

An experiment is a module of this package with three functions:

- ``jobs(runs, quick)``: the independent pieces of work, each a dict of keyword arguments that JSON can hold;
- ``measure(**job)``: the outcome of one of them, JSON too: figures by name, nested as it likes;
- ``report(outcomes)``: the tables and figures that they make, beside the published numbers. Where a setting
  was not run (`outcomes.where(...)` is empty) its row is left out.

`run` works through the jobs on all processors, writes each outcome down as it comes, so that an interrupted
run goes on where it stopped, and hands them all to ``report``, after which `_causes` has its say.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


@dataclass(frozen=True)
class Entry:
    """What an experiment reproduces, and its minutes on two cores as measured (quick, 1 run; paper, 5).

    Those of `wide` at paper scale are what its parts, measured on shorter streams, add up to. None is not
    measured.
    """

    what: str
    quick: float
    paper: float | None


EXPERIMENTS = {
    "detection": Entry(
        "[Sun] Tables 5.1, 5.2, A.1, [Slides]: features found by the averages, p = 1,000", 0.3, 6
    ),
    "wide": Entry("[Sun] Table A.1, [Slides], its second half: p = 10,000, k = 1,000", 16, 140),
    "classification": Entry("[Sun] Tables 5.3, 5.4, [Slides]: features found from labels, p = 1,000", 0.1, 5),
    "sfsa": Entry("[Sun] Tables 4.1 to 4.4: found by SFSA and competitors, p = 10,000", 0.6, 30),
    "readings": Entry("[Sun] Table 4.4: how the competitors' numbers may have come about", 0.2, 2.5),
    "recovery": Entry("[Sun] Figures 5.1 to 5.3: what OLSth finds, in theory and in fact", 0.1, 3),
    "regret": Entry("[Sun] Figure 5.4, [Susan] Figure 1: regret against n", 0.7, 8),
    "drift": Entry(
        "[Sun] Table 5.5, Figures 5.5, 5.6: drifting coefficients, with and without adaptation", 0.2, 6
    ),
    "susan": Entry("[Susan] Table 2: SIHT, OLST and OLST-then-TSGD, p = 1,000", 0.2, 5),
    "real": Entry("[Sun] Tables 4.5, 5.6, Figure 3.1, [Slides], [Susan] Table 1: real data at hand", 0.4, 3),
    "zhai": Entry("[Zhai] Figures 1 to 3: accuracy against the budget on real data", 0.1, 23),
    "ma": Entry("[Ma] Tables 2 to 4, Figures 1 to 3: error, sparsity and stability on real data", 0.5, None),
}


def module(name: str) -> ModuleType:
    """The experiment's module, loaded only now."""
    return import_module(f".{name}", __name__)
