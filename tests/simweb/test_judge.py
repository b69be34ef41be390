"""The judge finds each kind of rudeness in logs written by hand, and only there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import FormatError, SettingError
from simweb.judging.judge import Rules, judge_events, judge_log
from simweb.judging.log_reader import Event, read_log
from simweb.judging.verdict import KINDS, Verdict

CLIENT, SERVER, HOST = "127.10.0.1", "127.20.0.1", "a.test"


class Log:
    """Writes a log; times are milliseconds."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.connections = 0

    def request(self, start: float, end: float, path: str = "/", **fields: Any) -> Log:
        """Add a request on a connection of its own, open for as long as it lasts."""
        self.connections += 1
        number = fields.pop("connection", self.connections)
        reused = any(e["connection"] == number for e in self.events)
        names = {
            "connection": number,
            "client": fields.pop("client", CLIENT),
            "server": fields.pop("server", SERVER),
        }
        if not reused:
            self.events.append({"event": "open", "mono": start / 1_000, **names})
        self.events.append(
            {
                "event": "request",
                **names,
                "mono_start": start / 1_000,
                "mono_end": end / 1_000,
                "host": HOST,
                "method": "GET",
                "path": path,
                "user_agent": "PRSM",
                "disallowed": False,
                "reused": reused,
                **fields,
            }
        )
        if number == self.connections:
            self.events.append({"event": "close", "mono": end / 1_000, **names})
        return self

    def judge(self, interval_ms: float = 100, **rules: Any) -> Verdict:
        """Judge what was written."""
        return judge_events(self.events, Rules(interval_ms=interval_ms, **rules))


def found(verdict: Verdict) -> dict[str, int]:
    """Return the violations that occur."""
    return {kind: count for kind, count in verdict.violations.items() if count}


def polite() -> Log:
    """Return a log of three requests, 100 ms apart, robots.txt first."""
    return Log().request(0, 10, "/robots.txt").request(110, 150).request(250, 260, "/b")


def test_a_polite_crawl_is_polite() -> None:
    """Exactly the interval, end to start, is enough."""
    verdict = polite().judge(tolerance_ms=0.001)
    assert verdict.ok
    assert (verdict.requests, verdict.urls, verdict.robots_requests) == (3, 3, 1)
    assert verdict.least_gap_ms == pytest.approx(100)


def test_an_empty_log_is_polite() -> None:
    """Nothing was asked."""
    assert Log().judge().ok


def test_a_gap_counts_from_the_end_of_the_last_request() -> None:
    """250 ms from start to start are too little when the first took 200."""
    log = polite().request(400, 600, "/c").request(650, 660, "/d")
    assert found(log.judge()) == {"too_close": 1}
    assert "50.0 ms of 100" in log.judge().examples["too_close"][0]


def test_robots_txt_takes_its_turn() -> None:
    """The request after it waits too."""
    log = Log().request(0, 10, "/robots.txt").request(60, 70)
    assert found(log.judge()) == {"too_close": 1}


def test_the_tolerance_is_let_pass() -> None:
    """5 ms by default, for clocks."""
    assert Log().request(0, 10, "/robots.txt").request(106, 110).judge().ok
    assert not Log().request(0, 10, "/robots.txt").request(104, 110).judge().ok


def test_names_of_one_address_share_a_clock() -> None:
    """Unless each host is judged by itself."""
    log = Log().request(0, 10, "/robots.txt").request(20, 30, "/robots.txt", host="b.test")
    assert found(log.judge()) == {"too_close": 1}
    assert log.judge(per_address=False).ok


def test_addresses_do_not_share_a_clock() -> None:
    """Two hosts at two addresses may be asked at once."""
    log = Log().request(0, 10, "/robots.txt")
    assert log.request(1, 9, "/robots.txt", host="b.test", server="127.20.0.2").judge().ok


def test_clients_share_a_clock_unless_judged_apart() -> None:
    """A host does not care who disturbs it."""
    log = Log().request(0, 10, "/robots.txt").request(20, 30, "/robots.txt", client="127.10.1.1")
    assert found(log.judge()) == {"too_close": 1}
    assert log.judge().shared_hosts == 1
    assert log.judge(per_client=True).ok


