"""The canonical form of a URL and the keys made from it.

Invariant: `canonical` is idempotent, and two texts with the same canonical form name the same
page for every program of PRSM. The form is the WHATWG serialisation with four changes: no
fragment, percent-escapes in one normal form (RFC 3986, 6.2.2: hexadecimal digits in upper case,
unreserved characters not escaped), http or https only, and a host name without its trailing dot
(`www.a.jp.` and `www.a.jp` are one name in DNS). Queries are not sorted: their order can matter.
`crawlable` is the same for a URL that a request may be sent to: it also refuses ports of other
protocols. Length, depth and scope are the crawl's business, not this module's.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import ada_url

from shared.errors import Fault, UrlError

__all__ = [
    "DEFAULT_PORTS",
    "REFUSED_PORTS",
    "canonical",
    "crawlable",
    "escaped_bytes",
    "has_refused_port",
    "host_key",
    "host_of",
    "name_and_port",
    "reversed_host_key",
    "split_host",
]

DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
LONGEST_NAME: Final = 253  # characters of a name in DNS (RFC 1035, 2.3.4), as text
LONGEST_LABEL: Final = 63  # characters between two dots (the same section)
LARGEST_PORT: Final = 65_535

REFUSED_PORTS: Final = frozenset(
    (
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601),
        *(636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000),
        *(6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    )
)
"""Ports of other protocols (mail, IRC, file systems), where a request could be taken for theirs.
Source: Fetch standard, 2.10 (port blocking), which all browsers follow."""

_UNRESERVED: Final = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_HOST: Final = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[^/:?#\[\]]+)(?::([0-9]{1,5}))?(?=[/?#]|$)")
_PORT: Final = re.compile(r"\s*https?:[/\\]*[^/\\?#]*:([0-9]{1,20})(?:[/\\?#]|\s*$)", re.IGNORECASE)
_IPV4: Final = re.compile(r"[0-9.]+")


def canonical(text: str, base: str | None = None) -> str:
    """Return the canonical form of a URL, resolved against `base` where it is relative.

    Raises UrlError: not a URL, another scheme than http or https, a host name that no name
    server could know, port 0, or a user name or password (a robot has no account).
    Source: WHATWG URL; RFC 3986, section 6.2.2.
    """
    try:
        href: str = ada_url.normalize_url(text) if base is None else ada_url.join_url(base, text)
    except (ValueError, UnicodeError) as error:
        raise _no_url(text, base) from error
    cut = href.find("#")
    if cut >= 0:
        href = href[:cut]
    if not href.startswith(("http://", "https://")):
        scheme = href.split(":", 1)[0]
        raise UrlError("urls.scheme", Fault.SCHEME, url=_shown(text), scheme=scheme[:20])
    authority_end = href.find("/", 8)
    authority = href[:authority_end]
    fault = _authority_fault(authority)
    if fault is not None:
        raise _authority_error(fault, text)
    if authority[-1] == "." or ".:" in authority:
        href = _without_dot(authority) + href[authority_end:]
    return _normalise_escapes(href) if "%" in href else href


def crawlable(text: str, base: str | None = None) -> str:
    """Return the canonical form of a URL that a request may be sent to.

    Raises UrlError: as `canonical`, and for a port of `REFUSED_PORTS`.
    """
    url = canonical(text, base)
    if has_refused_port(url):
        raise UrlError("urls.other_protocol", Fault.PORT, url=_shown(text), port=split_host(url)[2])
    return url


def has_refused_port(url: str) -> bool:
    """Return whether a canonical URL or a host key names a port of `REFUSED_PORTS`."""
    _, colon, port = url[url.index("//") + 2 : url.index("/", 8)].rpartition(":")
    return colon == ":" and port.isdecimal() and int(port) in REFUSED_PORTS


@lru_cache(maxsize=4096)
def _authority_fault(authority: str) -> Fault | None:
    """Return why no robot asks this server, or None. authority: of a canonical URL, with scheme.

    Source: RFC 1035, 2.3.4 and 3.1: labels of 1 to 63 bytes, names of at most 253 characters as
    text, one dot behind the last label or none. Port 0 is reserved (RFC 6335, section 6).
    """
    if "@" in authority:
        return Fault.CREDENTIALS
    _, name, port = split_host(authority)
    if port == "0":
        return Fault.PORT
    if name.startswith("["):
        return None
    if len(name) > LONGEST_NAME:
        return Fault.LONG_NAME
    labels = name.split(".")
    if not all(labels):
        return Fault.EMPTY_LABEL
    if max(map(len, labels)) > LONGEST_LABEL:
        return Fault.LONG_LABEL
    return None


def _authority_error(fault: Fault, text: str) -> UrlError:
    """Return the error for what `_authority_fault` found."""
    url = _shown(text)
    match fault:
        case Fault.CREDENTIALS:
            return UrlError("urls.credentials", fault, url=url)
        case Fault.PORT:
            return UrlError("urls.port", fault, url=url, port="0", most=LARGEST_PORT)
        case Fault.LONG_NAME:
            return UrlError("urls.long_name", fault, url=url, most=LONGEST_NAME)
        case Fault.LONG_LABEL:
            return UrlError("urls.long_label", fault, url=url, most=LONGEST_LABEL)
        case _:
            return UrlError("urls.empty_label", fault, url=url)


def _no_url(text: str, base: str | None) -> UrlError:
    port = _PORT.match(text)
    if port is not None and int(port[1]) > LARGEST_PORT:
        return UrlError("urls.port", Fault.PORT, url=_shown(text), port=port[1], most=LARGEST_PORT)
    if base:
        return UrlError("urls.not_a_url_on_base", url=_shown(text), base=base)
    return UrlError("urls.not_a_url", url=_shown(text))


def escaped_bytes(value: bytes) -> str:
    """Return a URL of a header field as sent, each byte beyond ASCII percent-escaped.

    Source: what browsers do with a Location, because a server that sends such bytes expects them.
    """
    if value.isascii():
        return value.decode("ascii")
    return _BEYOND_ASCII.sub(lambda match: b"%%%02X" % match[0][0], value).decode("ascii")


def host_of(url: str) -> str:
    """Return the host of a canonical URL with its port made explicit: `http://www.a.jp:80/`."""
    scheme, name, port = split_host(url)
    return f"{scheme}://{name}:{port}/"


def host_key(text: str) -> str:
    """Return the host key of any URL text; raises UrlError where there is none."""
    return host_of(canonical(text))


def name_and_port(url: str) -> str:
    """Return `www.example.jp:80` of a canonical URL or host key: the name archives use."""
    start = url.find("/", 8)
    return _name_and_port(url if start < 0 else url[:start])


@lru_cache(maxsize=1024)
def _name_and_port(origin: str) -> str:
    _, name, port = split_host(origin)
    return f"{name}:{port}"


def split_host(url: str) -> tuple[str, str, str]:
    """Return (scheme, name, port) of a canonical URL or host key; the port is never empty."""
    match = _HOST.match(url)
    if match is None:
        raise UrlError("urls.not_canonical", url=_shown(url))
    scheme, name, port = match.groups()
    if name[-1] == ".":
        name = _without_dot(name)
    return scheme, name, port or DEFAULT_PORTS[scheme]


def reversed_host_key(url: str) -> str:
    """Return the key that sorts a canonical URL beside its domain: `jp,example,www)/path?q`.

    A port other than the scheme's default stands before the bracket (`jp,example:8080)/`);
    addresses are not reversed. The path keeps its case and the query its order: two pages that
    differ there are two captures.
    Source: SURT as the Wayback Machine writes it, without scheme and without massaging `www`.
    """
    start = url.find("/", 8)
    return _reversed(url) + "/" if start < 0 else _reversed(url[:start]) + url[start:]


@lru_cache(maxsize=1024)
def _reversed(origin: str) -> str:
    scheme, name, port = split_host(origin)
    if not (name.startswith("[") or _IPV4.fullmatch(name)):
        name = ",".join(reversed(name.split(".")))
    shown_port = "" if DEFAULT_PORTS[scheme] == port else f":{port}"
    return f"{name}{shown_port})"


def _without_dot(authority: str) -> str:
    """Return an authority whose host name ends without the one dot that marks it as complete."""
    name, dot, port = authority.partition(".:")
    if not dot:
        name, port = authority.removesuffix("."), ""
    if not name or name[-1] in "./":
        return authority  # an empty label: no name, and not the same as one with a dot less
    return f"{name}:{port}" if port else name


def _normalise_escapes(href: str) -> str:
    # Decoding can make a new escape (`%7%37E`) or a dot segment (`/%2%45/`); the form must be
    # a fixed point.
    while True:
        changed = _ESCAPE.sub(_normal_escape, href)
        if changed == href:
            return href
        href = ada_url.normalize_url(changed)


def _normal_escape(match: re.Match[str]) -> str:
    byte = int(match[1], 16)
    return chr(byte) if byte in _UNRESERVED else f"%{byte:02X}"


def _shown(text: str) -> str:
    """Return a text as an error message may carry it: short and on one line."""
    return ascii(text if len(text) <= 200 else text[:200] + "...")[1:-1]
