"""What a crawl's files know of one another when a process begins."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agent.adapters.clock import SystemClock
from agent.adapters.last_captures import EarlierFile
from agent.adapters.ledger import DATABASE, SqliteLedger
from agent.app.session.crawl_adapters import EARLIER
from agent.app.session.session import CrawlSession
from agent.modules.server_list.list_change import CHANGES
from agent.pipeline.messages.jobs import ServerList
from agent.pipeline.messages.pages import Earlier
from agent.settings import Settings
from shared.wire.orders import ListHead, Order

HOST = "http://a.example:80/"
CLOCK = SystemClock()


def opened(folder: Path) -> CrawlSession:
    """Begin a process."""
    site = Settings(home=folder.parent)
    dns = replace(site.dns, servers=("127.0.0.1:1",))  # nobody answers there
    site = replace(site, pages=replace(site.pages, workers=0), dns=dns)
    return CrawlSession(site, folder, "prs1", CLOCK, may_send=lambda: True, may_start=lambda: True)


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


UNITS = 2_000


def test_the_loop_turns_while_a_list_is_taken(tmp_path: Path) -> None:
    """At least once for each slice; and what was finished is told again behind it, once."""

    async def live() -> None:
        session = opened(tmp_path / "crawl")
        crawl = asyncio.ensure_future(session.run())
        await asyncio.sleep(0)
        orders = tuple(Order(f"http://h{number}.invalid:80/") for number in range(UNITS))
        before = session.loop.turns
        assert await session.list.replace(ServerList(ListHead(1, 1), orders)) == set()
        assert session.loop.turns - before >= UNITS // CHANGES
        assert len(session.scope.jobs) == UNITS
        first = session.scope.jobs[orders[0].url]
        session.ledger.finish_job(first.number)
        taken = asyncio.ensure_future(session.list.replace(ServerList(ListHead(1, 2), orders[:-1])))
        await asyncio.sleep(0)
        assert session.list.is_changing
        assert await taken == {UNITS}
        assert not session.list.is_changing
        for _ in range(2):
            await session.list.report_finished_again()
        session.ledger.commit()
        told = session.reports.pending_finished(UNITS)
        assert [one.unit for one in told if one.reason == "finished before"] == [first.unit]
        assert await session.list.drop() == set(range(1, UNITS))
        await session.halt()
        assert crawl.done()
        await session.close()

    asyncio.run(live())
