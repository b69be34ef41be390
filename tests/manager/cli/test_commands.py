"""What `prsm` says and does, command by command."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from manager.operations.actor import Actor
from manager.operations.rounds.rounds import cancel_round
from shared.wire.crawl_log import LogLine
from tests.manager.api.measured import A, B
from tests.manager.api.test_capture_checks import probed
from tests.manager.cli.conftest import Prsm
from tests.manager.many_rounds import add_plans, add_rounds
from tests.manager.running import Running, fill, log_body, look_up


def test_hosts_are_imported_from_a_file(prsm: Prsm, tmp_path: Path) -> None:
    """Good lines are taken, bad ones shown with their numbers on standard error."""
    file = tmp_path / "hosts.txt"
    file.write_bytes(b"a.example\nno host here\nhttp://b.example:8080/\n")
    result = prsm("hosts", "import", str(file))
    assert result.stdout == "2 new hosts, 0 new start pages, 0 known; 1 line refused\n"
    assert result.stderr.startswith("line 2: ")
    listed = prsm("hosts", "list").stdout
    assert "http://a.example:80/" in listed
    assert "http://b.example:8080/" in listed


def test_an_import_waits_for_its_names(
    prsm: Prsm, manager: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--wait` it returns when every name was looked up, so that a round can begin."""
    waited = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        look_up(manager)

    monkeypatch.setattr(time, "sleep", sleep)
    prsm("hosts", "import", "-", "--wait", stdin="a.example\n")
    assert len(waited) == 1
    assert json.loads(prsm("status", "--json").stdout)["names_waiting"] == 0


def test_hosts_are_imported_from_standard_input(prsm: Prsm) -> None:
    """`-` reads standard input, also gzip; JSON is what the API says."""
    result = prsm("hosts", "import", "-", "--json", stdin=gzip.compress(b"a.example\n"))
    assert json.loads(result.stdout)["new"] == 1


def test_a_file_without_hosts_is_refused(prsm: Prsm, tmp_path: Path) -> None:
    """Where no line names a host the command fails; a missing file is a usage error."""
    result = prsm("hosts", "import", "-", stdin="no host\nhere either\n", code=1)
    assert "line 1: " in result.stderr
    assert "no line of this file names a host" in result.stderr
    assert "No such file" in prsm("hosts", "import", str(tmp_path / "none"), code=2).stderr


def test_many_refused_lines_are_summed_up(prsm: Prsm) -> None:
    """Twenty refusals are shown, and how many more there are."""
    result = prsm("hosts", "import", "-", stdin="good.example\n" + "no host\n" * 50)
    assert result.stderr.count("line ") == 20
    assert "... and 30 more" in result.stderr


def test_a_host_is_shown_excluded_and_included(prsm: Prsm) -> None:
    """What is done to a host is seen at once; one that is not known is refused in words."""
    prsm("hosts", "import", "-", stdin="a.example\n")
    prsm("hosts", "exclude", "a.example", "--reason", "asked for")
    shown = prsm("hosts", "show", "a.example").stdout
    assert "asked for" in shown
    assert "excluded" in shown
    prsm("hosts", "include", "a.example")
    assert "asked for" not in prsm("hosts", "show", "http://a.example/x").stdout
    assert json.loads(prsm("hosts", "show", "a.example", "--json").stdout)["host"]
    assert "import it first" in prsm("hosts", "show", "b.example", code=1).stderr


def test_hosts_are_listed_by_pages(prsm: Prsm) -> None:
    """A page says how many are left; nothing says what to do; a wrong sort is refused."""
    assert "prsm hosts import" in prsm("hosts", "list").stdout
    prsm("hosts", "import", "-", stdin="a.example\nb.example\nc.example\n")
    page = prsm("hosts", "list", "--limit", "2").stdout
    assert "... 1 more; --offset 2 continues" in page
    assert "must be one of" in prsm("hosts", "list", "--sort", "colour", code=1).stderr
    assert json.loads(prsm("hosts", "list", "--json").stdout)["matching"] == 3


def test_of_more_hosts_than_are_counted_each_can_be_listed(prsm: Prsm) -> None:
    """Behind those that are counted, a full page says how to go on, too."""
    prsm("hosts", "import", "-", stdin="".join(f"h{number}.example\n" for number in range(10_003)))
    assert (
        "... of 10000 or more; --offset 2 continues" in prsm("hosts", "list", "--limit", "2").stdout
    )
    behind = prsm("hosts", "list", "--offset", "10000", "--limit", "2").stdout
    assert "--offset 10002 continues" in behind
    last = prsm("hosts", "list", "--offset", "10002").stdout
    assert len(last.splitlines()) == 2
    assert "continues" not in last


