"""Gathers what `prs doctor` judges: this machine, its network, and the manager's answer."""

from __future__ import annotations

import asyncio
import platform
import resource
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit
from urllib.request import getproxies

from agent.app.site.network_checks import (
    LOOK_UP_S,
    LOOK_UP_TRIES,
    check_dates,
    check_page_route,
    host_asked_for,
    is_about_dates,
    without_password,
)
from agent.app.site.site import files_needed, windows_of
from agent.app.startup.agent_run import identity_of
from agent.app.startup.start_methods import describe_start_methods, outdated_schedule_command
from agent.control.disk import free_bytes
from agent.control.doctor import (
    NAMES,
    Check,
    check_clock,
    check_disk,
    check_files,
    check_hours,
    check_names,
)
from agent.control.drain import read_holds
from agent.control.lock import holder_of
from agent.control.updates import check_updates
from agent.errors import HomeError, LinkError, RefusedError
from agent.link.client import client_of
from agent.link.keys import Identity
from agent.settings import Home, Settings, check_can_run
from agent.settings.texts import is_loopback
from shared.errors import SettingError
from shared.messages import Message
from shared.naming import NameServers, look_up
from shared.native import absence_reason
from shared.urls import canonical, host_of

__all__ = ["check_manager_route", "diagnose", "disk_of"]

_ASKED = "www.example.com"  # a name that every name server of the Internet knows


def disk_of(settings: Settings, wanted_bytes: int) -> Check:
    """Judge the room for an agent's files: wanted_bytes beside the reserve. Raises OSError."""
    return check_disk(
        free_bytes(settings.home if settings.home.exists() else settings.home.parent),
        settings.disk.reserve_bytes,
        wanted_bytes,
    )


async def diagnose(settings: Settings, page: str = "") -> list[Check]:
    """Return every check, in the order in which a person would mend them.

    page: a URL to which the way is tried; empty: the manager's.
    """
    now = datetime.now(UTC)
    home = Home(settings.home)
    checks = [_contact(settings), _home(home), _start(settings), check_updates(now), _holds(home)]
    checks.append(disk_of(settings, settings.disk.segment_bytes))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    checks.append(check_files(hard, files_needed(settings), settings.network.parallel_hosts))
    checks.append(check_hours(windows_of(settings), now))
    checks.append(_reader())
    checks.append(_source_address(settings.network.source_address))
    name = host_asked_for(page)
    trial = not name and _is_trial(settings)
    checks.append(await _name_servers(settings, name or _ASKED, trial=trial))
    try:
        identity = identity_of(settings)
    except HomeError as error:
        checks.append(Check("key", error.message, Message("doctor.enrol")))
        return [*checks, await check_page_route(settings, "", page)]
    checks += await _manager(settings, identity)
    reached = any(check.name == "manager" and check.passed for check in checks)
    return [*checks, await check_page_route(settings, identity.manager if reached else "", page)]


def _contact(settings: Settings) -> Check:
    try:
        check_can_run(settings)
    except SettingError as error:
        return Check("contact", Message("doctor.contact_missing"), error.message)
    robot = settings.robot
    if not robot.info_url:
        return Check("contact", Message("doctor.contact_without_page", contact=robot.contact))
    return Check(
        "contact", Message("doctor.contact", contact=robot.contact, info_url=robot.info_url)
    )


def _home(home: Home) -> Check:
    holder = holder_of(home.lock)
    if holder is None:
        return Check("agent", Message("doctor.not_running", home=str(home.path)))
    return Check("agent", Message("doctor.running", pid=holder.pid, home=str(home.path)))


def _start(settings: Settings) -> Check:
    """Check the start method. One from before a change of the hours starts the agent too late."""
    try:
        said = describe_start_methods(settings.home)
        mended_by = outdated_schedule_command(settings)
    except HomeError as error:
        return Check("start", Message("doctor.start_unknown", problem=error.message))
    remedy = Message("doctor.start_outdated", command=mended_by) if mended_by else None
    return Check("start", Message("doctor.start", methods=_join_lines(said)), remedy)


def _join_lines(said: Sequence[str]) -> str:
    """Return sentences as one line; what follows a colon stands behind it."""
    return "; ".join(line.strip() for line in said).replace(":; ", ": ")


def _holds(home: Home) -> Check:
    try:
        return Check("holds", read_holds(home.hold).reason or Message("doctor.no_hold"))
    except HomeError as error:
        return Check("holds", Message("doctor.hold_unknown"), error.message)


