"""Check the settings that are texts with a form of their own, and those that must fit together.

Invariant: a text that passed here is accepted by whoever uses it later: URLs have a host, networks
and addresses parse, times of day are times of day. Parsers that others need are given here too.
"""

from __future__ import annotations

import ipaddress
import re
import zoneinfo
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlsplit

from agent.settings.crawl import LinkSettings
from agent.settings.groups import Settings
from shared import day_times
from shared.day_hours import Dates, Days, day_hours
from shared.errors import FormatError, SettingError
from shared.settings import check_network, name_server
from shared.windows import Window
from shared.wire.link_kinds import SWITCHABLE
from shared.wire.names import check_agent_name

__all__ = [
    "CONTENT_CODINGS",
    "LINK_KINDS",
    "SEEN_BY",
    "check_manager_url",
    "check_texts",
    "day_minutes",
    "day_windows",
    "is_loopback",
    "window_minutes",
]

_MAIL: Final = re.compile(r"[^\s@<>()]+@[^\s@<>()]+")
_TOKEN: Final = re.compile(r"[A-Za-z_-]{1,64}")
CONTENT_CODINGS: Final = ("gzip", "deflate", "br", "zstd")
"""What the work on pages takes off a body."""

SEEN_BY: Final = ("pairs", "buckets", "generations", "lru", "lru+sbfl", "lru+rotating")
"""The memories that dedup may have, as `agent.modules.seen` names them."""

LINK_KINDS: Final = SWITCHABLE
"""The kinds of links that can be switched off, as `agent.pipeline.link_kinds` names them."""

_WELL_KNOWN: Final = re.compile(r"(?!/)[A-Za-z0-9._~/-]{1,200}")
_PROXY_SCHEMES: Final = {"http", "https"}


def check_texts(settings: Settings) -> None:
    """Refuse a text that could not be used later. Raises SettingError."""
    _check_manager(settings)
    _check_robot(settings)
    _check_network(settings)
    _check_seen_by(settings.memory.seen_by)
    _check_links(settings.links)
    windows = settings.windows
    collection = settings.collection
    for name in ("weekday", "weekend"):
        for text in getattr(windows, name):
            window_minutes(text, f"windows.{name}")
        for text in getattr(collection, name):
            window_minutes(text, f"collection.{name}")
    if not collection.weekday and not collection.weekend:
        raise SettingError(
            "collection.weekday and collection.weekend are both empty: nothing would ever be sent; "
            'the default is ["00:00-24:00"], always'
        )
    name_server(collection.serve_listen, "collection.serve_listen")
    if collection.serve_url:
        check_serve_url(collection.serve_url)
    days, dates = day_windows(windows.days, "windows.days")
    if not any((windows.weekday, windows.weekend, *days.values(), *dates.values())):
        raise SettingError(
            "windows.weekday and windows.weekend are both empty: the agent would never work; "
            'the default is ["00:00-24:00"], always'
        )
    if windows.zone:
        _check_zone(windows.zone)
    if settings.reports.at:
        day_minutes(settings.reports.at, "reports.at")
    manager = settings.manager
    if manager.backoff_max_s < manager.backoff_s:
        raise SettingError(
            f"manager.backoff_max_s = {manager.backoff_max_s}: must be >= manager.backoff_s "
            f"({manager.backoff_s} s)"
        )


def _check_seen_by(name: str) -> None:
    if name not in SEEN_BY:
        raise SettingError(
            f'memory.seen_by = "{name}": must be one of {", ".join(SEEN_BY)}; the default is pairs'
        )


def _check_links(links: LinkSettings) -> None:
    for name in links.off:
        if name not in LINK_KINDS:
            near = get_close_matches(name, LINK_KINDS, 1, 0.0)[0]
            raise SettingError(
                f'links.off has "{name}": must be kinds of links that can be switched off '
                f'({", ".join(LINK_KINDS)}); did you mean "{near}"? The default is []'
            )
    for name in links.well_known:
        if not _WELL_KNOWN.fullmatch(name):
            raise SettingError(
                f'links.well_known has "{name}": must be names of files below /.well-known/, as '
                '"security.txt", of at most 200 letters, digits and ._~/-'
            )