def test_an_agent_is_let_in_and_ordered(prsm: Prsm, manager: Running) -> None:
    """Token, list, show, restart, limit, retire: each does what it says."""
    token = prsm("agents", "token", "a.example")
    assert len(token.stdout.strip()) == 43
    assert "a.example only" in token.stderr
    assert "a.example" in prsm("agents", "tokens").stdout
    assert "join token of a.example revoked" in prsm("agents", "revoke-token", "a.example").stdout
    assert "No token waits" in prsm("agents", "tokens").stdout
    assert "no unused one" in prsm("agents", "revoke-token", "a.example", code=1).stderr
    assert "prsm agents token NAME" in prsm("agents", "list").stdout
    agent = manager.agent()
    assert "a.example" in prsm("agents", "list").stdout
    assert "when it next calls" in prsm("agents", "restart", "a.example").stdout
    assert agent.call.get("/servlets/isrestart?host=a.example").text == "RESTART\n"
    assert prsm("agents", "restart", "a.example", "--pages", stdin="n\n", code=1)
    refused = prsm("agents", "restart", "a.example", "--pages", "--yes", code=1).stderr
    assert "cannot be ordered to delete pages" in refused
    prsm("agents", "list-limit", "a.example", "50")
    assert "50 pages of each unit" in prsm("agents", "show", "a.example").stdout
    for command in ("drain", "pause", "resume"):
        assert "can only restart" in prsm("agents", command, "a.example", code=1).stderr
    assert prsm("agents", "retire", "a.example", stdin="n\n", code=1)
    assert "retired" in prsm("agents", "retire", "a.example", stdin="y\n").stdout
    prsm("agents", "retire", "a.example", "--yes")
    assert json.loads(prsm("agents", "list", "--json").stdout)[0]["state"] == "retired"
    assert "not found" in prsm("agents", "show", "b.example", code=1).stderr


def test_more_rounds_and_plans_than_are_shown(prsm: Prsm, manager: Running) -> None:
    """A list that is cut says how many follow and how to see them."""
    add_rounds(manager.manager.db, 1, 30)
    add_plans(manager.manager.db, 1, 30)
    for command in (("rounds", "list"), ("plans",)):
        assert "... 10 more; --offset 20 continues" in prsm(*command).stdout
        assert "more" not in prsm(*command, "--offset", "20").stdout
        oldest = prsm(*command, "--sort", "number", "--limit", "1").stdout.splitlines()
        assert oldest[1].split()[0] == "1"
        assert "... 9 more" in prsm(*command, "--method", "tree", "--limit", "1").stdout
    assert "No such round" in prsm("rounds", "list", "--state", "crawling").stdout
    assert "... 9 more" in prsm("plans", "--applied", "--limit", "1").stdout
    assert "... 19 more" in prsm("plans", "--not-applied", "--limit", "1").stdout
    assert "Rounds before these: --before 11" in prsm("rounds", "history").stdout
    assert "before these" not in prsm("rounds", "history", "--before", "11").stdout


