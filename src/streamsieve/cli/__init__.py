"""The command line: `streamsieve VERB`. Verbs are loaded when called, so that --help is instant."""

from __future__ import annotations

from importlib import import_module

import click

VERBS = {
    "demo": "Simulate a stream with a known truth, select features on it, show what was found.",
    "experiment": "Reproduce a table of the papers, beside the published numbers.",
}


class Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in VERBS:
            return None
        command: click.Command = import_module(f".{name}", __name__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="streamsieve")
def main() -> None:
    """Pick the k features that matter out of a stream too large to hold."""
