"""Routes are made once a process, not once an application."""

from __future__ import annotations

from pathlib import Path

from manager import agent_api, api, distribution
from manager.app.web.web import build_app
from tests.manager.running import running


def test_applications_share_their_routes(tmp_path: Path) -> None:
    """What FastAPI made of a declaration stands in each application as it is."""
    made = {id(route) for route in (*agent_api.ROUTES, *distribution.ROUTES, *api.ROUTES)}
    assert len(made) > 100
    with running(tmp_path) as opened:
        for _ in range(2):
            assert made <= {id(route) for route in build_app(opened.manager).routes}
