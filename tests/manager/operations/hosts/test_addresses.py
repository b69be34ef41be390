"""Names, addresses and groups."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from manager.assignment.groups import AddressGroups
from manager.db.engine import Database
from manager.operations.hosts.addresses import Resolution, hosts_to_resolve, record_resolutions
from manager.operations.hosts.host_views import HostFilter, host_detail, list_hosts
from manager.operations.hosts.hosts import import_hosts
from shared.messages import Message
from tests.manager.operations.world import ADMIN, POLICY

NAMES = [f"h{number}.jp" for number in range(6)]


NO_SUCH_NAME: Final = Message.of_text("no such name")


def resolve(database: Database, *answers: tuple[str, tuple[str, ...]], now_ms: int = 10) -> None:
    """Let names lead to addresses; no addresses: the name server has none."""
    ids = {name: host_detail(database, name).host for name, _ in answers}
    record_resolutions(
        database,
        [
            Resolution(ids[name].id, ids[name].key, found, None if found else NO_SUCH_NAME)
            for name, found in answers
        ],
        now_ms,
        POLICY,
    )


def test_a_host_waits_for_its_address(database: Database) -> None:
    """New hosts are due at once; with an address they can be given out."""
    import_hosts(database, enumerate(NAMES), ADMIN, 10)
    due = hosts_to_resolve(database, 10, 4)
    assert [one.key for one in due] == [f"http://{name}:80/" for name in NAMES[:4]]
    resolve(database, (NAMES[0], ("192.0.2.1",)))
    assert len(hosts_to_resolve(database, 10, 10)) == 5
    assert [line.key for line in list_hosts(database, HostFilter(state="idle")).hosts] == [
        "http://h0.jp:80/"
    ]


def test_a_name_that_leads_nowhere_is_asked_for_again_later(database: Database) -> None:
    """Each failure doubles the pause; the reason is shown; an answer ends it."""
    import_hosts(database, [(1, NAMES[0])], ADMIN, 10)
    now_ms = 10
    pauses = []
    for _ in range(4):
        resolve(database, (NAMES[0], ()), now_ms=now_ms)
        host = host_detail(database, NAMES[0]).host
        assert host.resolve_after_ms is not None
        pauses.append((host.resolve_after_ms - now_ms) // 1000)
        now_ms = host.resolve_after_ms
    assert pauses == [600, 1200, 2400, 4800]
    assert (host.resolution, host.resolve_problem) == ("failed", NO_SUCH_NAME)
    resolve(database, (NAMES[0], ("192.0.2.1",)), now_ms=now_ms)
    host = host_detail(database, NAMES[0]).host
    assert (host.resolution, host.resolve_problem, host.resolve_failures) == ("resolved", None, 0)


def test_a_name_server_that_is_away_takes_no_host_out(database: Database) -> None:
    """Addresses that were known stay until there are others."""
    import_hosts(database, [(1, NAMES[0])], ADMIN, 10)
    resolve(database, (NAMES[0], ("192.0.2.1",)))
    resolve(database, (NAMES[0], ()), now_ms=20)
    detail = host_detail(database, NAMES[0])
    assert (detail.host.resolution, detail.addresses) == ("resolved", [(0, "192.0.2.1")])
    assert detail.units[0].state == "idle"


def test_chains_of_shared_addresses_are_one_group(database: Database) -> None:
    """A shares with B, B with C: all three see one robot, whatever was resolved first."""
    import_hosts(database, enumerate(NAMES), ADMIN, 10)
    resolve(database, (NAMES[2], ("192.0.2.1",)))
    resolve(database, (NAMES[1], ("192.0.2.2",)))
    resolve(database, (NAMES[0], ("192.0.2.9",)))
    resolve(database, (NAMES[3], ("192.0.2.1", "192.0.2.2")))
    groups = [host_detail(database, name).host.group_id for name in NAMES]
    ids = [host_detail(database, name).host.id for name in NAMES]
    assert groups == [ids[0], ids[1], ids[1], ids[1], None, None]


def test_hosts_that_are_gone_are_left_out(database: Database) -> None:
    """A late answer for a host that does not exist is no error."""
    record_resolutions(database, [Resolution(99, "http://x.jp:80/", ("192.0.2.1",))], 10)


edges = st.lists(
    st.tuples(st.integers(0, 5), st.sets(st.integers(1, 4), min_size=1, max_size=2)), max_size=8
)


@settings(max_examples=30, deadline=None)
@given(edges=edges)
def test_stored_groups_are_those_of_the_rule(
    sqlite_template: Path, edges: list[tuple[int, set[int]]]
) -> None:
    """Merged step by step in the tables, groups are what a union-find over all edges says."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(sqlite_template, f"{folder}/db")
        database = Database(f"sqlite:///{folder}/db")
        import_hosts(database, enumerate(NAMES), ADMIN, 10)
        rule = AddressGroups()
        latest: dict[int, set[int]] = {}
        for host, seen in edges:
            latest[host] = latest.get(host, set()) | seen
            found = tuple(f"192.0.2.{number}" for number in sorted(latest[host]))
            resolve(database, (NAMES[host], found))
            for address in found:
                rule.add(host + 1, address)
        for host, name in enumerate(NAMES):
            assert host_detail(database, name).host.group_id == rule.group_of(host + 1)
        database.close()