def test_rounds_and_plans(prsm: Prsm, manager: Running) -> None:
    """A plan is shown and applied, a round started, shown and cancelled."""
    assert "prsm rounds start" in prsm("rounds", "list").stdout
    assert "agent" in prsm("rounds", "start", code=1).stderr
    assert "`prsm rounds start` begins one" in prsm("rounds", "show", code=1).stderr
    assert "`prsm rounds start` begins one" in prsm("rounds", "report", code=1).stderr
    fill(manager, "x.example", "y.example")
    manager.agent().call.get("/servlets/subscribe?host=a.example")
    assert "No plan yet" in prsm("plans").stdout
    plan = prsm("plan", "--method", "random").stdout
    assert "prsm plans apply 1" in plan
    assert "other methods would give:" in plan
    assert "http://x.example:80/" in plan
    assert "other methods" not in prsm("plan", "--no-compare").stdout
    assert "2 units moved" in prsm("plans", "apply", "1").stdout
    assert "is stale" in prsm("plans", "apply", "2", code=1).stderr
    applied = json.loads(prsm("plan", "--apply", "--json").stdout)
    assert applied["applied"]["moved"] == 0
    assert "is applied" in prsm("plan", "--method", "keep", "--apply").stdout
    assert "random" in prsm("plans").stdout
    assert json.loads(prsm("plans", "--json").stdout)["plans"][-1]["id"] == 1
    assert "1 more move" in prsm("plans", "show", "1", "--moves", "1").stdout
    assert "more moves" not in prsm("plans", "show", "1", "--moves", "1", "--offset", "1").stdout
    taken = prsm("plans", "show", "1", "--agent", "a.example").stdout
    assert all(f"http://{name}:80/" in taken for name in ("x.example", "y.example"))
    assert "b.example" in prsm("plans", "show", "1", "--agent", "b.example", code=1).stderr
    assert "is taken back by plan 5" in prsm("plans", "undo").stdout
    assert "taken back by" in prsm("plans", "show", "4").stdout
    manager.agent("b.example").call.get("/servlets/subscribe?host=b.example")
    started = json.loads(prsm("rounds", "start", "--method", "tree", "--json").stdout)
    assert started["round"]["method"] == "tree"
    assert "tree" in prsm("rounds", "list").stdout
    shown = prsm("rounds", "show", "--limit", "1").stdout
    assert "probing" in shown
    assert "waits for 4:" in shown
    assert "http://x.example:80/  a.example  its distance is being measured" in shown
    assert "3 more" in shown
    holders = json.loads(prsm("rounds", "show", "--json").stdout)["holders"]
    assert [one["unit"] for one in holders["holders"]] == [
        "http://x.example:80/", "http://x.example:80/",
        "http://y.example:80/", "http://y.example:80/",
    ]  # fmt: skip
    assert "probing ends" in shown
    assert "a.example  2     it works" in shown
    assert "cancelled" in prsm("rounds", "cancel", "--reason", "enough").stdout
    assert "enough" in prsm("rounds", "show", "1").stdout
    assert "probing ends" in prsm("rounds", "forecast").stdout
    assert json.loads(prsm("rounds", "forecast", "--no-probe", "--json").stdout)["agents"] == []
    assert "no round is probing" in prsm("rounds", "use-predictions", code=1).stderr
    assert "no round is crawling" in prsm("rounds", "carry-over", code=1).stderr
    manager.clock.advance(2 * 3600)
    said = prsm("rounds", "start")
    assert "warning: 2 agents are inactive until later: probing will end about" in said.stderr
    assert "planned with predictions" in prsm("rounds", "use-predictions", "2").stdout
    prsm("rounds", "cancel")
    assert "waits for" not in prsm("rounds", "show", "1").stdout
    assert prsm("rounds", "start", "--method", "magic", code=2)


