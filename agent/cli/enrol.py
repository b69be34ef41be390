"""`prs enrol`, `prs rekey`: join a crawl and have the agent started; replace its key."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import IO, Any
from urllib.request import getproxies

import click

from agent.app.site.diagnosis import check_manager_route, diagnose
from agent.app.startup.agent_run import identity_of, renew_key
from agent.app.startup.start_methods import STARTERS, Starter, install_start_method, start_lines
from agent.cli.join_token import VARIABLE, read_token, refuse_argument
from agent.cli.options import HomeOption, in_words, pass_home_option, print_text
from agent.cli.questions import Answers, ask_missing, check_contact, hours_of, own_name
from agent.cli.status import check_lines
from agent.control.lock import HomeLock
from agent.link.client import client_of, tls_context
from agent.link.keys import Identity
from agent.link.keys import enrol as enrol_home
from agent.settings import Home, Settings, check_manager_url, write_settings
from shared.frozen import frozen
from shared.messages import Message
from shared.settings import refuse_password
from shared.wire.names import check_agent_name
from shared.wire.positions import position_of_text

__all__ = ["enrol", "rekey"]


@frozen
class _Options:
    """Options of the command, as click reads them. typed: arguments behind the URL."""

    manager_url: str
    typed: tuple[str, ...]
    token_file: IO[str] | None
    name: str
    contact: str | None
    weekday: str | None
    weekend: str | None
    ca_file: Path | None
    proxy: str
    position: str
    starter: Starter

    def answers(self, settings: Settings, token: str) -> Answers:
        """Return the checked answers. Raises SettingError, HomeError."""
        answers = Answers(
            self.manager_url and check_manager_url(self.manager_url, "URL"),
            token,
            check_agent_name(self.name) if self.name else settings.manager.name,
            None if self.contact is None else check_contact(self.contact),
            None if self.weekday is None else hours_of(self.weekday),
            None if self.weekend is None else hours_of(self.weekend),
            self.starter,
            position_of_text(self.position),
            str(self.ca_file.absolute()) if self.ca_file else "",
            self.proxy,
        )
        if self.ca_file:
            tls_context(self.ca_file)
        return answers


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
@pass_home_option
def enrol(home_option: HomeOption, /, **typed: Any) -> None:
    """Join the crawl of the manager at URL with a one-time token from its administrator.

    The token is never an argument: others on this machine see command lines. It is asked for, or
    read from standard input, --token-file or the environment. Without URL and --contact it asks
    for all that it needs, tries it, and has the agent started. The answers are written into
    prs.toml; the rest of it stays. The same command again is harmless, also after its answer was
    lost.
    """
    options = _Options(**typed)
    if options.typed:
        refuse_argument(options.typed)
    can_ask = sys.stdin.isatty()
    if not (options.manager_url or can_ask):
        raise click.UsageError(str(Message("agent_errors.url_missing")))
    with in_words():
        settings = home_option.settings()
        asks = can_ask and not (options.manager_url and (options.contact or settings.robot.contact))
        if options.proxy:
            refuse_password(options.proxy, "--proxy", "manager.proxy in prs.toml, or HTTPS_PROXY")
        token_later = asks and not options.manager_url
        token = "" if token_later else read_token(options.token_file, can_ask=can_ask)
        answers = options.answers(settings, token)
        answers = ask_missing(answers, settings) if asks else answers
        home = Home(home_option.path)
        home.make()
        settings = _write(settings, answers)
        identity = asyncio.run(_enrol(settings, home, answers))
        print_text(f"enrolled as {identity.name} at {identity.manager}")
        if answers.starter == "none":
            for line in start_lines(settings):
                print_text(f"for cron: {line}")
        if not settings.robot.contact:
            print_text(
                f'next: write your mail address as contact = "..." under [robot] in '
                f"{home.settings}",
                err=True,
            )
        if asks or answers.starter != "none":
            for line in check_lines(asyncio.run(diagnose(settings))):
                print_text(line)
            for line in install_start_method(settings, answers.starter):
                print_text(line)


@click.command()
@pass_home_option
def rekey(home_option: HomeOption) -> None:
    """Make a new key for this agent; the manager forgets the old one. Stop the agent first.

    No token is needed, and the work stays. The same command again ends what a crash left.
    """
    with in_words():
        settings = home_option.settings()
        home = Home(settings.home)
        identity_of(settings)  # whoever never joined hears that, and not of a lock
        lock = HomeLock.take(home.lock)
        try:
            renewed = renew_key(settings, identity_of(settings))
        finally:
            lock.release()
    print_text(f"{renewed.name} has a new key, and {renewed.manager} knows no other")


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
        print_text(f"changed in {path}: {', '.join(changed)}")
    return settings


def _given(settings: Settings, answers: Answers) -> dict[str, dict[str, object]]:
    """Return the values for prs.toml. Cron would not know a proxy of this shell.

    A URL or a name that stands there would go before those of the key that is made now.
    """
    given = answers.settings_values
    route = given.setdefault("manager", {})
    site, proxy = settings.manager, getproxies().get("https", "")
    if proxy and not (answers.proxy or site.proxy) and answers.url.startswith("https:"):
        route["proxy"] = proxy
    if site.url:
        route["url"] = answers.url
    if site.name and answers.name:
        route["name"] = answers.name
    return given


async def _enrol(settings: Settings, home: Home, answers: Answers) -> Identity:
    url, name = answers.url, answers.name or check_agent_name(own_name())
    await check_manager_route(settings, Identity(url, name, "", ""))

    async def hand_in(key: str) -> None:
        async with client_of(settings, Identity(url, name, "", "")) as client:
            await client.enrol(answers.token, key, answers.position)

    return await enrol_home(home, url, name, answers.token, hand_in)
