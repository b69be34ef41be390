"""What a crawl's files know of one another when a process begins."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agent.adapters.clock import SystemClock
from agent.adapters.earlier import EarlierFile
from agent.adapters.ledger import DATABASE, SqliteLedger
from agent.app.session import EARLIER, CrawlSession
from agent.pipeline.messages import Earlier
from agent.settings import Settings

HOST = "http://a.example:80/"
CLOCK = SystemClock()


def opened(folder: Path) -> CrawlSession:
    """Begin a process."""
    site = Settings(home=folder.parent)
    site = replace(site, pages=replace(site.pages, workers=0))
    return CrawlSession.open(
        site, folder, "prs1", CLOCK, permitted=lambda: True, fetching=lambda: True
    )


def known(folder: Path) -> Earlier | None:
    """Return what is remembered of a page."""
    memory = EarlierFile(folder / EARLIER, CLOCK, 90.0)
    try:
        return memory.look_up(HOST, f"{HOST}x")
    finally:
        memory.close()


def test_what_went_with_another_ledger_is_not_referred_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the process that made the new ledger was killed before it said so."""
    folder = tmp_path / "crawl"

    async def begin() -> None:
        await opened(folder).close()

    asyncio.run(begin())
    memory = EarlierFile(folder / EARLIER, CLOCK, 90.0)
    memory.remember(HOST, f"{HOST}x", Earlier(CLOCK.epoch_ms(), f"sha256:{1:064x}", "", ""))
    memory.committed()
    memory.close()
    asyncio.run(begin())
    assert known(folder) is not None
    for path in folder.glob(f"{DATABASE}*"):
        path.unlink()
    killed = SqliteLedger.open

    def killed_behind_it(*arguments: object, **options: object) -> None:
        killed(*arguments, **options).close()  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(SqliteLedger, "open", killed_behind_it)
        asyncio.run(begin())
    asyncio.run(begin())
    assert known(folder) is None
