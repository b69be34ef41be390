"""An agent knows its installation, and what another one says is no matter for a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from agent.errors import LinkError, RefusedError, WaitError
from agent.link.actions import GrantPermit, RevokePermit, View
from agent.link.call_schedule import Backoff
from agent.link.client import ManagerClient
from agent.link.keys import KnownInstallation
from agent.link.poller import Poller
from agent.settings import Home
from shared.wire.installation import HEADER
from shared.wire.sync import Permit, SyncAnswer, SyncRequest
from tests.agent.link.pollers import make_poller

OWN = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
URL = "https://manager.example/"
ANSWER = {"server_time_ms": 1, "next_poll_s": 60, "round": 0, "generation": 0}


def granting() -> SyncAnswer:
    """Return an answer with a permit of two hours."""
    return SyncAnswer(
        server_time_ms=1,
        next_poll_s=60.0,
        round=0,
        generation=0,
        permit=Permit(epoch=1, duration_s=7200),
    )


class Body(httpx.AsyncByteStream):
    """The bytes of an answer, as they come over a network."""

    def __init__(self, said: object) -> None:
        self._data = json.dumps(said).encode()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._data


class Manager:
    """A manager that answers as it is told, and remembers what agents showed."""

    def __init__(self, status: int = 200, shows: str = OWN, body: object = ANSWER) -> None:
        self.status, self.shows, self.body = status, shows, body
        self.seen: list[str | None] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        self.seen.append(request.headers.get(HEADER))
        headers = {HEADER: self.shows} if self.shows else {}
        if self.status == 503:
            headers |= {"Retry-After": "3600"}
        headers["Content-Type"] = "application/json"
        return httpx.Response(self.status, headers=headers, stream=Body(self.body))


def client(manager: Manager, known: KnownInstallation) -> ManagerClient:
    return ManagerClient(
        URL, name="a.example", key="k" * 40, transport=httpx.MockTransport(manager.answer),
        installation=known,
    )  # fmt: skip


def known(home: Path) -> KnownInstallation:
    return KnownInstallation(Home(home).installation, URL)


def poller() -> Poller:
    return make_poller("a.example", backoff=Backoff(1, 60), seed=1)


def request() -> SyncRequest:
    return poller().request(1, View("working", 1), 0.0)


def synced(manager: Manager, home: Path) -> None:
    async def run() -> None:
        async with client(manager, known(home)) as calls:
            await calls.sync(request())

    asyncio.run(run())


def test_the_id_is_learned_with_the_first_sync_and_shown_from_then_on(
    tmp_path: Path,
) -> None:
    """It stays what it is whatever another manager shows; the file is the version before's none."""
    manager = Manager()
    synced(manager, tmp_path)
    assert known(tmp_path).id == OWN
    manager.shows = OTHER
    synced(manager, tmp_path)
    assert known(tmp_path).id == OWN
    assert manager.seen == [None, OWN]
    kept = json.loads(Home(tmp_path).installation.read_text())
    assert kept == {"manager": URL, "installation": OWN}
    assert KnownInstallation(Home(tmp_path).installation, "https://other.example/").id == ""


def test_the_id_is_learned_at_the_join_also_at_another_manager(tmp_path: Path) -> None:
    """A home that joins shows nothing of where it was before."""
    known(tmp_path).join(OTHER)
    body = {"agent": "a.example", "repeated": False}
    manager = Manager(body=body)

    async def join() -> None:
        async with client(manager, known(tmp_path)) as calls:
            await calls.enrol("token", "k" * 40)

    asyncio.run(join())
    assert manager.seen == [None]
    assert known(tmp_path).id == OWN


def test_a_manager_of_the_version_before_says_no_id(tmp_path: Path) -> None:
    """Nothing is learned, and nothing shown."""
    manager = Manager(shows="")
    synced(manager, tmp_path)
    synced(manager, tmp_path)
    assert manager.seen == [None, None]
    assert not Home(tmp_path).installation.exists()


@pytest.mark.parametrize("shows", [OTHER, "", "nonsense"])
def test_an_unknown_key_at_another_installation_is_asked_again_in_an_hour(
    tmp_path: Path, shows: str
) -> None:
    """And the crawl goes on under its permit."""
    known(tmp_path).learn(OWN)
    with pytest.raises(RefusedError) as caught:
        synced(Manager(401, shows, {"detail": "unknown key"}), tmp_path)
    error = caught.value
    assert error.is_foreign
    assert "continues under its permit" in str(error)
    talk = poller()
    talk.request(1, View("working", 1), 0.0)
    granted = talk.answered(1, granting(), 1.0)
    assert any(isinstance(one, GrantPermit) for one in granted)
    talk.request(2, View("working", 1), 60.0)
    assert not [one for one in talk.failed(2, error, 61.0) if isinstance(one, RevokePermit)]
    assert 3600 <= talk.next_s - 61.0 <= 3660
    assert "prs enrol" in str(talk.trouble)


@pytest.mark.parametrize("status", [403, 404, 409, 426])
def test_no_refusal_of_another_installation_ends_the_work(tmp_path: Path, status: int) -> None:
    """A line that is open there, a name that is another's, a version: it is asked in an hour."""
    known(tmp_path).learn(OWN)
    with pytest.raises(RefusedError) as caught:
        synced(Manager(status, OTHER, {"detail": "no"}), tmp_path)
    assert caught.value.is_foreign
    with pytest.raises(RefusedError) as caught:
        synced(Manager(status, OWN, {"detail": "no"}), tmp_path)
    assert not caught.value.is_foreign


@pytest.mark.parametrize(("by_manager", "ends"), [(True, True), (False, False)])
def test_a_proxy_ends_no_permit(by_manager: bool, ends: bool) -> None:
    """Its 403 says nothing of the rights that the manager counts on."""
    talk = poller()
    talk.request(1, View("working", 1), 0.0)
    talk.answered(1, granting(), 1.0)
    talk.request(2, View("working", 1), 60.0)
    done = talk.failed(2, RefusedError(403, "blocked", by_manager=by_manager), 61.0)
    assert any(isinstance(one, RevokePermit) for one in done) == ends


def test_an_unknown_key_at_the_own_installation_is_a_matter_for_a_person(
    tmp_path: Path,
) -> None:
    """The permit ends, as nobody counts on this agent any more."""
    known(tmp_path).learn(OWN)
    with pytest.raises(RefusedError) as caught:
        synced(Manager(401, OWN, {"detail": "unknown key"}), tmp_path)
    assert caught.value.installation == OWN
    assert not caught.value.is_foreign


def test_an_agent_that_learned_no_id_asks_again_in_an_hour(tmp_path: Path) -> None:
    """An answer of 401 proves nothing then."""
    with pytest.raises(RefusedError) as caught:
        synced(Manager(401, OWN, {"detail": "unknown key"}), tmp_path)
    assert caught.value.is_foreign
    assert known(tmp_path).id == ""


def test_a_manager_that_calls_the_agent_foreign_is_waited_for(tmp_path: Path) -> None:
    """503 ends no permit; it says after how long to ask again."""
    known(tmp_path).learn(OWN)
    body = {"detail": "this manager is of another installation", "code": "foreign_installation"}
    with pytest.raises(LinkError) as caught:
        synced(Manager(503, OTHER, body), tmp_path)
    assert isinstance(caught.value, WaitError)
    assert caught.value.retry_after_s == 3600
