"""A web without end that nginx makes up by itself: every page of every host, from its name.

Page `/p/037.html` leads to the ten pages whose names are its own, moved on by one digit
(`/p/370.html` to `/p/379.html`), and to one that no crawler met before (`/new/037-1.html`),
as that one leads to the next. So a crawler that knows all numbers of a width meets ten known URLs
and a new one on each page, however many it knows.
"""

from __future__ import annotations

from typing import Final

from simweb.sites.text import paragraphs

__all__ = ["PLACES", "address", "path"]

LINKS: Final = "".join(
    f"<li><a href='/p/${{rest}}{digit}.html'>more</a></li>" for digit in range(10)
)
TEXT_BYTES: Final = 10_000
_HEAD: Final = "<!DOCTYPE html><html><head>"
PART_BYTES: Final = 3_000  # nginx takes no longer word


def _texts() -> list[str]:
    text = b" ".join(paragraphs("utf-8")).decode()
    text = text.translate(dict.fromkeys(map(ord, "\"'\\$;{}<>"))).replace("\n", " ")
    parts: list[str] = []
    at = 0
    while sum(map(_size, parts)) < TEXT_BYTES:
        part = text[at : at + PART_BYTES]
        while _size(part) > PART_BYTES:
            part = part[:-1]
        at += len(part)
        parts.append(part)
    return parts


def _size(text: str) -> int:
    return len(text.encode())


def _places() -> str:
    texts = _texts()
    sets = "\n".join(f"set $text{number} '{text}';" for number, text in enumerate(texts))
    body = "".join(f"<p>${{text{number}}}</p>" for number in range(len(texts)))
    new = "<li><a href='/new/$first$rest-${step}1.html'>new</a></li>"
    page = f"{_HEAD}<title>$host $uri</title></head><body>{body}<ul>{LINKS}{new}</ul></body></html>"
    top = f"{_HEAD}<title>$host</title></head><body><a href='/p/0.html'>pages</a></body></html>"
    return f"""
        location = /robots.txt {{ return 200 "User-agent: *\\nDisallow: /private/\\n"; }}
        location = / {{ return 200 "{top}"; }}
        location ~ "^/(?:p|new)/(?<first>\\d)(?<rest>\\d*)(?:-(?<step>1*))?\\.html$" {{
            {sets}
            return 200 "{page}";
        }}
    """


PLACES: Final = _places()
"""Configuration for `benchmarks.crawl.nginx.serve`."""


def address(host: int) -> str:
    """Return the address of a host of this web, by its number from 0 on."""
    return f"127.{1 + (host >> 16)}.{host >> 8 & 255}.{host & 255}"


def path(number: int, width: int) -> str:
    """Return the path of a page, by its number below 10 to the power of `width`."""
    return f"/p/{number:0{width}}.html"
