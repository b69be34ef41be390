"""Expressions of hosts, from what a person types for `--host` and `--domain`.

    WWW.Example.jp.           www.example.jp            a name, in any case, with its last dot
    http://www.example.jp/    www\\.example\\.jp:80       a URL, copied whole
    日本語.jp, 2001:db8::1     as the server has them, in ASCII, with brackets
    ^www[.]example[.]jp$      www[.]example[.]jp        an expression of the whole name

Source: RE2's syntax; the server's hosts are `name:port`, in ASCII and lower case.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import Final

import httpx

__all__ = ["domain_expression", "host_expression"]

_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]{1,5})?")
_PATH: Final = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]{1,5})?/[^|()]*")
_WHOLE: Final = re.compile(r"\^?(.*?)(?<!\\)\$?", re.DOTALL)


def host_expression(typed: str) -> str:
    """Return the RE2 expression of the hosts that a person means."""
    text = unicodedata.normalize("NFKC", typed.strip())
    if _PATH.fullmatch(text):
        text = text.partition("/")[0]  # a name with a path, as a browser shows URLs
    url = _parsed(text) if _URL.match(text) else None
    if url is not None:
        return re.escape(f"{_name(url)}:{url.port or _PORTS[url.scheme]}")
    address = _address(text)
    if address:
        return re.escape(address)
    if _NAME.fullmatch(text):
        name, colon, port = text.lower().partition(":")
        return name.removesuffix(".") + colon + port
    if not text.isascii():
        url = _parsed(f"http://{text}")
        if url is not None and _name(url).isascii():
            return re.escape(_name(url)) + (f":{url.port}" if url.port else "")
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def domain_expression(typed: str) -> str:
    """Return the expression of a domain and all names below it."""
    text = typed.strip()
    url = _parsed(text if _URL.match(text) else f"http://{text.removeprefix('*').strip('.')}")
    name = text.strip(".").lower() if url is None else _name(url)
    return rf"(?:.*[.])?{re.escape(name)}"


def _parsed(text: str) -> httpx.URL | None:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, UnicodeError):
        return None
    return url if url.host else None


def _name(url: httpx.URL) -> str:
    name = url.raw_host.decode("ascii").removesuffix(".").lower()
    return f"[{name}]" if ":" in name else name


def _address(text: str) -> str:
    """Return an IPv6 address as hosts have it, with its port; "" of anything else."""
    bare, _, port = text.rpartition("]:") if "]:" in text else (text, "", "")
    try:
        address = ipaddress.IPv6Address(bare.removeprefix("[").removesuffix("]"))
    except ValueError:
        return ""
    return f"[{address}]" + (f":{port}" if port else "")
