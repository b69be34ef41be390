"""Hosts whose turn it is are resolved, and what came of it is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from manager.naming import Names, resolve_due
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import import_hosts
from manager.settings import DnsSettings
from shared.messages import Message
from shared.naming import HostAnswer
from tests.manager.running import LOCAL, Running, running

NOT_FOUND = Message("naming.no_address", name="b.example", reason=Message("naming.not_found"))


class FakeNames(Names):
    """Names that are looked up in a table."""

    def __init__(self, known: dict[str, HostAnswer]) -> None:
        super().__init__(DnsSettings())
        self._known = known
        self.asked: list[str] = []

    def resolve(self, hosts: Iterable[str]) -> list[HostAnswer]:
        """Return what the table says."""
        asked = list(hosts)
        self.asked += asked
        return [self._known[host] for host in asked]


def due(prsm: Running, names: Names, batch: int = 10) -> int:
    return resolve_due(prsm.manager.db, names, prsm.clock, prsm.manager.policy, batch)


def test_answers_are_recorded(tmp_path: Path) -> None:
    """An address makes a host ready; a failure is kept in words and asked about again later."""
    good, bad = "http://a.example:80/", "http://b.example:80/"
    names = FakeNames({
        good: HostAnswer(good, ("133.9.1.1",), 300),
        bad: HostAnswer(bad, failure=NOT_FOUND),
    })  # fmt: skip
    with running(tmp_path) as prsm:
        assert due(prsm, names) == 0
        import_hosts(prsm.manager.db, [(1, good), (2, bad)], LOCAL, prsm.clock())
        assert due(prsm, names) == 2
        assert host_detail(prsm.manager.db, good).addresses == [(0, "133.9.1.1")]
        assert "no address" in str(host_detail(prsm.manager.db, bad).host.resolve_problem)
        assert due(prsm, names) == 0
        prsm.clock.advance(prsm.manager.policy.dns_retry_delay_s + 1)
        assert due(prsm, names) == 1
        assert names.asked[-1] == bad


def test_a_batch_is_bounded(tmp_path: Path) -> None:
    """One call resolves so many hosts; the next goes on."""
    keys = [f"http://h{number}.example:80/" for number in range(5)]
    names = FakeNames({key: HostAnswer(key, ("133.9.1.1",), 300) for key in keys})
    with running(tmp_path) as prsm:
        import_hosts(prsm.manager.db, enumerate(keys, 1), LOCAL, prsm.clock())
        assert [due(prsm, names, batch=2) for _ in range(4)] == [2, 2, 1, 0]
        assert sorted(names.asked) == keys
