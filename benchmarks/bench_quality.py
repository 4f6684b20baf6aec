"""What a user gets by default, on real and simulated data, beside what they would have used instead.

    python benchmarks/bench_quality.py [--sets wine,dexter] [--methods OFSA,abess] [--k 10,50] [--quick]
    python benchmarks/bench_quality.py --report --out docs/quality

Every method of the library by default, in one pass and by `fit`, beside selection by F and chi2, an l1 path,
RFE, abess, Vowpal Wabbit and river. The ten files are read from ../shared/data or STREAMSIEVE_DATA and left
out where they are absent, as are peers that are not installed. Each cell (set, split, k, method) is fitted in
a process of its own, limited in processor time and memory, and cached: a second run computes what is missing,
and runs at the same time may share the cache.

Scores are accuracy, R² for targets; a cell that fails counts as the best constant. Seconds are of processors.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded: a fork does not survive its threads
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from pathlib import Path

from quality import datasets, ours, peers, table
from quality.cells import Cache, Cell, run

PARTS = ("real", "variant", "design", "grid")


def main() -> None:
    args = options()
    sets = [s for s in datasets.sets().values() if chosen(s.name, args.sets)]
    if not sets:
        raise SystemExit(f"no set matches {args.sets}; sets: {'; '.join(datasets.sets())}.")
    methods, missing = peers.peers()
    for name in missing:
        print(f"{name} is not installed: left out")
    for name in datasets.FILES:
        if not any(s.name == name for s in sets) and chosen(name, args.sets):
            print(f"{name} is not in {datasets.FOLDER}: left out")
    methods = [m for m in methods + ours.ours() if chosen(m.name, args.methods)]
    cache = Cache(args.cache, args.retry)
    cells = [c for part in args.parts for c in cells_of(part, sets, methods, args)]
    if not args.report:
        todo = sum(cache.find(c, args.limit, args.memory) is None for c in cells)
        print(f"{len(cells)} cells, {todo} to compute, at most {args.limit:g} s and {args.memory:g} MB each")
        for i, result in enumerate(run(cells, cache, args.limit, args.memory), 1):
            print(f"{i}/{todo} {table.line(result)}", flush=True)
    results = [(c, r) for c in cells if (r := cache.find(c))]
    text = table.markdown(results, args.parts)
    print(text)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "quality.md").write_text(text)
        table.draw(results, args.out / "quality.png")


def cells_of(part: str, sets: list, methods: list, args: argparse.Namespace) -> list[Cell]:
    """Cells in an order that reads each split once."""
    cells = []
    for s in sets:
        if s.kind != ("real" if part == "grid" else part) or (args.quick and s.p > 3_000):
            continue
        if part == "grid":
            cells += grid_cells(s, methods, args)
            continue
        ks = s.budgets(args.k)
        for like in (s.base, s) if s.base else (s,):  # a variant is compared with the set as it is
            splits = range(min(like.n_splits, args.splits))
            cells += [Cell(like, split, k, m) for split in splits for k in ks for m in methods]
    return list({c.key(): c for c in cells}.values()) if part == "variant" else cells


def grid_cells(s: datasets.Set, methods: list, args: argparse.Namespace) -> list[Cell]:
    """`fit` of every learner over its grid at one k; several splits of small sets, which test on few rows."""
    if s.name not in datasets.FILES:
        return []
    n = datasets.FILES[s.name][1]
    k, n_splits = (10 if n < 100 else 50), (datasets.N_SPLITS if n < 300 else 1)
    tried = [m for m in methods if m.ours and m.name.removesuffix(", fit") != m.name]
    tried = [m for m in tried if m.name.removesuffix(", fit") in ours.learners()]
    if s.p > 3_000:
        tried = [m for m in tried if m.name.removesuffix(", fit") not in ours.QUADRATIC]
    points = [g for m in tried for g in ours.grid(m) if len(g.settings) <= 1 or not args.one_at_a_time]
    return [Cell(s, split, k, m) for split in range(min(n_splits, args.splits)) for m in points]


def chosen(name: str, names: list[str] | None) -> bool:
    """Whether it is named, whole or, ending in *, by its beginning."""
    return not names or any(name.startswith(n[:-1]) if n.endswith("*") else name == n for n in names)


def options() -> argparse.Namespace:
    def words(text):
        return [word.strip() for word in text.split(";" if ";" in text else ",")]

    def numbers(text):
        return [int(word) for word in words(text)]

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", type=words, default=["real"], help=f"of {', '.join(PARTS)}; 'all'")
    parser.add_argument("--sets", type=words, help="names, or beginnings with *; separated by , or ;")
    parser.add_argument("--methods", type=words, help="names, or beginnings with *; 'SFSA, fit' needs a ;")
    parser.add_argument("--k", type=numbers, default=[10, 50, 100, 500])
    parser.add_argument("--splits", type=int, default=5, help="of each set that is small")
    parser.add_argument(
        "--one-at-a-time", action="store_true", help="grid: a step or a penalty beside the defaults, not both"
    )
    parser.add_argument("--quick", action="store_true", help="one split, sets of at most 3,000 columns")
    parser.add_argument("--limit", type=float, default=120, help="processor seconds of a cell")
    parser.add_argument("--memory", type=float, default=8_000, help="MB of address space for a fit")
    parser.add_argument("--cache", type=Path, default=Path(__file__).parent / "quality.jsonl")
    parser.add_argument("--retry", action="store_true", help="compute cells again that ended in an error")
    parser.add_argument("--report", action="store_true", help="print what the cache has, compute nothing")
    parser.add_argument("--out", type=Path, help="folder for quality.md and quality.png")
    args = parser.parse_args()
    args.parts = list(PARTS) if args.parts == ["all"] else args.parts
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"--parts has no {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}.")
    args.splits = 1 if args.quick else args.splits
    return args


if __name__ == "__main__":
    main()
