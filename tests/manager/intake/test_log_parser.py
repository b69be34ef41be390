"""A crawl log becomes rows and sums, or is refused with the number of its first bad line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.assignment.right_history import RightPeriod
from manager.intake.body_decoding import DecodingLimits
from manager.intake.logs import log_reader
from manager.intake.logs.log_job import LogJob
from manager.intake.logs.log_parser import first_since_ms, parse_log, read_name
from manager.intake.logs.log_sections import Section
from manager.operations.logs.log_summary import ParsedLog
from shared.errors import Fault, FormatError, LimitError, LineError
from shared.wire.crawl_log import LOG_LINE_LIMIT_BYTES, Comment, LogLine, encode

HOST = "http://www.example.jp:80/"
OTHER = "http://other.example:80/"
PAGE = b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"
BASE = 1_790_000_000_000  # epoch ms
NAME = b"a.example.202611211000\n"
GOOD = b'"http://www.example.jp:80/",1,2,3,"HTTP/1.1 200 OK\\r\\n"\n'


def run(
    folder: Path,
    gzipped: bytes,
    *,
    held: tuple[RightPeriod, ...] = (RightPeriod(HOST, 0, None, 7, "crawl"),),
    limit_bytes: int = 10**7,
    cpu_s: float = 100,
    draw: int = 0,
    last_round: int | None = None,
) -> ParsedLog | FormatError | LimitError:  # fmt: skip
    """Read a log; return what it says, or why it is refused."""
    body = folder / "x.body"
    body.write_bytes(NAME + gzipped)
    times = Section(since_ms=BASE + 1000, until_ms=BASE + 2000)
    target = folder / "x.parquet"
    memory_bytes = 256 * 1000**2
    limits = DecodingLimits(limit_bytes, 1e9, 10**12, "limits.log_lines")
    job = LogJob(
        body,
        target,
        times,
        held,
        6,
        "probe",
        limits,
        memory_bytes,
        draw,
        3 * draw,
        last_round=last_round,
        cpu_s=cpu_s,
    )
    try:
        return parse_log(job)
    except (FormatError, LimitError) as error:
        return error
    finally:
        body.unlink()


def rows(folder: Path) -> list[dict[str, object]]:
    return list(pq.read_table(folder / "x.parquet").to_pylist())


def test_lines_become_rows(tmp_path: Path) -> None:
    """A row has the canonical URL, its parts, the status of the headers and what the log says."""
    lines: list[LogLine | Comment] = [
        LogLine("http://WWW.example.jp/%7ekoji/?q=1#top", 300, 5000, 20, PAGE),
        Comment("Round=8"), Comment("MaxTransfer=50"), Comment(f"Since={BASE + 1500}"),
        Comment("x"),
        LogLine("http://www.example.jp/gone", 301, 200, 5, b"HTTP/1.0 404 Not Found\r\n\r\n"),
        LogLine("http://www.example.jp/dead", 302, 0, 30000, b"X-Crawl-Outcome: timeout\r\n"),
        LogLine("http://other.example/", 303, 100, 9, PAGE),
    ]  # fmt: skip
    outcome = run(tmp_path, b"".join(encode(lines)))
    assert isinstance(outcome, ParsedLog)
    assert (outcome.lines, outcome.quarantined) == (4, 1)
    assert (outcome.since_ms, outcome.until_ms) == (BASE + 1000, BASE + 2000)
    assert rows(tmp_path) == [
        {
            "line": line, "url": url, "host": host, "path": path, "status": status,
            "request_bytes": request, "response_bytes": response, "elapsed_ms": ms,
            "headers": head, "round": crawl_round, "kind": kind, "held": held,
            "unit": host if held else None,
        }
        for line, url, host, path, status, request, response, ms, head, crawl_round, kind, held in (
            (2, "http://www.example.jp/~koji/?q=1", HOST, "/~koji/?q=1", 200, 300, 5000, 20, PAGE,
             7, "crawl", True),
            (7, "http://www.example.jp/gone", HOST, "/gone", 404, 301, 200, 5,
             b"HTTP/1.0 404 Not Found\r\n\r\n", 8, "probe", True),
            (8, "http://www.example.jp/dead", HOST, "/dead", None, 302, 0, 30000,
             b"X-Crawl-Outcome: timeout\r\n", 8, "probe", True),
            (9, "http://other.example/", OTHER, "/", 200, 303, 100, 9, PAGE, 8, "probe", False),
        )
    ]  # fmt: skip
    assert [
        (each.unit, each.round, each.kind, each.requests, each.pages, each.errors, each.ms)
        for each in outcome.units
    ] == [(HOST, 7, "crawl", 1, 1, 0, 20), (HOST, 8, "probe", 2, 0, 2, 30005)]


def test_a_unit_held_at_another_time_is_quarantined(tmp_path: Path) -> None:
    """Times of the log's comments decide which holding a line is judged by."""
    hour = 3_600_000
    held = (RightPeriod(HOST, BASE + 10 * hour, BASE + 11 * hour, 7, "crawl"),)
    lines: list[LogLine | Comment] = [
        Comment(f"Since={BASE + 5 * hour}"), Comment(f"Until={BASE + 6 * hour}"),
        LogLine(HOST, 1, 1, 1, PAGE),
        Comment(f"Until={BASE + 10 * hour}"), LogLine(HOST, 1, 1, 1, PAGE),
    ]  # fmt: skip
    outcome = run(tmp_path, b"".join(encode(lines)), held=held)
    assert isinstance(outcome, ParsedLog)
    assert (outcome.since_ms, outcome.until_ms) == (BASE + 5 * hour, BASE + 10 * hour)
    assert [row["held"] for row in rows(tmp_path)] == [False, True]


