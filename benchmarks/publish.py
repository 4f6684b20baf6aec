"""Run benchmarks and write what they print to docs/benchmarks, to the page docs/benchmarks.md, and to all
pages that show figures of them.

python benchmarks/publish.py [NAME...]        # averages extract learners ...; default: all
python benchmarks/publish.py --page           # the page from what is stored
"""

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parent / "docs" / "benchmarks"

#: Arguments that let a benchmark end within minutes, in the order of the page; NAME-PART: of bench_NAME.py.
ARGUMENTS = {
    "quality": [
        "--sets",
        "dexter;basehock;arcene;colon;allaml;tox171;warppie;lymphoma;madelon;breast cancer*;wine*;digits",
        "--k",
        "10,50,100,500",
        "--methods",
        "Sieve;F + logistic;chi2 + logistic;l1 path + refit;RFE(LinearSVC);abess;VW --l1;river",
    ],
    "quality-splits": [  # the small sets, on which five splits decide little
        "--sets",
        "arcene;colon;lymphoma",
        "--splits",
        "20",
        "--methods",
        "Sieve;F + logistic;chi2 + logistic;l1 path + refit;RFE(LinearSVC);abess",
    ],
    "quality-grid": ["--parts", "grid", "--one-at-a-time", "--report"],  # what has been run: it takes hours
    "select": [],
    "sieve": ["speed"],
    "averages": [],
    "bestsubset": ["--sizes", "5", "20", "100"],
    "budgeted": ["--rows", "20000"],
    "distributed-memory": ["--only", "memory"],
    "distributed-model": ["--mb", "60", "--only", "model"],
    "distributed-shards": ["--mb", "2000", "--repeats", "3", "--only", "shards"],
    "distributed-speed": ["--mb", "600", "--repeats", "3", "--only", "speed,shards"],
    "extract": [],
    "extract-wide": ["--table", "10000", "--repeats", "1", "--processor-time"],
    "extract-tenth": [  # the papers' k, a weak signal: where paths are hard
        *("--table", "3000", "--share", "10", "--signal", "0.1", "--repeats", "1", "--processor-time")
    ],
    "history": ["--rows", "60000", "--repeats", "5"],
    "learners": ["--rows", "50000", "--repeats", "3"],
    "olst": [],
    "penalized": ["--repeats", "3", "--processor-time"],
    "regularised": ["--rows", "10000", "--repeats", "3"],
    "stabilized": ["--rows", "20000", "--repeats", "3"],
    "streams": ["--rows", "30000", "--csv-mb", "200"],
}


def script(name: str) -> Path:
    return HERE / f"bench_{name.partition('-')[0]}.py"


def command(name: str) -> str:
    return shlex.join(["python", script(name).relative_to(HERE.parent).as_posix(), *ARGUMENTS[name]])


def publish(name: str) -> None:
    done = subprocess.run(
        [sys.executable, script(name), *ARGUMENTS[name]], cwd=HERE.parent, capture_output=True, text=True,
        check=False, env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{command(name)} failed:\n{done.stdout}{done.stderr}")
    OUT.mkdir(parents=True, exist_ok=True)
    lines = [f"$ {command(name)}", *(line.rstrip() for line in done.stdout.strip().splitlines())]
    (OUT / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {OUT / name}.txt")


INTRODUCTION = """# Benchmarks

Written by `python benchmarks/publish.py`, which runs the scripts of `benchmarks/` in a checkout and stores
what they print. Each script checks first that the answers agree, then prints ratios to a named baseline,
measured in the same run; absolute times are of a busy machine with two cores and mean little.
"""


def page() -> str:
    """The page: the purpose of each script, its command, its output."""
    parts = [INTRODUCTION]
    for name in ARGUMENTS:
        stored = OUT / f"{name}.txt"
        if stored.exists():
            purpose = (ast.get_docstring(ast.parse(script(name).read_text())) or "").split("\n\n")[0]
            title = name.capitalize().replace("-", ", ")
            parts += [f"## {title}\n", " ".join(purpose.split()) + "\n", output(stored.read_text("utf-8"))]
    return "\n".join(parts)


def output(text: str) -> str:
    """What a script printed, as the page shows it: Markdown from its first heading on, or else as it is."""
    first, _, rest = text.partition("\n")
    _, _, markdown = rest.partition("\n## ") if "\n|--" in rest else ("", "", "")
    if not markdown:
        return f"```text\n{text}```\n"
    headings = re.sub(r"^(#+ )", r"#\1", f"## {markdown}", flags=re.M)
    return f"```text\n{first}\n```\n\n{headings.strip()}\n"


def main() -> None:
    names = [] if sys.argv[1:] == ["--page"] else sys.argv[1:] or list(ARGUMENTS)
    unknown = [name for name in names if name not in ARGUMENTS]
    if unknown:
        raise SystemExit(f"no benchmark {unknown[0]}; there are {', '.join(ARGUMENTS)}.")
    for name in names:
        publish(name)
    (OUT.parent / "benchmarks.md").write_text(page(), encoding="utf-8")
    subprocess.run([sys.executable, OUT.parent / "fill_pages.py"], check=True)


if __name__ == "__main__":
    main()
