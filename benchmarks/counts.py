"""Count the instructions of small fixed workloads by callgrind, and compare with those stored.

python benchmarks/counts.py                   # fails, with the name, where a count grew by more than 5 %
python benchmarks/counts.py --store           # stores what was counted in benchmarks/counts.tsv
python benchmarks/counts.py --only PART ...   # of the workloads whose name holds PART

Instructions do not depend on the load of the machine: what changes them is a change of the code. The starts
of all verbs, counted twice at the same time on two cores with a load of 17, differed by 0.004 % at most, and
not at all in our kernels. Two numbers of every workload are stored: the instructions of our own kernels
(`_core`), and all, with Python and NumPy. Valgrind shows programs the same processor on every machine with
AVX2, so that libraries choose the same code; hashes and threads are fixed, and the package is copied to a
folder of its own, so that no other package's import hooks run. Where the compiler, Python or a library
differ from those of the stored counts, the counts that depend on them cannot be compared: they are printed,
and fail nothing.
"""

import argparse
import concurrent.futures
import importlib.metadata
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import workloads

STORED = Path(__file__).with_name("counts.tsv")
ALLOWED = 1.05  # a workload is run once: what the same code counts twice differs by less than 1 %
FEW = 2_000  # instructions that say nothing: a few calls of the allocator
INSTALL = "callgrind is missing: apt-get install valgrind (Debian, Ubuntu), or dnf install valgrind-devel"
REQUESTS = """#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; }
void zero(void) { CALLGRIND_ZERO_STATS; }
void dump(const char* name) { CALLGRIND_DUMP_STATS_AT(name); }
"""
GROUPS = ("regression", "classification", *workloads.VERBS, "text")  # the longest first
#: What the counts of the kernels depend on; the others depend on Python and libraries, too.
BUILD = ("machine", "valgrind", "compiler")
LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "threadpoolctl",
    "click",
    "rich",
    "jinja2",
    "matplotlib",
)

Counts = dict[str, tuple[int, int]]  # instructions of the kernels, and all, by workload


def compiled_core() -> Path:
    spec = importlib.util.find_spec("streamsieve._core")
    assert spec is not None
    return Path(str(spec.origin))


def environment() -> dict[str, str]:
    """What else than our code counts depend on."""
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout
    compilers = re.findall(rb"(?:GCC: |clang version)[^\0]*", compiled_core().read_bytes())
    cpu = Path("/proc/cpuinfo")
    avx2 = "avx2" if cpu.exists() and " avx2 " in cpu.read_text() else "no avx2"
    return {
        "machine": f"{platform.machine()}, {avx2}",
        "valgrind": valgrind.strip(),
        "compiler": compilers[0].decode() if compilers else "unknown",
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()),
        **{name: importlib.metadata.version(name) for name in LIBRARIES},
    }


def prepare(folder: Path) -> None:
    """Copy the package, compile callgrind's requests, write the files that workloads read."""
    import streamsieve

    source = Path(streamsieve.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "_core*.so")
    package = shutil.copytree(source, folder / "site" / "streamsieve", ignore=ignored)
    shutil.copy(compiled_core(), package)
    (folder / "requests.c").write_text(REQUESTS)
    compiler = ["cc", "-shared", "-fPIC", "-O1", "-o", folder / "requests.so", folder / "requests.c"]
    subprocess.run(compiler, check=True)
    for group in ("files", *GROUPS):  # compiles Python's modules: that does not count
        run(worker(group, folder))


SETTINGS = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "TERM": "dumb",
    "PYTHONHASHSEED": "0",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}


def worker(group: str, folder: Path) -> list[str]:
    packages = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return [sys.executable, "-P", "-S", workloads.__file__, group, str(folder), *packages]


def run(command: list[str]) -> None:
    done = subprocess.run(command, env=SETTINGS, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)} failed:\n{done.stdout}{done.stderr}")


def counted(group: str, folder: Path) -> Counts:
    """The counts of a group of workloads."""
    out = folder / f"counts.{group.strip('-')}"
    callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    run([*callgrind, *worker(group, folder)])
    return dict(filter(None, (read(file) for file in sorted(folder.glob(f"{out.name}.*")))))


