"""Everything that a person can do in the console, as buttons to press, in an order that works.

What one act makes, a later one takes away; so most of it is as it was at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["ACTS", "NOT_PRESSED", "PASSWORD", "Act"]

PASSWORD: Final = "a password of mei"
NEW_PASSWORD: Final = "another password of mei"
REASON: Final = "its owner asked"
ROUNDS, ORDERS = "/console/rounds", "/console/collection"
AGENT, ALIVE = "/console/agent?name={quiet}", "/console/agent?name={alive}"


@dataclass(frozen=True, slots=True)
class Act:
    """A form of a page that is sent by its button; texts may name what there is, as `{host}`.

    route: as `manager.console.routes` has it. page: where the form is; empty: where the act before
    ended. does: the audit's word for it. says: what can be read on the page after it. about, row:
    what tells the form from others with the same action, as a selector of something in it, or as
    words of its row in a table. typed, chosen, ticked: its fields by name, in that order. folded:
    it must be opened first. asks: a question comes before. file: it brings a file whose name ends
    so. by: who does it. learns: the page after it ends with the number of what was made, which is
    called so from then on.
    """

    route: str
    page: str
    does: str
    says: str = ""
    about: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)
    ticked: tuple[str, ...] = ()
    folded: bool = False
    asks: bool = False
    row: str = ""
    file: str = ""
    by: str = "admin"
    learns: str = ""

    @property
    def name(self) -> str:
        """Return what a test of it is called."""
        return f"{self.route.removeprefix('/')} {self.about or self.row}".strip()


def _command(word: str, says: str, asks: bool = False) -> Act:
    about = f"input[value='{word}']"
    return Act("/agent/command", ALIVE, "agent.command", says, about, asks=asks)


_OF_AGENTS: Final = (
    _command("resume", "will resume fetching"),
    _command("drain", "will stop fetching at its next contact, report", asks=True),
    _command("resume", "will resume fetching"),
    _command("restart", "will drop its list and queue at its next contact", asks=True),
    _command("update", "will check for its release"),
    _command("pause", "will stop fetching until it is resumed"),
    Act("/restart", "/console/restart", "agent.command", "1 agent will restart at its next contact",
        chosen={"restart {quiet}": "yes"}, asks=True),
    Act("/agent/list-limit", AGENT, "agent.set-list-limit", "allow 50 pages of each unit",
        chosen={"pages": "50"}),
    Act("/agent/sending", AGENT, "collection.set-limits", "From its next sync on {quiet} sends",
        typed={"rate": "500", "weekday": "22:00-07:00"}),
    Act("/agent/position", AGENT, "agent.set-position", "{quiet} is on the map",
        typed={"latitude": "43.07", "longitude": "141.34"}),
    Act("/agent/compare", ALIVE, "agent.compare", "Comparison with the logs of other agents"),
    Act("/new-agent", "/console/new-agent", "agent.create-token", "It is shown only once",
        typed={"name": "robot.never.example"}),
    Act("/join-token/revoke", "/console/agents", "agent.revoke-token",
        "The join token of robot.never.example is revoked",
        "input[value='robot.never.example']", asks=True),
)  # fmt: skip

_OF_HOSTS: Final = (
    Act("/add-hosts", "/console/add-hosts", "host.import", "2 hosts are new",
        typed={"lines": "first.pressed.example\nsecond.pressed.example"}),
    Act("/host/exclude", "/console/host?host={host}", "host.exclude", "is excluded",
        typed={"reason": REASON}, asks=True),
    Act("/host/include", "", "host.include", "is included again", "button.btn-primary", asks=True),
    Act("/host/resolve", "/console/host?host={host}", "host.resolve", "is looked up again"),
    Act("/host/decide-address", "/console/host?host={host}", "address.decide", "is decided"),
    Act("/hosts/resolve", "/console/hosts", "host.resolve", "looked up again"),
    Act("/host/move", "/console/host?host={other}", "unit.move", "{alive}",
        chosen={"agent": "{alive}"}, typed={"reason": "it is next door"}, asks=True),
    Act("/host/move", "/console/host?host={other}", "unit.pin", "is pinned to {alive}",
        "[name=keep]", chosen={"agent": "{alive}"}, typed={"reason": "it is next door"},
        ticked=("[name=keep]",), asks=True),
    Act("/host/unpin", "", "unit.unpin", "is unpinned"),
    Act("/host/ban", "", "host.ban", "is banned from {alive}",
        chosen={"agent": "{alive}"}, typed={"reason": REASON}, asks=True),
    Act("/host/lift-ban", "", "host.lift-ban", "{alive} may get"),
    Act("/host/split", "/console/host?host={large}", "host.split", "is split among 2 agents",
        typed={"pieces": "2"}, asks=True),
    Act("/host/merge", "", "host.merge", "is one unit again", asks=True),
    Act("/probes/order", "/console/host?host={other}", "probe.order", "ordered"),
    Act("/withdrawn", "/console/withdrawn", "host.exclude", "is withdrawn",
        typed={"host": "{third}", "reason": REASON}, asks=True),
)  # fmt: skip

_OF_ROUNDS: Final = (
    Act("/plans", "/console/balance", "plan.create", "This is a preview", "select[name=method]",
        chosen={"method": "random"}, learns="plan"),
    Act("/plans/{number:int}/apply", "/console/plans/{plan}", "plan.apply", "is applied",
        asks=True),
    Act("/plans/undo", "/console/plans/{plan}", "plan.undo", "is undone", asks=True),
    Act("/rounds/schedules", ROUNDS, "round.add-schedule", "The next round begins",
        typed={"crontab": "11 4 * * 6", "zone": "Asia/Tokyo", "moves": "5"}),
    Act("/rounds/schedules/change", f"{ROUNDS}?edit={{rounding}}", "round.change-schedule",
        "The next round begins", typed={"crontab": "13 4 * * 6"}),
    Act("/rounds/schedules/remove", ROUNDS, "round.remove-schedule", "is removed",
        row="11 4 * * 6", asks=True),
    Act("/rounds/start", ROUNDS, "round.start", "has started", learns="round"),
    Act("/rounds/cancel", "/console/rounds/{round}", "round.cancel", "is cancelled", asks=True),
)  # fmt: skip

_OF_DATA: Final = (
    Act("/collection/schedules", ORDERS, "collection.add-schedule", "The next order is sent",
        typed={"crontab": "12 5 * * 6", "zone": "Asia/Tokyo"}, chosen={"agent": "{alive}"}),
    Act("/collection/schedules/change", f"{ORDERS}?edit={{ordering}}", "collection.change-schedule",
        "The next order is sent", typed={"crontab": "14 5 * * 6"}),
    Act("/collection/schedules/run", ORDERS, "collection.run-schedule", "is asked to send",
        row="12 5 * * 6"),
    Act("/collection/schedules/remove", ORDERS, "collection.remove-schedule", "is removed",
        row="12 5 * * 6", asks=True),
    Act("/collection/orders", ORDERS, "collection.order", "{quiet} is asked to send",
        chosen={"agent": "{quiet}"}),
    Act("/collection/orders/cancel", ORDERS, "collection.cancel-order", "is cancelled",
        row="{quiet}"),
    Act("/collection/transfers/give-up", ORDERS, "transfer.cancel", "is cancelled",
        row="pressed.warc.gz", asks=True),
    Act("/archive-jobs/remove", "/console/archive-jobs", "job.remove", "is removed",
        row="host=pressed.example", asks=True),
    Act("/new-client", "/console/new-client", "client.register", "archive-of-acts is registered",
        typed={"name": "archive-of-acts", "contact": "ops@archive.example"}),
    Act("/client/token", "/console/client?name=archive-of-acts", "client.create-token",
        "only once"),
    Act("/client/revoke", "/console/client?name=archive-of-acts", "client.revoke-token",
        "is revoked", asks=True),
    Act("/client/disable", "", "client.disable", "is disabled", asks=True),
    Act("/client/enable", "", "client.enable", "is enabled again"),
    Act("/reports/take", "/console/reports", "export", file=".zip"),
)  # fmt: skip

_OF_RELEASES: Final = (
    Act("/release-agents/canary", "/console/release-agents?q={quiet}", "release.set-canary",
        "it is offered releases first"),
    Act("/release-agents/pin", "", "release.pin", "is offered only 1.0.0",
        chosen={"version": "1.0.0"}),
    Act("/releases/halt", "/console/releases", "release.halt", "1.0.0 is halted",
        row="1.0.0", asks=True),
    Act("/releases/rollout", "", "release.rollout", "1.0.0 is offered to", row="1.0.0", asks=True),
    Act("/releases/minimum", "", "release.set-minimum", "Agents below 0.0.1 get no work",
        "input[list]", typed={"version": "0.0.1"}, asks=True),
    Act("/releases/minimum", "", "release.set-minimum", "All versions get work",
        "input[type=hidden][name=version]"),
)  # fmt: skip

_OF_ALERTS: Final = (
    Act("/alerts/silence", "/console/alerts", "alert.silence", "is acknowledged",
        row="update:robot.region1.example", typed={"reason": "new disks", "hours": "2"},
        folded=True),
    Act("/alerts/end", "", "alert.end-silence", "It has ended", row="update:robot.region1.example"),
    Act("/alerts/windows", "", "maintenance.add", "No alerts are sent during the window",
        typed={"until": "{tomorrow}T10:00", "reason": "new disks"}),
    Act("/alerts/speak", "", "maintenance.end", "Alerts are sent again"),
    Act("/alerts/test", "/console/alerts", "delivery.test", "The test message to"),
)  # fmt: skip

_OF_RULES: Final = (
    Act("/scope", "/console/scope", "scope.set", "Agents receive the scope",
        typed={"text": "exclude *.invalid", "reason": "no such domain"}, asks=True),
    Act("/fleet-rules/block", "/console/fleet-rules", "fleet.block", "1 line is new",
        typed={"text": "/never-ending/", "reason": "never ends"}),
    Act("/fleet-rules/unblock", "", "fleet.unblock", "The line is removed", row="/never-ending/",
        asks=True),
    Act("/fleet-rules/limits", "", "fleet.set-limits", "Agents receive the limits",
        typed={"parallel_hosts": "900"}, asks=True),
)  # fmt: skip

_OF_PEOPLE: Final = (
    Act("/tokens", "/console/tokens", "token.create", "shown only once",
        typed={"name": "pressed", "days": "7"}),
    Act("/tokens/revoke", "/console/tokens", "token.revoke", "is revoked",
        row="pressed", asks=True),
    Act("/new-user", "/console/new-user", "user.add", "mei may log in now",
        typed={"name": "mei", "password": PASSWORD}),
    Act("/own-password", "/console/own-password", "user.change-own-password",
        "Your password is changed",
        typed={"old_password": PASSWORD, "password": NEW_PASSWORD,
               "password_again": NEW_PASSWORD}, by="mei"),
    Act("/user/role", "/console/user?name=mei", "user.set-role", "mei is operator now",
        ticked=("input[value=operator]",)),
    Act("/user/log-out", "", "user", "mei is logged out everywhere",
        "input[name=session][value='']", asks=True),
    Act("/user/password", "/console/user/password?name=mei", "user.set-password",
        "mei has a new password", typed={"password": PASSWORD}),
    Act("/user/disable", "/console/user?name=mei", "user.disable", "mei is disabled", asks=True),
    Act("/user/enable", "", "user.enable", "mei may log in again"),
)  # fmt: skip

ACTS: Final = (
    *_OF_AGENTS,
    *_OF_HOSTS,
    *_OF_ROUNDS,
    *_OF_DATA,
    *_OF_RELEASES,
    *_OF_ALERTS,
    *_OF_RULES,
    *_OF_PEOPLE,
    Act("/agent/retire", AGENT, "agent.retire", "is retired", asks=True),
)

NOT_PRESSED: Final[Mapping[str, str]] = {
    "/agent/believe": "its button is there only for an agent whose claims are doubted",
    "/host/apply-split": "no split pays here; test_splits_page.py presses it",
    "/host/cancel-split": "no change is ordered here; test_splits_page.py presses it",
    "/rounds/carry-over": "its button is there only while a round crawls, and none does here",
    "/rounds/use-predictions": "its button is there only while a round probes, and none does here",
    "/scrub": "tests/manager/console/pages/segments/test_trash_page.py presses it: long",
    "/compact": "it is pressed by tests of the archive; no segment waits to be rewritten here",
    "/managers/forget": "its button is there only for a manager that is silent",
    "/trash/adopt": "tests/manager/console/pages/segments/test_trash_page.py presses it",
    "/trash/put-back": "its button is disabled, for the trash is empty",
    "/releases/init": "it takes files that keys sign; test_release_files.py presses it",
    "/releases/revoke": "it takes a file that keys sign; test_release_files.py presses it",
    "/releases/rotate": "it takes a file that keys sign; test_release_files.py presses it",
    "/agent/contradicted.csv": "its button is there only where agents contradict each other, which"
    " those of the simulated web do not",
    "/agent/contradicted.json": "as for the CSV",
}
"""Acts without a row above, each with the reason."""
