"""Look-ups of names: how they went, by code, and once more on demand."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError
from manager.operations.hosts.addresses import Resolution, hosts_to_resolve, record_resolutions
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import exclude_host, import_hosts
from manager.operations.hosts.name_lookups import (
    EXAMPLES,
    look_up_again,
    resolutions,
    resolutions_of_list,
)
from manager.operations.people.audit_log import audit_page
from shared.messages import Message
from shared.naming import HostFailure
from tests.manager.operations.world import ADMIN, POLICY

GONE, SILENT, GOOD = "gone.jp", "silent.jp", "good.jp"
FAILURES = {GONE: HostFailure.NO_SUCH_NAME, SILENT: HostFailure.NAME_TIMEOUT}


def lines(names: Sequence[str]) -> list[tuple[int, str]]:
    return list(enumerate(names, 1))


def look_up(database: Database, now_ms: int, failures: dict[str, HostFailure]) -> None:
    """Look up what is due; names that do not fail lead to an address of their own."""
    answers = []
    for number, host in enumerate(hosts_to_resolve(database, now_ms, 100)):
        name = host.key.removeprefix("http://").partition(":")[0]
        failure = failures.get(name)
        answers.append(
            Resolution(host.host_id, host.key, (f"192.0.2.{number + 1}",))
            if failure is None
            else Resolution(host.host_id, host.key, (), Message.of_text(f"{name} failed"), failure)
        )
    record_resolutions(database, answers, now_ms, POLICY)


def test_names_are_counted_by_what_their_look_up_brought(database: Database) -> None:
    """Before it they wait; then each failure has its code, and examples with the words."""
    import_hosts(database, lines([GONE, SILENT, GOOD]), ADMIN, 10)
    assert resolutions(database).waiting == 3
    look_up(database, 10, FAILURES)
    found = resolutions(database)
    assert (found.resolved, found.waiting, found.unresolved) == (1, 0, 2)
    assert {one.failure: one.hosts for one in found.failures} == {
        "no_such_name": 1,
        "name_timeout": 1,
    }
    (example,) = next(one for one in found.failures if one.failure == "no_such_name").examples
    assert (example.host, str(example.detail)) == (f"http://{GONE}:80/", f"{GONE} failed")
    assert host_detail(database, GONE).host.resolve_failure == "no_such_name"


def test_a_list_is_told_of_its_own_hosts(database: Database) -> None:
    """Read as an import reads it: known again, twice, with a path; what is no host is counted."""
    import_hosts(database, lines([GONE, SILENT, GOOD, "other.jp"]), ADMIN, 10)
    look_up(database, 10, FAILURES)
    import_hosts(database, lines(["later.jp"]), ADMIN, 20)
    asked = [
        "# mine",
        "",
        GONE,
        f"http://{GONE}/a/b\thttp://x.jp/",
        GOOD,
        "later.jp",
        "never.jp",
        "a b",
    ]
    found = resolutions_of_list(database, lines(asked))
    assert (found.resolved, found.waiting, found.unresolved, found.unknown) == (1, 1, 1, 2)
    assert [one.failure for one in found.failures] == ["no_such_name"]


def test_unresolved_names_are_looked_up_again_at_once(database: Database) -> None:
    """However long they were to wait; those that are resolved, or excluded, are left alone."""
    import_hosts(database, lines([GONE, SILENT, GOOD, "out.jp"]), ADMIN, 10)
    look_up(database, 10, {**FAILURES, "out.jp": HostFailure.NO_ADDRESS})
    exclude_host(database, "out.jp", "asked for", ADMIN, 11)
    assert hosts_to_resolve(database, 12, 10) == []
    assert look_up_again(database, "", ADMIN, 12).hosts == 2
    due = {host.key for host in hosts_to_resolve(database, 12, 10)}
    assert due == {f"http://{GONE}:80/", f"http://{SILENT}:80/"}
    (row,) = audit_page(database, limit=5, action="host.resolve")
    assert (row.subject, json.loads(row.detail)) == ("", {"hosts": 2})
    look_up(database, 12, {})
    found = resolutions(database)
    assert (found.resolved, found.unresolved, found.failures) == (3, 0, [])
    assert host_detail(database, GONE).host.resolve_failure == ""


def test_one_host_is_looked_up_again(database: Database) -> None:
    """Resolved or not; a host that is not known, or excluded, is refused with the remedy."""
    import_hosts(database, lines([GOOD]), ADMIN, 10)
    look_up(database, 10, {})
    assert look_up_again(database, f"http://{GOOD}/x", ADMIN, 12).hosts == 1
    assert [host.key for host in hosts_to_resolve(database, 12, 10)] == [f"http://{GOOD}:80/"]
    (row,) = audit_page(database, limit=5, action="host.resolve")
    assert row.subject == f"http://{GOOD}:80/"
    with pytest.raises(NotFoundError, match="import it first"):
        look_up_again(database, "never.jp", ADMIN, 12)
    exclude_host(database, GOOD, "", ADMIN, 13)
    with pytest.raises(ConflictError, match="is excluded; include it first"):
        look_up_again(database, GOOD, ADMIN, 14)


def test_a_host_that_had_an_address_keeps_it_and_is_unresolved(database: Database) -> None:
    """A name server that is away takes no host out of the crawl, and is counted."""
    import_hosts(database, lines([GOOD]), ADMIN, 10)
    look_up(database, 10, {})
    look_up_again(database, GOOD, ADMIN, 20)
    look_up(database, 20, {GOOD: HostFailure.NAME_SERVER_AWAY})
    host = host_detail(database, GOOD)
    assert (host.host.resolution, host.host.resolve_failure) == ("resolved", "name_server_away")
    assert host.addresses
    found = resolutions(database)
    assert (found.resolved, found.unresolved) == (0, 1)


def test_of_many_failures_some_are_shown(database: Database) -> None:
    """All are counted."""
    names = [f"g{number}.jp" for number in range(EXAMPLES + 5)]
    import_hosts(database, lines(names), ADMIN, 10)
    look_up(database, 10, dict.fromkeys(names, HostFailure.NO_SUCH_NAME))
    (one,) = resolutions(database).failures
    assert (one.hosts, len(one.examples)) == (len(names), EXAMPLES)
    (same,) = resolutions_of_list(database, lines(names)).failures
    assert (same.hosts, len(same.examples)) == (len(names), EXAMPLES)
