"""What each kind of links brings: from syncs into the figures of a round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from manager.db.engine import Database
from manager.operations.fleet.agents import agent_detail
from manager.operations.rounds.round_report import round_report
from manager.operations.rounds.rounds import round_detail, start_round
from shared.wire.sync import Counters, KindOfLinks
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import ADMIN, World


def kind(name: str, links: int, pages: int = 0, missing: int = 0) -> KindOfLinks:
    """Return what one kind brought."""
    return KindOfLinks(kind=name, links=links, pages=pages, missing=missing)


class Told:
    """Agents that tell what their links brought, in round 1 where nothing else is said."""

    def __init__(self, database: Database) -> None:
        self.world = World(database)
        self.world.join("tokyo", "osaka")
        self.world.hosts("a.example")
        self.world.resolve()
        self.db = database
        start_round(database, "default", ADMIN, self.world.now_ms, policy=self.world.policy)

    def sync(self, name: str, *kinds: KindOfLinks, round_held: int = 1, **more: Any) -> Any:
        """Let an agent say what it has counted; return its request."""
        counters = Counters(requests=1, kinds=kinds)
        request = replace(
            self.world.request(name), counters=counters, round_held=round_held, **more
        )
        self.repeat(name, request)
        return request

    def repeat(self, name: str, request: Any) -> None:
        """Let a request come once more."""
        identity = self.world.agents[name].identity
        sync(self.db, identity, request, self.world.now_ms, self.world.policy)

    def sums(self, number: int = 1) -> dict[str, tuple[int, int, int]]:
        """Return the figures of a round."""
        kinds = round_detail(self.db, number).link_kinds
        return {one.kind: (one.links, one.pages, one.missing) for one in kinds}


def test_counts_of_all_agents_are_summed_up_by_round(database: Database) -> None:
    """The most URLs first, in the round's detail and in its report."""
    told = Told(database)
    told.sync("tokyo", kind("anchor", 10, 8, 1), kind("string", 30, 2, 27))
    told.sync("osaka", kind("anchor", 5, 5))
    assert list(told.sums().items()) == [("string", (30, 2, 27)), ("anchor", (15, 13, 1))]
    assert round_report(database, 1).link_kinds == round_detail(database, 1).link_kinds
    detail = agent_detail(database, "tokyo", told.world.now_ms, told.world.policy)
    assert [one["kind"] for one in detail.counters["kinds"]] == ["anchor", "string"]


def test_only_what_is_new_is_added(database: Database) -> None:
    """A process counts up; a new one begins at nothing; what comes twice counts once."""
    told = Told(database)
    told.sync("tokyo", kind("anchor", 10, 8))
    request = told.sync("tokyo", kind("anchor", 12, 9), kind("image", 4))
    told.repeat("tokyo", request)
    assert told.sums() == {"anchor": (12, 9, 0), "image": (4, 0, 0)}
    told.sync("tokyo", kind("anchor", 3, 3), boot_id="another process")
    assert told.sums() == {"anchor": (15, 12, 0), "image": (4, 0, 0)}


def test_counts_belong_to_the_round_that_an_agent_holds(database: Database) -> None:
    """What was counted before the next list came is of the round before it."""
    told = Told(database)
    told.sync("tokyo", kind("anchor", 10))
    told.sync("tokyo", kind("anchor", 16), round_held=2)
    told.sync("osaka", kind("anchor", 7), round_held=0)
    assert told.sums() == {"anchor": (10, 0, 0)}


def test_kinds_of_a_newer_agent_are_one_row(database: Database) -> None:
    """No agent makes rows by making names up."""
    told = Told(database)
    told.sync("tokyo", kind("anchor", 1), *(kind(f"new {number}", 2) for number in range(20)))
    told.sync("tokyo", kind("anchor", 1), *(kind(f"newer {number}", 3) for number in range(20)))
    assert told.sums() == {"unknown": (60, 0, 0), "anchor": (1, 0, 0)}


def test_an_agent_that_counts_nothing_adds_nothing(database: Database) -> None:
    """As those of older versions."""
    told = Told(database)
    told.sync("tokyo")
    assert told.sums() == {}
