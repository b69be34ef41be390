"""`prs enrol`: join a crawl, look whether all is well here, and have the agent started."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import IO
from urllib.request import getproxies

import click

from agent.app.manager_link.manager_client import client_of
from agent.app.site.diagnosis import diagnose, look_at_way
from agent.app.startup.start_methods import STARTERS, Starter, arrange, start_lines
from agent.cli.join_token import VARIABLE, given_token, refuse_argument
from agent.cli.options import Place, in_words, pass_place, say
from agent.cli.questions import Answers, ask, check_contact, hours_of, own_name
from agent.cli.status import check_lines
from agent.link.client import tls_context
from agent.link.keys import Identity
from agent.link.keys import enrol as enrol_home
from agent.settings import Home, Settings, check_manager_url, write_settings
from shared.messages import Message
from shared.settings import refuse_password
from shared.wire.names import check_agent_name
from shared.wire.positions import position_of_text

__all__ = ["enrol"]


# A token that is typed all the same may begin with `-`: it is refused as a token.
@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("manager_url", metavar="[URL]", default="")
@click.argument("typed", metavar="", nargs=-1)
@click.option(
    "--token-file",
    type=click.File("r"),
    help=f"Read the join token from a file, `-`: standard input. Also {VARIABLE} in the "
    "environment; else it is asked for.",
)
@click.option("--name", default="", help="The agent's name; default: this machine's.")
@click.option("--contact", help="Mail address for owners of sites.")
@click.option("--weekday", help="Hours Monday to Friday: 02:00-08:00, always.")
@click.option("--weekend", help="Hours Saturday and Sunday.")
@click.option(
    "--ca-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="PEM file of who signs the manager's certificate, where a firewall opens TLS.",
)
@click.option("--proxy", default="", help="To the manager: http://proxy.example.org:8080.")
@click.option("--position", default="", help="Where it stands, for the map: 35.03,135.78.")
@click.option(
    "--start", "starter", type=click.Choice(STARTERS), default="none", help="Who starts it."
)
@pass_place
def enrol(
    place: Place,
    manager_url: str,
    typed: tuple[str, ...],
    token_file: IO[str] | None,
    name: str,
    contact: str | None,
    weekday: str | None,
    weekend: str | None,
    ca_file: Path | None,
    proxy: str,
    position: str,
    starter: Starter,
) -> None:
    """Join the crawl of the manager at URL with a one-time token from its administrator.

    The token is never an argument: others on this machine see command lines. It is asked for, or
    read from standard input, --token-file or the environment. Without URL and --contact it asks
    for all that it needs, tries it, and has the agent started. The answers are written into
    prs.toml; the rest of it stays. The same command again is harmless, also after its answer was
    lost.
    """
    if typed:
        refuse_argument(typed)
    can_ask = sys.stdin.isatty()
    if not (manager_url or can_ask):
        raise click.UsageError(str(Message("agent_errors.url_missing")))
    with in_words():
        settings = place.settings()
        asks = can_ask and not (manager_url and (contact or settings.robot.contact))
        if proxy:
            refuse_password(proxy, "--proxy", "manager.proxy in prs.toml, or HTTPS_PROXY")
        token = "" if asks and not manager_url else given_token(token_file, can_ask=can_ask)
        answers = Answers(
            manager_url and check_manager_url(manager_url, "URL"),
            token,
            check_agent_name(name) if name else settings.manager.name,
            None if contact is None else check_contact(contact),
            None if weekday is None else hours_of(weekday),
            None if weekend is None else hours_of(weekend),
            starter,
            position_of_text(position),
            str(ca_file.absolute()) if ca_file else "",
            proxy,
        )
        if ca_file:
            tls_context(ca_file)
        answers = ask(answers, settings) if asks else answers
        home = Home(place.path)
        home.make()
        settings = _write(settings, answers)
        identity = asyncio.run(_enrol(settings, home, answers))
        say(f"enrolled as {identity.name} at {identity.manager}")
        if answers.starter == "none":
            for line in start_lines(settings):
                say(f"for cron: {line}")
        if not settings.robot.contact:
            say(
                f'next: write your mail address as contact = "..." under [robot] in '
                f"{home.settings}",
                err=True,
            )
        if asks or answers.starter != "none":
            for line in check_lines(asyncio.run(diagnose(settings))):
                say(line)
            for line in arrange(settings, answers.starter):
                say(line)


def _write(before: Settings, answers: Answers) -> Settings:
    """Write the answers into prs.toml, print the changes, and return the new settings."""
    path = Home(before.home).settings
    had_one = path.exists()
    given = _given(before, answers)
    settings = write_settings(before.home, given)
    changed = [
        f"{group}.{name}"
        for group, values in given.items()
        for name in values
        if getattr(getattr(before, group), name) != getattr(getattr(settings, group), name)
    ]
    if had_one and changed:
        say(f"changed in {path}: {', '.join(changed)}")
    return settings


def _given(settings: Settings, answers: Answers) -> dict[str, dict[str, object]]:
    """Return what prs.toml is to say. A proxy of this shell is nothing that cron would know.

    A URL or a name that stands there would go before those of the key that is made now.
    """
    given = answers.given
    way = given.setdefault("manager", {})
    site, proxy = settings.manager, getproxies().get("https", "")
    if proxy and not (answers.proxy or site.proxy) and answers.url.startswith("https:"):
        way["proxy"] = proxy
    if site.url:
        way["url"] = answers.url
    if site.name and answers.name:
        way["name"] = answers.name
    return given


async def _enrol(settings: Settings, home: Home, answers: Answers) -> Identity:
    url, name = answers.url, answers.name or check_agent_name(own_name())
    await look_at_way(settings, Identity(url, name, "", ""))

    async def hand_in(key: str) -> None:
        async with client_of(settings, Identity(url, name, "", "")) as client:
            await client.enrol(answers.token, key, answers.position)

    return await enrol_home(home, url, name, answers.token, hand_in)
