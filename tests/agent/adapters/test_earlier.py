"""The memory of earlier captures: what is durable is known, the rest is as if it had not been."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.adapters import last_captures
from agent.adapters.last_captures import BATCH_ROWS, EarlierFile
from agent.pipeline.messages.pages import Earlier
from tests.agent.fakes import FakeClock

HOST = "http://a.example:80/"
DAY_MS = 86_400_000


def at_once(write: Callable[[], None]) -> None:
    write()


def opened(folder: Path, clock: FakeClock, whole_days: float = 90.0) -> EarlierFile:
    return EarlierFile(folder / "earlier.sqlite", clock, whole_days, submit=at_once)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[EarlierFile]:
    memory = opened(tmp_path, clock)
    yield memory
    memory.close()


def whole(clock: FakeClock, number: int = 1) -> Earlier:
    return Earlier(clock.epoch_ms(), f"sha256:{number:064x}", f'"{number}"', "")


def test_a_capture_is_known_when_it_is_durable(
    tmp_path: Path, clock: FakeClock, memory: EarlierFile
) -> None:
    """Not when it was appended: a crash would take the capture back, and not what refers to it."""
    memory.remember(HOST, f"{HOST}x", whole(clock))
    memory.close()
    memory = opened(tmp_path, clock)
    assert memory.look_up(HOST, f"{HOST}x") is None
    memory.remember(HOST, f"{HOST}x", whole(clock))
    memory.committed()
    memory.remember(HOST, f"{HOST}y", whole(clock))
    memory.close()
    memory = opened(tmp_path, clock)
    assert memory.look_up(HOST, f"{HOST}x") == whole(clock)
    assert memory.look_up(HOST, f"{HOST}y") is None
    assert memory.look_up("http://b.example:80/", f"{HOST}x") is None
    memory.close()


def test_batches_are_written_while_it_runs(clock: FakeClock, memory: EarlierFile) -> None:
    """Memory is bounded by a batch; the newest capture of a URL counts."""
    memory.remember(HOST, HOST, whole(clock, 1))
    for number in range(BATCH_ROWS):
        memory.remember(HOST, f"{HOST}{number}", whole(clock, number))
    memory.committed()
    assert memory.look_up(HOST, HOST) == whole(clock, 1)
    assert memory.look_up(HOST, f"{HOST}77") == whole(clock, 77)
    memory.remember(HOST, HOST, whole(clock, 2))
    memory.committed()
    assert memory.look_up(HOST, HOST) == whole(clock, 1)


def test_a_process_that_goes_on_knows_its_last_round(clock: FakeClock, memory: EarlierFile) -> None:
    """What a small round brought is known with the next list, though no batch is full."""
    assert memory.look_up(HOST, f"{HOST}x") is None
    memory.remember(HOST, f"{HOST}x", whole(clock))
    memory.committed()
    assert memory.look_up(HOST, f"{HOST}x") is None
    memory.begin_list()
    assert memory.look_up(HOST, f"{HOST}x") is None
    memory.committed()
    assert memory.look_up(HOST, f"{HOST}x") is not None


def test_what_a_list_brought_is_not_looked_for(clock: FakeClock, memory: EarlierFile) -> None:
    """A host that was unknown when the list came is not asked for in the file, URL by URL."""
    assert memory.look_up(HOST, f"{HOST}x") is None
    brought = whole(clock)
    memory.remember(HOST, f"{HOST}x", brought)
    clock.now_s += 3600
    memory.committed()
    assert memory.look_up(HOST, f"{HOST}x") is None
    memory.begin_list()
    memory.committed()
    assert memory.look_up(HOST, f"{HOST}x") == brought


def test_an_old_capture_is_not_referred_to(tmp_path: Path, clock: FakeClock) -> None:
    """After `whole_days` a page is stored whole again, and the row goes."""
    memory = opened(tmp_path, clock, whole_days=2.0)
    memory.remember(HOST, f"{HOST}x", whole(clock))
    memory.committed()
    memory.close()
    clock.now_s += 2 * 86_400 - 1
    memory = opened(tmp_path, clock, whole_days=2.0)
    assert memory.look_up(HOST, f"{HOST}x") is not None
    clock.now_s += 1
    assert memory.look_up(HOST, f"{HOST}x") is None
    memory.remember(HOST, f"{HOST}y", whole(clock))
    memory.committed()
    memory.close()
    with sqlite3.connect(tmp_path / "earlier.sqlite") as file:
        assert file.execute("SELECT count(*) FROM earlier").fetchone() == (1,)


def test_a_process_that_runs_for_years_forgets_as_well(tmp_path: Path, clock: FakeClock) -> None:
    """Its file is no longer than that of one that is started each night."""
    memory = opened(tmp_path, clock, whole_days=2.0)
    for day in range(30):
        memory.remember(HOST, f"{HOST}{day}", whole(clock))
        clock.now_s += 86_400
        memory.committed()
    with sqlite3.connect(tmp_path / "earlier.sqlite") as file:
        assert file.execute("SELECT count(*) FROM earlier").fetchone()[0] <= 9
    memory.close()


@pytest.mark.parametrize("damage", [b"not a database", b"", None])
def test_a_file_that_cannot_be_read_is_begun_anew(
    tmp_path: Path, clock: FakeClock, damage: bytes | None
) -> None:
    """It is only a memory: without it pages are stored whole."""
    path = tmp_path / "earlier.sqlite"
    if damage is None:
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE of_somebody_else (x)")
    else:
        path.write_bytes(damage)
    memory = opened(tmp_path, clock)
    assert memory.look_up(HOST, HOST) is None
    memory.remember(HOST, HOST, whole(clock))
    memory.committed()
    memory.close()
    memory = opened(tmp_path, clock)
    assert memory.look_up(HOST, HOST) == whole(clock)
    memory.close()


def test_it_forgets_with_the_segments(
    clock: FakeClock, memory: EarlierFile, tmp_path: Path
) -> None:
    """Where the segments are deleted, nothing may refer to them."""
    memory.remember(HOST, f"{HOST}x", whole(clock))
    memory.committed()
    memory.close()
    memory = opened(tmp_path, clock)
    memory.remember(HOST, f"{HOST}y", whole(clock))
    memory.clear()
    memory.committed()
    memory.close()
    memory = opened(tmp_path, clock)
    assert memory.look_up(HOST, f"{HOST}x") is None
    assert memory.look_up(HOST, f"{HOST}y") is None
    memory.close()


def test_a_thread_of_its_own_writes(tmp_path: Path, clock: FakeClock) -> None:
    """Closing waits for it; what it wrote is there."""
    memory = EarlierFile(tmp_path / "earlier.sqlite", clock, 90.0)
    for number in range(3 * BATCH_ROWS):
        memory.remember(HOST, f"{HOST}{number}", whole(clock, number))
        memory.committed()
    memory.close()
    memory = opened(tmp_path, clock)
    assert memory.look_up(HOST, f"{HOST}{3 * BATCH_ROWS - 1}") is not None
    memory.close()


def test_where_hosts_cannot_be_forgotten_all_is(
    memory: EarlierFile, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No room to delete rows: less may be known than the segments hold, never more."""
    memory.remember(HOST, f"{HOST}x", whole(clock))
    memory.begin_list()
    memory.committed()
    connect = last_captures._connect

    def full(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 1")
        connection.execute("PRAGMA query_only = ON")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(last_captures, "_connect", full)
        memory.forget([HOST])
    assert memory.look_up(HOST, f"{HOST}x") is None
    memory.remember(HOST, f"{HOST}y", whole(clock))
    memory.begin_list()
    memory.committed()
    assert memory.look_up(HOST, f"{HOST}y") is None


def test_without_room_for_a_file_nothing_is_known(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that starts on a full disk waits for room; its memory is not what ends it."""

    def full(_: Path) -> sqlite3.Connection:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(last_captures, "_connect", full)
        memory = opened(tmp_path, clock)
        memory.remember(HOST, f"{HOST}x", whole(clock))
        memory.begin_list()
        memory.committed()
        assert memory.look_up(HOST, f"{HOST}x") is None
        memory.forget([HOST])
        memory.clear()
        memory.close()


def test_a_damaged_file_is_begun_anew_while_it_runs(tmp_path: Path, clock: FakeClock) -> None:
    """It costs what it knew, and nothing else: the process ends in order, the next one learns."""
    memory = EarlierFile(tmp_path / "earlier.sqlite", clock, 90.0)
    for number in range(BATCH_ROWS):
        memory.remember(HOST, f"{HOST}{number}", whole(clock, number))
    memory.committed()
    memory.close()
    memory = EarlierFile(tmp_path / "earlier.sqlite", clock, 90.0)
    size_bytes = (tmp_path / "earlier.sqlite").stat().st_size
    with (tmp_path / "earlier.sqlite").open("r+b") as file:
        file.seek(4096)
        file.write(b"x" * (size_bytes - 4096))
    memory.remember(HOST, f"{HOST}x", whole(clock))
    memory.committed()
    memory.close()
    memory = opened(tmp_path, clock)
    memory.remember(HOST, f"{HOST}x", whole(clock))
    memory.begin_list()
    memory.committed()
    assert memory.look_up(HOST, f"{HOST}x") is not None
    memory.close()
