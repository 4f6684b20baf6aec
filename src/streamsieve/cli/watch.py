"""`streamsieve watch`: a live page of a running fit."""

from __future__ import annotations

import click

from . import options as opt

HELP = """\
Serve the report of a run that writes CHECKPOINT, on this machine only (127.0.0.1), until Ctrl-C.

Start it while `fit ... --checkpoint CHECKPOINT` runs: the page shows the state of the last checkpoint.
"""


@click.command("watch", help=HELP)
@click.argument("checkpoint", type=click.Path(dir_okay=False))
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port; 0 chooses a free one.",
)
@click.option(
    "--refresh",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Seconds between reloads of the page.",
)
@opt.output
def command(checkpoint: str, port: int, refresh: int, as_json: bool, quiet: bool) -> None:
    import sys

    from .output import emit
    from .pages import check_report_needs

    check_report_needs()
    from .page_server import CheckpointPage, PageServer

    with PageServer(CheckpointPage(checkpoint, refresh), port) as server:
        emit(["name", "value"], [("address", server.address)], as_json=as_json, keyed=True)
        sys.stdout.flush()
        if not quiet:
            click.echo("Ctrl-C ends it.", err=True)
        server.serve_forever(poll_interval=0.2)
