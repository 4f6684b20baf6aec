"""Run the code blocks of pages and compare what they print, or write it into the page.

    python docs/run_blocks.py [--write] PAGE...

The blocks of a page run in order, in one namespace and one empty folder: `python` and `pycon` (doctests)
here, `shell` by bash. A `text` block right after one of them is what it prints. Numbers are equal within 2
percent. A comment before a block changes this:

- `<!-- skip: why -->` leaves the block out;
- `<!-- varies -->`, before a `text` block, leaves out the comparison;
- `<!-- terminal -->` prints to a terminal of 80 letters a line, where commands show tables for readers;
- `<!-- data: NAME -->` puts a file of ../shared/tables or ../shared/data into the folder, or says that the
  package NAME is needed. Where it is absent, this block and those after it are left out.
"""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = re.compile(r"(?P<before>(?:^<!--[^\n]*-->\n+)*)^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
TOLERANCE = 0.02
RUNS = ("python", "pycon", "shell")
#: Public data that the repository does not hold, beside the checkout.
SHARED = [parent / "shared" for parent in Path(__file__).resolve().parents[2:4]]


class DataMissing(Exception):
    """A page names a file or a package that is not here."""


class Block(NamedTuple):
    kind: str
    text: str
    note: str
    start: int  # of the text, in the page
    stop: int
    line: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page that have a language."""
    found = []
    for match in BLOCK.finditer(page):
        line = page.count("\n", 0, match.start("text")) + 1
        found.append(Block(match["kind"], match["text"], match["before"], *match.span("text"), line))
    return found


def same(printed: str, expected: str) -> bool:
    """Whether two outputs agree, numbers within the tolerance."""
    if NUMBER.sub("#", _words(printed)) != NUMBER.sub("#", _words(expected)):
        return False
    pairs = zip(NUMBER.findall(_words(printed)), NUMBER.findall(_words(expected)))
    return all(_close(*pair) for pair in pairs)


def _words(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def _close(a: str, b: str) -> bool:
    x, y = (float(text.replace(",", "")) for text in (a, b))
    return abs(x - y) <= TOLERANCE * max(abs(x), abs(y))


class Runner:
    """Runs blocks one after the other."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.environment = os.environ | {"COLUMNS": "100", "MPLBACKEND": "Agg", "NO_COLOR": "1"}
        command = Path(folder) / ".bin" / "streamsieve"
        command.parent.mkdir()
        command.write_text(f"#!{sys.executable}\nfrom streamsieve.cli import program\nprogram()\n")
        command.chmod(0o755)
        self.environment["PATH"] = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
        self.environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))

    def fetch(self, name: str) -> None:
        """Put a data file into the folder of the page; a name without a suffix is a package."""
        if "." not in name:
            if importlib.util.find_spec(name) is None:
                raise DataMissing(f"the package {name} is not installed")
            return
        found = [file for folder in SHARED for file in folder.glob(f"*/{name}")]
        if not found:
            raise DataMissing(f"{name} is not in ../shared/tables or ../shared/data")
        shutil.copyfile(found[0], Path(self.folder) / name)

    def run(self, block: Block) -> str:
        """What a block prints."""
        for name in re.findall(r"<!-- data: (\S+) -->", block.note):
            self.fetch(name)
        if block.kind == "shell":
            return self._run_shell(block.text, terminal="<!-- terminal -->" in block.note)
        before, out = os.getcwd(), io.StringIO()
        os.chdir(self.folder)
        try:
            if block.kind == "pycon":
                test = doctest.DocTestParser().get_doctest(block.text, self.names, "page", None, block.line)
                failed = doctest.DocTestRunner().run(test, clear_globs=False).failed
                self.names |= test.globs
                assert not failed, f"{failed} examples fail"
            else:
                with contextlib.redirect_stdout(out):
                    exec(compile(block.text, f"<line {block.line}>", "exec"), self.names)
        finally:
            os.chdir(before)
        return out.getvalue()

    def _run_shell(self, text: str, *, terminal: bool) -> str:
        words = ["bash", "-euo", "pipefail", "-c", text]
        if terminal:
            words[0:0] = [sys.executable, "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"]
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment | ({"TERM": "dumb"} if terminal else {}),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"exit code {done.returncode}:\n{text}\n{done.stdout}{done.stderr}")
        if not terminal:
            return done.stdout
        return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n") + "\n"


def run_page(file: Path, *, write: bool = False) -> list[str]:
    """Run a page; what differs from what it shows.

    Raises `DataMissing` where all is as shown up to a block whose data are not here.
    """
    page = file.read_text(encoding="utf-8")
    found = blocks(page)
    differences: list[str] = []
    replaced: list[tuple[int, int, str]] = []
    missing: DataMissing | None = None
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder)
        for i, block in enumerate(found):
            if block.kind not in RUNS or "skip:" in block.note:
                continue
            try:
                printed = runner.run(block)
            except DataMissing as error:
                missing = error
                break
            shown = found[i + 1] if i + 1 < len(found) and found[i + 1].kind == "text" else None
            if shown is None or page[block.stop : shown.start].replace(shown.note, "").strip("`\n") != "text":
                continue
            if write:
                replaced.append((shown.start, shown.stop, printed.rstrip() + "\n"))
            elif "varies" not in shown.note and not same(printed, shown.text):
                differences.append(
                    f"{file}:{shown.line} shows\n{shown.text}\nbut the block prints\n{printed}"
                )
    for start, stop, text in reversed(replaced):
        page = page[:start] + text + page[stop:]
    if write:
        file.write_text(page, encoding="utf-8")
    if missing is not None and not differences:
        raise missing
    return differences


def main() -> None:
    write = "--write" in sys.argv
    bad = [text for name in sys.argv[1:] if name != "--write" for text in run_page(Path(name), write=write)]
    print("\n".join(bad))
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
