"""`prs links`, `robots`, `url`: what the crawl reads in a page, a robots.txt, a URL."""

from __future__ import annotations

from typing import BinaryIO

import click

from agent.cli.options import in_words
from agent.modules.robots.robots_parser import parse
from shared.urls import canonical, host_of, reversed_host_key

__all__ = ["links", "robots", "url"]


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--base", required=True, help="The URL that the page came from.")
@click.option("--content-type", default="text/html", show_default=True, help="As the server said.")
def links(file: BinaryIO, base: str, content_type: str) -> None:
    """Print the links of a page, feed or sitemap FILE, canonical, one a line, in its order."""
    # Only this command needs the parsers of pages.
    from agent.app.session.single_fetch import links_in  # noqa: PLC0415 - see above

    with in_words():
        found = links_in(file.read(), base, content_type)
    for link in found:
        click.echo(link)


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--agent", required=True, help="The robot's name, as `PRS`.")
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
def robots(file: BinaryIO, agent: str, urls: tuple[str, ...]) -> None:
    """Print for each URL whether a robots.txt FILE lets the robot fetch it: `allow` or `deny`."""
    with in_words():
        rules = parse(file.read(), agent)
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
