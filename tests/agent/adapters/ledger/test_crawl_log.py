"""The crawl log: every line in exactly one log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.adapters.ledger import ClosedLog, SqliteLedger
from agent.pipeline.messages.requests import FetchAnswer, Outcome
from agent.pipeline.messages.robots import RulesDue
from shared.errors import FormatError
from shared.wire.crawl_log import Comment, LogLine, decode
from shared.wire.orders import OrderKind
from tests.agent.adapters.installation import lines_of, open_ledger
from tests.agent.modules.answers import due_of, ended

NOW_MS = 1_800_000_000_000


def request(
    number: int,
    *,
    round_number: int = 3,
    kind: OrderKind = "crawl",
    outcome: Outcome = "answered",
    header: bytes = b"HTTP/1.1 200 OK\r\n\r\n",
) -> FetchAnswer:
    due = due_of(f"http://a.example/{number}", round_number=round_number, kind=kind)
    return ended(
        due, outcome, request_bytes=100, response_bytes=2000, elapsed_ms=12.6, header=header
    )


def content(log: ClosedLog) -> list[LogLine | Comment]:
    return list(decode(log.body()))


def urls(log: ClosedLog) -> list[str]:
    return [line.url for line in content(log) if isinstance(line, LogLine)]


def closed(ledger: SqliteLedger) -> ClosedLog:
    log = ledger.close_log(NOW_MS)
    assert log is not None
    return log


def test_a_log_says_what_holds_for_its_lines(tmp_path: Path) -> None:
    """Round, kind and time stand before the lines for which they hold."""
    ledger = open_ledger(tmp_path)
    ledger.append_log([request(1), request(2)])
    ledger.append_log([request(3)])
    ledger.append_log([request(4, kind="probe"), request(5, kind="probe", round_number=4)])
    ledger.append_log([request(6, kind="refetch", round_number=4)])
    ledger.append_log([request(7, kind="probe", round_number=4)])
    log = closed(ledger)
    texts = [one.text if isinstance(one, Comment) else one.url[-1] for one in content(log)]
    assert texts == [
        *(f"Since={log.since_ms}", f"Until={NOW_MS}"),
        *("Round=3", "MaxTransfer=0", "1", "2", "3"),
        *("Round=3", "MaxTransfer=50", "4"),
        *("Round=4", "MaxTransfer=50", "5"),
        *("Round=4", "MaxTransfer=50", "Refetch=1", "6"),
        *("Round=4", "MaxTransfer=50", "7"),
    ]
    ledger.close()


def test_a_log_says_of_which_unit_the_probe_counts(tmp_path: Path) -> None:
    """In a section of crawls of its round, which is not begun twice; no line is lost by it."""
    ledger = open_ledger(tmp_path)
    ledger.append_log([request(1, kind="probe")])
    ledger.count_probe("http://a.example:80/", 3)
    ledger.count_probe("http://b.example:80/", 3)
    ledger.append_log([request(2)])
    ledger.count_probe("http://c.example:80/", 4)
    log = closed(ledger)
    texts = [one.text if isinstance(one, Comment) else one.url[-1] for one in content(log)]
    assert texts[2:] == [
        *("Round=3", "MaxTransfer=50", "1"),
        *("Round=3", "MaxTransfer=0", "Probed=http://a.example:80/"),
        *("Probed=http://b.example:80/", "2"),
        *("Round=4", "MaxTransfer=0", "Probed=http://c.example:80/"),
    ]
    ledger.close()


def test_a_line_tells_sizes_time_and_header(tmp_path: Path) -> None:
    """A request without an answer says why."""
    ledger = open_ledger(tmp_path)
    ledger.append_log([request(1), request(2, outcome="timeout", header=b"")])
    ledger.commit()
    first, second = lines_of(tmp_path)
    assert first == LogLine("http://a.example/1", 100, 2000, 13, b"HTTP/1.1 200 OK\r\n\r\n")
    assert second.headers == b"X-Crawl-Outcome: timeout\r\n"
    ledger.close()


@pytest.mark.parametrize("outcome", ["retry", "malformed"])
def test_an_answer_that_was_not_taken_says_why_in_words(tmp_path: Path, outcome: Outcome) -> None:
    """One line, whatever the words are made of."""
    ledger = open_ledger(tmp_path)
    why = "a NUL byte\r\nX: in the header"
    ledger.append_log([replace(request(1, outcome=outcome, header=b""), detail=why)])
    ledger.commit()
    (line,) = lines_of(tmp_path)
    reason = b"X-Crawl-Reason: a NUL byte  X: in the header\r\n"
    assert line.headers == b"X-Crawl-Outcome: %b\r\n%b" % (outcome.encode(), reason)
    ledger.close()


def test_a_probes_line_says_what_its_time_was_made_of(tmp_path: Path) -> None:
    """Behind the status line, and before whatever a site sends under that name."""
    url = "http://a.example/robots.txt"
    forged = b"HTTP/1.1 200 OK\r\nX-Crawl-Time: connect=0.1\r\n\r\n"
    looked_up = RulesDue("http://a.example:80/", "192.0.2.1", url, 0, 3, "probe", 4.26)
    probed = due_of(url, round_number=3, kind="probe")
    ledger = open_ledger(tmp_path)
    ledger.append_log(
        [
            ended(looked_up, header=forged, connect_ms=31.04, first_byte_ms=87.5),
            ended(probed, header=b"HTTP/1.1 200 OK\r\n\r\n", first_byte_ms=50.0),
            ended(replace(looked_up, lookup_ms=None), "timeout", header=b"", connect_ms=30.0),
            ended(probed, "refused", header=b""),
            ended(due_of(url, round_number=3), header=forged, connect_ms=31, first_byte_ms=87),
        ]
    )
    ledger.commit()
    ok = b"HTTP/1.1 200 OK\r\n"
    assert [line.headers for line in lines_of(tmp_path)] == [
        ok + b"X-Crawl-Time: lookup=4.3 connect=31.0 first-byte=87.5\r\n" + forged[len(ok) :],
        ok + b"X-Crawl-Time: first-byte=50.0\r\n\r\n",
        b"X-Crawl-Outcome: timeout\r\nX-Crawl-Time: connect=30.0\r\n",
        b"X-Crawl-Outcome: refused\r\n",
        forged,
    ]
    ledger.close()


def test_a_new_log_follows_a_closed_one(tmp_path: Path) -> None:
    """Lines after closing are in the next log, which begins where the last one ended."""
    ledger = open_ledger(tmp_path)
    ledger.append_log([request(1)])
    first = closed(ledger)
    ledger.append_log([request(2)])
    second = ledger.close_log(NOW_MS + 5)
    assert second is not None
    assert (urls(first), urls(second)) == (["http://a.example/1"], ["http://a.example/2"])
    assert second.since_ms == first.until_ms == NOW_MS
    assert Comment("Round=3") in content(second)
    assert first.key != second.key
    assert ledger.closed_logs() == [first, second]
    ledger.close()


def test_an_empty_log_is_not_closed(tmp_path: Path) -> None:
    """Nobody is sent a log without a line."""
    ledger = open_ledger(tmp_path)
    assert ledger.close_log(NOW_MS) is None
    assert ledger.closed_logs() == []
    ledger.close()


def test_a_closed_log_waits_over_restarts_until_it_is_forgotten(tmp_path: Path) -> None:
    """It is there after a crash, and gone, file and all, with the commit after forgetting."""
    ledger = open_ledger(tmp_path)
    ledger.append_log([request(1)])
    log = closed(ledger)
    ledger.abandon()
    ledger = open_ledger(tmp_path)
    assert ledger.closed_logs() == [log]
    ledger.forget_log(log)
    ledger.abandon()
    ledger = open_ledger(tmp_path)
    assert ledger.closed_logs() == [log]
    assert urls(log) == ["http://a.example/1"]
    ledger.forget_log(log)
    ledger.commit()
    assert ledger.closed_logs() == []
    assert not log.path.exists()
    ledger.forget_log(log)
    ledger.close()


def test_a_crash_while_closing_leaves_the_lines_in_one_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the new file and the transaction that names it, the old log is still the open one."""
    ledger = open_ledger(tmp_path)
    ledger.append_log([request(1)])
    ledger.commit()

    def killed() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ledger.database, "commit", killed)
        ledger.close_log(NOW_MS)
    ledger.abandon()
    ledger = open_ledger(tmp_path)
    assert ledger.closed_logs() == []
    ledger.append_log([request(2)])
    assert urls(closed(ledger)) == ["http://a.example/1", "http://a.example/2"]
    assert len(list((tmp_path / "logs").iterdir())) == 2
    ledger.close()


def test_a_line_that_cannot_be_written_leaves_none_of_its_batch(tmp_path: Path) -> None:
    """A batch is appended whole or not at all."""
    ledger = open_ledger(tmp_path)
    broken = request(2)
    object.__setattr__(broken, "request_bytes", -1)
    with pytest.raises(FormatError):
        ledger.append_log([request(1), broken])
    ledger.append_log([request(3)])
    assert urls(closed(ledger)) == ["http://a.example/3"]
    ledger.close()


def test_a_large_log_is_compressed_as_it_is_read(tmp_path: Path) -> None:
    """A log of megabytes comes out whole, and small."""
    ledger = open_ledger(tmp_path)
    for start in range(0, 20_000, 1000):
        ledger.append_log([request(number) for number in range(start, start + 1000)])
    log = closed(ledger)
    assert log.size_bytes > 1_000_000
    assert sum(map(len, log.body())) < log.size_bytes / 5
    assert len(urls(log)) == 20_000
    ledger.close()
