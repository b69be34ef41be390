"""The key under which replay tools look a URL up in a CDXJ.

pywb, OutbackCDX and the Wayback Machine fold URLs that usually show the same page: `www.` goes,
case goes, queries are sorted, known session ids go. That is right for a person who looks for an
old page, and wrong for a crawl, which must keep such pages apart: `urls.reversed_host_key` sorts
our own indexes, this key only the CDXJ.

Source: the behaviour of the released `surt` 0.3.1, which pywb calls, as seen from outside.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_to_bytes

from shared.urls import split_host

__all__ = ["surt_key"]

_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_WWW: Final = re.compile(r"www[0-9]*\.")
_SIMPLE: Final = re.compile(r"(?:/[a-z0-9_~-][a-z0-9._~-]*)*/?")
_ESCAPED: Final = re.compile(rb"[^\x21\x22\x24\x26-\x7e]")
_MAX_UNESCAPES: Final = 10
"""Of `%252525...`: a hostile URL must not cost a pass for each of its characters."""

_PATH_SESSION: Final = re.compile(
    r"(?P<before>.*/)\((?:[0-9a-z]{24}|(?:[a-z]\([0-9a-z]{24}\))+)\)/(?P<after>[^?]+\.aspx.*)"
)
_QUERY_SESSIONS: Final = tuple(
    re.compile(rf"(?P<before>.*)(?:{pattern})(?:&(?P<after>.*))?")
    for pattern in (
        r"jsessionid=[0-9a-z]{32}",
        r"phpsessid=[0-9a-z]{32}",
        r"sid=[0-9a-z]{32}",
        r"aspsessionid[a-z]{8}=[a-z]{24}",
        r"cfid=[^&]++&cftoken=[^&]++",
    )
)


def surt_key(url: str) -> str:
    """Return `jp,example)/path?a&b` of a canonical URL `http://www.example.jp/Path/?b&a`."""
    start = url.find("/", 8)
    if start < 0:
        return _host(url) + "/"
    path, _, query = url[start:].partition("?")
    key = _host(url[:start]) + _path(path)
    query = _query(query) if query else ""
    return f"{key}?{query}" if query else key


@lru_cache(maxsize=1024)
def _host(origin: str) -> str:
    scheme, name, port = split_host(origin)
    name = _WWW.sub("", name.strip("."), count=1) if name.startswith("www") else name.strip(".")
    host = name[1:-1] if name.startswith("[") else ",".join(reversed(name.split(".")))
    shown_port = "" if _DEFAULT_PORTS[scheme] == port else f":{port}"
    return f"{host}{shown_port})"


def _path(path: str) -> str:
    if not _SIMPLE.fullmatch(path):
        parts: list[str] = []
        for part in _plain(path).split("/"):
            if part == ".." and parts:
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        path = "/" + "/".join(parts)
    if ".aspx" in path and (session := _PATH_SESSION.fullmatch(path)):
        path = session["before"] + session["after"]
    return path.rstrip("/") or "/"


def _query(query: str) -> str:
    query = _plain(query)
    if "id=" in query or "sessionid" in query:
        for pattern in _QUERY_SESSIONS:
            if session := pattern.fullmatch(query):
                query = session["before"] + (session["after"] or "")
    if "&" not in query:
        return query
    return "&".join(
        "=".join(pair) for pair in sorted(each.split("=", 1) for each in query.split("&"))
    )


def _plain(text: str) -> str:
    """Return text with only the escapes that it needs, in lower case."""
    data = text.encode("utf-8")
    for _ in range(_MAX_UNESCAPES if b"%" in data else 0):
        plain = unquote_to_bytes(data)
        if plain == data:
            break
        data = plain
    return _ESCAPED.sub(lambda byte: b"%%%02x" % byte[0][0], data).decode("ascii").lower()
