"""A host whose newest crawl is known by its directories, as logs of 1,000 lines would say it."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.hosts import directories
from manager.db.hosts.directories import DirectoryRow
from manager.db.measurement import measurements
from manager.db.measurement.measurements import SumRow
from manager.operations.hosts.host_views import host_detail

__all__ = ["SIZES", "know_directories"]

SIZES = {"news": 400, "docs": 390, "maps": 210, "faq": 150}
"""Pages by directory; 50 more lie beside them."""

BESIDE = 50


def know_directories(
    db: Database, host: str, agent_id: int, sizes: dict[str, int] | None = None
) -> None:
    """Write down what an agent's logs said of a host and its directories in round 1."""
    sizes = SIZES if sizes is None else sizes
    detail = host_detail(db, host)
    [top] = [unit.id for unit in detail.units if unit.path == "/"]
    total = sum(sizes.values()) + BESIDE
    with db.write() as tx:
        directories.add(
            tx,
            agent_id,
            [
                DirectoryRow(
                    agent_id,
                    detail.host.id,
                    path=path,
                    round=1,
                    kind="crawl",
                    requests=n,
                    pages=n,
                    errors=0,
                    request_bytes=0,
                    response_bytes=n * 1000,
                    ms=50,
                )
                for path, n in {
                    "/": BESIDE,
                    **{f"/{name}/": n for name, n in sizes.items()},
                }.items()
            ],
        )
        measurements.set_sums(
            tx,
            [
                SumRow(
                    agent_id=agent_id,
                    unit_id=top,
                    round=1,
                    kind="crawl",
                    requests=total,
                    pages=total,
                    errors=0,
                    request_bytes=0,
                    response_bytes=total * 1000,
                    ms=200,
                    failed=0,
                    spread="",
                    slowest_ms=1,
                    slowest_bytes=1000,
                    first_ms=1,
                    last_ms=2,
                )
            ],
        )
