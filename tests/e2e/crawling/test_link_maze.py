"""Every form of a link is followed by the real agent, and nothing that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.app.fake_manager import FakeManager
from tests.agent.app.scene import SETTINGS
from tests.e2e.link_maze import FORMS, WELL_KNOWN, LinkMaze
from tools.demo.system import Agent

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def crawl(home: Path, maze: LinkMaze, more: str = "") -> Agent:
    """Crawl a maze by `prs run --once`."""
    with FakeManager() as manager:
        text = SETTINGS.format(interval_s=0, dns_port=9).replace(
            'disabled_kinds = ["well_known"]', more
        )
        agent = Agent(home, manager.name, text)
        agent.enrol(manager.url, manager.token)
        manager.give(maze.url)
        agent.program.words = ["prs", "run", "--once"]
        agent.program.start()
        assert agent.program.process is not None
        assert agent.program.process.wait(120) == 0, agent.program.log.read_text()
    return agent


def test_every_form_is_found_and_no_trap(tmp_path: Path) -> None:
    """The request for each target is the proof; what must not be followed is not asked for."""
    with LinkMaze() as maze:
        agent = crawl(tmp_path, maze)
        found = maze.found()
        assert [name for name, is_found in found.items() if not is_found] == []
        assert len(found) == len(FORMS) + len(WELL_KNOWN)
        assert maze.trapped() == []
        assert maze.asked.count("/.well-known/security.txt") == 1
        said = agent.prs("status")
        assert "links by kind" in said
        rows = {words[0]: words[1:] for line in said.splitlines() if (words := line.split())}
        assert int(rows["style"][0]) >= 8  # new
        assert int(rows["well_known"][2]) >= 16  # not there


def test_a_kind_can_be_switched_off(tmp_path: Path) -> None:
    """Other kinds are followed as before."""
    with LinkMaze() as maze:
        crawl(tmp_path, maze, 'disabled_kinds = ["ping", "style", "well_known", "pdf"]')
        found = maze.found()
    for name, is_found in found.items():
        is_off = name in ("a-ping", "pdf", *WELL_KNOWN) or name.startswith(("css-", "style-"))
        assert is_found != is_off, name
