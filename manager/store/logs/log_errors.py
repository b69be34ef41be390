"""The rule by which a line of a crawl log counts as an error of its host.

No answer, or a status that is not from 100 to 399. A host need not have the files that a standard
puts at one place of every site, so that one of them is not there is no error.
"""

from __future__ import annotations

from typing import Final

from shared.well_known import SITEMAP_PATHS, WELL_KNOWN_FOLDER

__all__ = ["IS_ERROR"]

_SITEMAPS: Final = ", ".join(f"'{path}'" for path in SITEMAP_PATHS)

IS_ERROR: Final = f"""coalesce(
    status NOT BETWEEN 100 AND 399 AND NOT (
        status IN (404, 410)
        AND (path IN ({_SITEMAPS}) OR starts_with(path, '{WELL_KNOWN_FOLDER}'))
    ),
    true
)"""  # constants of ours
"""SQL over the columns `status` and `path` of a log."""
