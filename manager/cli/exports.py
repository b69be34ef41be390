"""`prsm export`: the files of the source, as its own scripts name and lay them out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.archive_folder import unpack
from manager.cli.options import Target, json_answer

__all__ = ["export"]

TOTALS: Final = "agents.txt"


@click.command()
@click.argument("kind", type=click.Choice(["log-sums", "distances", "volumes", "costs", "lists"]))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--replace", is_flag=True, help="Write over files that are there already.")
@json_answer
def export(target: Target, kind: str, folder: Path, replace: bool) -> Iterator[Any]:
    """Write the files of one KIND into DIR, as the source names them.

    \b
    log-sums    logs/AGENT        URL volume time, sorted by URL
    distances   distance/AGENT    server distance
    volumes     document.txt      server volume
    costs       cost/AGENT        server cost
    lists       random/AGENT      server

    Volumes are KBytes of 1,000 bytes, times and costs milliseconds, distances ms per KByte (`inf`:
    unreachable). costs and lists print agent:cost:units for each agent. All files appear at once
    or, if anything goes wrong, none; `prsm lists import` reads lists back.
    """
    with target.calls.download(f"/export/{kind}", method="POST") as chunks:
        unpacked = unpack(chunks, folder, shown=TOTALS, replace=replace)
    yield {"written": unpacked.written, "agents": unpacked.said, "others": unpacked.others}
    for line in unpacked.said:
        output.say(line)
    output.say(f"{len(unpacked.written)} files written into {folder}", err=True)
    for name in unpacked.others:
        output.say(f"{folder / name} belongs to none of these agents; unchanged", err=True)
