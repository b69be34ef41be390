"""The questions of `prs enrol` for answers not given as options: each is checked at once."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import click

from agent.app.startup.start_methods import STARTERS, Starter
from agent.cli.join_token import read_token
from agent.cli.options import print_text
from agent.settings import Settings, check_manager_url
from agent.settings.groups.robot import RobotSettings
from agent.settings.groups.windows import WindowSettings
from agent.settings.texts import check_texts
from shared.errors import PrsmError
from shared.wire.names import check_agent_name
from shared.wire.positions import Position, position_of_text

__all__ = ["Answers", "ask_missing", "check_contact", "hours_of", "own_name"]

ALWAYS: Final = "always"
ALL_DAY: Final = ("00:00-24:00",)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of the enrolment. None: not given, and the default holds."""

    url: str
    token: str
    name: str
    contact: str | None
    weekday: tuple[str, ...] | None
    weekend: tuple[str, ...] | None
    starter: Starter
    position: Position | None = None
    ca_file: str = ""
    proxy: str = ""

    @property
    def settings_values(self) -> dict[str, dict[str, object]]:
        """Return the values for prs.toml, by group."""
        found: dict[str, dict[str, object]] = {}
        if self.contact:
            found["robot"] = {"contact": self.contact}
        hours = {"weekday": self.weekday, "weekend": self.weekend}
        windows: dict[str, object] = {
            name: list(value) for name, value in hours.items() if value is not None
        }
        if windows:
            found["windows"] = windows
        route = {"ca_file": self.ca_file, "proxy": self.proxy}
        if any(route.values()):
            found["manager"] = {name: value for name, value in route.items() if value}
        return found


def hours_of(text: str) -> tuple[str, ...]:
    """Return hours as prs.toml has them, of `always`, `never`, `02:00-08:00, 22:00-24:00`.

    Raises SettingError.
    """
    word = text.strip().lower()
    if word == ALWAYS:
        return ALL_DAY
    if word == "never":
        return ()
    hours = tuple(one.strip() for one in text.split(","))
    check_texts(_with(WindowSettings(weekday=hours)))
    return hours


def _words(hours: tuple[str, ...]) -> str:
    """Return hours as a person types them: the inverse of `hours_of`."""
    return "never" if not hours else ALWAYS if hours == ALL_DAY else ", ".join(hours)


def check_contact(text: str) -> str:
    """Return a mail address. Raises SettingError."""
    check_texts(_with(robot=RobotSettings(contact=text.strip() or "?")))
    return text.strip()


def own_name() -> str:
    """Return this machine's name, as agents are named."""
    return socket.getfqdn().lower().rstrip(".")


def ask_missing(known: Answers, settings: Settings) -> Answers:
    """Ask a person for what the command line did not say; what prs.toml says is offered."""
    url = known.url or _ask("Address of the manager", lambda text: check_manager_url(text, "URL"))
    token = known.token or read_token(None, can_ask=True)
    name = known.name or _ask("Name of this robot", check_agent_name, default=own_name())
    contact = known.contact or _ask(
        "Mail address, for owners of sites that the robot visits",
        check_contact,
        default=settings.robot.contact or None,
    )
    weekday, weekend, hours = known.weekday, known.weekend, settings.windows
    if weekday is None:
        print_text(f"Hours by this machine's clock: {ALWAYS}, never, or 02:00-08:00", err=True)
        weekday = _ask("  Monday to Friday", hours_of, default=_words(hours.weekday))
    if weekend is None:
        weekend = _ask("  Saturday and Sunday", hours_of, default=_words(hours.weekend))
    position = known.position
    if position is None:
        print_text("For the map of the crawl, degrees north and east: 35.03 135.78", err=True)
        position = _ask("  Where it stands (empty: not said)", position_of_text, default="")
    starter = known.starter
    if starter == "none":
        first: Starter = "cron" if shutil.which("crontab") else "none"
        starter = click.prompt("Started by", type=click.Choice(STARTERS), default=first, err=True)
    return replace(
        known,
        url=url,
        token=token,
        name=name,
        contact=contact,
        weekday=weekday,
        weekend=weekend,
        starter=starter,
        position=position,
    )


def _ask(question: str, check: Callable[[str], _Value], default: str | None = None) -> _Value:
    """Ask until the answer is valid; return its value."""

    def checked(text: str) -> _Value:
        try:
            return check(text)
        except PrsmError as error:
            raise click.BadParameter(str(error)) from error

    answer: _Value = click.prompt(
        question, default=default, value_proc=checked, show_default=bool(default), err=True
    )
    return answer


def _with(windows: WindowSettings | None = None, robot: RobotSettings | None = None) -> Settings:
    """Return settings that differ in one group, to be checked."""
    return Settings(
        home=Path(), windows=windows or WindowSettings(), robot=robot or RobotSettings()
    )