def read(file: Path) -> tuple[str, tuple[int, int]] | None:
    """Name, instructions of the kernels and all instructions of a dump; None of the one at the end."""
    name, core, total = None, 0, 0
    ours: set[str] = set()
    inside = call = False
    for line in file.read_text().splitlines():
        if line.startswith("desc: Trigger: Client Request: "):
            name = line.removeprefix("desc: Trigger: Client Request: ")
        elif line.startswith(("ob=", "cob=")):  # a path stands where its number comes first, maybe as called
            kind, _, value = line.partition("=")
            number, _, path = value.partition(" ")
            if "streamsieve/_core" in path:
                ours.add(number)
            inside = number in ours if kind == "ob" else inside
        elif line.startswith("calls="):
            call = True  # the next line is the cost of what is called, which is counted there
        elif line[:1].isdigit() or line[:1] in "+-*":
            if not call:
                cost = int(line.partition(" ")[2] or 0)
                total += cost
                core += cost if inside else 0
            call = False
    return (name, (core, total)) if name else None


def count(only: list[str]) -> Counts:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = [
                pair
                for part in pool.map(lambda group: counted(group, folder), GROUPS)
                for pair in part.items()
            ]
    return {name: counts for name, counts in found if not only or any(part in name for part in only)}


def stored() -> tuple[dict[str, str], Counts]:
    there: dict[str, str] = {}
    counts: Counts = {}
    for line in STORED.read_text().splitlines():
        if line.startswith("# "):
            key, _, value = line[2:].partition(": ")
            there[key] = value
        else:
            name, core, total = line.split("\t")
            counts[name] = int(core), int(total)
    return there, counts


def store(here: dict[str, str], counts: Counts) -> None:
    head = [f"# {key}: {value}" for key, value in here.items()]
    STORED.write_text(
        "\n".join([*head, *(f"{name}\t{core}\t{total}" for name, (core, total) in counts.items())]) + "\n"
    )


def compare(here: dict[str, str], found: Counts) -> bool:
    """Print what changed; whether nothing grew that may be compared."""
    from streamsieve.cli import VERBS

    there, before = stored()
    for verb in VERBS.keys() - workloads.VERBS.keys():
        print(f"the start of {verb} is not counted: say in workloads.py what it is given")
    other = [key for key in here if here[key] != there.get(key)]
    for key in other:
        print(f"{key} is {here[key]}, and was {there.get(key, 'not there')} when the counts were stored")
    comparable = {"kernels": not set(other) & set(BUILD), "all": not other}
    grown = 0
    for name, counts in found.items():
        if name not in before:
            print(f"new     {name}: {counts[0]:,} in kernels, {counts[1]:,} in all")
            continue
        for kind, now, then in zip(comparable, counts, before[name], strict=True):
            change = f"{name}, {kind}: {then:,} -> {now:,} (x {now / max(then, 1):.2f})"
            if now > ALLOWED * then + FEW:
                grown += comparable[kind]
                print(f"{'GREW' if comparable[kind] else 'grew'}    {change}")
            elif then > ALLOWED * now + FEW:
                print(f"shrank  {change}")
    print(f"{len(found)} workloads counted, {grown} counts grew by more than {ALLOWED - 1:.0%}")
    if not all(comparable.values()):
        print("What depends on it fails nothing; `python benchmarks/counts.py --store` stores anew.")
    if grown:
        print(
            "If the growth is worth it, say why in the commit and run `python benchmarks/counts.py --store`."
        )
    return not grown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--store", action="store_true", help="store the counts in counts.tsv")
    parser.add_argument("--only", nargs="+", default=[], help="workloads whose name holds one of these")
    given = parser.parse_args()
    if not shutil.which("valgrind"):
        raise SystemExit(INSTALL)
    counts = count(given.only)
    if given.store:
        store(environment(), counts)
    else:
        sys.exit(not compare(environment(), counts))


if __name__ == "__main__":
    main()