def _reader() -> Check:
    """Check the page reader: the slower one is no fault, but worth knowing."""
    why = absence_reason()
    if why is None:
        return Check("pages", Message("doctor.pages_native", machine=platform.machine()))
    return Check("pages", Message("doctor.pages_python", why=why))


def _source_address(address: str) -> Check:
    if not address:
        return Check("source", Message("doctor.source_of_system"))
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.bind((address, 0))
    except OSError as error:
        return Check(
            "source",
            Message("doctor.source_failed", address=address, why=error.strerror),
            Message("doctor.set_source"),
        )
    return Check("source", Message("doctor.source", address=address))


def _is_trial(settings: Settings) -> bool:
    """Return whether the manager is this machine, as in a first trial."""
    try:
        return is_loopback(host_asked_for(identity_of(settings).manager))
    except HomeError:
        return False


async def _name_servers(settings: Settings, name: str = _ASKED, *, trial: bool = False) -> Check:
    """Judge how the crawl's name servers answer about a name. trial: see `check_names`."""
    servers = settings.dns.servers
    asked = ", ".join(servers) or Message("doctor.names_of_machine")
    unusable = Message("doctor.names_not_usable", servers=asked)
    try:
        question = NameServers(servers, timeout_s=LOOK_UP_S, tries=LOOK_UP_TRIES)
    except SettingError as error:
        return Check(NAMES, unusable, error.message)
    try:
        found = await look_up(host_of(canonical(f"http://{name}/")), question, lambda _: None)
    except SettingError as error:  # those of this machine cannot be read
        return Check(NAMES, unusable, error.message)
    finally:
        await question.close()
    return check_names(asked, name, found, proxied=bool(settings.network.proxy), trial=trial)


async def check_manager_route(settings: Settings, identity: Identity) -> None:
    """Raise LinkError, with what to do, unless the manager is reached; its key is not judged."""
    for check in await _manager(settings, identity):
        if check.name == "manager" and not check.passed:
            raise LinkError("agent_errors.with_remedy", problem=check.said, remedy=check.remedy)


async def _manager(settings: Settings, identity: Identity) -> list[Check]:
    host = urlsplit(identity.manager).hostname or ""
    proxy = "" if is_loopback(host) else settings.manager.proxy or _environment_proxy(identity)
    checks = [Check("proxy", _proxy_used(without_password(proxy), settings))]
    wanted = urlsplit(proxy).hostname or host if proxy else host
    try:
        await asyncio.get_running_loop().getaddrinfo(wanted, None)
    except OSError as error:
        return [
            *checks,
            Check(
                "manager",
                Message("doctor.manager_no_address", host=wanted, why=error.strerror),
                Message("doctor.manager_remedy_names"),
            ),
        ]
    try:
        async with client_of(settings, identity) as client:
            _, date = await client.is_restart()
    except RefusedError as error:
        if not error.by_manager:
            said = Message("doctor.manager_other", manager=identity.manager, problem=error.message)
            return [*checks, Check("manager", said, _route_remedy(said))]
        reached = Check("manager", Message("doctor.manager_answers", manager=identity.manager))
        return [*checks, reached, Check("key", error.message, error.remedy)]
    except (LinkError, HomeError) as error:
        if is_about_dates(error):
            now = datetime.now(UTC)
            return [*checks, await check_dates(identity.manager, proxy, error.message, now)]
        return [*checks, Check("manager", error.message, _route_remedy(error.message))]
    secure = urlsplit(identity.manager).scheme == "https"
    code = "doctor.manager_answers_tls" if secure else "doctor.manager_answers_plain"
    return [
        *checks,
        Check("manager", Message(code, manager=identity.manager)),
        Check("key", Message("doctor.key_accepted", name=identity.name)),
        check_clock(datetime.now(UTC), date),
    ]


def _environment_proxy(identity: Identity) -> str:
    return getproxies().get(urlsplit(identity.manager).scheme, "")


def _proxy_used(shown: str, settings: Settings) -> Message:
    """Return the proxy to the manager; one of the shell's environment is not there for cron."""
    if not shown:
        return Message("doctor.no_proxy")
    by = "doctor.proxy" if settings.manager.proxy else "doctor.proxy_of_shell"
    return Message(by, proxy=shown)


def _route_remedy(said: Message) -> Message:
    if "CERTIFICATE" in str(said).upper():
        return Message("doctor.set_ca_file")
    return Message("doctor.check_firewall")
