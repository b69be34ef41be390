"""The cookies of one chain of redirects, and which of its pages were asked with which.

Many sites set a cookie and lead to where the reader wanted to go, often to the same URL: without
the cookie they lead there again and again. So the cookies that the answers of a chain set go with
its next requests, and end with it: no other chain has them, and no visit is recognised. The cookie
may come some redirects later (page, login, page), so a chain knows its pages from the first.

A chain travels as text, "" as long as no answer has set a cookie and one redirect at most has led
here; the page that led here says so:

    [["5f3a..", ...], [["seen", "1", "www.a.example", true, "/", false], ...]]
      pages asked       name, value, domain, of the host alone, path, https alone

Invariant: a text has at most `MAX_TEXT` characters and neither tab nor line break, and a chain
leads to one URL twice only with other cookies than before.
Source: RFC 6265bis, 5.4 to 5.8 (what browsers do); cookies of ports are one, as there.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from agent.modules.public_suffix import is_public_suffix
from shared.archive.http_block import header_values
from shared.frozen import frozen

__all__ = ["Step", "cookies_for", "next_step"]

MAX_COOKIES: Final = 20
MAX_COOKIE: Final = 4096
MAX_TEXT: Final = 16_384
MOST_MARKS: Final = 200  # of pages asked, two a request: far beyond the limit of redirects

_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_DIGITS: Final = re.compile(r"-?[0-9]+")
_IPV4: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+")


@frozen
class Step:
    """The state of a chain after one answer.

    text: of the chain. again: the target was asked for in this chain, and now has other cookies.
    """

    text: str = ""
    again: bool = False


class _Cookie(NamedTuple):
    name: str
    value: str
    domain: str
    host_only: bool
    path: str
    secure: bool


def cookies_for(chain: str, url: str) -> str:
    """Return the Cookie field for a canonical URL; "": none."""
    return _field(_read(chain)[1], url) if chain else ""


def next_step(
    chain: str, url: str, header: bytes, target: str, now_ms: int, led_from: str | None = None
) -> Step:
    """Return the chain behind an answer: `url` was asked for, and leads to `target`.

    header: of the answer. now_ms: epoch milliseconds, for cookies that have ended. led_from: the
    URL whose redirect led to `url`.
    """
    values = header_values(header, "Set-Cookie")
    if not values and not chain and led_from is None:
        return Step()
    visited, cookies = _read(chain)
    if not chain and led_from is not None:
        visited = dict.fromkeys((_mark(led_from), _mark(led_from, "")))
    sent = _field(cookies, url)
    for value in values:
        cookies = _taken(cookies, value.decode("latin-1"), url, now_ms)
    if not cookies and not visited:
        return Step()
    visited = dict.fromkeys((*visited, _mark(url), _mark(url, sent)))
    again = _mark(target) in visited and _mark(target, _field(cookies, target)) not in visited
    marks = [*visited][-MOST_MARKS:]
    while True:
        text = json.dumps([marks, cookies], separators=(",", ":"))
        if len(text) <= MAX_TEXT or not cookies:
            return Step(text, again)
        cookies = cookies[1:]


def _read(chain: str) -> tuple[dict[str, None], list[_Cookie]]:
    if not chain:
        return {}, []
    visited, rows = json.loads(chain)
    return dict.fromkeys(visited), [_Cookie(*row) for row in rows]


def _mark(url: str, cookies: str | None = None) -> str:
    text = url if cookies is None else f"{url}\n{cookies}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _field(cookies: list[_Cookie], url: str) -> str:
    scheme, host, path = _parts(url)
    fitting = [one for one in cookies if _fits(one, scheme, host, path)]
    fitting.sort(key=lambda one: -len(one.path))  # stable: the older of two first
    return "; ".join(f"{one.name}={one.value}" if one.name else one.value for one in fitting)


def _parts(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.path or "/"


def _fits(one: _Cookie, scheme: str, host: str, path: str) -> bool:
    if one.secure and scheme != "https":
        return False
    if host != one.domain and (one.host_only or not _is_below(host, one.domain)):
        return False
    return path == one.path or (
        path.startswith(one.path) and (one.path.endswith("/") or path[len(one.path)] == "/")
    )


def _is_below(host: str, domain: str) -> bool:
    return host.endswith(f".{domain}") and not _IPV4.fullmatch(host)


def _taken(cookies: list[_Cookie], text: str, url: str, now_ms: int) -> list[_Cookie]:
    """Return the cookies with one more, or without it where it has ended."""
    if _CONTROL.search(text):
        return cookies
    pair, *attributes = text.split(";")
    name, equals, value = pair.partition("=")
    name, value = (name.strip(), value.strip()) if equals else ("", name.strip())
    if not (name or value) or len(name) + len(value) > MAX_COOKIE:
        return cookies
    said: dict[str, str] = {}
    for attribute in attributes:
        key, _, setting = attribute.partition("=")
        said[key.strip().lower()] = setting.strip()  # the last one counts
    one = _allowed(name, value, said, url)
    if one is None:
        return cookies
    others = [
        kept
        for kept in cookies
        if (kept.name, kept.domain, kept.path, kept.host_only)
        != (one.name, one.domain, one.path, one.host_only)
    ]
    return others if _has_ended(said, now_ms) else [*others, one][-MAX_COOKIES:]


def _allowed(name: str, value: str, said: dict[str, str], url: str) -> _Cookie | None:
    """Return a cookie as its host may set it; None: it may not."""
    scheme, host, path = _parts(url)
    domain = said.get("domain", "").removeprefix(".").lower()
    if domain and is_public_suffix(domain):
        if domain != host:
            return None
        domain = ""
    if domain and domain != host and not _is_below(host, domain):
        return None
    own_path = said.get("path", "")
    if not own_path.startswith("/"):
        own_path = path[: path.rindex("/")] or "/"
    secure = "secure" in said
    lowered = name.lower()
    if secure and scheme != "https":
        return None
    if lowered.startswith("__secure-") and not secure:
        return None
    if lowered.startswith("__host-") and not (secure and not domain and own_path == "/"):
        return None
    return _Cookie(name, value, domain or host, not domain, own_path, secure)


def _has_ended(said: dict[str, str], now_ms: int) -> bool:
    age = said.get("max-age", "")
    if _DIGITS.fullmatch(age):
        return age.startswith("-") or not age.strip("0")
    expires = said.get("expires")
    if not expires:
        return False
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  # brings half of `email`

    try:
        return parsedate_to_datetime(expires).timestamp() * 1000 <= now_ms
    except (ValueError, TypeError, OverflowError, IndexError):
        return False
