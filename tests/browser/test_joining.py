"""Somebody waits for a partner to join, at a page that is open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.desk import sit_down
from tests.e2e.manager_process import ManagerProcess, prsm
from tools.browser.driven import Browser
from tools.demo.system import Agent

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def admin(first_day: ManagerProcess) -> Iterator[Browser]:
    """Log in, at a desk; nothing may have gone wrong in the browser at the end."""
    with Browser(first_day.url) as browser:
        yield sit_down(browser)
        assert browser.found() == []


def _join(manager: ManagerProcess, folder: Path, name: str, token: str) -> None:
    """Do what the partner does."""
    Agent(folder / name, name, "").enrol(manager.url, token)


def test_the_guide_says_that_the_first_agent_joined(
    admin: Browser, first_day: ManagerProcess, tmp_path: Path
) -> None:
    """Its token was made on the manager's machine, as the guide says; the page stays open."""
    name = "robot.first.example"
    admin.go("/console/agents")
    admin.wait_for("h2:has-text('No agent has joined yet')")
    token = prsm(first_day.data, "agents", "token", name).strip()
    admin.wait_for(f"#live a[href*='/join-token']:has-text('{name}')")
    _join(first_day, tmp_path, name, token)
    admin.wait_for(f".said-good a:has-text('{name}')")
    assert f"{name} joined at 20" in admin.text(".said-good")
    assert admin.count("h2:has-text('No agent has joined yet')") == 0


def test_the_page_of_a_token_says_that_the_agent_joined(
    admin: Browser, first_day: ManagerProcess, tmp_path: Path
) -> None:
    """The page that shows the token, once, goes on by itself, keeps the token, and leads on."""
    name = "robot.second.example"
    admin.go("/console/new-agent")
    admin.fill("input[name=name]", name)
    admin.click("main button[type=submit]")
    assert f"{name} has not joined yet" in admin.text("#joining")
    token = admin.text("pre.token code")
    _join(first_day, tmp_path, name, token)
    admin.wait_for("#joining .said-good")
    assert f"{name} joined at 20" in admin.text("#joining")
    assert admin.text("pre.token code") == token
    admin.click("#joining a")
    admin.wait_for(f"h1:has-text('{name}')")