def test_what_a_log_does_not_say_its_holdings_do(tmp_path: Path) -> None:
    """A plain agent's lines have round and kind of what it held; the others those of its list."""
    held = (
        RightPeriod(HOST, 0, None, 4, "probe"),
        RightPeriod("http://b.example:80/", 0, None, 5, "crawl"),
    )
    urls = (HOST, "http://b.example/x", OTHER)
    lines = [LogLine(url, 1, 1, 1, PAGE) for url in urls]
    run(tmp_path, b"".join(encode(lines)), held=held)
    assert [(row["round"], row["kind"], row["held"]) for row in rows(tmp_path)] == [
        (4, "probe", True), (5, "crawl", True), (6, "probe", False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ([Comment("Round=1"), Comment("Since=5000"), LogLine(HOST, 1, 1, 1, PAGE)], 5000),
        ([LogLine(HOST, 1, 1, 1, PAGE), Comment("Since=5000")], None),
        ([Comment("Since=x")], None),
        ([], None),
    ],
)
def test_when_a_log_begins(
    tmp_path: Path, lines: list[LogLine | Comment], wanted: int | None
) -> None:
    """The time before the first line is found without reading the log; a later one is not."""
    body = tmp_path / "x"
    body.write_bytes(NAME + b"".join(encode(lines)))
    assert first_since_ms(body) == wanted


@pytest.mark.parametrize(
    "gzipped", [b"", b"junk", gzip.compress(b"#Since=5000\n" * 9)[:30], gzip.compress(b"#" * 10**6)]
)
def test_a_broken_head_is_left_to_the_parser(tmp_path: Path, gzipped: bytes) -> None:
    """Whatever is wrong with a log, looking for its time raises nothing."""
    (tmp_path / "x").write_bytes(NAME + gzipped)
    assert first_since_ms(tmp_path / "x") in (None, 5000)


def test_the_head_of_a_long_log_is_enough(tmp_path: Path) -> None:
    """A log that decodes to much more than is looked at still has its time found."""
    lines = b"#Since=5000\n" + GOOD * 500_000
    (tmp_path / "x").write_bytes(NAME + gzip.compress(lines))
    assert first_since_ms(tmp_path / "x") == 5000


