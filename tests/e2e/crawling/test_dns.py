"""Look-ups against real name servers on loopback: good, bad, slow, lying and dead ones."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator

import pytest

from agent.adapters.dns import DnsResolver, ResolverOptions
from agent.pipeline.messages.hosts import LookUp
from manager.naming import Names
from manager.settings import DnsSettings
from shared.errors import SettingError
from shared.naming import (
    AddressRules,
    Kind,
    NameServers,
    NoAnswerError,
    NoSuchNameError,
    Record,
)
from tests.e2e.name_server import SLOW_S, Zone, running_name_server
from tests.fixtures_dir import fixture_folder

pytestmark = pytest.mark.e2e

PATIENT_S = 20.0  # for servers that answer: however busy the machine is
SILENT_S = 0.5  # for those that do not, where the wait is the test


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Zone]]:
    """Run a name server; return its `address:port`, and what it was asked."""
    with running_name_server() as server:
        yield server


@pytest.fixture
def name_server(served: tuple[str, Zone]) -> str:
    return served[0]


def look_up(
    server: str,
    *names: str,
    options: ResolverOptions | None = None,
    timeout_s: float = PATIENT_S,
    tries: int = 1,
) -> list[LookUp]:
    async def run() -> list[LookUp]:
        servers = NameServers([server], timeout_s=timeout_s, tries=tries)
        resolver = DnsResolver(servers, AddressRules().refusal, options)
        try:
            return [await resolver.look_up(f"http://{name}:80/") for name in names]
        finally:
            await resolver.close()

    return asyncio.run(run())


def ask(server: str, name: str, kind: Kind, timeout_s: float = PATIENT_S) -> list[Record]:
    async def once() -> list[Record]:
        servers = NameServers([server], timeout_s=timeout_s, tries=1)
        try:
            return await servers.ask(name, kind)
        finally:
            await servers.close()

    return asyncio.run(once())


def test_answers_are_told_apart(name_server: str) -> None:
    """An address, an alias, a no and a failure each come back as what they are."""
    assert ask(name_server, "six.example", "AAAA") == [Record("2400::1", 90)]
    assert ask(name_server, "alias.example", "A") == [Record("133.9.1.1", 90)]
    for no in ("nxdomain.example", "six.example", "a..b", "x" * 64 + ".example"):
        with pytest.raises(NoSuchNameError):
            ask(name_server, no, "A")
    for silence in ("servfail.example", "refused.example"):
        with pytest.raises(NoAnswerError):
            ask(name_server, silence, "A")


def test_answers_become_addresses(name_server: str) -> None:
    """Both kinds of address, aliases, a no and a failure come back as what they are."""
    names = ("dual.example", "alias.example", "nxdomain.example", "servfail.example", "a..b")
    dual, alias, no, failure, nonsense = look_up(name_server, *names)
    assert (dual.addresses, dual.ttl_s) == (("133.9.1.2", "2400::1"), 90)
    assert alias.addresses == ("133.9.1.1",)
    assert (no.addresses, no.temporary) == ((), False)
    assert (failure.addresses, failure.temporary) == ((), True)
    assert (nonsense.addresses, nonsense.temporary) == ((), False)


def test_names_that_lead_inside_are_refused(name_server: str) -> None:
    """Every forbidden address, under an innocent name."""
    folder = fixture_folder("ssrf-targets")
    forms = json.loads((folder / "targets.json").read_text())["host_forms"]
    names = [f"{address}.inside.example" for address in forms]
    names += ["both.example", "aliasinside.example", "insidesix.example"]
    for answer in look_up(name_server, *names):
        assert answer.addresses == ()
        assert answer.reason.startswith("forbidden address")


def test_a_name_that_changes_its_mind_is_refused_the_second_time(name_server: str) -> None:
    """DNS rebinding: public first, then loopback, with a time to live of zero."""
    first, second = look_up(name_server, "rebinding.example", "rebinding.example")
    assert (first.addresses, first.ttl_s) == (("133.9.1.1",), 60)
    assert second.addresses == ()
    assert second.reason.startswith("forbidden address: 127.0.0.1")


def test_a_lost_packet_is_sent_again(served: tuple[str, Zone]) -> None:
    """A question without an answer is asked again before it counts as silence."""
    server, zone = served
    [answer] = look_up(
        server, "second.example", timeout_s=SLOW_S / 2, tries=5, options=ResolverOptions(("A",))
    )
    assert answer.addresses == ("133.9.1.4",)
    assert zone.asked["second.example.", "A"] >= 2


def test_an_answer_too_long_for_udp_comes_over_tcp(name_server: str) -> None:
    """A cut answer is asked for again over TCP; of very many addresses the first are kept."""
    [answer] = look_up(name_server, "many.example")
    assert answer.addresses == tuple(f"133.9.2.{number}" for number in range(32))


def test_an_answer_to_another_question_is_not_believed(name_server: str) -> None:
    """Whoever does not know the question's number cannot answer it."""
    [answer] = look_up(
        name_server, "liar.example", timeout_s=SILENT_S, options=ResolverOptions(("A",))
    )
    assert (answer.addresses, answer.temporary) == ((), True)


def test_a_slow_server_keeps_nobody_waiting_but_its_own_names(name_server: str) -> None:
    """Look-ups go on side by side: a quick name is found before a slow one asked for earlier."""

    async def run() -> list[str]:
        found: list[str] = []
        both = asyncio.Event()

        def done(answer: LookUp) -> None:
            found.append(answer.host)
            if len(found) > 1:
                both.set()

        servers = NameServers([name_server], timeout_s=PATIENT_S, tries=1)
        resolver = DnsResolver(servers, AddressRules().refusal)
        resolver.start("http://slow.example:80/", done)
        resolver.start("http://dual.example:80/", done)
        await both.wait()
        await resolver.close()
        return found

    assert asyncio.run(run()) == ["http://dual.example:80/", "http://slow.example:80/"]


def test_a_deaf_server_is_silence() -> None:
    """A server that does not answer says nothing about the name, and the look-up ends."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        server = f"127.0.0.1:{deaf.getsockname()[1]}"
        began_s = time.monotonic()
        [answer] = look_up(server, "a.example", timeout_s=SILENT_S, tries=2)
        assert time.monotonic() - began_s < 10
        with pytest.raises(NoAnswerError):
            ask(server, "a.example", "A", timeout_s=SILENT_S)
    assert answer.temporary


def test_a_server_that_is_no_address_is_refused() -> None:
    """The setting is checked when the agent starts."""

    async def run() -> None:
        with pytest.raises(SettingError, match="name servers"):
            NameServers(["not an address"])

    asyncio.run(run())


def test_the_managers_batch_of_hosts(name_server: str) -> None:
    """The look-up of the settings asks the servers of the settings and judges the answers."""
    names = Names(DnsSettings(servers=(name_server,), timeout_s=PATIENT_S, attempts=1))
    found = names.resolve(
        f"http://{label}.example:80/" for label in ("six", "alias", "both", "nxdomain", "servfail")
    )
    assert [each.addresses for each in found] == [("2400::1",), ("133.9.1.1",), (), (), ()]
    assert [each.temporary for each in found] == [False, False, False, False, True]
    assert "10.0.0.1" in str(found[2].failure)
