"""`prsm withdraw`, `prsm compact`, `prsm mirrors`: what the archive gives away, and of whom."""

from __future__ import annotations

import click

from manager.cli import showing
from manager.cli.options import Place, json_option, pass_place, yes_option

__all__ = ["compact", "mirrors", "withdraw"]


@click.command()
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...")
@click.option("--reason", required=True, help="Why; the audit keeps it.")
@click.option("--compact", "at_once", is_flag=True, help="Rewrite the segments now, not later.")
@yes_option
@pass_place
def withdraw(place: Place, hosts: tuple[str, ...], reason: str, at_once: bool, yes: bool) -> None:
    """Take HOSTs down: not crawled, not taken from agents, given to nobody from now on.

    Files, indexes and results that hold one answer 410; the next compaction rewrites them without
    it, and then its captures are gone. http and https are two hosts: name both.
    """
    if not yes:
        click.confirm(f"Captures of {', '.join(hosts)} will be deleted. Go on?", abort=True)
    for host in hosts:
        place.calls.post("/hosts/exclude", {"host": host, "reason": reason})
        click.echo(f"{host} is withdrawn")
    if at_once:
        _compact(place)


@click.command()
@json_option
@pass_place
def compact(place: Place, as_json: bool) -> None:
    """Rewrite segments without the hosts that were withdrawn, now."""
    if as_json:
        showing.as_json(place.calls.post("/archive/compact"))
    else:
        _compact(place)


def _compact(place: Place) -> None:
    done = place.calls.post("/archive/compact")
    click.echo(f"{done['rewritten']} segments rewritten, {done['deleted']} deleted")


@click.command()
@click.option("--share", default=0.5, show_default=True, help="Of the smaller host's pages.")
@click.option("--limit", default=100, show_default=True)
@json_option
@pass_place
def mirrors(place: Place, share: float, limit: int, as_json: bool) -> None:
    """List hosts that show what another host shows, under the same paths; reads all indexes."""
    found = place.calls.get("/archive/mirrors", share=share, limit=limit)
    if as_json:
        showing.as_json(found)
        return
    showing.table(
        ("host", "mirrors", "pages", "alike"),
        ((one["host"], one["of"], one["pages"], one["alike"]) for one in found),
        "No host shows what another one shows.",
    )