@pytest.mark.parametrize(
    ("gzipped", "words", "too_large"),
    [
        (gzip.compress(GOOD * 2 + b"garbage\n" + GOOD), "line 4: must be", False),
        (gzip.compress(GOOD + b'"http://x/,1,2,3,"h"\n'), "line 3: must be", False),
        (gzip.compress(GOOD + b'"http://x/",1,2,3,"h\n'), "line 3: must be", False),
        (gzip.compress(b'"http://x/",-1,2,3,"h"\n'), "line 2: must be", False),
        (gzip.compress(b'"http://x/",1,2,3,"\\q"\n'), "line 2: unknown escape", False),
        (gzip.compress(b'"ftp://x/",1,2,3,"h"\n'), "line 2: ftp://x/: scheme", False),
        (gzip.compress(GOOD + b"#Finished=nonsense\n"), "line 3: #Finished= nonsense", False),
        (gzip.compress(b'"http://\\xff\\xfe/",1,2,3,"h"\n'), "line 2:", False),
        (gzip.compress(b'"http://x/",1,%d,3,"h"\n' % (10**12 + 1)), "line 2: 1000000000001", False),
        (b"not gzip at all", "not valid gzip", False),
        (gzip.compress(GOOD * 100)[:-9], "ends early", False),
        (gzip.compress(GOOD) + b"more", "has more bytes behind its end", False),
        (b"", "body is empty", False),
        (gzip.compress(GOOD + b'"' + b"x" * LOG_LINE_LIMIT_BYTES + b"\n"), "line 3: longer", True),
        (gzip.compress(b"#" * 3_000_000), "line 2: longer", True),
        (gzip.compress(b"#\n" * 10_000_000), "decodes to more than 10000000 bytes", True),
    ],
    ids=[
        "garbage", "open quote", "open headers", "negative", "escape", "scheme", "finished",
        "bytes", "number", "no gzip", "cut", "more behind", "empty", "long line",
        "long comment", "bomb",
    ],
)  # fmt: skip
def test_bad_logs_are_refused(tmp_path: Path, gzipped: bytes, words: str, too_large: bool) -> None:
    """A refusal names the line as the sender counts it, and no file stays."""
    outcome = run(tmp_path, gzipped)
    assert isinstance(outcome, FormatError | LimitError)
    assert words in str(outcome.message)
    assert isinstance(outcome, LimitError) == too_large
    assert list(tmp_path.iterdir()) == []


