"""An agent makes its own key, and can repeat its enrolment when the answer was lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.errors import HomeError, LinkError, RefusedError
from agent.link.keys import Identity, enrol, read_identity
from agent.settings import Home
from shared.wire.names import hash_of_key

URL = "https://prsm.example.jp"


class Desk:
    """The manager's side of enrolment: a token is good for one key."""

    def __init__(self) -> None:
        self.by_token: dict[str, str] = {}
        self.lost = 0

    def enrol(self, home: Home, token: str = "t1", url: str = URL) -> Identity:
        async def hand_in(key: str) -> None:
            if self.by_token.setdefault(token, hash_of_key(key)) != hash_of_key(key):
                raise RefusedError(409, "was used with another key")
            if self.lost:
                self.lost -= 1
                raise LinkError("the answer was lost")

        return asyncio.run(enrol(home, url, "prs1", token, hand_in))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "prs")
    home.make()
    return home


def test_the_key_is_kept_privately(home: Home) -> None:
    """After enrolment the home knows who it is; only its user can read the key."""
    assert read_identity(home) is None
    made = Desk().enrol(home)
    assert read_identity(home) == made
    assert (made.manager, made.name, len(made.key)) == (URL, "prs1", 43)
    assert home.key.stat().st_mode & 0o777 == 0o600
    assert not home.new_key.exists()


def test_a_lost_answer_is_repeated_with_the_same_key(home: Home) -> None:
    """The same command succeeds after the answer was lost, and once more after that."""
    desk = Desk()
    desk.lost = 2
    for _ in range(2):
        with pytest.raises(LinkError):
            desk.enrol(home)
        assert read_identity(home) is None
    made = desk.enrol(home)
    assert desk.enrol(home) == made


def test_a_new_token_makes_a_new_key(home: Home) -> None:
    """An agent that joins again keeps its old key until the new one is taken."""
    desk = Desk()
    old = desk.enrol(home)
    desk.lost = 1
    with pytest.raises(LinkError):
        desk.enrol(home, "t2")
    assert read_identity(home) == old
    new = desk.enrol(home, "t2")
    assert new.key != old.key
    assert read_identity(home) == new


def test_a_pending_key_is_not_shown_to_another_manager(home: Home) -> None:
    """A key that was made for one manager is not handed to the next."""
    desk = Desk()
    desk.lost = 1
    with pytest.raises(LinkError):
        desk.enrol(home)
    first = desk.by_token.pop("t1")
    desk.enrol(home, url="https://other.example.jp")
    assert desk.by_token["t1"] != first


def test_a_key_that_others_can_read_is_refused(home: Home) -> None:
    """Like ssh: a key that anybody may have read is not used."""
    Desk().enrol(home)
    home.key.chmod(0o644)
    with pytest.raises(HomeError, match="chmod 600"):
        read_identity(home)


def test_a_broken_key_file_is_said(home: Home) -> None:
    """Bytes that are no key lead to a new enrolment, not to a traceback."""
    home.key.touch(0o600)
    home.key.write_bytes(b'{"key": 1}')
    with pytest.raises(HomeError, match="enrol again"):
        read_identity(home)


def test_a_key_stands_in_no_message() -> None:
    """The words of an identity name the agent, never its secret."""
    words = repr(Identity(URL, "prs1", "the-secret", "the-token"))
    assert "prs1" in words
    assert "the-" not in words
