"""The command line within this process, and what must hold of every run of it."""

from click.testing import CliRunner

from streamsieve import load
from streamsieve.cli import main

from .rules import Failure, check_finite, strict_warnings


def run(*words, input=None):
    """The exit code and what was printed; Failure for a traceback."""
    with strict_warnings():
        done = CliRunner().invoke(main, [str(word) for word in words], input=input)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise Failure(f"{type(done.exception).__name__}: {done.exception}") from done.exception
    if done.exit_code not in (0, 1, 2, 3, 4):
        raise Failure(f"exit code {done.exit_code}: {done.output}")
    if done.exit_code and "Error: " not in done.stderr:
        raise Failure(f"exit code {done.exit_code} without an error: {done.output}")
    return done


def fit(source, out, *words):
    """Learn a source: a finite model, or an error and no file."""
    out.unlink(missing_ok=True)
    done = run("fit", *source, "-o", out, "-q", *words)
    if done.exit_code == 0:
        model = load(out)
        check_finite("coef_", model.coef_)
        check_finite("intercept_", model.intercept_)
    elif out.exists():
        raise Failure(f"an error, and a model: {done.stderr}")
    return done
