"""The report of a model, as `fit`, `select`, `report` and `watch` write it."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ..training.model import Model
from . import options as opt


def check_report_needs() -> None:
    """Raise ImportError, with what to install, before any row is learned."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{error.name} is missing; pip install 'streamsieve[report]'.") from None


def report_html(
    fitted: Model,
    *,
    trace: dict[str, Any] | None = None,
    curve: list[dict[str, Any]] | None = None,
    title: str | None = None,
    refresh: int | None = None,
    test: dict[str, float] | None = None,
) -> str:
    """The HTML of a report, with the source that is recorded in the model's notes."""
    check_report_needs()
    from ..report import page

    about: dict[str, Any] = {"task": fitted.task_name, "rows learned": fitted.n_rows}
    if fitted.about.get("source"):
        about["target"] = fitted.about["source"]["read"].get("target")
        about["source"] = fitted.about["source"]["files"]
    about |= {name.replace("_", " "): value for name, value in (test or {}).items()}
    return page(
        fitted, about=about, curve=curve, trace=trace, title=title, refresh=refresh,
        command=repeat_command(fitted),
    )  # fmt: skip


def write_report(file: str, fitted: Model, **options: Any) -> None:
    """Write a report to a file."""
    from .output import writing

    html = report_html(fitted, **options)
    with writing(file) as stream:
        stream.write(html)


def repeat_command(fitted: Model) -> str | None:
    """The command that fits the model again; None if it was not learned from files."""
    source = fitted.about.get("source")
    if not source:
        return None
    words = ["streamsieve", "fit", *source["files"]]
    words += _stream_options(dict(source["read"]))
    method = fitted.method
    words += ["--method", fitted.method_name.lower(), "--task", fitted.task_name]
    values = dict(method.values)
    if "k" in values and values["k"] is not None:
        words += ["-k", str(values.pop("k"))]
    params = type(method).parameters(fitted.task_name)
    defaults = {"loss": method.loss} | {name: param.default for name, param in params.items()}
    for name, value in values.items():
        if name in ("missing", "grow") or value == defaults.get(name):
            continue
        words += ["--set", f"{name}={value}"]
    if fitted.classes is not None and source["files"] != ["-"]:
        words += ["--classes", ",".join(map(str, fitted.classes))]
    return shlex.join([*words, "-o", "model.sieve"])


def _stream_options(read: dict[str, Any]) -> list[str]:
    """Options of the command line for reading rows that differ from their defaults."""
    holder = opt.table(opt.files(opt.passing(click.Command("options").callback or (lambda: None))))
    words = []
    for param in reversed(getattr(holder, "__click_params__", [])):
        name, value = param.name, read.get(param.name)
        if value is None or value == param.default or value in ([], ()):
            continue
        if getattr(param, "is_flag", False):
            flag = param.opts[-1] if value else (param.secondary_opts or [""])[-1]
            words += [flag] if flag and value != param.default else []
        elif name is not None:
            text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            words += [param.opts[0], text]
    return words
