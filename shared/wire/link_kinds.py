"""Kinds of links, by the names that settings, syncs and figures have them.

What each of them is: `agent.pipeline.link_kinds`, whose numbers are in the order of these names.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ALWAYS_FOLLOWED", "LINK_KINDS", "SWITCHABLE"]

ALWAYS_FOLLOWED: Final = ("listed", "anchor")
"""Cannot be switched off: what the manager lists, and ordinary links."""

SWITCHABLE: Final = (
    *("link", "header", "refresh", "frame", "image", "script", "media", "form", "form_values"),
    *("style", "lazy", "svg", "citation", "ping", "meta", "json_ld", "string", "comment"),
    *("srcdoc", "manifest", "source_map", "pdf", "office", "feed", "sitemap", "well_known"),
)

LINK_KINDS: Final = (*ALWAYS_FOLLOWED, *SWITCHABLE)
