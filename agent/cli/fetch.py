"""`prs fetch`: one URL as the crawl would fetch it, without home or manager."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import click

from agent.app.session.single_fetch import SingleFetch
from agent.app.session.visit import Hop, Visit
from agent.cli.options import REFUSED, HomeOption, in_words, pass_home_option, set_option
from agent.settings import Settings

__all__ = ["fetch", "times_of"]


@click.command()
@click.argument("address", metavar="URL")
@click.option("--json", "as_json", is_flag=True, help="Every hop, with header and times.")
@click.option("--links", is_flag=True, help="Only the links that the crawl would find, one a line.")
@set_option
@pass_home_option
def fetch(
    home_option: HomeOption, address: str, as_json: bool, links: bool, overrides: tuple[str, ...]
) -> None:
    """Fetch URL as the crawl would: robots.txt first, redirects followed, limits kept.

    Exit code 1 where no page came. A prs.toml in the home is used, where there is one.
    """
    with in_words(as_json=as_json):
        visit = asyncio.run(_visit(home_option.settings(overrides), address))
    if as_json:
        click.echo(json.dumps(visit.to_json()), err=links)
    else:
        for line in _lines(visit):
            click.echo(line, err=links)
    if links:
        for link in visit.found:
            click.echo(link)
    if not visit.is_success:
        raise SystemExit(REFUSED)


def _lines(visit: Visit) -> Iterator[str]:
    for hop in visit.robots + visit.hops:
        words = f"{hop.outcome} {hop.status or ''} {hop.robots} {hop.rule} {hop.detail}"
        yield (
            f"{hop.url}\t{' '.join(words.split())}\t{hop.response_bytes} bytes"
            f"\t{times_of(hop)}\t{hop.address}"
        )
    yield f"{visit.outcome} {visit.status or ''}: {visit.links} links {visit.notes}".strip()


def times_of(hop: Hop) -> str:
    """Return what a request took, and what of it (its look-up was before it) took any time."""
    parts = [
        f"{word} {took_ms:.1f}"
        for word, took_ms in (
            ("look-up", hop.lookup_ms),
            ("connected after", hop.connect_ms),
            ("first byte after", hop.first_byte_ms),
        )
        if took_ms
    ]
    return f"{hop.elapsed_ms:.1f} ms" + (f" ({', '.join(parts)})" if parts else "")


async def _visit(settings: Settings, address: str) -> Visit:
    single_fetch = SingleFetch(settings)
    try:
        return await single_fetch.visit(address)
    finally:
        await single_fetch.close()
