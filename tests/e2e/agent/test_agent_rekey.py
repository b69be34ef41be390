"""An agent gets another key without a token, whatever is lost or killed on the way."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.app.manager_link.permit_use import is_elsewhere
from agent.cli import main
from agent.control.lock import HomeLock
from agent.link.keys import read_identity
from agent.link.link_memory import Memory
from agent.settings import Home
from shared.wire.names import hash_of_key
from tests.agent.app.fake_manager import FakeManager, hang_up, refuse, take_and_hang_up
from tests.agent.app.scene import scene

pytestmark = pytest.mark.e2e


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "prs")
    home.make()
    return home


def prs(home: Home, *words: str, typed: str = "") -> tuple[int, str]:
    result = CliRunner().invoke(main, ["--home", str(home.path), *words], input=typed)
    return result.exit_code, result.output


def join(home: Home, manager: FakeManager) -> str:
    """Enrol, and return the key."""
    code, said = prs(home, "enrol", manager.url, "--name", manager.name, typed=manager.token)
    assert code == 0, said
    return key_of(home)


def key_of(home: Home) -> str:
    identity = read_identity(home)
    assert identity is not None
    return identity.key


def test_a_key_is_replaced(home: Home) -> None:
    """The manager knows the new one only; enrolling with the same token stays harmless."""
    with FakeManager() as manager:
        old = join(home, manager)
        place = f"{hash_of_key(old)} here"
        memory = Memory.open(home.link_state, epoch_ms=0, rng=random.Random(1))
        memory.remember_location(place)
        code, said = prs(home, "rekey")
        assert (code, said) == (0, f"prs1 has a new key, and {manager.url} knows no other\n")
        new = key_of(home)
        assert new != old
        assert list(manager.key_hashes.values()) == [hash_of_key(new)]
        assert not home.new_key.exists()
        assert home.key.stat().st_mode & 0o777 == 0o600
        assert join(home, manager) == new
    place = json.loads(home.link_state.read_text())["place"]
    assert place == f"{hash_of_key(new)} here"
    assert is_elsewhere(place, f"{hash_of_key(new)} there"), "a copy still waits out a permit"


def test_an_answer_that_was_lost(home: Home) -> None:
    """The manager took the key: the same command again finds that out, and makes no third one."""
    with FakeManager() as manager:
        old = join(home, manager)
        manager.fail("key", take_and_hang_up)
        assert prs(home, "rekey")[0] == 3
        assert key_of(home) == old
        waiting = home.new_key.read_bytes()
        assert prs(home, "rekey")[0] == 0
        assert home.key.read_bytes() == waiting
        assert list(manager.key_hashes.values()) == [hash_of_key(key_of(home))]


def test_a_request_that_was_lost(home: Home) -> None:
    """The manager knows the old key: the one that waits is handed in again."""
    with FakeManager() as manager:
        old = join(home, manager)
        manager.fail("key", hang_up)
        assert prs(home, "rekey")[0] == 3
        assert (key_of(home), list(manager.key_hashes.values())) == (old, [hash_of_key(old)])
        waiting = home.new_key.read_bytes()
        assert prs(home, "rekey")[0] == 0
        assert home.key.read_bytes() == waiting


def test_a_key_that_nobody_knows(home: Home) -> None:
    """Neither the old one nor the new one: the home stays as it is, with the remedy."""
    with FakeManager() as manager:
        old = join(home, manager)
        manager.key_hashes.clear()
        code, said = prs(home, "rekey")
        assert (code, key_of(home)) == (1, old)
        assert "unknown key" in said
        manager.fail("key", refuse(409, "this key belongs to another agent"))
        assert prs(home, "rekey")[0] == 1
        assert key_of(home) == old


def test_not_while_an_agent_works(home: Home) -> None:
    """It would go on with a key that is refused."""
    with FakeManager() as manager:
        old = join(home, manager)
        lock = HomeLock.take(home.lock)
        try:
            assert prs(home, "rekey")[0] == 1
        finally:
            lock.release()
        assert key_of(home) == old
        assert manager.paths() == ["isrestart", "enrol"]


def test_a_start_ends_what_was_begun(tmp_path: Path) -> None:
    """Killed after the manager took the key: the next run works with it, and asks for no token."""
    with scene(tmp_path, hosts=2) as it:
        home = Home(it.home)
        it.manager.fail("key", take_and_hang_up)
        assert prs(home, "rekey")[0] == 3
        waiting = home.new_key.read_bytes()
        it.give_all()
        assert it.once() == 0, it.said()
        assert home.key.read_bytes() == waiting
        assert it.manager.logs
