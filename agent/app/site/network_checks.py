"""Checks of the network for `prs doctor`: the way to pages, and the manager's certificate.

One request goes the way that the crawl takes. The name is looked up as the crawl does
(`dns.servers`), its address is judged by the same rules, and the same fetcher sends the request,
from the same address and through the same proxy.
It asks for /robots.txt, which anybody may have, of the manager's host or of one that a person
named: no third party is called unasked. No key goes with it; any answer shows that the way is open.
A manager's certificate outside its dates is mostly a wrong clock: it is fetched once more without
being believed, to say its dates; no key goes with that request either.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

import httpx
from cryptography import x509

from agent.adapters.clock import SystemClock
from agent.adapters.curl import CurlFetcher
from agent.app.session.single_fetch import with_contact
from agent.app.startup.settings_mapping import fetch_options, resolver_of
from agent.control.doctor import Check
from agent.link.connections import certificate_error
from agent.pipeline.messages.hosts import LookUp, pinned
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest
from agent.settings import Settings
from agent.settings.texts import is_loopback
from shared.errors import SettingError, UrlError
from shared.messages import Message
from shared.naming import AddressRules, HostFailure
from shared.urls import canonical, host_of

__all__ = [
    "check_dates",
    "check_page_route",
    "host_asked_for",
    "is_about_dates",
    "without_password",
]

NAME: Final = "way to pages"
WAIT_S: Final = 20.0
LOOK_UP_S: Final = 2.0
LOOK_UP_TRIES: Final = 2
BODY_BYTES: Final = 1000
_PROXY_REFUSES: Final = 407
_MAY_BE_THE_PROXYS: Final = (403, 502, 503, 504)
_ANSWERED: Final = ("answered", "truncated")
_EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
_NOT_YET_OR_OVER: Final = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
_UNKNOWN: Final = (HostFailure.NO_SUCH_NAME, HostFailure.NO_ADDRESS)


def host_asked_for(page: str) -> str:
    """Return the name of the host of a page that a person named; "": it is no URL."""
    try:
        return urlsplit(canonical(page)).hostname or "" if page else ""
    except (UrlError, ValueError):
        return ""


async def check_page_route(settings: Settings, manager: str, page: str = "") -> Check:
    """Try one request. manager: its URL; empty: it is not reached. page: a URL to try instead."""
    name = host_asked_for(page or manager)
    if not page and (not manager or is_loopback(name)):
        code = "doctor.not_tried_local" if manager else "doctor.not_tried_no_manager"
        return Check(NAME, Message(code))
    if not name:
        said = Message("doctor.not_a_url", page=page[:200])
        return Check(NAME, said, Message("doctor.write_url"))
    # Where the manager is, is the partner's own matter; the crawl never goes there.
    rules = AddressRules(settings.dns.allowed_networks if page else _EVERYWHERE)
    host = host_of(canonical(page or manager))
    try:
        found = await _look_up(settings, host, rules)
    except SettingError as error:
        return Check(NAME, Message("doctor.not_looked_up", name=name), error.message)
    if not found.addresses:
        if not page and settings.dns.servers and found.failure in _UNKNOWN:
            return Check(NAME, Message("doctor.not_tried_names", why=found.reason))
        return _no_address(settings, name, found)
    return _judged(settings, name, host, await _ask(settings, host, found, rules))


async def _look_up(settings: Settings, host: str, rules: AddressRules) -> LookUp:
    resolver = resolver_of(settings, rules, timeout_s=LOOK_UP_S, tries=LOOK_UP_TRIES)
    try:
        return await resolver.look_up(host)
    finally:
        await resolver.close()


def _no_address(settings: Settings, name: str, found: LookUp) -> Check:
    said = Message("doctor.not_reached", name=name, how=_way(settings), why=found.reason)
    if found.failure is HostFailure.FORBIDDEN_ADDRESS:
        return Check(NAME, said, Message("doctor.private_ranges"))
    own = settings.dns.servers
    servers = "dns.servers" if own else Message("doctor.names_of_machine")
    more = _remedy(settings.network.proxy)
    return Check(NAME, said, Message("doctor.check_name", servers=servers, more=more))


async def _ask(settings: Settings, host: str, found: LookUp, rules: AddressRules) -> FetchAnswer:
    """Return the answer to a request for robots.txt, as the crawl's fetcher sends it."""
    options = replace(fetch_options(with_contact(settings)), deadline_s=WAIT_S)
    fetcher = CurlFetcher(options, lambda: True, rules.refusal, SystemClock())
    answer: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
    url, address = canonical(host) + "robots.txt", pinned(found.addresses[0])
    try:
        fetcher.start(FetchRequest(url, address, BODY_BYTES, rules=True), answer.set_result)
        return await answer
    finally:
        fetcher.close()