def test_a_request_inside_a_longer_one_is_too_close() -> None:
    """And the gap after both counts from the later end."""
    log = Log().request(0, 500, "/robots.txt").request(100, 110).request(550, 560)
    assert found(log.judge()) == {"too_close": 2, "overlapping": 1}


def test_connections_of_one_client_to_one_address_overlap() -> None:
    """Also when nothing is asked on the second one."""
    log = polite()
    names = {"connection": 9, "client": CLIENT, "server": SERVER}
    log.events.append({"event": "open", "mono": 0.130, **names})
    log.events.append({"event": "close", "mono": 0.140, **names})
    assert found(log.judge()) == {"overlapping": 1}


def test_connections_of_two_clients_do_not_overlap() -> None:
    """One each is what is asked."""
    log = polite().request(360, 900, "/robots.txt", client="127.10.1.1")
    assert log.request(1_000, 1_010, "/x", client="127.10.1.1").judge().ok


def test_a_burst_is_allowed_when_asked_for() -> None:
    """Requests in a row on one connection, up to the burst, then a gap."""
    log = Log()
    for start in (0, 20, 40, 60):
        path = "/robots.txt" if not start else f"/{start}"
        log.request(start, start + 10, path, connection=1)
    assert found(log.judge()) == {"too_close": 3}
    assert found(log.judge(burst=2)) == {"too_close": 1}
    assert log.judge(burst=4).ok
    assert log.judge(burst=0).ok
    assert not log.request(80, 90, "/x").judge(burst=0).ok


def test_the_gap_may_grow_with_the_last_request() -> None:
    """Ten times the time of the last fetch, where that is asked."""
    log = Log().request(0, 50, "/robots.txt").request(200, 210)
    assert log.judge().ok
    assert found(log.judge(times_last=10)) == {"too_close": 1}


def test_crawl_delay_is_between_requests_to_its_host() -> None:
    """Others at the address may come between; robots.txt is asked before the delay is known."""
    log = Log().request(0, 10, "/robots.txt", crawl_delay_s=1)
    log.request(500, 510, "/robots.txt", host="b.test")
    assert log.request(1_010, 1_020, "/a", crawl_delay_s=1).judge().ok
    late = log.request(1_500, 1_510, "/b", crawl_delay_s=1).judge()
    assert found(late) == {"crawl_delay": 1}


def test_hosts_may_have_their_own_interval() -> None:
    """Shorter or longer than the rule."""
    log = Log().request(0, 10, "/robots.txt").request(60, 70)
    assert log.judge(interval_of_host={HOST: 50}).ok
    assert found(polite().judge(interval_of_host={HOST: 200})) == {
        "too_close": 2,
        "crawl_delay": 2,
    }


def test_retry_after_is_waited_for() -> None:
    """By the client that was told, for anything of that host."""
    log = Log().request(0, 10, "/robots.txt").request(110, 120, status=429, retry_after_s=1)
    log.request(230, 240, "/robots.txt", client="127.10.1.1")
    assert log.judge().ok
    assert found(log.request(500, 510, "/b").judge()) == {"retry_after": 1}


def test_disallowed_requests_are_counted_with_examples() -> None:
    """Five examples at most, all of them counted."""
    log = polite()
    for number in range(7):
        start = 1_000 + number * 200
        log.request(start, start + 1, f"/private/{number}", disallowed=True)
    verdict = log.judge()
    assert found(verdict) == {"disallowed": 7}
    assert len(verdict.examples["disallowed"]) == 5
    assert f"http://{HOST}/private/0" in verdict.examples["disallowed"][0]


def test_robots_txt_comes_first() -> None:
    """For each client and host; a request at the wrong address is no host's."""
    log = Log().request(0, 10)
    assert found(log.judge()) == {"before_robots": 1}
    assert log.judge(robots_first=False).ok
    assert Log().request(0, 10, misdirected=True).judge().ok


