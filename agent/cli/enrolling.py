"""`prs enrol`: make a key, and let the manager know it."""

from __future__ import annotations

import asyncio
import random
import socket
import sys
from pathlib import Path

import click

from agent.adapters.clock import SystemClock
from agent.app.life import client_of
from agent.cli.options import Place, in_words, pass_place
from agent.link.keys import Identity
from agent.link.keys import enrol as enrol_home
from agent.link.memory import Memory
from agent.settings import Home, Settings, check_manager_url, documented
from shared.wire.names import check_agent_name

__all__ = ["enrol"]


# A token is random text: it may begin with `-`, and must not be taken for an option.
@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("manager_url", metavar="URL")
@click.argument("token")
@click.option("--name", help="The agent's name; default: this machine's.")
@click.option("--contact", help="Mail address for owners of sites, for a new prs.toml.")
@pass_place
def enrol(
    place: Place, manager_url: str, token: str, name: str | None, contact: str | None
) -> None:
    """Join the crawl of the manager at URL with a one-time TOKEN from its administrator.

    The same command again is harmless, also after its answer was lost.
    """
    with in_words():
        settings = place.settings()
        url = check_manager_url(manager_url, "URL")
        chosen = check_agent_name(
            name or settings.manager.name or socket.getfqdn().lower().rstrip(".")
        )
        home = Home(place.path)
        home.make()
        identity = asyncio.run(_enrol(settings, home, url, chosen, token))
        if not home.settings.exists():
            given: dict[str, dict[str, object]] = {"robot": {"contact": contact}} if contact else {}
            home.settings.write_text(documented(**given))
        chance = random.SystemRandom()
        memory = Memory.open(home.link_state, epoch_ms=SystemClock().epoch_ms(), chance=chance)
    click.echo(f"enrolled as {identity.name} at {identity.manager}")
    program = f"{Path(sys.argv[0]).absolute()} --home {home.path.absolute()}"
    click.echo(f"for cron: {memory.spread_minute} 0 * * * {program} run --once --quiet --replace")
    if not place.settings().robot.contact:
        click.echo(
            f'next: write your mail address as contact = "..." under [robot] in {home.settings}',
            err=True,
        )


async def _enrol(settings: Settings, home: Home, url: str, name: str, token: str) -> Identity:
    async def hand_in(key: str) -> None:
        async with client_of(settings, Identity(url, name, "", "")) as client:
            await client.enrol(token, key)

    return await enrol_home(home, url, name, token, hand_in)