def check_manager_url(url: str, name: str = "manager.url") -> str:
    """Return the URL of a manager without its last `/`; raises SettingError.

    The agent's key travels with every request, so only TLS or this very machine will do.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SettingError(f'{name} = "{url}": {error}') from error
    if parts.scheme not in {"http", "https"} or not host:
        raise SettingError(f'{name} = "{url}": must be https://name[:port]/')
    if parts.username or parts.query or parts.fragment:
        raise SettingError(f'{name} = "{url}": must be https://name[:port]/, nothing more')
    if parts.scheme == "http" and not is_loopback(host):
        raise SettingError(
            f'{name} = "{url}": must begin with https://, because the agent\'s key would be '
            "readable on the way; plain http is for a manager on this machine (127.0.0.1)"
        )
    return url.rstrip("/")


def check_serve_url(url: str) -> None:
    """Refuse what is no `https://name[:port]`; raises SettingError."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.path or parts.query:
        raise SettingError(
            f'collection.serve_url = "{url}": must be https://name[:port], as the manager reaches '
            "this machine"
        )


def window_minutes(text: str, name: str = "window") -> Window:
    """Return (first, end) of `02:00-08:00`, as `shared.day_times` does; raises SettingError."""
    with _as_setting():
        return day_times.window_minutes(text, name)


def day_windows(lines: Iterable[str], name: str = "days") -> tuple[Days, Dates]:
    """Return hours by day and by date, as `shared.day_hours` does; raises SettingError."""
    with _as_setting():
        return day_hours(lines, name)


def day_minutes(text: str, name: str) -> int:
    """Return the minutes of the day of `08:30`, up to 24:00; raises SettingError."""
    with _as_setting():
        return day_times.day_minutes(text, name)


@contextmanager
def _as_setting() -> Iterator[None]:
    try:
        yield
    except FormatError as error:
        raise SettingError(str(error)) from error


def _check_manager(settings: Settings) -> None:
    manager = settings.manager
    if manager.url:
        check_manager_url(manager.url)
    if manager.name:
        try:
            check_agent_name(manager.name)
        except FormatError as error:
            raise SettingError(f"manager.name: {error}") from error
    if manager.ca_file and not (settings.home / manager.ca_file).is_file():
        raise SettingError(
            f'manager.ca_file = "{manager.ca_file}": no such file; a relative path starts '
            f"at {settings.home}"
        )
    _check_proxy("manager.proxy", manager.proxy)


def _check_robot(settings: Settings) -> None:
    robot = settings.robot
    if not _TOKEN.fullmatch(robot.token):
        raise SettingError(
            f'robot.token = "{robot.token}": must be 1 to 64 letters, _ or -, as RFC 9309 says; '
            'the default is "PRS"'
        )
    if robot.contact and not _MAIL.fullmatch(robot.contact):
        raise SettingError(
            f'robot.contact = "{robot.contact}": must be a mail address, as you@example.org'
        )
    if robot.info_url and urlsplit(robot.info_url).scheme not in {"http", "https"}:
        raise SettingError(f'robot.info_url = "{robot.info_url}": must be an http or https URL')


def _check_network(settings: Settings) -> None:
    network, naming = settings.network, settings.naming
    for text in naming.allowed_networks:
        check_network(text, "naming.allowed_networks")
    for text in network.content_codings:
        if text not in CONTENT_CODINGS:
            raise SettingError(
                f'network.content_codings has "{text}": must be of {", ".join(CONTENT_CODINGS)}; '
                "an empty list asks for bodies as they are"
            )
    for text in naming.servers:
        name_server(text, "naming.servers")
    if network.source_address:
        try:
            ipaddress.ip_address(network.source_address)
        except ValueError as error:
            raise SettingError(f"network.source_address: {error}") from error
    _check_proxy("network.proxy", network.proxy)


def _check_proxy(name: str, url: str) -> None:
    if url and (urlsplit(url).scheme not in _PROXY_SCHEMES or not urlsplit(url).hostname):
        raise SettingError(f'{name} = "{url}": must be as http://proxy.example.org:8080')


def _check_zone(zone: str) -> None:
    try:
        zoneinfo.ZoneInfo(zone)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise SettingError(
            f'windows.zone = "{zone}": no such time zone on this machine; write it as Asia/Tokyo, '
            "or install the package tzdata"
        ) from None


def is_loopback(host: str) -> bool:
    """Return whether a host's name or address is this very machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
