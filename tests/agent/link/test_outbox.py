"""Nothing that must be reported is lost, and nothing is sent as two things."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agent.errors import FaultError, LinkError, RefusedError, WaitError
from agent.link.call_schedule import Backoff
from agent.link.outbox import Outbox, Report
from agent.link.report_delivery import Sender
from agent.settings import Home
from shared.errors import FormatError
from shared.messages import Message
from tests.agent.link.fake_clock import FakeClock

DAY_MS = 86_400_000
MINUTE = "202611210945"


def opened(home: Home, limit_bytes: int = 10**9) -> Outbox:
    return Outbox(home, agent="prs1", limit_bytes=limit_bytes, keep_logs_s=7 * 86_400)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "prs")
    home.make()
    return home


def test_a_log_is_kept_as_it_is_sent(home: Home) -> None:
    """The file is the body of M3: the first line, then the gzip part, in order of making."""
    outbox = opened(home)
    log = outbox.put_log("log-1", MINUTE, [b"gz", b"ip"])
    hosts = outbox.put_hosts("hosts-1", [b"x"])
    assert log.path.read_bytes() == b"prs1.202611210945\ngzip"
    assert opened(home).waiting() == [log, hosts]


def test_the_same_source_makes_one_report(home: Home) -> None:
    """A report that is made again after a crash is the one that is here already."""
    outbox = opened(home)
    first = outbox.put_log("log-1", MINUTE, [b"a"])
    assert outbox.put_log("log-1", "202611210946", [b"b"]) == first
    outbox.refuse(first, Message.of_text("400: no"))
    assert outbox.put_log("log-1", MINUTE, [b"c"]).path.name == first.path.name
    assert outbox.waiting() == []


def test_reports_are_made_while_others_are_sent(home: Home) -> None:
    """One thread makes reports and another acknowledges them; neither trips over the other."""
    outbox = opened(home)
    number = 300

    def make() -> None:
        for key in range(number):
            outbox.put_hosts(f"hosts-{key}", [b"x"])

    with ThreadPoolExecutor(2) as threads:
        making = threads.submit(make)
        sent = 0
        while sent < number and not (making.done() and making.exception()):
            for report in outbox.waiting():
                outbox.acknowledged(report, 0)
                sent += 1
        making.result()
    assert sent == number
    assert outbox.waiting() == []


def test_a_key_never_becomes_a_path(home: Home) -> None:
    """Only letters, digits and hyphens name a report."""
    for key in ("../x", "a/b", "", "A", "x" * 81):
        with pytest.raises(FormatError, match="report key"):
            opened(home).put_hosts(key, [b""])


def test_a_report_that_could_not_be_written_is_not_there(home: Home) -> None:
    """What broke off while it was written is no report, also after a crash."""

    def broken() -> Iterator[bytes]:
        yield b"some"
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        opened(home).put_hosts("a", broken())
    (home.outbox / "00000001.hosts.a.part").write_bytes(b"half")
    assert opened(home).waiting() == []
    assert not list(home.outbox.glob("*.part"))


def test_sent_logs_are_kept_a_week(home: Home) -> None:
    """An acknowledged log is `transfer.log.yyyymmddHHMM` for a week; hosts are deleted."""
    outbox = opened(home)
    now_ms = 1_700_000_000_000
    outbox.acknowledged(outbox.put_log("a", MINUTE, [b"1"]), now_ms)
    outbox.acknowledged(outbox.put_hosts("b", [b"2"]), now_ms)
    outbox.acknowledged(outbox.put_log("c", MINUTE, [b"3"]), now_ms)
    names = sorted(path.name for path in home.sent.iterdir())
    assert names == [f"transfer.log.{MINUTE}", f"transfer.log.{MINUTE}-2"]
    assert outbox.waiting() == []
    outbox.clean(now_ms + 7 * DAY_MS - 1)
    assert len(list(home.sent.iterdir())) == 2
    outbox.clean(now_ms + 7 * DAY_MS + 1)
    assert list(home.sent.iterdir()) == []


def test_a_refused_report_stands_aside_with_its_reason(home: Home) -> None:
    """It is shown with the reason, and is sent again when it is moved back."""
    outbox = opened(home)
    report = outbox.put_log("a", MINUTE, [b"1"])
    reason = RefusedError(400, "line 3: no").message
    outbox.refuse(report, reason)
    [refused] = opened(home).refused()
    assert (refused.name, refused.reason) == (report.path.name, reason)
    assert "400: line 3: no" in (home.refused / f"{report.path.name}.reason").read_text()
    (home.refused / report.path.name).rename(report.path)
    assert outbox.waiting() == [report]


def test_a_reason_of_the_version_before_is_read(home: Home) -> None:
    """It is a sentence."""
    outbox = opened(home)
    report = outbox.put_log("a", MINUTE, [b"1"])
    outbox.refuse(report, Message("agent.disk_full", why="x"))
    (home.refused / f"{report.path.name}.reason").write_text("400: line 3: no\n")
    assert [one.reason for one in outbox.refused()] == [Message.of_text("400: line 3: no")]
    (home.refused / f"{report.path.name}.reason").unlink()
    assert [one.reason for one in outbox.refused()] == [Message("agent.reason_removed")]


def test_a_full_outbox_says_so(home: Home) -> None:
    """Above its limit it names the setting; nothing is thrown away."""
    outbox = opened(home, limit_bytes=25)
    outbox.put_log("a", MINUTE, [b"1234567"])
    assert outbox.full is None
    outbox.put_log("b", MINUTE, [b"1234567"])
    assert "2 reports with 50 bytes wait" in str(outbox.full)
    assert "disk.outbox_bytes = 25" in str(outbox.full)


class Manager:
    """Takes reports, or answers what it is told to."""

    def __init__(self) -> None:
        self.answers: dict[str, LinkError] = {}
        self.got: list[str] = []

    async def take(self, report: Report) -> None:
        error = self.answers.get(report.key) or self.answers.get("*")
        if error is not None:
            raise error
        self.got.append(report.key)


class Desk:
    """An outbox, a manager and a sender between them."""

    def __init__(self, home: Home) -> None:
        self.home, self.clock, self.manager = home, FakeClock(), Manager()
        self.begin()

    def begin(self) -> None:
        self.outbox = opened(self.home)
        self.sender = Sender(
            self.outbox,
            self.manager.take,
            clock=self.clock,
            backoff=Backoff(60, 3600),
            rng=random.Random(1),
        )

    def send(self) -> int:
        return asyncio.run(self.sender.send_due())

    def waiting(self) -> list[str]:
        return [report.key for report in self.outbox.waiting()]


@pytest.fixture
def desk(home: Home) -> Desk:
    desk = Desk(home)
    for key in ("a", "b", "c"):
        desk.outbox.put_log(key, MINUTE, [key.encode()])
    return desk


def test_reports_go_in_order(desk: Desk) -> None:
    """Oldest first, all of them, and nothing hinders."""
    assert desk.send() == 3
    assert desk.manager.got == ["a", "b", "c"]
    assert (desk.waiting(), desk.sender.trouble) == ([], None)


@pytest.mark.parametrize("status", [400, 409, 413])
def test_a_refused_one_does_not_block(desk: Desk, status: int) -> None:
    """A no about one report sets that one aside; the others go."""
    desk.manager.answers["a"] = RefusedError(status, "bad line")
    assert desk.send() == 2
    assert [str(item.reason) for item in desk.outbox.refused()] == [f"{status}: bad line"]


def test_a_forbidden_one_waits_until_the_agent_is_not(desk: Desk) -> None:
    """Blocked, or a front that was set up wrongly, is no word on reports: none is set aside."""
    desk.manager.answers["*"] = RefusedError(403, "plain HTTP")
    for _ in range(3):
        assert desk.send() == 0
        desk.clock.sleep(max(0.0, desk.sender.next_s - desk.clock.boottime_s()))
    assert (desk.waiting(), desk.outbox.refused()) == (["a", "b", "c"], [])
    desk.manager.answers.clear()
    desk.sender.retry_now()
    assert desk.send() == 3


def test_one_that_is_forbidden_to_a_welcome_agent_stands_aside(desk: Desk) -> None:
    """A log of another name: the manager answers syncs, and forbids this one again."""
    desk.manager.answers["a"] = RefusedError(403, "the log is of another agent")
    desk.sender.retry_now()
    assert desk.send() == 0
    assert desk.waiting() == ["a", "b", "c"]
    desk.sender.retry_now()
    assert desk.send() == 2
    assert [str(item.reason) for item in desk.outbox.refused()] == [
        "403: the log is of another agent"
    ]


@pytest.mark.parametrize("status", [400, 403, 405, 413])
def test_what_a_proxy_refuses_is_tried_again(desk: Desk, status: int) -> None:
    """Without the manager's mark a no is nobody's last word; the others go meanwhile."""
    desk.manager.answers["a"] = RefusedError(status, "Request Entity", by_manager=False)
    assert desk.send() == 2
    assert (desk.waiting(), desk.outbox.refused()) == (["a"], [])
    assert f"{status}: Request Entity" in str(desk.sender.trouble)
    desk.manager.answers.clear()
    desk.clock.sleep(desk.sender.next_s - desk.clock.boottime_s())
    assert desk.send() == 1


def test_one_that_breaks_the_manager_does_not_block(desk: Desk) -> None:
    """A 500 for one report lets the next ones go; it is tried again after a pause."""
    desk.manager.answers["a"] = FaultError(500, "bug")
    assert desk.send() == 2
    assert desk.send() == 0
    assert "500: bug" in str(desk.sender.trouble)
    del desk.manager.answers["a"]
    desk.clock.sleep(desk.sender.next_s - desk.clock.boottime_s())
    assert desk.send() == 1
    assert (desk.manager.got, desk.sender.trouble) == (["b", "c", "a"], None)


@pytest.mark.parametrize(
    "error", [LinkError("gone"), RefusedError(401, "who?"), RefusedError(426, "old")]
)
def test_a_blocked_way_is_not_tried_for_each(desk: Desk, error: LinkError) -> None:
    """Where the next would fare the same, all wait, in order, and go when the way is free."""
    desk.manager.answers["*"] = error
    assert desk.send() == 0
    assert desk.waiting() == ["a", "b", "c"]
    desk.manager.answers.clear()
    assert desk.send() == 0
    desk.sender.retry_now()
    assert desk.send() == 3


def test_the_manager_gets_the_time_it_asks_for(desk: Desk) -> None:
    """Retry-After holds for all reports, even when a sync succeeds in between."""
    desk.manager.answers["*"] = WaitError(503, "busy", 900.0)
    desk.send()
    desk.manager.answers.clear()
    desk.sender.retry_now()
    desk.clock.advance(899.0)
    assert desk.send() == 0
    desk.clock.advance(1.0)
    assert desk.send() == 3


def test_enough_of_one_kind_does_not_block_the_other(desk: Desk) -> None:
    """A 429 for new hosts lets the logs go; hosts go when the time is over."""
    desk.outbox.put_hosts("d", [b"d"])
    desk.outbox.put_hosts("e", [b"e"])
    desk.outbox.put_log("f", MINUTE, [b"f"])
    desk.manager.answers["d"] = WaitError(429, "enough for today", 5000.0)
    assert desk.send() == 4
    assert desk.waiting() == ["d", "e"]
    assert "enough for today" in str(desk.sender.trouble)
    assert desk.sender.next_s == desk.clock.boottime_s() + 5000.0
    desk.manager.answers.clear()
    assert desk.send() == 0
    desk.clock.advance(5000.0)
    assert desk.send() == 2
    assert desk.sender.trouble is None


class NothingLost(RuleBasedStateMachine):
    """Reports are made and sent; answers get lost, the manager fails, the process is killed."""

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        home = Home(Path(self.folder.name))
        home.make()
        self.desk = Desk(home)
        self.made: list[str] = []

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule()
    def make(self) -> None:
        key = f"k{len(self.made)}"
        self.desk.outbox.put_hosts(key, [key.encode()])
        self.made.append(key)

    @rule()
    def make_the_last_again(self) -> None:
        if self.made and self.made[-1] not in self.desk.manager.got:
            self.desk.outbox.put_hosts(self.made[-1], [b"again"])

    @rule(
        index=st.integers(0, 3),
        error=st.sampled_from(
            [
                LinkError("x"),
                FaultError(500, "x"),
                RefusedError(400, "x"),
                WaitError(503, "x", 9),
                WaitError(429, "x", 9),
            ]
        ),
    )
    def fail_at(self, index: int, error: LinkError) -> None:
        waiting = self.desk.waiting()
        if waiting:
            self.desk.manager.answers = {waiting[index % len(waiting)]: error}

    @rule()
    def heal(self) -> None:
        self.desk.manager.answers = {}

    @rule()
    def send(self) -> None:
        self.desk.send()

    @rule()
    def time_passes(self) -> None:
        self.desk.clock.advance(4000.0)

    @rule()
    def kill(self) -> None:
        self.desk.begin()

    @invariant()
    def each_is_somewhere_once(self) -> None:
        refused = [item.name.rpartition(".")[2] for item in self.desk.outbox.refused()]
        places = self.desk.manager.got + self.desk.waiting() + refused
        assert sorted(places) == sorted(self.made)
        assert self.desk.waiting() == [key for key in self.made if key in self.desk.waiting()]


NothingLost.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestNothingLost = NothingLost.TestCase
