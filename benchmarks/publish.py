"""Run benchmarks and write what they print to docs/benchmarks, to the page docs/benchmarks.md, to the README.

python benchmarks/publish.py [NAME...]        # averages extract learners ...; default: all
python benchmarks/publish.py --page           # the page from what is stored
"""

import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parent / "docs" / "benchmarks"

#: Arguments that let a benchmark end within minutes.
ARGUMENTS = {
    "averages": [],
    "bestsubset": ["--sizes", "5", "20", "100"],
    "budgeted": ["--rows", "20000"],
    "extract": [],
    "history": ["--rows", "60000", "--repeats", "5"],
    "learners": ["--rows", "30000", "--repeats", "3"],
    "olst": [],
    "penalized": ["--repeats", "3"],
    "quality": [
        "--sets",
        "dexter;basehock;arcene;colon;allaml;tox171;warppie;lymphoma;madelon",
        "--k",
        "10,50,100,500",
        "--splits",
        "1",
        "--methods",
        "Sieve;F + logistic;chi2 + logistic;l1 path + refit;RFE(LinearSVC);abess;VW --l1;river",
    ],
    "regularised": ["--rows", "10000", "--repeats", "3"],
    "select": [],
    "sieve": ["speed"],
    "stabilized": ["--rows", "20000", "--repeats", "3"],
    "streams": ["--rows", "30000", "--csv-mb", "200"],
}


def publish(name: str) -> None:
    words = ["python", f"benchmarks/bench_{name}.py", *ARGUMENTS[name]]
    done = subprocess.run(
        [sys.executable, *words[1:]], cwd=HERE.parent, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)} failed:\n{done.stdout}{done.stderr}")
    OUT.mkdir(parents=True, exist_ok=True)
    lines = [f"$ {shlex.join(words)}", *(line.rstrip() for line in done.stdout.strip().splitlines())]
    (OUT / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {OUT / name}.txt")


INTRODUCTION = """# Benchmarks

Written by `python benchmarks/publish.py`, which runs the scripts of `benchmarks/` in a checkout and stores
what they print. Each script checks first that the answers agree, then prints ratios to a named baseline,
measured in the same run; absolute times are of a busy machine with two cores and mean little.
"""


def write_page() -> None:
    """The page: the purpose of each script, its command, its output."""
    parts = [INTRODUCTION]
    for name in ARGUMENTS:
        stored = OUT / f"{name}.txt"
        if stored.exists():
            purpose = (ast.get_docstring(ast.parse((HERE / f"bench_{name}.py").read_text())) or "").split(
                "\n\n"
            )[0]
            text = stored.read_text(encoding="utf-8")
            parts += [f"## {name.capitalize()}\n", " ".join(purpose.split()) + "\n", f"```text\n{text}```\n"]
    (OUT.parent / "benchmarks.md").write_text("\n".join(parts), encoding="utf-8")


def write_readme() -> None:
    """The table of the README, out of the output of bench_quality.py: the means of the methods."""
    stored, readme = OUT / "quality.txt", HERE.parent / "README.md"
    if not stored.exists():
        return
    text = stored.read_text(encoding="utf-8")
    lines = text[text.index("| method ") :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    places = [rows[0].index(name) for name in ("method", "mean", "cells", "median s", "peak MB")]
    rows[0][places[1]], rows[0][places[2]] = "mean accuracy, %", "cells"
    table = ["| " + " | ".join(row[at] for at in places) + " |" for row in rows]
    table[1] = "|---|--:|--:|--:|--:|"
    head, tail = "<!-- quality: begin -->\n", "<!-- quality: end -->"
    before, _, rest = readme.read_text(encoding="utf-8").partition(head)
    readme.write_text("".join([before, head, "\n".join(table), "\n", tail, rest.partition(tail)[2]]))


def main() -> None:
    names = [] if sys.argv[1:] == ["--page"] else sys.argv[1:] or list(ARGUMENTS)
    unknown = [name for name in names if name not in ARGUMENTS]
    if unknown:
        raise SystemExit(f"no benchmark {unknown[0]}; there are {', '.join(ARGUMENTS)}.")
    for name in names:
        publish(name)
    write_page()
    write_readme()


if __name__ == "__main__":
    main()
