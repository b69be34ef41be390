"""Several managers on PostgreSQL: one leads; killed or stopped, it is replaced and harms nobody."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

PATIENCE_S = 120.0


@contextmanager
def managers(
    folder: Path, server: PostgresServer, *names: str
) -> Iterator[dict[str, ManagerProcess]]:
    """Serve one database by several managers."""
    with server.new_database() as url, ExitStack() as stack:
        shared = (
            f"database.url={url}",
            f"database.files_folder={folder}",
            "database.leader_timeout_s=2",
        )
        yield {name: stack.enter_context(running_manager(folder / name, *shared)) for name in names}


def seen(manager: ManagerProcess) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(prsm(manager.data, "managers", "--json"))
    return told


def leader(manager: ManagerProcess) -> tuple[int, int]:
    """Return the epoch and the leader's process, 0: nobody leads."""
    told = seen(manager)
    places = [one["place"] for one in told["managers"] if one["leads"]]
    return told["epoch"], int(places[0].rpartition(" ")[2]) if places else 0


def wait_until(what: Callable[[], bool], why: str) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < give_up, why
        time.sleep(0.1)


def wait_for_ticks(manager: ManagerProcess) -> None:
    before_ms = seen(manager)["last_tick_ms"] or 0
    wait_until(lambda: (seen(manager)["last_tick_ms"] or 0) > before_ms, "nobody ticks")


@pytest.mark.slow
def test_a_killed_leader_is_replaced(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """Again and again: another leads, ticks go on, and who was killed comes back as a follower."""
    with managers(tmp_path, postgres_server, "one", "two") as running:
        pids = {manager.process.pid: manager for manager in running.values()}
        for turn in range(1, 4):
            witness = next(iter(pids.values()))
            wait_until(lambda w=witness: leader(w)[1] in pids, "nobody leads")  # type: ignore[misc]
            epoch, pid = leader(witness)
            assert epoch == turn
            killed = pids.pop(pid)
            killed.kill()
            (other,) = pids.values()
            wait_until(
                lambda o=other, e=epoch: leader(o) == (e + 1, o.process.pid),  # type: ignore[misc]
                "nobody took over",
            )
            wait_for_ticks(other)
            killed.start()
            pids[killed.process.pid] = killed
            assert leader(killed) == (epoch + 1, other.process.pid)
        assert prsm(other.data, "check") == "no problem found\n"


def test_a_leader_that_ends_makes_room(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """SIGTERM: the other leads with its next look, and the one that ended is on no list."""
    with managers(tmp_path, postgres_server, "one", "two") as running:
        one, two = running.values()
        assert leader(two)[1] == one.process.pid
        assert one.stop() == 0
        wait_until(lambda: leader(two) == (2, two.process.pid), "nobody took over")
        assert len(seen(two)["managers"]) == 1


@pytest.mark.slow
def test_a_stopped_leader_wakes_as_a_follower(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    """It sleeps over its term; what it is in the middle of is refused, and it leads no more."""
    with managers(tmp_path, postgres_server, "one", "two") as running:
        one, two = running.values()
        wait_for_ticks(two)
        one.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: leader(two) == (2, two.process.pid), "nobody took over")
        wait_for_ticks(two)
        one.process.send_signal(signal.SIGCONT)
        wait_until(lambda: "another manager leads" in one.log, "it did not notice")
        assert leader(one) == (2, two.process.pid)
        wait_for_ticks(one)
        assert leader(one) == (2, two.process.pid)
        assert prsm(one.data, "check") == "no problem found\n"


def test_an_outage_of_the_database_passes(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """Agents hear 503 and when to come again; the manager waits, says so once, and goes on."""
    with (
        managers(tmp_path, postgres_server, "one") as running,
        running["one"].agent("a.example") as agent,
    ):
        one = running["one"]
        wait_for_ticks(one)
        assert agent.get("servlets/list?host=a.example").status_code == 200
        try:
            postgres_server.stop(keep=True)
            wait_until(lambda: agent.get("readyz").status_code == 503, "it is ready all the same")
            assert agent.get("healthz").status_code == 200
            refused = agent.get("servlets/list?host=a.example")
            assert refused.status_code == 503
            assert int(refused.headers["retry-after"]) > 0
            assert "the database does not answer" in refused.text
        finally:
            postgres_server.start()
        wait_until(lambda: agent.get("readyz").status_code == 200, "it did not come back")
        wait_for_ticks(one)
        assert agent.get("servlets/list?host=a.example").status_code == 200
        assert one.log.count("this manager waits") == 1
        assert "the database answers again" in one.log
        assert "Traceback" not in one.log
        assert leader(one) == (1, one.process.pid)
