"""`python -m tests.hostile`: see the package."""

import argparse
import sys

from . import memory
from .runner import LIMIT, run_all

#: Kinds of cases, modules of this package: how many a short run takes, and the seconds that one may take.
KINDS = {
    "cases": (700, LIMIT),
    "files": (600, LIMIT),
    "inputs": (150, LIMIT),
    "kills": (3, 300),
    "disk": (4, 300),
    "interpreter": (2, 100),
    "requests": (10, 60),
    "limits": (2, 200),
    "resumes": (10, 60),
    "written": (60, LIMIT),
    "sense": (20, LIMIT),
}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    for kind, (n, _) in KINDS.items():
        parser.add_argument(f"--{kind}", type=int, default=n, help=f"how many [default: {n}]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", metavar="KIND[:NUMBER]", help="run one kind, or one case again")
    parser.add_argument("--in-process", action="store_true", help="no child processes; a crash ends the run")
    options = parser.parse_args(arguments)
    counts, first = {kind: getattr(options, kind) for kind in KINDS}, options.first
    if options.only:
        kind, _, number = options.only.partition(":")
        if kind not in KINDS:
            parser.error(f"--only {kind}: expected one of {', '.join(KINDS)}")
        counts, first = ({kind: 1}, int(number)) if number else ({kind: counts[kind]}, first)
    failed = 0
    for kind, n in counts.items():
        if n:
            numbers, limit = range(first, first + n), KINDS[kind][1]
            failed += len(run_all(kind, numbers, options.seed, limit=limit, in_process=options.in_process))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(memory.main(sys.argv[2:]) if sys.argv[1:2] == ["memory"] else main())
