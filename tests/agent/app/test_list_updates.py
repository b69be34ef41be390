"""What an agent does with a list that lies on its disk when it begins."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.app.manager_link.list_updates import ListUpdates
from agent.app.manager_link.permit_use import PermitUse
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.link.actions import View
from agent.link.client import ManagerClient
from agent.link.link_memory import Memory
from agent.link.manager_list import ManagerList
from agent.link.poller import ListNumber, Poller, ResumedLink
from agent.settings import Home
from shared.wire.gzip_stream import compress
from tests.agent.fakes import FakeClock
from tests.agent.link.pollers import make_poller

UNITS = 20_000
LIST = b"#Round=2\n#Generation=7\n" + b"".join(
    b"http://h%d.example/\n" % number for number in range(UNITS)
)
LONG = 10_000_000


def begun(folder: Path, limit_bytes: int) -> tuple[ListUpdates, Poller, list[str], list[Any]]:
    """Return a process's list updates, its poller, its log, and the lists in force."""
    lines: list[str] = []
    lists: list[Any] = []
    server_list = ManagerList(folder / "list", limit_bytes=limit_bytes)
    poller = make_poller("a.example", resumed=ResumedLink(server_list.held()))

    async def replace(server_list: Any) -> None:
        lists.append(server_list)

    async def report_finished_again() -> None:
        lists.append("reported again")

    in_force = SimpleNamespace(replace=replace, report_finished_again=report_finished_again)
    session = SimpleNamespace(list=in_force, ledger=SimpleNamespace(commit=lambda: None))
    nothing: Any = None
    updates = ListUpdates(
        Runtime(Home(folder), FakeClock(), nothing, lines.append),
        cast(ManagerClient, nothing),
        poller,
        server_list,
        cast(CrawlSession, session),
        Memory.open(folder / "memory", epoch_ms=0, rng=random.Random(7)),
        cast(PermitUse, nothing),
    )
    return updates, poller, lines, lists


@pytest.mark.parametrize("why", ["a lower limit", "an older release"])
def test_a_list_that_is_not_read_any_more_is_asked_for_again(tmp_path: Path, why: str) -> None:
    """Else no start would get past it: the file stays as it is until another list is taken."""
    server_list = ManagerList(tmp_path / "list", limit_bytes=LONG)
    server_list.new_list_path.write_bytes(b"".join(compress([LIST])))
    server_list.accept()
    updates, poller, lines, lists = begun(tmp_path, LONG)
    asyncio.run(updates.resume())
    assert len(lists) == 2
    limit_bytes = LONG
    if why == "a lower limit":
        limit_bytes = len(LIST) // 2
    else:  # which took numbers that this one refuses
        odd = LIST + b"#Interval=" + b"9" * 40 + b"\n"
        (tmp_path / "list").write_bytes(b"".join(compress([odd])))
    updates, poller, lines, lists = begun(tmp_path, limit_bytes)
    assert poller.request(1, View("working", 0), 0.0).generation_held == 7
    asyncio.run(updates.resume())
    assert lists == []
    assert "list 7 of round 2 cannot be read" in lines[-1]
    _, poller, _, _ = begun(tmp_path, LONG)
    assert poller.request(1, View("working", 0), 0.0).generation_held == 0
    assert ManagerList(tmp_path / "list", limit_bytes=LONG).held() == ListNumber()


def test_what_was_finished_is_told_again_until_it_was_told_to_the_end(tmp_path: Path) -> None:
    """A process that ended while a list was taken had not said it; one that follows says it."""
    server_list = ManagerList(tmp_path / "list", limit_bytes=LONG)
    server_list.new_list_path.write_bytes(b"".join(compress([LIST])))
    server_list.accept()
    for told in (["reported again"], []):
        updates, _, _, lists = begun(tmp_path, LONG)
        asyncio.run(updates.resume())
        assert lists[1:] == told