def test_sums_cannot_overflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log whose numbers together no table could hold is refused at the line that is too much."""
    monkeypatch.setattr(log_reader, "SUM_LIMIT", 3 * 10**12)
    line = b'"http://www.example.jp:80/",1,%d,3,""\n' % 10**12
    outcome = run(tmp_path, gzip.compress(line * 4))
    assert isinstance(outcome, FormatError | LimitError)
    assert str(outcome.message) == "line 5: the sums of the log are over 3000000000000"
    assert isinstance(run(tmp_path, gzip.compress(line * 3)), ParsedLog)
    assert log_reader.NUMBER_LIMIT <= log_reader.SUM_LIMIT < 2**63


def test_work_without_end_is_refused(tmp_path: Path) -> None:
    """A log that takes a processor too long is refused at a line, and no file stays."""
    outcome = run(tmp_path, gzip.compress(b"#\n" * 30_000), cpu_s=-1)
    assert isinstance(outcome, FormatError | LimitError)
    assert str(outcome.message).startswith("line 10000: reading took more than")
    assert isinstance(outcome, LimitError)
    assert list(tmp_path.iterdir()) == []


def test_a_log_without_lines(tmp_path: Path) -> None:
    """An agent that fetched nothing says so with an empty log; its time is what was expected."""
    outcome = run(tmp_path, gzip.compress(b""))
    assert outcome == ParsedLog(lines=0, quarantined=0, since_ms=BASE + 1000, until_ms=BASE + 2000)


@settings(max_examples=60, deadline=None)
@given(junk=st.binary(max_size=400), compressed=st.booleans())
def test_no_log_breaks_the_parser(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, compressed: bool
) -> None:
    """Whatever bytes come, the answer is a parsed or a refused log, never another error."""
    run(tmp_path_factory.mktemp("log"), gzip.compress(junk) if compressed else junk)


@pytest.mark.parametrize(
    "body", [b"", b"\n", b"a.example.202611211000", b"A.202611211000\n", b"a.example.20261121\n",
             b"../../etc.202611211000\n", b"x" * 5000, b"x" * 260 + b".202611211000\n",
             b"\xff\xfe.202611211000\n"],
)  # fmt: skip
def test_a_bad_name_is_line_one(tmp_path: Path, body: bytes) -> None:
    """A first line that names no agent and minute is refused as line 1."""
    (tmp_path / "x").write_bytes(body)
    with pytest.raises(LineError, match="line 1: "):
        read_name(tmp_path / "x")


def test_the_name_is_read(tmp_path: Path) -> None:
    """The first line gives agent and minute; a CR before the LF is forgiven."""
    (tmp_path / "x").write_bytes(b"www1.example.jp.202611211000\r\n\x1f\x8b")
    name = read_name(tmp_path / "x")
    assert (name.agent, name.minute) == ("www1.example.jp", "202611211000")


def test_pages_are_drawn_from_crawls_and_from_probes(tmp_path: Path) -> None:
    """Evenly, by chance, at most so many of each; never robots.txt, or what is of a moment."""
    lines: list[LogLine | Comment] = [Comment("Round=8"), Comment("MaxTransfer=0")]
    lines += [LogLine(f"http://www.example.jp/{n}", 1, 100 + n, 3, PAGE) for n in range(100)]
    lines += [
        LogLine("http://www.example.jp/robots.txt", 1, 2, 3, PAGE),
        LogLine("http://www.example.jp/busy", 1, 2, 3, b"HTTP/1.1 503 x\r\n\r\n"),
        LogLine("http://other.example/", 1, 2, 3, PAGE),
        Comment("MaxTransfer=50"),
        LogLine("http://www.example.jp/robots.txt", 1, 2, 3, PAGE),
        LogLine("http://www.example.jp/probed", 1, 2, 3, PAGE),
    ]
    seen: set[str] = set()
    for _ in range(10):
        outcome = run(tmp_path, b"".join(encode(lines)), draw=20)
        assert isinstance(outcome, ParsedLog)
        crawled = [one for one in outcome.drawn if one.kind == "crawl"]
        assert len(crawled) == 20
        assert [one.rank for one in crawled] == sorted(one.rank for one in crawled)
        (probed,) = (one for one in outcome.drawn if one.kind == "probe")
        assert (probed.url, probed.round) == ("http://www.example.jp/probed", 8)
        for one in crawled:
            assert (one.unit, one.round, one.status) == (HOST, 8, 200)
            assert one.response_bytes == 100 + int(one.url.rpartition("/")[2])
        seen |= {one.url for one in crawled}
    assert len(seen) > 60  # of 100, in ten draws of 20


def test_pages_that_were_fetched_again_measure_nothing(tmp_path: Path) -> None:
    """They are handed on, and are in no sum: a distance is not made of single pages."""
    lines: list[LogLine | Comment] = [
        Comment("Round=8"), Comment("MaxTransfer=50"), Comment("Refetch=1"),
        LogLine("http://www.example.jp/a", 1, 500, 3, PAGE),
        LogLine("http://www.example.jp/b", 1, 0, 3, b"X-Crawl-Outcome: timeout\r\n"),
        LogLine("http://other.example/", 1, 500, 3, PAGE),
        Comment("MaxTransfer=50"),
        LogLine("http://www.example.jp/c", 1, 700, 3, PAGE),
    ]  # fmt: skip
    outcome = run(tmp_path, b"".join(encode(lines)))
    assert isinstance(outcome, ParsedLog)
    assert [(one.url, one.status, one.response_bytes) for one in outcome.refetched] == [
        ("http://www.example.jp/a", 200, 500),
        ("http://www.example.jp/b", None, 0),
    ]
    assert [(one.unit, one.kind, one.requests) for one in outcome.units] == [(HOST, "probe", 1)]


@pytest.mark.parametrize(
    ("comments", "finished", "says"),
    [
        (b"", [], False),
        (b"#Finished=\n", [], True),
        (b"#Finished=http://www.example.jp:80/\n" * 2, [HOST], True),
        (b"#Finished=http://WWW.example.jp/\n", [HOST], True),
        (b"#Finished=http://www.example.jp/a/\n#Finished=http://other.example/\n", [], True),
    ],
    ids=["silent", "says that it does", "twice", "another spelling", "not held"],
)
def test_a_log_says_which_units_are_finished(
    tmp_path: Path, comments: bytes, finished: list[str], says: bool
) -> None:
    """By the URL of the unit, as it was held; what its sender did not hold means nothing."""
    outcome = run(tmp_path, gzip.compress(GOOD + comments))
    assert isinstance(outcome, ParsedLog)
    assert [(one.unit, one.round, one.kind) for one in outcome.finished] == [
        (unit, 7, "crawl") for unit in finished
    ]
    assert outcome.says_finished == says
    assert outcome.lines == 1


@pytest.mark.parametrize(
    ("comments", "probed"),
    [
        (b"", []),
        (b"#Round=7\n#MaxTransfer=0\n#Probed=http://www.example.jp:80/\n" * 2, [(HOST, 7)]),
        (b"#Round=6\n#Probed=http://WWW.example.jp/\n", [(HOST, 6)]),
        (b"#Probed=http://www.example.jp:80/\n", []),
        (b"#Round=7\n#Probed=http://www.example.jp/a/\n#Probed=http://other.example/\n", []),
        (b"#Round=7\n#probed=http://www.example.jp:80/\n", []),
    ],
    ids=["silent", "twice", "another spelling", "no round", "not held", "another comment"],
)
def test_a_log_says_of_which_units_the_probe_counts(
    tmp_path: Path, comments: bytes, probed: list[tuple[str, int]]
) -> None:
    """In the round of its section; what its sender did not hold means nothing."""
    outcome = run(tmp_path, gzip.compress(GOOD + comments))
    assert isinstance(outcome, ParsedLog)
    assert [(one.unit, one.round) for one in outcome.probed] == probed
    assert outcome.lines == 1


LATER = BASE + 2000 + 86_400_000  # a day ahead of the manager's clock


@pytest.mark.parametrize(
    ("lines", "number", "code"),
    [
        ([b'"http://../",1,2,3,""'], 2, Fault.EMPTY_LABEL),
        ([GOOD[:-1], b'"http://a..b/",1,2,3,""'], 3, Fault.EMPTY_LABEL),
        ([GOOD[:-1]] * 50 + [b'"http://a..b/",1,2,3,""'], 52, Fault.EMPTY_LABEL),
        ([b'"http://%b.jp/",1,2,3,""' % (b"a" * 64)], 2, Fault.LONG_LABEL),
        ([b'"http://%b/",1,2,3,""' % b".".join([b"a" * 50] * 5)], 2, Fault.LONG_NAME),
        ([b'"http://a.jp:0/",1,2,3,""'], 2, Fault.PORT),
        ([b'"http://a.jp:65536/",1,2,3,""'], 2, Fault.PORT),
        ([b'"ftp://a.jp/",1,2,3,""'], 2, Fault.SCHEME),
        ([b'"http://u:p@a.jp/",1,2,3,""'], 2, Fault.CREDENTIALS),
        ([b"#Finished=http://a..b/"], 2, Fault.EMPTY_LABEL),
        ([b"#Probed=http://a..b/"], 2, Fault.EMPTY_LABEL),
        ([b"nothing"], 2, Fault.MALFORMED_LINE),
        ([b'"http://a.jp/",1,2,9999999999999,""'], 2, Fault.LARGE_NUMBER),
        ([b"#Round=999", GOOD[:-1]], 2, Fault.UNKNOWN_ROUND),
        ([GOOD[:-1], b"#Round=10"], 3, Fault.UNKNOWN_ROUND),
        ([b"#Round=%d" % 10**20, GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#Round=-1", GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#Round=+1", GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#Round= 1", GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#Round=1\r", GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#Round=", GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#Round=\xd9\xa1", GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#Since=%d" % 2**63, GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([GOOD[:-1], b"#Until=1790000000000.5"], 3, Fault.MALFORMED_LINE),
        ([b"#MaxTransfer=-5", GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#MaxTransfer=" + b"9" * 5000, GOOD[:-1]], 2, Fault.MALFORMED_LINE),
        ([b"#MaxTransfer=50", b"#Refetch=yes", GOOD[:-1]], 3, Fault.MALFORMED_LINE),
        ([b"#Round=" + b"0" * 30 + b"10", GOOD[:-1]], 2, Fault.UNKNOWN_ROUND),
        ([b"#Since=1", GOOD[:-1]], 2, Fault.TIME),
        ([b"#Since=4070908800000", GOOD[:-1]], 2, Fault.TIME_AHEAD),
        ([b"#Until=%d" % (LATER + 1), GOOD[:-1]], 2, Fault.TIME_AHEAD),
        ([b"#Since=%d" % (BASE + 9), b"#Until=%d" % BASE, GOOD[:-1]], 3, Fault.TIMES_REVERSED),
        ([b"#Until=%d" % BASE, b"#Since=%d" % (BASE + 9), GOOD[:-1]], 3, Fault.TIMES_REVERSED),
        ([b"#Since=%d" % (BASE + 9), b"#Until=%d" % BASE], 3, Fault.TIMES_REVERSED),
        (
            [
                *(b"#Since=%d" % BASE, b"#Until=%d" % (BASE + 9), GOOD[:-1]),
                *(b"#Until=%d" % (BASE - 1), GOOD[:-1]),
            ],
            5,
            Fault.TIMES_REVERSED,
        ),
    ],
)
def test_a_line_that_cannot_be_is_refused_by_number_and_code(
    tmp_path: Path, lines: list[bytes], number: int, code: Fault
) -> None:
    """Names that DNS has not, ports, times, rounds: nothing of the log is kept."""
    outcome = run(tmp_path, gzip.compress(b"\n".join(lines) + b"\n"), last_round=9)
    assert isinstance(outcome, FormatError | LimitError)
    assert str(outcome.message).startswith(f"line {number}: ")
    assert outcome.code == code
    assert not (tmp_path / "x.parquet").exists()


def test_times_and_rounds_at_their_limits_are_taken(tmp_path: Path) -> None:
    """The newest round, the year 2000, a day ahead, a section of one moment or none yet."""
    lines = [
        b"#Round=9", b"#Since=946684800000", b"#Until=946684800000", GOOD[:-1],
        b"#Until=%d" % LATER, b"#Since=%d" % LATER, GOOD[:-1], b"#Until=%d" % BASE,
    ]  # fmt: skip
    outcome = run(tmp_path, gzip.compress(b"\n".join(lines)), last_round=9)
    assert isinstance(outcome, ParsedLog), outcome
    assert (outcome.since_ms, outcome.until_ms) == (946_684_800_000, LATER)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"HTTP/1.1 999 Request denied", 999), (b"HTTP/1.1 600 X", 600), (b"HTTP/1.1 099 X", 99),
        (b"HTTP/2 799", 799), (b"HTTP/1.0 000 X", None), (b"HTTP/1.1 1000 X", None),
        (b"HTTP/1.1 20 X", None), (b"HTTP/1.1 200", 200), (b"HTTP/1.1 599 X", 599),
    ],
)  # fmt: skip
@pytest.mark.parametrize("others", [0, 100])
def test_a_status_is_kept_as_it_came(
    tmp_path: Path, line: bytes, status: int | None, others: int
) -> None:
    """Three digits are a status, whatever they are; what is no success and no lead is an error."""
    body = GOOD * others + b'"http://www.example.jp:80/x",1,2,3,"%b\\r\\n"\n' % line
    outcome = run(tmp_path, gzip.compress(body))
    assert isinstance(outcome, ParsedLog), outcome
    assert rows(tmp_path)[-1]["status"] == status
    assert outcome.units[0].errors == (0 if status == 200 else 1)
