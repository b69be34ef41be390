"""Settings of the agent: limits on what a site may send, and on the work that it causes."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, GB, HOUR_S, KB, KIB, MB
from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["LimitSettings"]


@frozen
class LimitSettings:
    """Limits on the data that a site may send us, and on the work that it may cause."""

    body_bytes: int = setting(
        20 * MB,
        Range("bytes", 1, GB),
        "largest page, decoded, that is kept whole; the rest of a larger one is cut off",
    )
    body_memory_bytes: int = setting(
        256 * MB,
        Range("bytes", MB, 64 * GB),
        "memory for bodies that come in or wait to be read; above it all but one wait",
    )
    header_bytes: int = setting(
        64 * KIB,
        Range("bytes", 1000, 64 * KIB),
        "largest header of an answer; with a larger one it is no page",
    )
    connect_s: float = setting(
        15.0, Range("s", 0.1, 600), "how long a connection may take until it stands, TLS included"
    )
    first_byte_s: float = setting(
        30.0,
        Range("s", 0.1, 600),
        "how long a server may take until its answer begins, connecting included",
    )
    total_s: float = setting(
        300.0,
        Range("s", 0.1, HOUR_S),
        "how long a whole fetch may take, without waiting for network.bytes_per_s; a permit ends "
        "so much earlier",
    )
    min_bytes_per_s: int = setting(
        100,
        Range("bytes/s", 0),
        "an answer that is slower than this for 30 s is given up; a tarpit holds a connection no "
        "longer",
    )
    retries: int = setting(
        2,
        Range("times", 0, 20),
        "how often a page without an answer, or with 408, 425, 429 or 5xx (not 501, 505), is tried "
        "again",
    )
    retry_delay_s: float = setting(
        60.0,
        Range("s", 0, DAY_S),
        "how long after a failure a page is tried again; each further try waits four times as long",
    )
    redirects: int = setting(
        10,
        Range("hops", 0, 50),
        "how many redirects in a row are followed; Fetch standard allows 20, sites need 5",
    )
    url_chars: int = setting(
        2083,
        Range("characters", 64, 8000),
        "longest URL that is fetched; what browsers have always accepted",
    )
    depth: int = setting(
        30,
        Range("links", 0, 10_000),
        "how many links a page may be away from the top page; deeper is a trap",
    )
    pages_per_unit: int = setting(
        100_000,
        Range("pages", 1),
        "how many pages of one unit are fetched in a round; more is a trap, or a host to split",
    )
    repeated_path_segments: int = setting(
        3,
        Range("times", 1, 100),
        "how often segments of a URL's path may come in a row; more is a loop of links, unless "
        "they are numbers",
    )
    query_shapes: int = setting(
        200,
        Range("sets", 0),
        "how many different sets of parameters one path may have; more is a trap; 0: no limit",
    )
    calendar_pages: int = setting(
        100,
        Range("pages", 0),
        "how many pages of one kind with dates far from today are fetched; 0: no limit",
    )
    duplicate_pages: int = setting(
        50,
        Range("pages", 0),
        "so many equal pages of one kind in a row are a trap, of which hardly more is fetched; 0: "
        "never",
    )
    sitemaps: int = setting(
        100,
        Range("files", 0, 50_000),
        "how many sitemaps of one robots.txt or index are read; 0: none",
    )
    public_suffix: bool = setting(
        True,
        "yes/no",
        "whether found hosts are reported only if their names could be registered; those on a "
        "page of a host whose name could not are reported all the same",
    )
    server_list_bytes: int = setting(
        2 * GB,
        Range("bytes", KB),
        "largest server list that is taken from the manager, decoded; the default is ten million "
        "units",
    )
