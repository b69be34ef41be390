"""The manager put together: what the settings say is what the operations go by."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.app.manager_run import public_url
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.settings import Settings, read_settings
from tests.manager.running import Running, running


def test_defaults_are_said_once(tmp_path: Path) -> None:
    """The policy made from default settings is the operations' default policy."""
    assert Policy.of(Settings(data=tmp_path)) == DEFAULT_POLICY


def test_a_setting_reaches_the_operations(tmp_path: Path) -> None:
    """A changed setting changes the policy."""
    settings = read_settings(
        tmp_path, overrides=["policy.probe_pages=7", "limits.discoveries_per_day=9"]
    )
    policy = Policy.of(settings)
    assert (policy.probe_pages, policy.discoveries_per_day) == (7, 9)


@pytest.mark.parametrize(
    ("overrides", "url"),
    [
        ([], "http://127.0.0.1:8123/"),
        (['server.listen_host="::1"'], "http://[::1]:8123/"),
        (['server.public_url="https://prsm.example/"'], "https://prsm.example/"),
    ],
)
def test_where_the_manager_is_reached(tmp_path: Path, overrides: list[str], url: str) -> None:
    """The address is made from host and port, unless the administrator says another."""
    assert public_url(read_settings(tmp_path, overrides=overrides), 8123) == url


def test_a_directory_can_be_opened_again(tmp_path: Path) -> None:
    """What one process wrote the next one finds: tables are made once and then kept."""
    with running(tmp_path) as first:
        first.agent()
    with running(tmp_path) as second:
        assert [agent["name"] for agent in second.local.get("/api/v1/agents").json()] == [
            "a.example"
        ]


def test_people_are_led_to_the_console(tmp_path: Path) -> None:
    """The root leads to the pages."""
    with running(tmp_path) as prsm:
        assert_leads(prsm, "/", "/console/")


def assert_leads(prsm: Running, path: str, target: str) -> None:
    answer = prsm.anybody.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"] == target
