"""Forms of the maze that are hints to programs: rules, maps, header fields, odd attributes."""

from __future__ import annotations

from typing import Final

from tests.e2e.maze_form import Form

__all__ = ["HINTS"]


def _ld(name: str, text: str) -> Form:
    return Form(name, f"<script type=application/ld+json>{text}</script>")


_RULES: Final = "application/speculationrules+json"

HINTS: Final = (
    Form("importmap", '<script type=importmap>{{"imports":{{"a":"{t}"}}}}</script>'),
    Form("speculation",
         '<script type=speculationrules>{{"prefetch":[{{"urls":["{t}"]}}]}}</script>'),
    Form("header-speculation", header={"Speculation-Rules": '"{n}r.json"'},
         files={"r.json": (_RULES, b'{"prefetch":[{"urls":["{t}"]}]}')}),
    Form("header-of-json", "<a href={n}x.json>x</a>",
         files={"x.json": ("application/json; Link=<{t}>; rel=next", b"{}")}),
    Form("header-of-image", "<img src={n}x.png>",
         files={"x.png": ("image/png; Link=<{t}>; rel=canonical", b"x")}),
    Form("header-of-feed", "<a href={n}x.rss>x</a>",
         files={"x.rss": ("application/rss+xml; Link=<{t}>; rel=next", b"<rss></rss>")}),
    Form("inline-source-map", "<script>'x'\n//# sourceMappingURL={t}\n</script>"),
    Form("style-escaped-name", "<style>p {{ background: u\\72 l({t}) }}</style>"),
    Form("style-image", "<style>p {{ background: image('{t}') }}</style>"),
    Form("script-style", "<script>p.style.background = 'url({t})'</script>"),
    Form("data-json", "<p data-props='{{\"a\":\"{t}\"}}'>"),
    Form("hx-get", "<p hx-get={t}>"),
    Form("ng-src", "<img ng-src={t}>"),
    Form("itemid", "<p itemscope itemid={t}>"),
    Form("rdfa-resource", "<p property=url resource={t}>"),
    _ld("ld-same-as", '{{"sameAs": ["{t}"]}}'),
    _ld("ld-photo", '{{"photo": "{t}"}}'),
    _ld("ld-value", '{{"url": {{"@value": "{t}"}}}}'),
    _ld("ld-template", '{{"potentialAction": {{"target": {{"urlTemplate": "{t}"}}}}}}'),
)  # fmt: skip
