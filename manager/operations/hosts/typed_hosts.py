"""Host names as people type them: a name, a part of one, a URL, with a port or in Unicode.

Invariant: nothing is refused; what is no name is still a part to look for.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import unquote

from shared.errors import UrlError
from shared.frozen import frozen
from shared.idn import folded, narrow
from shared.urls import canonical, host_of, split_host

__all__ = ["TypedHost", "reversed_domain", "storable", "typed_host"]

_SCHEME: Final = re.compile(r"https?:[/\\]*", re.IGNORECASE)
_OTHER_SCHEME: Final = re.compile(r"(?:[a-z][a-z0-9+.-]{0,20}:)?//+", re.IGNORECASE)
_AROUND: Final = (
    "\"'<>(){},;\u2018\u2019\u201c\u201d\u300a\u300b\u300c\u300d\u300e\u300f\u3001\u3002"
)
"""Marks that are copied with a name or URL from a text. Brackets stay: they are of addresses."""
_NAME: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NUMBERS: Final = re.compile(r"[0-9.]+")
_PORT: Final = re.compile(r":[0-9]{1,5}$")
_PATH: Final = re.compile(r"[/?#\\]")


@frozen
class TypedHost:
    """A typed text, read as a host.

    parts: to be looked for in addresses, the most precise first. reversed_name: `jp,example` of a
    name, empty if it is no name. port: empty: not typed. url: canonical, where a scheme or path was
    typed. key: of the host of a URL with a scheme. address: of an IP address.
    """

    parts: tuple[str, ...]
    reversed_name: str = ""
    port: str = ""
    url: str = ""
    key: str = ""
    address: str = ""

    @property
    def is_precise(self) -> bool:
        """Return whether a scheme or port was typed: then not all hosts of the name are meant."""
        return bool(self.key or self.port)


def typed_host(text: str) -> TypedHost:
    """Return what a text says of hosts."""
    text = storable(text).strip()
    said = folded(narrow(text))
    text = narrow(text.strip(_AROUND)).removeprefix("view-source:").strip()
    address = _address(said)
    if address:
        name = f"[{address}]" if ":" in address else address
        return TypedHost((name,), name, address=address)
    scheme = _SCHEME.match(text)
    other = None if scheme else _OTHER_SCHEME.match(text)
    bare = text[scheme.end() :] if scheme else text[other.end() :] if other else text
    authority = _PATH.split(bare, maxsplit=1)[0]
    rest = bare[len(authority) :]
    if scheme or other:
        authority = authority.rpartition("@")[2]  # a user name is none of the host's
    if "%" in authority:
        authority = narrow(unquote(authority))
        if _PATH.search(authority):
            return TypedHost((said,))
    bare = authority + rest
    text = (scheme[0] if scheme else "") + bare
    port = _PORT.search(folded(authority))
    name = _ascii_name(authority[: -len(port[0])] if port else authority)
    if not name:
        return TypedHost((said,))
    url = _url(text, has_scheme=scheme is not None) if scheme or authority != bare else ""
    key = host_of(url) if scheme and url else ""
    shown = folded(authority).removeprefix("*").rstrip(".")
    precise = f"{key[: key.index('/', 8)]}" if port and key else key.rpartition(":")[0] + ":"
    parts = (precise if key else shown, said)
    return TypedHost(
        parts if parts[0] != said else parts[:1],
        _reversed(name),
        port=port[0][1:] if port else "",
        url=url,
        key=key,
        address=_address(name),
    )


def storable(text: str) -> str:
    """Return a text with a sign of replacement for each that no database keeps."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def reversed_domain(text: str) -> str:
    """Return `jp,example` of a domain in any spelling; empty if it is no domain."""
    name = _ascii_name(narrow(text.strip()))
    return _reversed(name) if name else ""


def _address(text: str) -> str:
    """Return an IP address in its stored form; empty if the text is none."""
    try:
        return str(ipaddress.ip_address(text.strip("[]")))
    except ValueError:
        return ""


def _ascii_name(text: str) -> str:
    """Return a name or domain (`.example.jp`, `*.example.jp`) in ASCII; empty if it is none."""
    name = text.removeprefix("*").removeprefix(".").removesuffix(".")
    if not name:
        return ""
    if name.isascii():
        name = name.lower()
    else:  # upper case and full width are undone as in a browser's address field
        try:
            name = split_host(canonical(f"http://{name}/"))[1]
        except UrlError:
            return ""
    bare = name.strip("[]")
    return name if _NAME.fullmatch(name) or (bare != name and _address(bare)) else ""


def _reversed(name: str) -> str:
    if name.startswith("[") or _NUMBERS.fullmatch(name):
        return name
    return ",".join(reversed(name.split(".")))


def _url(text: str, *, has_scheme: bool) -> str:
    try:
        return canonical(text if has_scheme else f"http://{text}")
    except UrlError:
        return ""
