"""What somebody may do in the console, the same person may do through `/api/v1`, and no more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from manager.console.requests.page import Page
from manager.console.routes import PAGES
from manager.operations.people.users import ROLES
from tests.manager.api.test_access import NEEDS

AGENT = "/agents/a.example"
CALLS = {
    "/rounds/start": "/rounds",
    "/rounds/cancel": "/rounds/cancel",
    "/rounds/carry-over": "/rounds/carry-over",
    "/rounds/use-predictions": "/rounds/use-predictions",
    "/rounds/schedules": "/rounds/schedules",
    "/rounds/schedules/change": "/rounds/schedules/1",
    "/rounds/schedules/remove": "/rounds/schedules/1/remove",
    "/plans": "/plans",
    "/plans/undo": "/plans/undo",
    "/plans/{number:int}/apply": "/plans/1/apply",
    "/probes/order": "/probes",
    "/add-hosts": "/hosts/import",
    "/hosts/resolve": "/hosts/resolve",
    "/host/resolve": "/hosts/resolve",
    "/host/decide-address": "/hosts/addresses/decide",
    "/host/exclude": "/hosts/exclude",
    "/host/include": "/hosts/include",
    "/host/move": "/hosts/move",
    "/host/unpin": "/hosts/unpin",
    "/host/ban": "/hosts/ban",
    "/host/lift-ban": "/hosts/lift-ban",
    "/host/split": "/hosts/split",
    "/host/merge": "/hosts/merge",
    "/host/apply-split": "/hosts/splits/apply",
    "/host/cancel-split": "/hosts/splits/cancel",
    "/withdrawn": "/hosts/exclude",
    "/agent/command": f"{AGENT}/command",
    "/restart": f"{AGENT}/command",
    "/agent/compare": f"{AGENT}/compare",
    "/agent/contradicted.csv": f"{AGENT}/compare",
    "/agent/contradicted.json": f"{AGENT}/compare",
    "/agent/retire": f"{AGENT}/retire",
    "/agent/believe": f"{AGENT}/believe",
    "/scrub": "/archive/scrub",
    "/compact": "/archive/compact",
    "/trash/adopt": "/archive/adopt",
    "/trash/put-back": "/archive/adopt",
    "/managers/forget": "/managers/x/forget",
    "/agent/list-limit": f"{AGENT}/list-limit",
    "/agent/sending": f"/collection{AGENT}/limits",
    "/agent/position": f"{AGENT}/position",
    "/new-agent": f"{AGENT}/token",
    "/join-token/revoke": f"{AGENT}/token/revoke",
    "/collection/schedules": "/collection/schedules",
    "/collection/schedules/change": "/collection/schedules/1",
    "/collection/schedules/run": "/collection/schedules/1/run",
    "/collection/schedules/remove": "/collection/schedules/1/remove",
    "/collection/orders": "/collection/orders",
    "/collection/orders/cancel": "/collection/orders/1/cancel",
    "/collection/transfers/give-up": "/collection/transfers/1/cancel",
    "/archive-jobs/remove": "/archive/jobs/1/remove",
    "/new-client": "/clients",
    "/client/token": "/clients/x/tokens",
    "/client/revoke": "/clients/x/tokens/1/revoke",
    "/client/disable": "/clients/x/disable",
    "/client/enable": "/clients/x/disable",
    "/release-agents/canary": f"/releases{AGENT}/canary",
    "/release-agents/pin": f"/releases{AGENT}/pin",
    "/releases/halt": "/releases/1.0/halt",
    "/releases/rollout": "/releases/1.0/rollout",
    "/releases/init": "/releases/init",
    "/releases/revoke": "/releases/1.0/revoke",
    "/releases/rotate": "/releases/root",
    "/releases/minimum": "/releases/minimum",
    "/alerts/silence": "/alerts/silence",
    "/alerts/windows": "/alerts/windows",
    "/alerts/end": "/alerts/silences/1/end",
    "/alerts/speak": "/alerts/quiet",
    "/alerts/test": "/alerts/test",
    "/scope": "/scope",
    "/fleet-rules/block": "/fleet-rules/blocked",
    "/fleet-rules/unblock": "/fleet-rules/blocked/1/remove",
    "/fleet-rules/limits": "/fleet-rules/limits",
    "/tokens": "/tokens",
    "/tokens/revoke": "/tokens/1/revoke",
    "/reports/take": "/export/costs",
    "/new-user": "/users",
    "/user/role": "/users/x/role",
    "/user/disable": "/users/x/disable",
    "/user/enable": "/users/x/enable",
    "/user/password": "/users/x/password",
    "/user/log-out": "/users/x/sessions/end",
    "/own-password": "/password",
}
"""Which call does what a form of the console does: all that act are here."""

ACTS = [page for page in PAGES if page.method == "POST" and page.role is not None]


@pytest.mark.parametrize("page", ACTS, ids=lambda page: page.path)
def test_the_console_asks_for_the_role_of_the_call(page: Page) -> None:
    """What a person is refused by `/api/v1` the console refuses, too, and the other way round.

    That a call needs the role which the table of its tests names is tested there.
    """
    needed = {path: role for method, path, _, role in NEEDS if method == "POST"}
    assert page.role == needed[f"/api/v1{CALLS[page.path]}"]


def test_the_documentation_says_what_each_role_may() -> None:
    """`docs/console.md` names each form that acts in the row of the role it needs."""
    text = Path("docs/console.md").read_text()
    rows = {role: re.search(rf"^\| {role} \|(.*)$", text, re.MULTILINE) for role in ROLES}
    said = {role: sorted(re.findall(r"`([^`]+)`", row[1])) for role, row in rows.items() if row}
    needed: dict[str, list[str]] = {role: [] for role in ROLES}
    for page in ACTS:
        assert page.role is not None
        needed[page.role].append(page.path.removeprefix("/").replace("{number:int}/", ""))
    assert said == {role: sorted(forms) for role, forms in needed.items()}
