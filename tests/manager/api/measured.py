"""A manager of two plain agents that have crawled four hosts, told by their logs."""

from __future__ import annotations

import gzip
from typing import Final

from manager.operations.rounds.tick import tick
from shared.wire.crawl_log import Comment, LogLine
from tests.manager.running import Agent, Running, fill, log_body

__all__ = ["HOSTS", "OK", "A", "B", "crawled", "tick_all", "units_of"]

A, B = "prs.a.example", "prs.b.example"
HOSTS: Final = ("www.one.jp", "two.jp:8080", "https://three.jp/", "four.jp")
OK: Final = b"HTTP/1.1 200 OK\r\n"


def tick_all(prsm: Running) -> None:
    """Let the clock tick until nothing changes."""
    for _ in range(6):
        prsm.clock.advance(6)
        tick(prsm.manager.db, prsm.clock(), prsm.manager.policy)


def crawled(prsm: Running) -> dict[str, list[str]]:
    """Let both agents crawl what a round of `random` gives them; return the units by agent.

    Each fetches the top page, a page of 1,500 bytes twice, and robots.txt; A needs 10 ms for each
    KByte, B 20.
    """
    agents = {name: prsm.agent(name) for name in (A, B)}
    fill(prsm, *HOSTS)
    for name, agent in agents.items():
        agent.call.get(f"/servlets/subscribe?host={name}")
        agent.call.get(f"/servlets/list?host={name}")
    prsm.local.post("/api/v1/rounds", json={"method": "random", "probe": False})
    tick_all(prsm)
    lists = {}
    for pace, (name, agent) in enumerate(agents.items(), 1):
        lists[name] = units_of(agent)
        lines: list[LogLine | Comment] = [
            line for unit in lists[name] for line in _lines(unit, pace * 10)
        ]
        assert agent.send_log(log_body(name, lines)).status_code == 200
        agent.call.get(f"/servlets/list?host={name}")
    tick_all(prsm)
    return lists


def units_of(agent: Agent) -> list[str]:
    """Return the units of an agent's list."""
    text = gzip.decompress(agent.call.get(f"/servlets/list?host={agent.name}").content).decode()
    return [line for line in text.splitlines() if not line.startswith("#")]


def _lines(unit: str, ms_per_kb: int) -> list[LogLine]:
    return [
        LogLine(unit + path, 200, size, size * ms_per_kb // 1000, OK)
        for path, size in (("robots.txt", 200), ("", 2300), ("p?q=1", 1500), ("p?q=1", 1500))
    ]
