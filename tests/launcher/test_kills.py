"""Killed at any step, a launcher leaves a release that works, and the next one ends what it began.

The child is killed by SIGKILL before and after each line of the log, each write of the state and
each move of the link, one after the other, until it gets through.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from launcher import installation, state
from tests.launcher.site import Centre, Site, archive


def killed_at(site: Site, count: int) -> bool:
    """Run the launcher in a child that dies at its count-th moment; tell whether it did."""
    child = os.fork()
    if child == 0:
        left = count

        def dying(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                moment()
                answer = function(*arguments)
                moment()
                return answer

            return call

        def moment() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        installation.Journal.write = dying(installation.Journal.write)  # type: ignore[method-assign]
        installation.Installation.point_at = dying(installation.Installation.point_at)  # type: ignore[method-assign]
        state.write_whole = dying(state.write_whole)  # type: ignore[attr-defined]
        try:
            code = site.update()
        finally:
            os._exit(code if "code" in locals() else 9)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) in (0, 1)
    return os.WIFSIGNALED(status)


@pytest.mark.forks
@pytest.mark.parametrize(
    ("wish", "end"),
    [("0", "1.1"), pytest.param("'broken'", "1.0", marks=pytest.mark.slow)],
)
def test_killed_at_each_step(tmp_path: Path, centre: Centre, wish: str, end: str) -> None:
    """`current` leads to a whole release at every moment; in the end it is the right one."""
    centre.publish("1.1", archive("1.1", wish))
    for count in range(1, 200):
        site = Site(tmp_path / f"site{count}", centre)
        if not killed_at(site, count):
            break
        assert site.running in ("1.0", "1.1"), count
        site.update()
        assert site.running == end, count
        assert site.state.trial is None, count
        assert site.state.good == end, count
    assert count > 25, "the moments were counted"


@pytest.mark.forks
def test_killed_again_and_again_it_comes_through(tmp_path: Path, centre: Centre) -> None:
    """One site, killed a step later each time."""
    centre.publish("1.1")
    site = Site(tmp_path / "one", centre)
    count = 1
    while killed_at(site, count):
        assert site.running in ("1.0", "1.1"), count
        count += 1
        assert count < 200
    assert site.running == "1.1"


@pytest.mark.parametrize("where", ["archive", "link", "state"])
def test_a_full_disk_changes_nothing(
    site: Site, centre: Centre, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """No room for archive, state or link: the old release runs, and next time it goes."""
    centre.publish("1.1")

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        if where == "state":
            patch.setattr(os, "fsync", full)
        elif where == "link":
            patch.setattr(installation.Installation, "point_at", full)
        else:
            patch.setattr("launcher.bundle.shutil.copyfileobj", full)
        assert site.update() == 1
        assert site.running == "1.0"
    assert site.update() == 0
    assert site.running == "1.1"
