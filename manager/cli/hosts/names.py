"""`prsm hosts resolve` and `names`: look names up again, and say how their look-ups went."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import IO, Any, Final

import click

from manager.cli import output
from manager.cli.manager_client import Calls
from manager.cli.options import Target, json_answer
from shared.naming import failure_words

__all__ = ["COMMANDS", "SHORT_WAIT_S", "chunks_of", "keep", "names_of_list", "show_names"]

CHUNK_BYTES: Final = 256 * 1024
LOOK_EVERY_S: Final = 0.3
SHORT_WAIT_S: Final = 30.0
TICK_MS: Final = 60_000
EXAMPLES: Final = 3


def _wait_for_names(calls: Calls, *, longest_s: float | None = None) -> None:
    """Wait until all names were looked up.

    longest_s: no longer than that, and only where a manager looks names up; None: without end.
    """
    until_s = None if longest_s is None else time.monotonic() + longest_s
    while True:
        seen = calls.get("/overview")
        if not seen["names_waiting"]:
            return
        if until_s is not None:
            is_served = seen["server_time_ms"] - seen["last_tick_ms"] < TICK_MS
            if not is_served or time.monotonic() >= until_s:
                return
        time.sleep(LOOK_EVERY_S)


def _names_text(found: dict[str, Any]) -> Iterator[str]:
    """Yield how look-ups went, a line for each way in which some failed."""
    parts = [f"{found['resolved']:,} resolved", f"{found['unresolved']:,} unresolved"]
    if found["waiting"]:
        parts.append(f"{found['waiting']:,} to be looked up")
    yield f"names: {', '.join(parts)}"
    for failure in found["failures"]:
        shown = failure["examples"][:EXAMPLES]
        yield f"  {failure['hosts']:,} {failure_words(failure['failure'])}"
        for one in shown:
            yield f"      {one['host']}: {one['detail']}"
        if failure["hosts"] > len(shown):
            yield f"      ... and {failure['hosts'] - len(shown):,} more"
    if found["unresolved"]:
        yield "  `prsm hosts resolve` looks up again; dns.servers says who is asked"


def show_names(found: dict[str, Any]) -> None:
    """Print the results of look-ups; to standard error where there are none yet."""
    if found["waiting"] and not (found["resolved"] or found["unresolved"]):
        said = "names are to be looked up by the manager that serves; see `prsm hosts names`"
        output.say(f"{found['waiting']:,} {said}", err=True)
        return
    for line in _names_text(found):
        output.say(line)


def keep(chunks: Iterator[bytes], kept: IO[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a list, each kept: standard input cannot be read twice."""
    for chunk in chunks:
        kept.write(chunk)
        yield chunk


def names_of_list(calls: Calls, kept: IO[bytes], *, longest_s: float | None) -> dict[str, Any]:
    """Return the results of the look-ups of a list's hosts, after waiting for them.

    longest_s: 0: without waiting; None: without end.
    """
    if longest_s != 0:
        _wait_for_names(calls, longest_s=longest_s)
    kept.seek(0)
    found: dict[str, Any] = calls.upload("/hosts/resolutions", chunks_of(kept))
    return found


def chunks_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file in pieces."""
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


@click.command()
@click.argument("host", required=False, default="")
@click.option("--wait", is_flag=True, help="Return when the names were looked up, and say how.")
@json_answer
def resolve(target: Target, host: str, wait: bool) -> Iterator[Any]:
    """Look up the name of HOST again (DNS); without HOST: all unresolved names."""
    found = target.calls.post("/hosts/resolve", {"host": host or None})
    if wait:
        _wait_for_names(target.calls)
        found["names"] = (
            target.calls.upload("/hosts/resolutions", iter([f"{host}\n".encode()]))
            if host
            else target.calls.get("/hosts/resolutions")
        )
    yield found
    number = found["hosts"]
    output.say(f"{number:,} name{'s are' if number != 1 else ' is'} looked up again")
    for line in _names_text(found["names"]) if wait else ():
        output.say(line)


@click.command()
@click.argument("file", type=click.File("rb"), required=False)
@json_answer
def names(target: Target, file: IO[bytes] | None) -> Iterator[Any]:
    """Count resolved names, and unresolved ones by reason: of all hosts, or of those in FILE."""
    if file is None:
        found = target.calls.get("/hosts/resolutions")
    else:
        found = target.calls.upload("/hosts/resolutions", chunks_of(file))
    yield found
    for line in _names_text(found):
        output.say(line)
    if found["unknown"]:
        output.say(f"  {found['unknown']:,} lines name no host that is known")


COMMANDS: Final = (resolve, names)
