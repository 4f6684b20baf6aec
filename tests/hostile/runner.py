"""Cases in child processes: `Child` answers number by number; one that crashes or hangs is replaced."""

import contextlib
import json
import os
import resource
import selectors
import subprocess
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path

LIMIT = 30.0  # seconds a case may take: stability selection of best subsets takes 6 on an idle machine
START = 120.0  # seconds a child may take to import everything
MEMORY = 6 << 30  # bytes of address space: a case that asks for more gets a MemoryError, not the machine
ROOT = Path(__file__).resolve().parents[2]


class Child:
    """A process that runs cases of one kind."""

    def __init__(self, kind, seed):
        environment = {**os.environ, "PYTHONFAULTHANDLER": "1", "OMP_NUM_THREADS": "2"}
        self.errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.runner", kind, str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=ROOT,
            env=environment,
            text=True,
        )
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.started = False

    def run(self, number, limit):
        """What became of a case: None if it is well, else why not; and whether the child is gone."""
        process = self.process
        if not self.started:
            self.selector.select(START)
            process.stdout.readline()  # it has imported everything
            self.started = True
        began, used = time.monotonic(), self.cpu_seconds()
        try:
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self.post_mortem(), True
        ready = self.selector.select(limit)
        # on a busy machine it may take longer, until it has computed what two threads can in that time
        while not ready and used is not None and time.monotonic() - began < 6 * limit:
            now = self.cpu_seconds()
            if now is None or now - used > 2 * limit:
                break
            ready = self.selector.select(limit / 4)
        if not ready:
            process.send_signal(6)  # its stacks, by faulthandler
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
            return f"no answer within {limit:g} s\n{self.post_mortem()}", True
        line = process.stdout.readline()
        if not line:
            return self.post_mortem(), True
        return json.loads(line)["failure"], False

    def cpu_seconds(self):
        """Seconds that the process has computed; None where that cannot be told."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def post_mortem(self):
        code = self.process.wait()
        self.errors.seek(0)
        return f"the process ended with {code}\n{self.errors.read()[-6000:]}"

    def close(self):
        self.selector.close()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        if self.process.poll() is None:
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def run_all(kind, numbers, seed, *, limit=LIMIT, in_process=False, report=print):
    """Run cases; the numbers of those that failed, each with the reason."""
    failures, began = {}, time.monotonic()
    if in_process:
        module = import_module(f"tests.hostile.{kind}")
        with tempfile.TemporaryDirectory() as folder:
            for number in numbers:
                failure = outcome(module, number, seed, Path(folder))
                if failure is not None:
                    failures[number] = failure
                    report(f"FAILED --only {kind}:{number} --seed {seed}\n{failure}")
        return failures
    child = None
    try:
        for number in numbers:
            child = child or Child(kind, seed)
            failure, gone = child.run(number, limit)
            if failure is not None:
                failures[number] = failure
                report(f"FAILED --only {kind}:{number} --seed {seed}\n{failure}")
            if gone:
                child.close()
                child = None
    finally:
        if child is not None:
            child.close()
    n = len(numbers)
    report(f"{kind}: {n} run, {len(failures)} failed, seed {seed}, {time.monotonic() - began:.0f} s")
    return failures


def outcome(module, number, seed, folder):
    try:
        module.run(number, seed, folder)
    except Exception as error:
        where = traceback.format_exception(error)
        return f"{error}\n{''.join(where)[-2500:]}"
    return None


def main(kind, seed):
    import faulthandler

    faulthandler.enable(all_threads=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a case prints is no answer
    module = import_module(f"tests.hostile.{kind}")
    answers.write("ready\n")
    answers.flush()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        for line in sys.stdin:
            failure = outcome(module, int(line), int(seed), Path(folder))
            answers.write(json.dumps({"failure": failure}) + "\n")
            answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
