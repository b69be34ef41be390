"""Files that a standard puts at one place of every site: sitemaps and `/.well-known/`.

A host that has none of them is in order, so an answer that one is not there is no error.
Source: sitemaps.org; RFC 8615 and its registry; for each name the standard that puts it there.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SITEMAP_PATHS", "WELL_KNOWN_FOLDER", "WELL_KNOWN_NAMES"]

SITEMAP_PATHS: Final = ("/sitemap.xml", "/sitemap_index.xml")

WELL_KNOWN_FOLDER: Final = "/.well-known/"

WELL_KNOWN_NAMES: Final = (
    "security.txt",  # RFC 9116
    "host-meta",  # RFC 6415
    "nodeinfo",  # NodeInfo 2.1
    "resourcesync",  # ANSI/NISO Z39.99
    "void",  # W3C VoID
    "api-catalog",  # RFC 9727
    "tdmrep.json",  # W3C TDM Reservation Protocol
    "trust.txt",  # JournalList trust.txt
    "dnt-policy.txt",  # EFF Do Not Track policy
    "gpc.json",  # W3C Global Privacy Control
    "change-password",  # W3C change-password URL
    "openid-configuration",  # OpenID Connect Discovery 1.0
    "assetlinks.json",  # Digital Asset Links
    "apple-app-site-association",  # Apple universal links, in the registry
)
"""Under `/.well-known/`: those that hold anything for a reader, and need no parameter."""
