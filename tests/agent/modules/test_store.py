"""Pages are kept in order, and wait for room when there is none."""

from __future__ import annotations

from dataclasses import replace

from agent.modules.store import Store
from agent.pipeline.messages.pages import Earlier, Processed
from agent.pipeline.messages.requests import Tick
from shared.archive.capture import Capture
from shared.archive.encode import encode_capture
from tests.agent.fakes import HTML, FakeLedger

HOST, ADDRESS = "http://a.example:80/", "192.0.2.1"


def page(number: int) -> Processed:
    url = f"http://a.example/{number}"
    encoded = encode_capture(Capture(url, 5, b"", HTML, b"<p>"))
    return Processed(encoded, url, HOST, ADDRESS, 4, False, ("http://out.example/",))


def kept(number: int) -> tuple[str, Processed]:
    return "kept", page(number)


def test_pages_are_written_then_kept() -> None:
    """A page is reported after it was appended, and its bytes count towards the next commit."""
    ledger = FakeLedger()
    store = Store(ledger)
    assert list(store.handle_pages([page(1), page(2)])) == [kept(1), kept(2)]
    assert ledger.captures == ["http://a.example/1", "http://a.example/2"]
    assert store.bytes_since_commit == len(page(1).encoded.data) + len(page(2).encoded.data)


def test_a_full_disk_pauses_and_ends_by_itself() -> None:
    """Pages wait in order, the reason is shown, and each tick tries again."""
    ledger = FakeLedger()
    store = Store(ledger)
    ledger.full = True
    assert list(store.handle_pages([page(1), page(2)])) == []
    assert str(store.paused).startswith("disk full")
    assert store.waiting == 2
    assert list(store.handle_tick([Tick(1.0, 1, False)])) == []
    assert list(store.handle_pages([page(3)])) == []
    ledger.full = False
    assert list(store.handle_tick([Tick(2.0, 2, False)])) == [kept(1), kept(2), kept(3)]
    assert store.paused is None
    assert ledger.captures == [f"http://a.example/{number}" for number in (1, 2, 3)]


class Memory:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, Earlier]] = []

    def look_up(self, host: str, url: str) -> Earlier | None:
        raise AssertionError("storing looks nothing up")

    def remember(self, host: str, url: str, earlier: Earlier) -> None:
        self.told.append((host, url, earlier))

    def committed(self) -> None:
        raise AssertionError("storing commits nothing")


def test_whole_captures_are_remembered_when_they_are_written() -> None:
    """Not before, on a full disk; and nothing that a later one could not refer to."""
    ledger, memory = FakeLedger(), Memory()
    store = Store(ledger, memory)
    ledger.full = True
    list(store.handle_pages([page(1), replace(page(2), validators=('"e"', ""))]))
    assert memory.told == []
    ledger.full = False
    list(store.handle_tick([Tick(2.0, 2, False)]))
    digest = page(2).encoded.payload_digest
    assert memory.told == [(HOST, "http://a.example/2", Earlier(5, digest, '"e"', ""))]
