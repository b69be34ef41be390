"""The differences of single days lie ready, for a week."""

from __future__ import annotations

import json

from manager.operations.archive.daily_files import keep_daily_files
from tests.manager.archived import collected, page
from tests.manager.asgi import Caller
from tests.manager.running import Agent, Running

DAILY = "/api/v1/daily"
DAY_S = 86_400


def come(prsm: Running, agent: Agent, number: int) -> None:
    collected(prsm, agent, [page(f"http://www.example.jp/{number}")], f"s{number}.warc.gz")


def keep(prsm: Running) -> int:
    return keep_daily_files(prsm.manager.db, prsm.manager.layout.daily, prsm.clock())


def test_each_day_has_what_came_on_it(prsm: Running, agent: Agent, library: Caller) -> None:
    """Today's grows; after a week a day is gone, and the answer says where to go on."""
    come(prsm, agent, 1)
    assert keep(prsm) == 1
    first = library.get(DAILY).json()[0]
    prsm.clock.advance(DAY_S)
    for number in (2, 3):
        come(prsm, agent, number)
        keep(prsm)
    days = library.get(DAILY).json()
    assert len(days) == 8
    lines = [json.loads(line) for line in library.get(f"{DAILY}/{days[0]}").text.splitlines()]
    assert [line["name"] for line in lines] == ["s2-a.example.warc.gz", "s3-a.example.warc.gz"]
    assert library.get(lines[0]["location"]).status_code == 200
    assert "s1-a.example" in library.get(f"{DAILY}/{first}").text
    prsm.clock.advance(7 * DAY_S)
    keep(prsm)
    gone = library.get(f"{DAILY}/{first}")
    assert gone.status_code == 404
    assert "/api/v1/changes?since=" in gone.json()["detail"]
    assert library.get(f"{DAILY}/..%2Fx").status_code == 404


def test_a_days_file_is_for_those_who_follow(prsm: Running, agent: Agent) -> None:
    """Without a token nobody sees it."""
    keep(prsm)
    assert prsm.anybody.get(DAILY).status_code == 401
    assert agent.call.get(DAILY).status_code in (401, 403)
