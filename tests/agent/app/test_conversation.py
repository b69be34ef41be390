"""What an agent does with a list that lies on its disk when it begins."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.app.manager_link.conversation import Conversation
from agent.app.startup.agent_parts import Parts
from agent.link.actions import View
from agent.link.backoff import Backoff
from agent.link.client import ManagerClient
from agent.link.link_memory import Memory
from agent.link.manager_list import ManagerList
from agent.link.manager_time import ManagerTime
from agent.link.poller import ListHeld, Poller
from agent.settings import Settings
from shared.wire import sync_light
from shared.wire.gzip_stream import compress
from tests.agent.fakes import FakeClock

UNITS = 20_000
LIST = b"#Round=2\n#Generation=7\n" + b"".join(
    b"http://h%d.example/\n" % number for number in range(UNITS)
)
LONG = 10_000_000


def begun(folder: Path, limit_bytes: int) -> tuple[Conversation, list[str], list[Any]]:
    """Return what talks at the begin of a process, what it says, and the lists in force."""
    said: list[str] = []
    lists: list[Any] = []
    server_list = ManagerList(folder / "list", limit_bytes=limit_bytes)
    poller = Poller(
        name="a.example",
        version="1",
        boot_id="b",
        backoff=Backoff(60.0, 3600.0),
        chance=random.Random(7),
        list_held=server_list.held(),
        now_s=0.0,
    )

    async def take_list(server_list: Any) -> None:
        lists.append(server_list)

    async def tell_again() -> None:
        lists.append("told again")

    ledger = SimpleNamespace(commit=lambda: None)
    session = SimpleNamespace(take_list=take_list, tell_again=tell_again, ledger=ledger)
    parts = SimpleNamespace(session=session, clock=FakeClock(), say=said.append)
    nothing: Any = None
    talk = Conversation(
        Settings(home=folder),
        cast(Parts, parts),
        client=cast(ManagerClient, nothing),
        poller=poller,
        memory=Memory.open(folder / "memory", epoch_ms=0, chance=random.Random(7)),
        server_list=server_list,
        manager_time=cast(ManagerTime, nothing),
        view=lambda: View("working", 0),
        take_orders=nothing,
        take_limits=nothing,
        withdraw=nothing,
        reached=nothing,
        settings_held=sync_light.Settings(),
        place="here",
    )
    return talk, said, lists


@pytest.mark.parametrize("why", ["a lower limit", "an older release"])
def test_a_list_that_is_not_read_any_more_is_asked_for_again(tmp_path: Path, why: str) -> None:
    """Else no start would get past it: the file stays as it is until another list is taken."""
    server_list = ManagerList(tmp_path / "list", limit_bytes=LONG)
    server_list.coming.write_bytes(b"".join(compress([LIST])))
    server_list.accept()
    talk, said, lists = begun(tmp_path, LONG)
    asyncio.run(talk.resume_list())
    assert len(lists) == 2
    limit_bytes = LONG
    if why == "a lower limit":
        limit_bytes = len(LIST) // 2
    else:  # which took numbers that this one refuses
        odd = LIST + b"#Interval=" + b"9" * 40 + b"\n"
        (tmp_path / "list").write_bytes(b"".join(compress([odd])))
    talk, said, lists = begun(tmp_path, limit_bytes)
    assert talk.poller.request(1, View("working", 0), 0.0).generation_held == 7
    asyncio.run(talk.resume_list())
    assert lists == []
    assert "list 7 of round 2 cannot be read" in said[-1]
    talk, _, _ = begun(tmp_path, LONG)
    assert talk.poller.request(1, View("working", 0), 0.0).generation_held == 0
    assert ManagerList(tmp_path / "list", limit_bytes=LONG).held() == ListHeld()


def test_what_was_finished_is_told_again_until_it_was_told_to_the_end(tmp_path: Path) -> None:
    """A process that ended while a list was taken had not said it; one that follows says it."""
    server_list = ManagerList(tmp_path / "list", limit_bytes=LONG)
    server_list.coming.write_bytes(b"".join(compress([LIST])))
    server_list.accept()
    for told in (["told again"], []):
        talk, _, lists = begun(tmp_path, LONG)
        asyncio.run(talk.resume_list())
        assert lists[1:] == told