def test_connection_numbers_of_two_runs_are_not_mixed_up() -> None:
    """A server that was killed and started again counts from 1."""
    first, second = Log().request(0, 10, "/robots.txt"), Log().request(500, 510)
    start = [{"event": "start"}]
    verdict = judge_events(start + first.events + start + second.events, Rules(interval_ms=100))
    assert verdict.ok
    assert verdict.connections == 2


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 50)), min_size=2, max_size=12))
def test_one_accusation_for_each_gap_that_is_too_short(steps: list[tuple[int, int]]) -> None:
    """Sequential requests with drawn gaps and lengths: the count is the number of short gaps."""
    log, now, short = Log(), 0, 0
    for number, (gap, length) in enumerate(steps):
        now += gap
        short += bool(number and gap < 95)
        log.request(now, now + length, f"/{number}" if number else "/robots.txt")
        now += length
    verdict = log.judge(tolerance_ms=5.0001)
    assert verdict.violations["too_close"] == short
    assert verdict.violations["overlapping"] == 0


def test_a_broken_last_line_is_forgiven_and_another_is_not(tmp_path: Path) -> None:
    """A killed server leaves half a line at the end, never in the middle."""
    path = tmp_path / "log.jsonl"
    lines = [json.dumps(event) + "\n" for event in polite().events]
    path.write_text("".join(lines) + '{"event":"requ')
    assert judge_log(path, interval_ms=100).requests == 3
    path.write_text(lines[0] + '{"event":\n' + "".join(lines[1:]))
    with pytest.raises(FormatError, match="line 2"):
        list(read_log(path))


@pytest.mark.parametrize(
    "text", ["hello\n", "[]\n", '{"a": 1}\n', "hello\nhello\n", '{"event": "request"}\n']
)
def test_what_is_no_log_is_refused(tmp_path: Path, text: str) -> None:
    """Judging the wrong file must not find everything polite."""
    path = tmp_path / "log.jsonl"
    path.write_text(text)
    with pytest.raises(FormatError):
        judge_log(path, interval_ms=100)


def test_a_negative_rule_is_refused() -> None:
    """With its name."""
    with pytest.raises(SettingError, match="interval_ms = -1"):
        Rules(interval_ms=-1)


def test_the_verdict_in_words_and_json() -> None:
    """Every kind is named, and the last line says it all."""
    log = Log().request(0, 10, disallowed=True).request(11, 12)
    lines = list(log.judge().lines())
    assert lines[-1].endswith("NOT POLITE")
    assert all(any(line.startswith(kind) for line in lines) for kind in KINDS)
    assert list(polite().judge().lines())[-1].endswith(" polite")
    values = json.loads(json.dumps(log.judge().to_json()))
    assert values["ok"] is False
    assert values["violations"]["disallowed"] == 1


def test_domains_of_an_address_have_clocks_and_the_address_a_rate() -> None:
    """Hosts of one domain share a clock; those of others count for the rate of the address."""
    log = polite()
    for number in range(4):
        log.request(20 + 100 * number, 60 + 100 * number, "/robots.txt", host=f"www.d{number}.jp")
    rules = {"per_domain": True, "address_tolerance_ms": 0}
    assert found(log.judge(**rules)) == {}
    assert found(log.judge())["too_close"] == 6
    assert found(log.judge(address_interval_ms=10, **rules)) == {}
    assert found(log.judge(address_interval_ms=200, address_agents=2, **rules)) == {
        "address_rate": 5
    }
    assert found(log.judge(address_interval_ms=60, **{**rules, "address_tolerance_ms": 60})) == {}
    log.request(90, 95, "/robots.txt", host="blog.d0.jp")
    assert found(log.judge(**rules)) == {"too_close": 1}


def test_a_client_has_one_connection_to_each_domain_of_an_address() -> None:
    """Two to one domain overlap, one to each of two domains do not."""
    log = Log().request(0, 500, "/robots.txt", host="www.d1.jp")
    log.request(100, 300, "/robots.txt", host="www.d2.jp")
    assert found(log.judge(per_domain=True)) == {}
    log.request(200, 250, "/robots.txt", host="blog.d2.jp")
    assert found(log.judge(per_domain=True)) == {"too_close": 1, "overlapping": 1}
