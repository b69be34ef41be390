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

from agent.app.manager_link.certificate_dates import check_dates, is_about_dates
from agent.app.manager_link.manager_client import client_of
from agent.app.session.network_check import (
    LOOK_UP_S,
    LOOK_UP_TRIES,
    check_page_route,
    host_asked_for,
    without_password,
)
from agent.app.site.site import windows_of
from agent.app.startup.agent_run import identity_of
from agent.app.startup.file_limits import files_needed
from agent.app.startup.start_methods import describe_start_methods, outdated_schedule_command
from agent.control.disk import free_bytes
from agent.control.doctor import (
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
from agent.link.http_hints import remedy
from agent.link.keys import Identity
from agent.settings import Home, Settings, check_can_run
from agent.settings.texts import is_loopback
from shared.errors import SettingError
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
        checks.append(Check("key", str(error), "enrol with: prs enrol URL"))
        return [*checks, await check_page_route(settings, "", page)]
    checks += await _manager(settings, identity)
    reached = any(check.name == "manager" and check.passed for check in checks)
    return [*checks, await check_page_route(settings, identity.manager if reached else "", page)]


def _contact(settings: Settings) -> Check:
    try:
        check_can_run(settings)
    except SettingError as error:
        return Check("contact", "not set", str(error))
    return Check("contact", f"{settings.robot.contact}; {settings.robot.info_url or 'no page'}")


def _home(home: Home) -> Check:
    holder = holder_of(home.lock)
    return Check(
        "agent", f"process {holder.pid} works in {home.path}" if holder else f"none in {home.path}"
    )


def _start(settings: Settings) -> Check:
    """Check the start method. One from before a change of the hours starts the agent too late."""
    try:
        said = describe_start_methods(settings.home)
        mended_by = outdated_schedule_command(settings)
    except HomeError as error:
        return Check("start", f"unknown: {error}")
    if mended_by:
        return Check("start", _join_lines(said), f"these are not of today's hours: {mended_by}")
    return Check("start", _join_lines(said))


def _join_lines(said: Sequence[str]) -> str:
    """Return sentences as one line; what follows a colon stands behind it."""
    return "; ".join(line.strip() for line in said).replace(":; ", ": ")


def _holds(home: Home) -> Check:
    try:
        held = read_holds(home.hold).reason
        return Check("holds", str(held) if held else "nothing holds the agent")
    except HomeError as error:
        return Check("holds", "unknown", str(error))


def _reader() -> Check:
    """Check the page reader: the slower one is no fault, but worth knowing."""
    why = absence_reason()
    if not why:
        return Check("pages", f"read by code made for {platform.machine()}")
    return Check("pages", f"read in Python, at half again the processor time and more: {why}")


def _source_address(address: str) -> Check:
    if not address:
        return Check("source", "the system chooses the address that requests leave from")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.bind((address, 0))
    except OSError as error:
        return Check(
            "source",
            f"{address}: {error.strerror}",
            "set network.source_address to an address of this machine, or leave it empty",
        )
    return Check("source", f"requests leave from {address}")


def _is_trial(settings: Settings) -> bool:
    """Return whether the manager is this machine, as in a first trial."""
    try:
        return is_loopback(host_asked_for(identity_of(settings).manager))
    except HomeError:
        return False


async def _name_servers(settings: Settings, name: str = _ASKED, *, trial: bool = False) -> Check:
    """Judge how the crawl's name servers answer about a name. trial: see `check_names`."""
    servers = settings.dns.servers
    asked = ", ".join(servers) or "those of this machine"
    try:
        question = NameServers(servers, timeout_s=LOOK_UP_S, tries=LOOK_UP_TRIES)
    except SettingError as error:
        return Check("name servers", asked, str(error))
    try:
        found = await look_up(host_of(canonical(f"http://{name}/")), question, lambda _: None)
    except SettingError as error:  # those of this machine cannot be read
        return Check("name servers", asked, str(error))
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
    shown = without_password(proxy)
    if shown and not settings.manager.proxy:
        shown += ", by this shell's environment, which cron and systemd do not know: manager.proxy"
    checks = [Check("proxy", shown or "none: the manager is called directly")]
    wanted = urlsplit(proxy).hostname or host if proxy else host
    try:
        await asyncio.get_running_loop().getaddrinfo(wanted, None)
    except OSError as error:
        return [
            *checks,
            Check(
                "manager",
                f"{wanted} has no address ({error.strerror})",
                "check manager.url, manager.proxy and this machine's name servers",
            ),
        ]
    try:
        async with client_of(settings, identity) as client:
            _, date = await client.is_restart()
    except RefusedError as error:
        if not error.by_manager:
            said = f"{identity.manager}: another than a manager answers ({error})"
            return [*checks, Check("manager", said, _route_remedy(said))]
        reached = Check("manager", f"{identity.manager} answers")
        return [*checks, reached, Check("key", str(error), str(remedy(error) or ""))]
    except (LinkError, HomeError) as error:
        if is_about_dates(error):
            now = datetime.now(UTC)
            return [*checks, await check_dates(identity.manager, proxy, str(error), now)]
        return [*checks, Check("manager", str(error), _route_remedy(str(error)))]
    secure = urlsplit(identity.manager).scheme == "https"
    line = "its certificate is trusted" if secure else "in plain HTTP on this machine"
    return [
        *checks,
        Check("manager", f"{identity.manager} answers, {line}"),
        Check("key", f"accepted, as {identity.name}"),
        check_clock(datetime.now(UTC), date),
    ]


def _environment_proxy(identity: Identity) -> str:
    return getproxies().get(urlsplit(identity.manager).scheme, "")


def _route_remedy(said: str) -> str:
    if "CERTIFICATE" in said.upper():
        return (
            "if a firewall opens TLS here, set manager.ca_file to its authority's certificate, or "
            "let prs enrol --ca-file FILE do it"
        )
    return "check the network, the firewall, manager.url and manager.proxy"