def _judged(settings: Settings, name: str, host: str, answer: FetchAnswer) -> Check:
    proxy, how = settings.network.proxy, _way(settings)
    good = Check(NAME, Message("doctor.answers", name=name, how=how))
    if answer.outcome == "retry":  # it was there, whatever is wrong with its answers
        return good
    status = answer.status if answer.outcome in _ANSWERED else 0
    if not status:
        why = answer.detail or answer.outcome
        said = Message("doctor.not_reached", name=name, how=how, why=why)
        return Check(NAME, said, _remedy(proxy))
    if proxy and status == _PROXY_REFUSES:
        return Check(NAME, Message("doctor.proxy_wants_password", how=how), _remedy(proxy))
    if proxy and host.startswith("http:") and status in _MAY_BE_THE_PROXYS:
        said = Message("doctor.proxy_answers", how=how, status=status)
        return Check(NAME, said, _remedy(proxy))
    return good


def _way(settings: Settings) -> Message:
    proxy = settings.network.proxy
    if proxy:
        return Message("doctor.how_proxy", proxy=without_password(proxy))
    return Message("doctor.how_direct")


def _remedy(proxy: str) -> Message:
    return Message("doctor.check_proxy" if proxy else "doctor.set_proxy")


def without_password(proxy: str) -> str:
    """Return the URL of a proxy as it may be shown."""
    scheme, mark, rest = proxy.rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]


def is_about_dates(error: BaseException) -> bool:
    """Return whether a certificate was refused for its dates, however the error is wrapped."""
    refused = certificate_error(error)
    return refused is not None and refused.verify_code in _NOT_YET_OR_OVER


async def check_dates(url: str, proxy: str, why: Message, now: datetime) -> Check:
    """Return the fault and its place. proxy: on the way to the manager; why: the error."""
    clock = f"{now:%Y-%m-%d %H:%M} UTC"
    try:
        certificate = await _certificate(url, proxy)
    except (httpx.HTTPError, OSError, ValueError, KeyError):
        said = Message("doctor.manager_clock", problem=why, now=clock)
        return Check("manager", said, Message("doctor.set_clock_if_wrong"))
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    said = Message(
        "doctor.manager_certificate",
        problem=why,
        now=clock,
        first=f"{first:%Y-%m-%d}",
        last=f"{last:%Y-%m-%d}",
    )
    if first <= now <= last:
        return Check("manager", said, Message("doctor.update_authorities"))
    return Check("manager", said, Message("doctor.set_clock_or_renew"))


async def _certificate(url: str, proxy: str) -> x509.Certificate:
    transport = httpx.AsyncHTTPTransport(verify=False, proxy=proxy or None)
    async with (
        httpx.AsyncClient(transport=transport, timeout=WAIT_S, trust_env=False) as client,
        client.stream("HEAD", url) as answer,
    ):
        tls = answer.extensions["network_stream"].get_extra_info("ssl_object")
        return x509.load_der_x509_certificate(tls.getpeercert(binary_form=True))