def test_a_round_is_waited_for(
    prsm: Prsm, manager: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its counts are told as they change; the command returns when it is over, in any way."""
    fill(manager, "x.example")
    for name in ("a.example", "b.example"):
        manager.agent(name).call.get(f"/servlets/subscribe?host={name}")
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            cancel_round(manager.manager.db, Actor("user", "ann"), 1, "enough")

    monkeypatch.setattr(time, "sleep", sleep)
    said = prsm("rounds", "start", "--wait")
    assert said.stderr == "round 1: probing, probes: 2 waiting\n"
    assert "cancelled" in said.stdout
    assert len(looks) == 2


def test_rounds_by_the_clock(prsm: Prsm, manager: Running) -> None:
    """Schedules are added, listed with their next runs in words, removed; a round is reported."""
    assert "prsm rounds schedule add" in prsm("rounds", "schedule").stdout
    added = prsm("rounds", "schedule", "add", "0 2 * * *", "--zone", "Asia/Tokyo").stdout
    assert added.count("02:00 JST") == 5
    assert "five fields" in prsm("rounds", "schedule", "add", "nightly", code=1).stderr
    assert "02:00 JST" in prsm("rounds", "schedule").stdout
    assert json.loads(prsm("rounds", "schedule", "--json").stdout)[0]["schedule"]["id"] == 1
    changed = prsm("rounds", "schedule", "change", "1", "0 4 * * *", "--no-probe").stdout
    assert "04:00 UTC" in changed
    assert "without probing" in changed
    assert "is removed" in prsm("rounds", "schedule", "remove", "1").stdout
    assert "No round yet" in prsm("rounds", "report", code=1).stderr
    fill(manager, "x.example")
    manager.agent().call.get("/servlets/subscribe?host=a.example")
    prsm("rounds", "start")
    assert "1, probing, by" in prsm("rounds", "report").stdout
    assert json.loads(prsm("rounds", "report", "1", "--json").stdout)["number"] == 1


def test_users_are_managed(prsm: Prsm) -> None:
    """A password is asked for twice or read from standard input; short ones are refused."""
    assert "--role admin" in prsm("users", "list").stdout
    typed = "correct horse battery\n"
    prsm("users", "add", "ann", "--role", "admin", stdin=typed * 2)
    prsm("users", "add", "bob", "--password-stdin", stdin=typed)
    assert "ann" in prsm("users", "list").stdout
    assert [user["name"] for user in json.loads(prsm("users", "list", "--json").stdout)] == [
        "ann",
        "bob",
    ]
    prsm("users", "passwd", "ann", "--password-stdin", stdin="another horse battery\n")
    prsm("users", "role", "bob", "operator")
    assert "must be 12" in prsm("users", "add", "c", "--password-stdin", stdin="x\n", code=1).stderr
    assert (
        "exists already"
        in prsm("users", "add", "ann", "--password-stdin", stdin=typed, code=1).stderr
    )


def test_what_happened_is_shown(prsm: Prsm, manager: Running) -> None:
    """Audit and reports are listed; the check is clean, and fails when a file is gone."""
    assert "Nothing happened" in prsm("audit").stdout
    assert "No log yet" in prsm("reports").stdout
    line = LogLine("http://www.example.jp/", 1, 2, 3, b"")
    manager.agent().send_log(log_body("a.example", [line]))
    assert "log.accept" in prsm("audit").stdout
    newest, before = json.loads(prsm("audit", "--json", "--limit", "2").stdout)
    assert newest["id"] > before["id"]
    older = prsm("audit", "--json", "--limit", "1", "--before", str(newest["id"])).stdout
    assert json.loads(older) == [before]
    (report,) = json.loads(prsm("reports", "--json").stdout)
    assert json.loads(prsm("reports", "--json", "--before", str(report["id"])).stdout) == []
    assert "a.example.202611211000" in prsm("reports").stdout
    assert "no problem found" in prsm("check").stdout
    assert json.loads(prsm("check", "--json").stdout) == {"findings": []}
    manager.files("logs")[0].unlink()
    assert "rows are gone" in prsm("check", code=1).stderr
    assert json.loads(prsm("check", "--json", code=1).stdout)["findings"]


def test_the_status_is_one_look(prsm: Prsm, manager: Running) -> None:
    """At first it says what to do; later what there is and what needs a person."""
    first = prsm("status").stdout
    assert "prsm agents token NAME" in first
    assert "prsm hosts import FILE" in first
    fill(manager, "x.example")
    manager.agent().call.get("/servlets/subscribe?host=a.example")
    prsm("rounds", "start")
    manager.clock.advance(30 * 86400)
    later = prsm("status").stdout
    assert "1, probing, by default" in later
    assert "! a.example is " in later
    assert json.loads(prsm("status", "--json").stdout)["round"]


def test_settings_are_printed(prsm: Prsm) -> None:
    """The settings are printed as a file to edit."""
    assert "# permit_s = 7200.0" in prsm("settings").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "--set", "limits.log_byte=1"], "did you mean limits.log_bytes?"),
        (["serve", "--set", "nonsense"], "group.name=value"),
        (["serve", "--listen", "8000"], "HOST:PORT"),
        (["hosts", "list", "--limit", "0"], "1<=x<=1000"),
        (["rounds", "show", "x"], "not a valid integer"),
        (["nothing"], "No such command"),
    ],
)
def test_usage_errors_are_exit_code_2(prsm: Prsm, arguments: list[str], words: str) -> None:
    """What cannot be meant is refused before anything is done."""
    assert words in prsm(*arguments, code=2).stderr


def test_every_command_has_help(prsm: Prsm) -> None:
    """Each command and option is explained."""
    for group in ("hosts", "agents", "rounds", "users"):
        lines = prsm(group, "--help").stdout.partition("Commands:\n")[2].splitlines()
        for line in filter(None, lines):
            name, _, told = line.strip().partition("  ")
            assert len(told.strip()) > 10, line
            assert "Usage" in prsm(group, name, "--help").stdout


def test_an_agent_is_compared(prsm: Prsm, manager: Running) -> None:
    """A liar is exit code 1, with its pages; an honest agent is not."""
    probed(manager, liar=B)
    assert (
        "200 of its pages were fetched by others too; 0 are" in prsm("agents", "compare", A).stdout
    )
    said = prsm("agents", "compare", B, code=1)
    assert "http://h0.jp/p0" in said.stdout
    assert "too often to be believed" in said.stderr
    assert json.loads(prsm("agents", "compare", B, "--json", code=1).stdout)["suspect"]
