"""Which lines of the lock an archive takes, for which Python and machine."""

from __future__ import annotations

import pytest

from tools.bundle.archive import ROOT
from tools.bundle.chosen import Platform, locked, needed

LOCK = f"""
numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:{"a" * 64} \\
    --hash=sha256:{"b" * 64}
    # via prsm (pyproject.toml)
numpy==2.5.5 ; python_full_version >= '3.12' \\
    --hash=sha256:{"c" * 64}
click==8.5.1 \\
    --hash=sha256:{"d" * 64}
"""


def test_an_entry_has_its_marker_and_all_its_hashes() -> None:
    """Two versions of a name are two entries, each for its Pythons."""
    old, new, click = locked(LOCK)
    assert (old.name, old.version) == ("numpy", "2.4.6")
    assert old.hashes == {"a" * 64, "b" * 64}
    assert click.marker == ""
    older, newer = Platform((3, 11), "x86_64"), Platform((3, 13), "aarch64")
    assert [one.fits(older) for one in (old, new, click)] == [True, False, True]
    assert [one.fits(newer) for one in (old, new, click)] == [False, True, True]
    assert older.name == "cp311-x86_64"


def test_a_line_that_is_no_entry_is_refused() -> None:
    """A lock of another form is not guessed at."""
    with pytest.raises(ValueError, match="is no entry"):
        locked("numpy>=2")


def test_the_agent_needs_no_tools_of_development() -> None:
    """What it declares and what that leads to, out of the lock of this project."""
    lock = locked((ROOT / "requirements.lock").read_text())
    names = needed(["httpx>=0.28", "cryptography", "pip"], (one.name for one in lock))
    assert {"httpx", "httpcore", "h11", "anyio", "certifi", "cryptography", "cffi", "pip"} <= names
    assert not names & {"pytest", "mypy", "sqlalchemy", "fastapi", "ruff"}
    assert all(one.hashes for one in lock)
