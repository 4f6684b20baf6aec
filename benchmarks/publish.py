"""Run benchmarks and write what they print to docs/benchmarks, to the page docs/benchmarks.md with its chart,
and to all pages that show figures of them.

python benchmarks/publish.py all              # every benchmark, one after the other
python benchmarks/publish.py NAME...          # averages extract learners ...
python benchmarks/publish.py --page           # the page and its chart from what is stored
"""

import ast
import datetime
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parent / "docs" / "benchmarks"

QUALITY = "dexter;basehock;arcene;colon;allaml;tox171;warppie;lymphoma;madelon;breast cancer*;wine*;digits"

#: Arguments that let a benchmark end within minutes, in the order of the page; NAME-PART: of bench_NAME.py.
ARGUMENTS = {
    "quality": [
        "--sets",
        QUALITY,
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
    "fresh": ["--k", "10,50", "--splits", "3", "--report"],  # what has been run: it takes an hour
    "effects": ["--parts", "madelon,pvalues"],
    "effects-designs": ["--parts", "designs"],
    "effects-real": ["--parts", "real"],
    "effects-growth": ["--parts", "growth,wide"],
    "cost": ["text", "wide", "sparse", "--repeats", "3"],
    "drift": [],
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
    "growth": ["--quick", "--picture", "docs/pictures/growth.svg"],
    "history": ["--rows", "60000", "--repeats", "5"],
    "learners": ["--rows", "50000", "--repeats", "3"],
    "olst": [],
    "penalized": ["--repeats", "3", "--processor-time"],
    "regularised": ["--rows", "10000", "--repeats", "3"],
    "stabilized": ["--rows", "20000", "--repeats", "3"],
    "tables": [],  # needs the ten files of shared/tables
    "streams": ["--rows", "15000", "--csv-mb", "100", "--repeats", "3"],
}


def script(name: str) -> Path:
    return HERE / f"bench_{name.partition('-')[0]}.py"


def command(name: str) -> str:
    return shlex.join(["python", script(name).relative_to(HERE.parent).as_posix(), *ARGUMENTS[name]])


def git(*arguments: str) -> str:
    """What git prints; nothing where there is no git or no history."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=HERE.parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()


def publish(name: str) -> None:
    edited = "-dirty" if git("status", "--porcelain", "--", "src", "cpp", "benchmarks") else ""
    measured = f"# commit {git('rev-parse', '--short=7', 'HEAD')}{edited}, {datetime.date.today()}"
    done = subprocess.run(
        [sys.executable, script(name), *ARGUMENTS[name]], cwd=HERE.parent, capture_output=True, text=True,
        check=False, env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{command(name)} failed:\n{done.stdout}{done.stderr}")
    OUT.mkdir(parents=True, exist_ok=True)
    lines = [f"$ {command(name)}", measured, *(line.rstrip() for line in done.stdout.strip().splitlines())]
    (OUT / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {OUT / name}.txt")


def changes_since(name: str, commit: str) -> int | None:
    """How many commits have changed the library or the script since a benchmark was run; None if unknown."""
    sources = ["src", "cpp", script(name).relative_to(HERE.parent).as_posix()]
    count = git(
        "rev-list",
        "--count",
        f"{commit.removesuffix('-dirty')}..HEAD",
        "--",
        *(f":/{file}" for file in sources),
    )
    return int(count) if count.isdigit() else None


INTRODUCTION = """# Benchmarks

Written by `python benchmarks/publish.py`, which runs the scripts of `benchmarks/` in a checkout and stores
what they print. Each script checks first that the answers agree, then prints ratios to a named baseline,
measured in the same run; absolute times were measured on a busy machine; do not rely on them. Below each
title stands the commit that was measured; the site adds how many commits have changed the library since.

![Ratios to the goals](pictures/benchmarks.svg)

Each dot is a ratio to a named baseline, divided by the goal that the script prints beside it: right of the
line the goal is reached.
"""
RATIO = re.compile(r"^ *([\d.]+)x .*\(target ([\d.]+)x")
COMMIT = re.compile(r"^# commit (\S+), (\S+)\n", re.MULTILINE)


def chart(file: Path) -> None:
    """Draw how far the ratios of each benchmark are from their goals."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "benchmarks"  # the same bytes for the same figures
    from matplotlib import pyplot as plt

    ratios = {}
    for name in ARGUMENTS:
        stored = OUT / f"{name}.txt"
        lines = stored.read_text("utf-8").splitlines() if stored.exists() else []
        found = [float(m[1]) / float(m[2]) for line in lines if (m := RATIO.match(line)) and float(m[2])]
        if found:
            ratios[name] = found
    figure, axes = plt.subplots(figsize=(7, 0.6 + 0.4 * len(ratios)), layout="constrained")
    for at, found in enumerate(ratios.values()):
        axes.plot(found, [at] * len(found), "o", alpha=0.5, color="tab:blue")
    axes.axvline(1, color="0.4", linewidth=1)
    axes.set(xscale="log", xlabel="ratio / goal", yticks=range(len(ratios)), yticklabels=list(ratios))
    axes.invert_yaxis()
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def page() -> str:
    """The page: the purpose of each script, its command, its output."""
    parts = [INTRODUCTION]
    for name in ARGUMENTS:
        stored = OUT / f"{name}.txt"
        if stored.exists():
            purpose = (ast.get_docstring(ast.parse(script(name).read_text())) or "").split("\n\n")[0]
            title = name.capitalize().replace("-", ", ")
            text = stored.read_text("utf-8")
            commit, date = COMMIT.search(text).groups()
            parts += [f"## {title}\n", " ".join(purpose.split()) + "\n"]
            parts += [f"{measured(name, commit, date)}\n"]
            if (OUT.parent / "pictures" / f"{name}.svg").exists():
                parts += [f"![{title}](pictures/{name}.svg)\n"]
            parts += [output(COMMIT.sub("", text))]
    return "\n".join(parts)


def measured(name: str, commit: str, date: str) -> str:
    """The line of a benchmark's commit, by which `add_age` finds it."""
    return f"*{name}: commit {commit}, {date}.*"


def add_age(page: str) -> str:
    """Say below each title how many commits have changed what it measures: called when the site is built."""

    def aged(line: re.Match[str]) -> str:
        count = changes_since(line[1], line[2])
        if count is None:
            return f"{line[0]} **This commit is not in the history: the figures may be out of date.**"
        return line[0] + (f" **{count} commits have changed the library since.**" if count else "")

    return re.sub(r"^\*([\w-]+): commit (\S+), \S+\.\*$", aged, page, flags=re.MULTILINE)


def output(text: str) -> str:
    """What a script printed, as the page shows it: Markdown from its first heading on, or else as it is."""
    first, _, rest = text.partition("\n")
    _, _, markdown = rest.partition("\n## ") if "\n|--" in rest else ("", "", "")
    if not markdown:
        block = f"```text\n{text}```"
        return (fold(block, "What it prints") if text.count("\n") > 5 else block) + "\n"
    headings = re.sub(r"^(#+ )", r"#\1", f"## {markdown}", flags=re.M)
    sections = [shorten(section.strip()) for section in re.split(r"\n(?=#)", headings)]
    return f"```text\n{first}\n```\n\n" + "\n\n".join(sections) + "\n"


def shorten(section: str) -> str:
    """A section of Markdown: its first blocks as they are, those beyond 15 lines folded."""
    shown, lines = [], 0
    blocks = section.split("\n\n")
    for block in blocks:
        lines += block.count("\n") + 1
        if lines > 15:
            break
        shown.append(block)
    rest = "\n\n".join(blocks[len(shown) :])
    return "\n\n".join([*shown, *([fold(rest, "All figures")] if rest else [])])


def fold(block: str, title: str) -> str:
    """A block that is shown when the reader opens it."""
    return f"<details><summary>{title}</summary>\n\n{block}\n\n</details>"


def main() -> None:
    names = {"--page": [], "all": list(ARGUMENTS)}.get(" ".join(sys.argv[1:]), sys.argv[1:])
    if len(sys.argv) == 1:
        raise SystemExit(__doc__)
    unknown = [name for name in names if name not in ARGUMENTS]
    if unknown:
        raise SystemExit(f"no benchmark {unknown[0]}; there are {', '.join(ARGUMENTS)}.")
    for name in names:
        publish(name)
    (OUT.parent / "benchmarks.md").write_text(page(), encoding="utf-8")
    chart(OUT.parent / "pictures" / "benchmarks.svg")
    subprocess.run([sys.executable, OUT.parent / "fill_pages.py"], check=True)


if __name__ == "__main__":
    main()
