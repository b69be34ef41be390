"""The line that a request came by: who can read it, and from which address it really comes.

A line is private over TLS, behind the configured proxy that says it ended TLS, or on loopback and
over the Unix socket where nothing stands between. A proxy on the same machine connects from
loopback, too, and nginx's bare `proxy_pass` adds no header and writes a loopback name into Host:
so whatever shows a proxy that is not configured makes a loopback line one that others can read.
Invariant: no header makes a line private but `X-Forwarded-Proto: https` from an address of
`server.proxy_addresses`, and none but `X-Forwarded-For` from there changes the client's address.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from manager.errors import InsecureLineError
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "Line",
    "LineKind",
    "Network",
    "browser_of",
    "local_line",
    "networks",
    "require_private",
    "seen_line",
]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Headers = Sequence[tuple[bytes, bytes]]

HOPS_MOST: Final = 16
_NO_VALUE: Final = Message("connection.no_value")
MAPPED_BITS: Final = 96  # of ::ffff:0:0/96, behind which the IPv4 address stands
_FORWARDING: Final = frozenset(
    {b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"true-client-ip", b"cf-connecting-ip",
     b"x-original-host", b"x-original-url", b"x-cluster-client-ip"}
)  # fmt: skip
_LOOPBACK_NAME: Final = re.compile(
    r"(?:(?:[a-z0-9-]{1,63}\.)*localhost\.?|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?"
)


class LineKind(StrEnum):
    """Reason for which a line is private, or is not."""

    LOCAL = "local"  # the Unix socket
    TLS = "tls"
    PROXY_TLS = "proxy_tls"
    LOOPBACK = "loopback"
    PLAIN = "plain_http"
    FORWARDED = "unknown_proxy"  # loopback, with signs of a proxy that is not configured
    FOREIGN_HOST = "foreign_host"  # loopback, asked for by a name that is not this machine's
    PROXY_PLAIN = "proxy_without_tls"  # the configured proxy does not say that it ended TLS
    NOT_PROXY = "not_the_proxy"  # another address, where only the proxy's is believed


BROWSER_MOST: Final = 200
PRIVATE: Final = frozenset({LineKind.LOCAL, LineKind.TLS, LineKind.PROXY_TLS, LineKind.LOOPBACK})


@frozen
class Line:
    """A request's line. client: the address it comes from, empty over the Unix socket.

    detail: the header, name or address that decided against it.
    """

    kind: LineKind
    client: str = ""
    detail: str | Message = ""

    @property
    def is_private(self) -> bool:
        """Return whether no eavesdropper can read it."""
        return self.kind in PRIVATE

    @property
    def is_tls(self) -> bool:
        """Return whether the client speaks TLS: to the manager, or to the configured proxy."""
        return self.kind in (LineKind.TLS, LineKind.PROXY_TLS)


def browser_of(headers: Headers) -> str:
    """Return what a client calls itself, as far as it can be shown."""
    said = b" ".join(_all(headers, b"user-agent"))[: 2 * BROWSER_MOST].decode("latin-1")
    return "".join(each for each in said if each.isprintable() and each.isascii())[:BROWSER_MOST]


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return networks from their texts, which the settings have checked; mapped ones as IPv4."""
    return tuple(_unmapped(ipaddress.ip_network(text, strict=False)) for text in texts)


def _unmapped(network: Network) -> Network:
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < MAPPED_BITS:
        return network
    return ipaddress.ip_network(f"{mapped}/{network.prefixlen - MAPPED_BITS}")


def seen_line(
    scheme: str,
    peer: str,
    http_version: str,
    headers: Headers,
    proxies: Sequence[Network] | None,
) -> Line:
    """Return what is known of a TCP connection's request.

    peer: the address at the other end of the connection. proxies: the addresses of the configured
    proxy; None: none is configured.
    """
    if proxies is None:
        if scheme == "https":
            return Line(LineKind.TLS, peer)
        return _direct(peer, http_version, headers)
    from_proxy = _is_in(peer, proxies)
    client = _forwarded_client(peer, headers, proxies) if from_proxy else peer
    if scheme == "https":
        return Line(LineKind.TLS, client)
    if not from_proxy:
        return Line(LineKind.NOT_PROXY, peer, peer)
    said = _all(headers, b"x-forwarded-proto")
    if [value.strip().lower() for value in said] == [b"https"]:
        return Line(LineKind.PROXY_TLS, client)
    return Line(LineKind.PROXY_PLAIN, client, _shown(b", ".join(said)) or _NO_VALUE)


def local_line(http_version: str, headers: Headers) -> Line:
    """Return what is known of a request over the Unix socket, which is for this machine's users.

    A proxy that may open the socket would make each of its visitors an administrator. No browser
    speaks to a socket, so what one writes shows a proxy, too.
    """
    sign = _sign_of_proxy(http_version, headers)
    if not sign and _all(headers, b"sec-fetch-site"):
        sign = "sec-fetch-site"
    return Line(LineKind.FORWARDED, "", sign) if sign else Line(LineKind.LOCAL)


