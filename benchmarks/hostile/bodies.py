"""Answers that are broken, and bodies that are built to stop their reader.

Each site answers its top page with links to a few pages more, all of which are the bad one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Final

from benchmarks.hostile.traps import FIXTURES, Site, page_of

__all__ = ["body_sites"]

PAGES: Final = 5
_TOP: Final = page_of("".join(f"<a href=/{number}>x</a>" for number in range(PAGES)))
_CODINGS: Final = ("gzip", "deflate", "br", "zstd")


def body_sites() -> Iterator[tuple[str, Site]]:
    """Yield (name, site) of each compressed body, each HTTP answer and each bomb of HTML."""
    for path in sorted((FIXTURES / "compressed-bodies").iterdir()):
        if path.name != "SOURCE.txt":
            answer = page_of(path.read_bytes(), f"Content-Encoding: {_encoding_of(path.name)}")
            yield f"body {path.name}", _site(answer)
    for case in json.loads((FIXTURES / "http1-llhttp" / "cases.json").read_text()):
        if case["kind"] == "response":
            yield f"answer {case['name']}", _site(base64.b64decode(case["input_b64"]))
    for name, body in _bombs():
        yield f"bomb {name}", _site(page_of(body))


def _site(bad: bytes) -> Site:
    return lambda target: _TOP if target == "/" else bad


def _encoding_of(name: str) -> str:
    """Return what a body of the set is encoded with, as its name says."""
    if name.startswith(("html-", "bomb-")):
        words = name.removesuffix(".bin").split("-")[1:]
        known = [word.removeprefix("raw").removeprefix("zlib") for word in words]
        return ", ".join(word for word in known if word in _CODINGS)
    return "gzip" if name.endswith(".gz") else "identity"


def _bombs() -> Iterator[tuple[str, bytes]]:
    many = 60_000
    yield "attributes", b"<p " + b" ".join(b"a%d=x" % number for number in range(many)) + b">"
    yield "nested", b"<div>" * many
    yield "srcset", b"<img srcset='" + b"/i.png 1x, " * 200_000 + b"'>"
    yield "links", b"".join(b"<a href=/%d>" % (number % 7) for number in range(300_000))
    yield "entities", b"<a href='/" + b"&#x26;&notit;&" * 100_000 + b"'>"
    yield "formatting", b"<b><i><u><a href=/>" * 5_000
    yield "charset", b"<meta charset=iso-2022-jp>" + b"\x1b$B!!\x1b(B" * 300_000
    yield "undeclared", bytes(range(128, 256)) * 20_000
    yield "tables", b"<table><tr><td>" * 20_000
    declared = b"".join(b"<!ENTITY e%d '&e%d;&e%d;'>" % (n + 1, n, n) for n in range(60))
    yield "laughs", b"<?xml version='1.0'?><!DOCTYPE rss [%b]><rss>&e60;</rss>" % declared
    yield "comments", b"<!--" * 500_000
