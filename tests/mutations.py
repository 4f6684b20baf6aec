"""Deliberate breaks of the sieve's reading stage, one for each rule and constant: each must fail its tests.

    python tests/mutations.py [NAME...]

Each break replaces one text of a source by another in a copy of the package, and runs the tests that are said
to catch it. Prints what survived; the exit status is 1 if anything did, or if a text is no longer there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "src" / "streamsieve"
RULES = "methods/sieve"


class Break(NamedTuple):
    file: str
    old: str
    new: str
    caught_by: str  # names of tests, as pytest -k takes them


TWIN = "slow_twin"
BREAKS = {
    "no strong ridges": Break("read.py", "RIDGES = (1.0, 0.1, ", "RIDGES = (", TWIN),
    "no weak ridges": Break("read.py", ", 1e-3, 1e-4, 1e-6)", ")", "both_strong_and_weak"),
    "no refits": Break("read.py", "FACTORS = 0.0, (0.0, 1.0, 10.0, 0.1)", "FACTORS = 0.0, (0.0,)", TWIN),
    "refits by one ridge": Break("read.py", "fold, factor=factor)", "fold)", TWIN),
    "no model of its own": Break("read.py", "(0.0, 1.0, 10.0, 0.1)", "(1.0, 10.0, 0.1)", TWIN),
    "refits of labels": Break("read.py", "(0.0, 1.0, 0.1, 0.01)", "(0.0, 1.0, 10.0, 0.1)", "hardly_overlap"),
    "typical column": Break("read.py", "/ max(float(square.sum()), np.finfo(float).tiny)",
                            "/ float(square @ square) * square.mean()", "of_a_refit_are_finite"),
    "weights of zero": Break("read.py", "LEAST_SQUARE = 1e-6", "LEAST_SQUARE = 1e-12",
                             "of_a_refit_are_finite"),
    "groups apart": Break("read.py", "/ np.bincount(unit))[unit]", "* 0)[unit] + square",
                          "of_a_refit_are_finite"),
    "rows left out are learned": Break("read.py", "Start(zero, trial.ridge, f, sizes)",
                                       "Start(trial.paths[0][0], trial.ridge, f, sizes)",
                                       "targets_of_rows_left_out"),
    "patience": Break("read.py", "PATIENCE = 2", "PATIENCE = 1", "two_that_are_worse"),
    "finalists": Break("read.py", "FINALISTS = 3", "FINALISTS = 1", "three_best_ridges"),
    "sizes": Break("read.py", "ALL_SIZES = 12", "ALL_SIZES = 4", "sizes_are_all_up_to_twelve"),
    "one partition": Break("read.py", "PARTITIONS, FEW_ROWS = 3", "PARTITIONS, FEW_ROWS = 1", "have_three"),
    "partitions of many rows": Break("read.py", "FEW_ROWS = 3, 400", "FEW_ROWS = 3, 4000", "have_three"),
    "partitions of the fewest": Break("read.py", "FEW_ROWS = 3, 400", "FEW_ROWS = 3, 30", "have_three"),
    "partitions in parallel": Break("read.py", "(number // FOLDS)) %", "0) %", "share_a_fold"),
    "any vote": Break("read.py", "for run in runs]) <= 0.5", "for run in runs]) < 0.1", "most_partitions"),
    "all votes": Break("read.py", "for run in runs]) <= 0.5", "for run in runs]) <= 0.9", "most_partitions"),
    "octaves": Break("read.py", "np.arange(0, 40, 0.5)", "np.arange(0, 40)", "sizes_are_all_up_to_twelve"),
    "sizes beyond rows": Break("read.py", "min(most, SIZES_PER_ROW * rows)", "most",
                               "sizes_are_all_up_to_twelve"),
    "sizes of the rows": Break("read.py", "SIZES_PER_ROW = 2", "SIZES_PER_ROW = 1",
                               "sizes_are_all_up_to_twelve"),
    "weak ridges of labels": Break("read.py", "LEAST_TOTAL = 4.0", "LEAST_TOTAL = 0.0", "few_labels_bear"),
    "one scaling of words": Break("read.py", "SPARSE = 0.1", "SPARSE = 0.0", "words_compete"),
    "two scalings of all": Break("read.py", "SPARSE = 0.1", "SPARSE = 2.0", "words_compete"),
    "many rows": Break("../../statistics/folds.py", "MANY = 10_000", "MANY = 100", "many_rows_one_fold"),
    "late refits of few rows": Break("read.py", "MANY_FITS = 1000", "MANY_FITS = 0", "chosen_one_alone"),
    "ridges after retiring": Break("read.py", 's.H is not None and sieve.loss != "squared":\n        return',
                                   "False:\n        return", "that_of_then"),
    "ridges of both scalings": Break("read.py", "for trial in best_trials(tried, 1)] or ridges",
                                     "for trial in tried] or ridges", "in_the_other_scaling"),
    "fallback": Break("read.py", "DEFAULT_SIZE = 10", "DEFAULT_SIZE = 3", "no_row_can_be_left_out"),
    "criteria shrink": Break("read.py", "CRITERION_RIDGE = 1e-6", "CRITERION_RIDGE = 1.0",
                             "information_criteria"),
    "criteria of many": Break("read.py", "if size < n / 3]", "]", "fit_any_targets"),
    "copies of rows": Break("read.py", "COPIES = 8", "COPIES = 1", "copies_of_a_row"),
    "copies without end": Break("read.py", "COPIES = 8", "COPIES = 1e9", "copies_of_a_row"),
    "classes unbalanced": Break("read.py", "if sieve.labels else None)", "if False else None)", "rare_class"),
    "noise selected": Break("read.py", "STUDENT_T = 1.53", "STUDENT_T = -9.0", "wild_part"),
    "nothing selected": Break("read.py", "STUDENT_T = 1.53", "STUDENT_T = 9.0", "wild_part"),
    "wild parts decide": Break("read.py", "(clearly or (gain > 0)", "(clearly or (gain > 9)", "wild_part"),
    "a little better": Break("read.py", "LEAST_GAIN = 3.0", "LEAST_GAIN = 0.0", "noise_has_too"),
    "ties": Break("read.py", "TIE = 1e-5", "TIE = 0.0", "equal_losses"),
    "overflow": Break("read.py", "np.fmin(losses, LARGEST_LOSS)", "losses", "overflows"),
    "largest loss": Break("read.py", "curve.sum(axis=(1, 2)).argmin()", "curve.sum(axis=(1, 2)).argmax()",
                          TWIN),
    "standard error": Break("read.py", "s = near if criterion", "s = best if criterion", "standard_error"),
    "refits at every size": Break("read.py", "late = auto", "late = False", "chosen_one_alone"),
    "order by weights": Break("sums.py", "(1.0 if M is None else M.diagonal())", "1.0", TWIN),
    "exact elimination": Break("sums.py", "EXACT = 256", "EXACT = 2", TWIN),
    "wide rows at once": Break("dual.py", "KEEP = 1024", "KEEP = 256", "leave_a_thousand"),
    "copies of columns": Break("sums.py", "COPY = 1e-9", "COPY = -1.0", "copies_and_complements or " + TWIN),
    "copies by probes": Break("solve.py", "/ self.deviation[columns], 4)", "/ self.deviation[columns], 16)",
                              "copies_and_complements"),
    "near copies": Break("solve.py", "/ self.deviation[columns], 4)", "/ self.deviation[columns], 0)",
                         "near_copies"),
    "no clipping": Break("sieve.py", "WIDER = 0.5", "WIDER = 1e9", "clipped"),
    "clipping at the range": Break("sieve.py", "WIDER = 0.5", "WIDER = 0.0", "clipped"),
}  # fmt: skip


def run(name: str) -> str:
    """Empty where the tests failed as they should, or else why not."""
    at = BREAKS[name]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "streamsieve"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        import streamsieve._core

        kernel = Path(streamsieve._core.__file__)
        if not (copy / kernel.name).exists():
            (copy / kernel.name).symlink_to(kernel)
        path = copy / RULES / at.file
        text = path.read_text()
        if text.count(at.old) != 1:
            return f"{at.old!r} is {text.count(at.old)} times in {at.file}, not once"
        path.write_text(text.replace(at.old, at.new))
        code = (
            "import sys; sys.meta_path = [f for f in sys.meta_path if 'ditable' not in type(f).__name__]; "
            f"sys.path.insert(0, {folder!r}); import streamsieve, pytest; "
            f"assert streamsieve.__file__.startswith({folder!r}); sys.exit(pytest.main(sys.argv[1:]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, "-q", "-x", "-p", "no:cacheprovider", "-k", at.caught_by,
             TESTS / "test_sieve_read.py"],
            cwd=TESTS.parent, capture_output=True, text=True, check=False,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    if done.returncode == 1:
        return ""
    return "survived" if done.returncode == 0 else f"no test ran: {done.stdout[-200:]}{done.stderr[-200:]}"


def main() -> None:
    names = sys.argv[1:] or list(BREAKS)
    survived = 0
    for name in names:
        why = run(name)
        survived += bool(why)
        print(f"{name:22} {why or 'caught by ' + BREAKS[name].caught_by}", flush=True)
    print(f"{len(names) - survived} of {len(names)} breaks caught")
    sys.exit(bool(survived))


if __name__ == "__main__":
    main()
