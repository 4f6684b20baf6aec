"""The files of the library that one call enters: `python tests/ways.py [-v]`.

How far a newcomer has to read to follow a call. A file counts if one of its functions runs during the call;
what runs when modules and classes are made does not count, for each call is made once before it is watched.
Threads count. `-v` names the files with the number of their functions that ran.
"""

import contextlib
import io
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path

import numpy as np

import streamsieve
from streamsieve import OFSARegressor, SFSAClassifier, SieveClassifier
from streamsieve.cli import main

ROOT = Path(streamsieve.__file__).parent

#: The most files that each way may enter.
MOST = {"select FILE": 43, "Sieve.fit, coef_": 16, "OFSA.fit": 17, "SFSA.partial_fit": 13}


def files_of(call):
    """The functions that a call enters, by file."""
    entered = defaultdict(set)

    def look(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(ROOT)):
            entered[str(Path(path).relative_to(ROOT))].add(frame.f_code.co_qualname)

    call()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return entered


def ways(folder):
    """What each of the four calls enters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = X[:, 2] - X[:, 5] + 0.1 * rng.normal(size=400)
    file = Path(folder) / "rows.csv"
    names = ",".join([*(f"x{j}" for j in range(12)), "y"])
    np.savetxt(file, np.column_stack([X, y]), delimiter=",", header=names, comments="")

    def select():
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main(["select", str(file), "--target", "y", "-k", "3"], standalone_mode=False)

    calls = (
        select,
        lambda: SieveClassifier(3).fit(X, y > 0).coef_,
        lambda: OFSARegressor(3).fit(X, y),
        lambda: SFSAClassifier(3).partial_fit(X, y > 0, classes=[False, True]),
    )
    return dict(zip(MOST, map(files_of, calls)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, entered in ways(folder).items():
            print(f"{name}: {len(entered)} files, {sum(map(len, entered.values()))} functions")
            if "-v" in sys.argv:
                print("".join(f"    {file} {len(entered[file])}\n" for file in sorted(entered)), end="")
