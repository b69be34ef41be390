"""A host of the filled manager that takes a day to crawl, so that a split of it is proposed."""

from __future__ import annotations

from typing import Final

from manager.db.tables import rights, unit_rounds
from manager.operations.fleet.agents import agent_detail
from manager.operations.hosts.host_views import host_detail
from tests.manager.console.filled import HOSTS
from tests.manager.operations.big_host import know_directories
from tests.manager.operations.slow_host import size_host
from tests.manager.running import Running

__all__ = ["LARGE", "grow_host"]

KYOTO: Final = "kyoto.example.ac.jp"
LARGE: Final = f"http://{HOSTS[5]}:80/"


def grow_host(prsm: Running, *, known: bool = True) -> None:
    """Let it take a day; no agent fetches from it now. known: its directories are."""
    db = prsm.manager.db
    detail = host_detail(db, LARGE)
    owner = agent_detail(db, KYOTO, prsm.clock()).view.row.id
    if known:
        know_directories(db, LARGE, owner)
    size_host(db, LARGE, 5000, detail.agents, prsm.clock())
    with db.write() as tx:
        tx.execute(rights.delete())
        tx.execute(unit_rounds.delete())