def require_private(line: Line, rule: Message) -> None:
    """Raise InsecureLineError where others can read the line. rule: what needs a private line."""
    if line.is_private:
        return
    remedy = _REMEDIES[line.kind](line.detail)
    raise InsecureLineError("connection.insecure", line.kind.value, rule=rule, remedy=remedy)


_REMEDIES: Final[dict[LineKind, Callable[[str | Message], Message]]] = {
    LineKind.PLAIN: lambda _: Message("connection.plain_http"),
    LineKind.FORWARDED: lambda sign: Message("connection.unknown_proxy", sign=sign),
    LineKind.FOREIGN_HOST: lambda host: Message("connection.foreign_host", host=host),
    LineKind.PROXY_PLAIN: lambda value: Message("connection.proxy_without_tls", value=value),
    LineKind.NOT_PROXY: lambda address: Message("connection.not_the_proxy", address=address),
}


def _direct(peer: str, http_version: str, headers: Headers) -> Line:
    """Return the line of plain HTTP where no proxy is configured."""
    if not is_loopback(peer):
        return Line(LineKind.PLAIN, peer)
    if sign := _sign_of_proxy(http_version, headers):
        return Line(LineKind.FORWARDED, peer, sign)
    hosts = _all(headers, b"host")
    if len(hosts) != 1 or not _LOOPBACK_NAME.fullmatch(hosts[0].decode("latin-1").lower()):
        return Line(LineKind.FOREIGN_HOST, peer, _shown(b", ".join(hosts)) or _NO_VALUE)
    return Line(LineKind.LOOPBACK, peer)


def _sign_of_proxy(http_version: str, headers: Headers) -> str | Message:
    """Return what shows that a request was forwarded, or an empty text.

    A bare `proxy_pass` of nginx shows itself by HTTP/1.0, which no client of ours speaks. Behind
    one that speaks HTTP/1.1 a browser's form comes from another origin than Host says, and its
    first visit has no Sec-Fetch-Site, which it sends to addresses that it trusts (W3C Fetch
    Metadata). A script behind such a proxy shows nothing: ours send no secret over plain HTTP to
    another machine (docs/adr/0190).
    """
    for name, _ in headers:
        if name in _FORWARDING or name.startswith(b"x-forwarded"):
            return name.decode("latin-1")
    if http_version not in ("1.1", "2", "3"):
        return f"HTTP/{http_version[:8]}"
    if _all(headers, b"sec-fetch-site"):
        return ""
    for name in (b"origin", b"referer"):
        if any(_is_elsewhere(value) for value in _all(headers, name)):
            return name.decode("latin-1")
    return Message("connection.browser_without_fetch_site") if _is_page_visit(headers) else ""


def _is_page_visit(headers: Headers) -> bool:
    """Return whether a browser opens a page. On loopback all of them send Sec-Fetch-Site, for they
    trust that address; by a name of the network over plain HTTP none does."""
    agents = _all(headers, b"user-agent")
    wanted = b",".join(_all(headers, b"accept"))
    return b"text/html" in wanted and any(agent.startswith(b"Mozilla/") for agent in agents)


def _is_elsewhere(value: bytes) -> bool:
    """Return whether a page's address is outside loopback; a text like `null` is none, so False."""
    try:
        parts = urlsplit(value.decode("latin-1").strip().lower())
    except ValueError:
        return True
    return parts.scheme in ("http", "https") and not _LOOPBACK_NAME.fullmatch(parts.netloc)


def _forwarded_client(peer: str, headers: Headers, proxies: Sequence[Network]) -> str:
    """Return the last address of X-Forwarded-For that is not a proxy's.

    A proxy appends the address that it sees to the header of the client: only the entries behind
    the last address that is not ours are true.
    """
    hops = b",".join(_all(headers, b"x-forwarded-for")).decode("latin-1").rsplit(",", HOPS_MOST)
    client = peer
    for hop in reversed(hops):
        if not hop.strip():
            continue  # an empty element of a list says nothing (RFC 9110, 5.6.1)
        address = _address(hop.strip())
        if address is None:
            break
        client = address
        if not _is_in(address, proxies):
            break
    return client


def _all(headers: Headers, name: bytes) -> list[bytes]:
    return [value for one, value in headers if one == name]


def _shown(value: bytes) -> str:
    return ascii(value[:80].decode("latin-1")) if value else ""


@lru_cache(maxsize=4096)
def _address(text: str) -> str | None:
    """Return an IP address in its one form, without port and brackets; None where it is none."""
    bare = re.sub(r"\A\[([^]]*)\](?::[0-9]+)?\Z|\A([0-9.]+):[0-9]+\Z", r"\1\2", text[:80])
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


@lru_cache(maxsize=4096)
def _is_in(host: str, among: Sequence[Network]) -> bool:
    address = _address(host)
    return address is not None and any(ipaddress.ip_address(address) in one for one in among)


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine only."""
    address = _address(host)
    return address is not None and ipaddress.ip_address(address).is_loopback
