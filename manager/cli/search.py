"""`prsm search`: finds whatever a text names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_answer

__all__ = ["search"]


@click.command()
@click.argument("text")
@click.option(
    "--kind", "kinds", multiple=True, help="Only hits of this kind, as host; can be repeated."
)
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(1, 100), help="Hits of each kind."
)
@json_answer
def search(target: Target, text: str, kinds: tuple[str, ...], limit: int) -> Iterator[Any]:
    """Search for TEXT: a host, agent, page, round, plan, person, record or setting.

    TEXT is a name or part of one, in Unicode too, a URL, an IP address or a number. `round 12` is
    that round, 12 is anything of that number.
    """
    found = target.calls.get("/search", q=text, kind=list(kinds) or None, limit=limit)
    yield found
    output.table(
        (hit for group in found["groups"] for hit in group["hits"]),
        "Nothing is named so. `prsm hosts import FILE` adds hosts.",
        output.Column("kind"),
        output.Column("found", "key"),
        *output.columns("match", "state", "about"),
    )
    more = [group["kind"] for group in found["groups"] if group["has_more"]]
    if more:
        output.say(f"... and more of: {', '.join(more)}; --kind KIND --limit 100 shows them")
