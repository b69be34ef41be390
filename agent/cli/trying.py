"""`prs fetch`, `links`, `robots`, `url`: the crawl's own steps by hand, without home or manager."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from agent.app.by_hand import ByHand, Visit, links_in
from agent.cli.options import REFUSED, Place, in_words, pass_place, set_option
from agent.modules.robots_txt import parse
from agent.settings import Settings
from shared.urls import canonical, host_of, reversed_host_key

__all__ = ["fetch", "links", "robots", "url"]


@click.command()
@click.argument("address", metavar="URL")
@click.option("--json", "as_json", is_flag=True, help="Every hop, with header and times.")
@set_option
@pass_place
def fetch(place: Place, address: str, as_json: bool, overrides: tuple[str, ...]) -> None:
    """Fetch URL as the crawl would: robots.txt first, redirects followed, limits kept.

    Exit code 1 where no page came. A prs.toml in the home is used, where there is one.
    """
    with in_words():
        visit = asyncio.run(_visit(place.settings(overrides), address))
    if as_json:
        click.echo(json.dumps(visit.to_json()))
    else:
        for hop in visit.robots + visit.hops:
            words = f"{hop.outcome} {hop.status or ''} {hop.robots} {hop.rule} {hop.detail}"
            click.echo(
                f"{hop.url}\t{' '.join(words.split())}\t{hop.response_bytes} bytes"
                f"\t{hop.elapsed_ms:.1f} ms\t{hop.address}"
            )
        click.echo(
            f"{visit.outcome} {visit.status or ''}: {visit.links} links {visit.notes}".strip()
        )
    if not visit.good:
        raise SystemExit(REFUSED)


async def _visit(settings: Settings, address: str) -> Visit:
    by_hand = ByHand(settings)
    try:
        return await by_hand.visit(address)
    finally:
        await by_hand.close()


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--base", required=True, help="The URL that the page came from.")
@click.option("--content-type", default="text/html", show_default=True, help="As the server said.")
@pass_place
def links(place: Place, file: Path, base: str, content_type: str) -> None:
    """Print the links of an HTML FILE, canonical, one a line, in the order of the page."""
    with in_words():
        found = links_in(file.read_bytes(), base, content_type, Settings(home=place.path))
    for link in found:
        click.echo(link)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--agent", required=True, help="The robot's name, as `PRS`.")
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
def robots(file: Path, agent: str, urls: tuple[str, ...]) -> None:
    """Print for each URL whether a robots.txt FILE lets the robot fetch it: `allow` or `deny`."""
    with in_words():
        rules = parse(file.read_bytes(), agent)
        for text in urls:
            address = canonical(text)
            verdict = rules.allowed(address[address.index("/", 8) :])
            click.echo(f"{'allow' if verdict.allowed else 'deny'}\t{text}")


@click.command()
@click.argument("text", metavar="URL")
@click.option("--base", help="What a relative URL is resolved against.")
def url(text: str, base: str | None) -> None:
    """Print URL's canonical form, its host key, and its reversed-host key, with tabs between.

    Exit code 1, and the reason, where it is no URL to crawl.
    """
    with in_words():
        address = canonical(text, None if base is None else canonical(base))
        click.echo(f"{address}\t{host_of(address)}\t{reversed_host_key(address)}")
