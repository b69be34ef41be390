"""Whether pages can be fetched from here: one request on the way on which the crawl would go.

It asks for /robots.txt, which anybody may have, of the manager's host or of one that a person
named: no third party is called unasked. No key goes with it; any answer shows that the way is open.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import httpx

from agent.app.mapping import user_agent
from agent.control.doctor import Check
from agent.settings import Settings
from agent.settings.texts import is_loopback

__all__ = ["check_way_out", "without_password"]

NAME: Final = "way to pages"
WAIT_S: Final = 20.0
_PROXY_REFUSES: Final = 407
_MAY_BE_THE_PROXYS: Final = (403, 502, 503, 504)


async def check_way_out(settings: Settings, manager: str, page: str = "") -> Check:
    """Try one request. manager: its URL; empty: it is not reached. page: a URL to try instead."""
    url = page or manager
    no_url = Check(NAME, f"--page {url[:200]}: is no URL", "name one, as https://www.example.org")
    try:
        parts = urlsplit(url)
    except ValueError:
        return no_url
    if not page and (not manager or is_loopback(parts.hostname or "")):
        why = "the manager is this machine" if manager else "the manager is not reached"
        return Check(
            NAME, f"not tried, as {why}: prs doctor --page URL tries a site of your choice"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return no_url
    proxy = settings.network.proxy
    how = f"through {without_password(proxy)}" if proxy else "without a proxy"
    try:
        status = await _ask(settings, f"{parts.scheme}://{parts.netloc}/robots.txt")
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        why = str(error) or type(error).__name__
        return Check(NAME, f"{parts.hostname} is not reached {how}: {why}", _remedy(proxy))
    if proxy and status == _PROXY_REFUSES:
        return Check(NAME, f"{how}: it wants a user and a password", _remedy(proxy))
    if proxy and parts.scheme == "http" and status in _MAY_BE_THE_PROXYS:
        said = f"{how}: the answer is {status}, which may be the proxy's own"
        return Check(NAME, said, _remedy(proxy))
    return Check(NAME, f"{parts.hostname} answers {how}")


async def _ask(settings: Settings, url: str) -> int:
    """Return the status of an answer; what it holds is not read."""
    network = settings.network
    transport = httpx.AsyncHTTPTransport(
        verify=False,  # as the crawl: nothing secret is sent, and nothing is believed
        proxy=network.proxy or None,
        local_address=network.source_address or None,
    )
    async with (
        httpx.AsyncClient(transport=transport, timeout=WAIT_S, trust_env=False) as client,
        client.stream("GET", url, headers={"User-Agent": user_agent(settings)}) as answer,
    ):
        return answer.status_code


def _remedy(proxy: str) -> str:
    if proxy:
        return "check network.proxy, its user and password, and whether it lets this host through"
    return (
        "if pages may only be fetched through a proxy, set network.proxy; else check the firewall. "
        "prs doctor --page URL tries a site of your choice"
    )


def without_password(proxy: str) -> str:
    """Return the URL of a proxy as it may be shown."""
    scheme, mark, rest = proxy.rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]
