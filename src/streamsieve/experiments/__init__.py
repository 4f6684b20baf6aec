"""The papers' experiments, by one command each: `streamsieve experiment NAME`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

EXPERIMENTS = {
    "detection": "[Sun] Tables 5.1 and A.1, [Slides]: true features found by the running averages",
    "drift": "[Sun] Table 5.5: test RMSE with drifting coefficients, with and without adaptation",
    "sfsa": "[Sun] Tables 4.1, 4.2 and 4.4: true features found by SFSA, p = 10,000",
    "susan": "[Susan] Table 2: detection rate and RMSE of SIHT, OLST and OLST-then-TSGD, p = 1,000",
    "greedy": "[Sun] Tables 4.2, 4.4, 5.3: true features found by OFS (FOFS) and SOFS",
    "zhai": "[Zhai] Figures 1 and 2: accuracy against the budget, budgeted learners on real data",
    "regularised": "[Sun] Tables 4.1, 4.2 and 4.4: true features found by FOBOS (OPG) and RDA",
}


@dataclass(frozen=True)
class Result:
    """A table: its title, column names, rows of cells, and what holds for all of it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all


def run(name: str, *, runs: int, quick: bool, progress: Progress) -> Result:
    """Run one experiment; its module is loaded only now."""
    result: Result = import_module(f".{name}", __name__).run(runs, quick, progress)
    return result
