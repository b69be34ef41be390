"""Collection and distribution data of months: orders, transfers, downloads, jobs.

Rows of releases are made as well: their page reads rows, and no signature.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from manager.db.engine import Transaction

__all__ = ["NUMBERED", "fill_moved"]

ORDERS: Final = 1_000
OPEN_ORDERS: Final = 60  # the newest
TRANSFERS: Final = 20_000
DOWNLOADS: Final = 10_000
JOBS: Final = 1_000
RELEASES: Final = 100
NUMBERED: Final = (
    "collection_orders", "transfers", "clients", "client_tokens", "downloads", "archive_jobs",
    "releases",
)  # fmt: skip
"""The tables that get rows here; numbers continue behind them."""


def fill_moved(
    tx: Transaction, insert: Callable[..., None], agents: int, segments: int, now_ms: int
) -> None:
    """Make the rows. insert: as `filling` makes rows of SQL, numbered n. segments: at the centre.

    agents: how many there are. now_ms: when the newest row is of.
    """
    agent, ago = f"n % {agents} + 1", f"{now_ms} - ({{}} - n) * 60000"
    insert(
        tx, "collection_orders", ORDERS, id="n", agent_id=agent, condition="'difference'",
        way="'push'", made_by="'bench'", made_ms=ago.format(ORDERS), segments=20,
        state=f"CASE WHEN n > {ORDERS - OPEN_ORDERS} THEN 'open' ELSE 'done' END",
        sent_bytes=2_000_000_000, reported_ms=now_ms, result="''",
        ended_ms=f"CASE WHEN n > {ORDERS - OPEN_ORDERS} THEN NULL ELSE {now_ms} END",
    )  # fmt: skip
    insert(
        tx, "transfers", TRANSFERS, id="n", key="'upload' || n", agent_id=agent,
        filename="'s' || n || '.warc.gz'", sha256="'sha' || n", size_bytes=100_000_000,
        way="'push'", state="'accepted'", gaps="'[]'", received_bytes=100_000_000,
        begun_ms=ago.format(TRANSFERS), changed_ms=ago.format(TRANSFERS),
        received_ms=ago.format(TRANSFERS), ended_ms=ago.format(TRANSFERS), result="''",
    )  # fmt: skip
    insert(
        tx, "clients", 1, id="n", name="'taking'", contact="'taking@bench.example'",
        purpose="'research'", registered_by="'bench'", registered_ms=now_ms,
    )  # fmt: skip
    insert(
        tx, "client_tokens", 1, id="n", client_id="n", token_hash="'none'", scopes="'data'",
        requests_per_minute=600, issued_by="'bench'", issued_ms=now_ms, expires_ms=now_ms,
    )  # fmt: skip
    insert(
        tx, "downloads", DOWNLOADS, id="n", token_id=1, name=f"'s' || (n % {segments}) || '.' || n",
        state="'done'", size_bytes=100_000_000, sent_bytes=100_000_000, requests=1,
        begun_ms=ago.format(DOWNLOADS), last_ms=ago.format(DOWNLOADS),
    )  # fmt: skip
    insert(
        tx, "archive_jobs", JOBS, id="n", token="'job' || n", client_id=1,
        function="'extract-zip'", query="'host=h' || n || '.d0.example'", state="'gone'",
        submitted_ms=ago.format(JOBS), finished_ms=ago.format(JOBS), done=100, total=100,
    )  # fmt: skip
    insert(
        tx, "releases", RELEASES, id="n", version="'1.' || n || '.0'",
        target="'prs-1.' || n || '.0.tar.gz'", sha256="'sha' || n", size_bytes=9_000_000,
        published_by="'bench'", published_ms=ago.format(RELEASES), ring="'all'",
        rolled_out_ms=ago.format(RELEASES),
    )  # fmt: skip
