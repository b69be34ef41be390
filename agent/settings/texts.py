"""Checks of the settings that are texts with their own form, and of those that must fit together.

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

from agent.settings.groups import Settings
from agent.settings.groups.links import LinkSettings
from shared import day_times
from shared.day_hours import Dates, Days, day_hours
from shared.errors import FormatError, SettingError
from shared.settings import check_network, name_server
from shared.windows import Window
from shared.wire.link_kinds import SWITCHABLE
from shared.wire.names import check_agent_name

__all__ = [
    "CONTENT_CODINGS",
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

_WELL_KNOWN: Final = re.compile(r"(?!/)[A-Za-z0-9._~/-]{1,200}")
_PROXY_SCHEMES: Final = {"http", "https"}
SHOWN: Final = 500
"""Characters of a wrong value that a refusal repeats."""


def check_texts(settings: Settings) -> None:
    """Refuse a text that could not be used later. Raises SettingError."""
    _check_manager(settings)
    _check_robot(settings)
    _check_network(settings)
    _check_seen_by(settings.memory.seen_url_filter)
    _check_links(settings.links)
    windows = settings.windows
    collection = settings.collection
    for name in ("weekday", "weekend"):
        for text in getattr(windows, name):
            window_minutes(text, f"windows.{name}")
        for text in getattr(collection, name):
            window_minutes(text, f"collection.{name}")
    if not collection.weekday and not collection.weekend:
        raise SettingError("agent_errors.never_sends")
    name_server(collection.serve_listen, "collection.serve_listen")
    if collection.serve_url:
        check_serve_url(collection.serve_url)
    days, dates = day_windows(windows.days, "windows.days")
    if not any((windows.weekday, windows.weekend, *days.values(), *dates.values())):
        raise SettingError("agent_errors.never_works")
    if windows.zone:
        _check_zone(windows.zone)
    if settings.reports.daily_log_time:
        day_minutes(settings.reports.daily_log_time, "reports.daily_log_time")
    manager = settings.manager
    if manager.max_backoff_s < manager.backoff_s:
        raise SettingError(
            "agent_errors.backoff_max_s", value=manager.max_backoff_s, least=manager.backoff_s
        )


def _check_seen_by(name: str) -> None:
    if name not in SEEN_BY:
        raise SettingError("agent_errors.seen_by", value=name[:SHOWN], known=SEEN_BY)


def _check_links(links: LinkSettings) -> None:
    for name in links.disabled_kinds:
        if name not in SWITCHABLE:
            near = get_close_matches(name, SWITCHABLE, 1, 0.0)[0]
            raise SettingError(
                "agent_errors.link_kind", value=name[:SHOWN], known=tuple(SWITCHABLE), nearest=near
            )
    for name in links.well_known_files:
        if not _WELL_KNOWN.fullmatch(name):
            raise SettingError("agent_errors.well_known", value=name[:SHOWN])


def check_manager_url(url: str, name: str = "manager.url") -> str:
    """Return the URL of a manager without its last `/`; raises SettingError.

    The agent's key travels with every request, so only TLS or this very machine will do.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SettingError(
            "agent_errors.bad_url", name=name, value=url[:SHOWN], why=str(error)
        ) from error
    if parts.scheme not in {"http", "https"} or not host:
        raise SettingError("agent_errors.manager_url", name=name, value=url[:SHOWN])
    if parts.username or parts.query or parts.fragment:
        raise SettingError("agent_errors.manager_url_more", name=name, value=url[:SHOWN])
    if parts.scheme == "http" and not is_loopback(host):
        raise SettingError("agent_errors.manager_url_plain", name=name, value=url[:SHOWN])
    return url.rstrip("/")


def check_serve_url(url: str) -> None:
    """Refuse what is no `https://name[:port]`; raises SettingError."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.path or parts.query:
        raise SettingError("agent_errors.serve_url", value=url[:SHOWN])


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
        raise SettingError(error.message) from error


def _check_manager(settings: Settings) -> None:
    manager = settings.manager
    if manager.url:
        check_manager_url(manager.url)
    if manager.name:
        try:
            check_agent_name(manager.name)
        except FormatError as error:
            raise SettingError(
                "agent_errors.setting", name="manager.name", problem=error.message
            ) from error
    if manager.ca_file and not (settings.home / manager.ca_file).is_file():
        raise SettingError(
            "agent_errors.ca_file", value=manager.ca_file[:SHOWN], home=str(settings.home)
        )
    _check_proxy("manager.proxy", manager.proxy)


def _check_robot(settings: Settings) -> None:
    robot = settings.robot
    if not _TOKEN.fullmatch(robot.product_token):
        raise SettingError("agent_errors.robot_token", value=robot.product_token[:SHOWN])
    if robot.contact and not _MAIL.fullmatch(robot.contact):
        raise SettingError("agent_errors.contact", value=robot.contact[:SHOWN])
    if robot.info_url and urlsplit(robot.info_url).scheme not in {"http", "https"}:
        raise SettingError("agent_errors.info_url", value=robot.info_url[:SHOWN])


def _check_network(settings: Settings) -> None:
    network, dns = settings.network, settings.dns
    for text in dns.allowed_networks:
        check_network(text, "dns.allowed_networks")
    for text in network.content_codings:
        if text not in CONTENT_CODINGS:
            raise SettingError(
                "agent_errors.content_coding", value=text[:SHOWN], known=CONTENT_CODINGS
            )
    for text in dns.servers:
        name_server(text, "dns.servers")
    if network.source_address:
        try:
            ipaddress.ip_address(network.source_address)
        except ValueError as error:
            raise SettingError(
                "agent_errors.setting", name="network.source_address", problem=str(error)
            ) from error
    _check_proxy("network.proxy", network.proxy)


def _check_proxy(name: str, url: str) -> None:
    if url and (urlsplit(url).scheme not in _PROXY_SCHEMES or not urlsplit(url).hostname):
        raise SettingError("agent_errors.proxy_url", name=name, value=url[:SHOWN])


def _check_zone(zone: str) -> None:
    try:
        zoneinfo.ZoneInfo(zone)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise SettingError("agent_errors.no_zone", value=zone[:SHOWN]) from None


def is_loopback(host: str) -> bool:
    """Return whether a host's name or address is this very machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
