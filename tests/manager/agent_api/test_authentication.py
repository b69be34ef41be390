"""An agent is its key, on a line that nobody else can read."""

from __future__ import annotations

import pytest

from shared.wire.names import new_key
from tests.manager.running import Running

MESSAGES = [
    ("GET", "/servlets/list"),
    ("POST", "/servlets/record"),
    ("POST", "/servlets/submitlog"),
    ("GET", "/servlets/isrestart"),
    ("GET", "/servlets/subscribe"),
    ("GET", "/servlets/unsubscribe"),
]


@pytest.mark.parametrize(("method", "path"), MESSAGES)
def test_without_a_good_key_nothing_is_answered(prsm: Running, method: str, path: str) -> None:
    """No key, an unknown one, a malformed header or a huge one is 401, with what to do."""
    agent = prsm.agent()
    good = agent.call.headers["Authorization"]
    for header in (None, f"Bearer {new_key()}", "Bearer ", good.replace("Bearer", "Basic"),
                   good + "x", "Bearer " + "x" * 5000, f"{good} {good}"):  # fmt: skip
        headers = {} if header is None else {"Authorization": header}
        answer = prsm.anybody.send(method, f"{path}?host={agent.name}", headers=headers)
        assert answer.status_code == 401, header
        assert "join" in answer.text
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("method", "path"), MESSAGES)
def test_keys_are_not_taken_on_an_open_line(prsm: Running, method: str, path: str) -> None:
    """From elsewhere a key over plain HTTP is 403, also when a header claims to be TLS."""
    headers = prsm.agent().call.headers
    for extra in ({}, {"X-Forwarded-Proto": "https"}):
        answer = prsm.outside.send(method, f"{path}?host=a.example", headers={**headers, **extra})
        assert answer.status_code == 403
        assert "TLS" in answer.text


@pytest.mark.parametrize(("method", "path"), MESSAGES)
def test_a_name_must_be_the_keys(prsm: Running, method: str, path: str) -> None:
    """`host=` of another agent is 403, and of no possible agent 400; M2 and M3 may leave it out."""
    agent = prsm.agent()
    prsm.agent("b.example")
    assert agent.call.send(method, f"{path}?host=b.example").status_code == 403
    assert agent.call.send(method, f"{path}?host=../etc").status_code == 400
    missing = agent.call.send(method, path)
    assert missing.status_code == 400
    if method == "GET":
        assert missing.text.startswith("host: ")
    assert agent.call.send(method, f"{path}?host=b.example&host=a.example").status_code != 403


def test_people_are_led_to_the_console(prsm: Running) -> None:
    """The addresses that the source gave people lead to the console's pages."""
    for path, target in (("listrobot", "/console/agents"), ("restart", "/console/restart")):
        answer = prsm.anybody.get(f"/servlets/{path}")
        assert answer.status_code == 307
        assert answer.headers["location"] == target
