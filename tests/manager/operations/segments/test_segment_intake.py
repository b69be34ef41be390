"""A segment is kept whole and once, divided by what may be given away, or refused in a sentence."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from manager.db.ownership import rights
from manager.db.segments import segments as archive
from manager.errors import BusyError
from manager.operations.hosts.hosts import exclude_host
from manager.operations.segments.segment_outcomes import Accepted, Arrived, Quarantined, Refused
from shared.archive.verify import verify_segment
from shared.messages import Message
from tests.manager.archived import arrived, collected, hold, page, revisit_of, segment_bytes
from tests.manager.running import LOCAL, START_MS, Running, running

HOST = "http://www.example.jp:80/"
OTHER = "http://other.example:80/"
NAME = "prsm-20260901000000-00001-a.example.warc.gz"


def segments(prsm: Running) -> list[archive.SegmentRow]:
    with prsm.manager.db.read() as tx:
        return archive.segments_of_arrival(tx, 1)


def rows(prsm: Running, segment: archive.SegmentRow) -> list[dict[str, object]]:
    path = prsm.manager.layout.index_file(segment.key)
    return list(pq.read_table(path).to_pylist())


def test_a_good_segment_is_kept_as_it_is(tmp_path: Path) -> None:
    """The bytes are those that came, the index beside it is sorted, and its hosts are known."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        first = page("http://www.example.jp/b", b"b" * 100)
        pages = [first, page("http://www.example.jp/a"), revisit_of(first, START_MS + 5)]
        got = collected(prsm, agent, pages, NAME)
        assert got.outcome == Accepted(
            NAME, 3, 0, 0, repeated=False, said=Message("segments.accepted", captures=3)
        )
        assert not got.file.path.exists()
        (segment,) = segments(prsm)
        assert (segment.name, segment.kind, segment.state) == (NAME, "public", "current")
        with prsm.manager.archive.store.open(segment.key) as file:
            data = file.read()
        assert data == segment_bytes(pages, NAME)
        assert segment.sha256 == hashlib.sha256(data).hexdigest()
        assert segment.md5 == hashlib.md5(data).hexdigest()
        found = rows(prsm, segment)
        assert [row["urlkey"] for row in found] == [
            "jp,example,www)/a", "jp,example,www)/b", "jp,example,www)/b"
        ]  # fmt: skip
        assert found[2]["refers_to_ms"] == START_MS
        assert {row["filename"] for row in found} == {NAME}
        for row in found:
            at, length = row["capture_offset"], row["capture_length"]
            assert isinstance(at, int)
            assert isinstance(length, int)
            assert data[at : at + 2] == b"\x1f\x8b"


def test_a_repeat_is_answered_as_before(tmp_path: Path) -> None:
    """The same bytes again, under whatever name, change nothing; the second file is removed."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        collected(prsm, agent, [page()], NAME)
        again = arrived(tmp_path, segment_bytes([page()], NAME), "other.warc.gz")
        outcome = prsm.manager.archive.intake.accept(agent.identity, again)
        assert isinstance(outcome, Accepted)
        assert (outcome.repeated, outcome.name) == (True, NAME)
        assert not again.path.exists()
        assert len(prsm.files("archive/segments")) == 1
        assert prsm.manager.archive.intake.known(agent.identity, again.sha256) == outcome


def test_strangers_are_set_apart(tmp_path: Path) -> None:
    """Captures of hosts that the agent did not hold lie in a segment of their own."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        pages = [page(), page("http://stranger.example/"), page("http://www.example.jp/2")]
        got = collected(prsm, agent, pages, NAME)
        assert isinstance(got.outcome, Quarantined)
        assert (got.outcome.captures, got.outcome.strangers) == (3, 1)
        public, apart = segments(prsm)
        assert (public.kind, public.captures) == ("public", 2)
        assert (apart.kind, apart.captures) == ("quarantined", 1)
        assert public.name == NAME.replace(".warc.gz", "-r1.warc.gz")
        for segment in (public, apart):
            path = prsm.manager.archive.store.path(segment.key)
            assert path is not None
            assert verify_segment(path, segment.sha256).captures == segment.captures
        assert [row["reason"] for row in rows(prsm, apart)] == ["stranger"]


def test_the_time_counts_for_strangers(tmp_path: Path) -> None:
    """A page of a host that was held before, but not then, is a stranger's."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        got = collected(prsm, agent, [page(at_ms=START_MS - 41 * 86_400_000)], "x.warc.gz")
        assert isinstance(got.outcome, Quarantined)


@pytest.mark.parametrize(
    ("body", "fields", "reason"),
    [
        (b'<meta name="robots" content="NOINDEX, follow">', "", "noindex"),
        (b"<META CONTENT='noarchive' NAME=robots>", "", "noarchive"),
        (b"x", "X-Robots-Tag: none\r\n", "noindex"),
        (b"x", "X-Robots-Tag: googlebot: noindex\r\n", None),
        (b'<meta name="description" content="noindex">', "", None),
    ],
)
def test_what_is_not_to_be_shown_is_withheld(
    tmp_path: Path, body: bytes, fields: str, reason: str | None
) -> None:
    """noindex and noarchive are kept with the reason, and lie in no public segment."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        got = collected(prsm, agent, [page(body=body, fields=fields)])
        assert isinstance(got.outcome, Accepted)
        (segment,) = segments(prsm)
        assert segment.kind == ("public" if reason is None else "withheld")
        assert [row["reason"] for row in rows(prsm, segment)] == [reason]


def test_excluded_hosts_are_not_kept(tmp_path: Path) -> None:
    """Captures of an excluded host are left out; a segment of nothing else is refused."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST, OTHER)
        exclude_host(prsm.manager.db, OTHER, "asked to", LOCAL, START_MS)
        refused = collected(prsm, agent, [page("http://other.example/")], "o.warc.gz")
        assert isinstance(refused.outcome, Refused)
        assert refused.outcome.said == Message("segments.all_excluded", captures=1)
        assert refused.file.path.exists()
        got = collected(prsm, agent, [page(), page("http://other.example/secret")], "b.warc.gz")
        assert isinstance(got.outcome, Accepted)
        assert (got.outcome.captures, got.outcome.refused) == (2, 1)
        (segment,) = segments(prsm)
        assert [row["host"] for row in rows(prsm, segment)] == [HOST]


def test_damage_is_refused(tmp_path: Path) -> None:
    """A cut last member, another digest, a hostile name: each a sentence, and nothing stays."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        data = segment_bytes([page()])
        cut = prsm.manager.archive.intake.accept(agent.identity, arrived(tmp_path, data[:-3]))
        assert isinstance(cut, Refused)
        assert "offset" in str(cut.said)
        wrong = arrived(tmp_path, data)
        wrong = Arrived(wrong.path, wrong.name, "0" * 64, wrong.size_bytes)
        told = prsm.manager.archive.intake.accept(agent.identity, wrong)
        assert isinstance(told, Refused)
        assert "SHA-256" in str(told.said)
        for name in ("../x.warc.gz", "x.zip", "a/b.warc.gz", "a\n.warc.gz", ".warc.gz"):
            named = prsm.manager.archive.intake.accept(
                agent.identity, arrived(tmp_path, data, name)
            )
            assert isinstance(named, Refused)
            assert named.said.code == "segments.bad_name"
        assert prsm.files("archive") == prsm.files("spool") == []


def test_another_file_under_a_name_is_refused(tmp_path: Path) -> None:
    """A name is one file's."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        collected(prsm, agent, [page()], NAME)
        got = collected(prsm, agent, [page(body=b"other")], NAME)
        assert isinstance(got.outcome, Refused)
        assert got.outcome.said.code == "segments.name_taken"


def test_a_future_capture_is_refused(tmp_path: Path) -> None:
    """An agent whose clock runs ahead by days is told so."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        got = collected(prsm, agent, [page(at_ms=START_MS + 3 * 86_400_000)])
        assert isinstance(got.outcome, Refused)
        assert got.outcome.said.code == "segments.capture_in_future"


def test_a_name_from_a_clock_that_ran_ahead(tmp_path: Path) -> None:
    """Its date says nothing: a host that was held when the page was fetched is no stranger."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        over = Message("ownership.round_over")
        with prsm.manager.db.write() as tx:
            rights.withdraw(tx, START_MS + 1000, over, agent_id=agent.identity.id)
            rights.free(tx, START_MS + 1000, over, agent_id=agent.identity.id)
        prsm.clock.advance(3600)
        late = "PRS-20991231000000-00000-a.example.warc.gz"
        assert isinstance(collected(prsm, agent, [page()], late).outcome, Accepted)


def test_what_fails_is_taken_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that is gone loses nothing: the same file is taken next time."""

    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        file = arrived(tmp_path, segment_bytes([page()]))
        with monkeypatch.context() as patched:
            patched.setattr(archive, "add_arrival", dies_with(BusyError("gone")))
            with pytest.raises(BusyError):
                prsm.manager.archive.intake.accept(agent.identity, file)
        assert file.path.exists()
        assert prsm.files("spool") == []
        assert isinstance(prsm.manager.archive.intake.accept(agent.identity, file), Accepted)


def dies_with(error: Exception) -> object:
    def fails(*_: object) -> None:
        raise error

    return fails


def test_two_agents_may_send_the_same_name(tmp_path: Path) -> None:
    """Names are an agent's own; what third parties see tells the agents apart."""
    with running(tmp_path) as prsm:
        one, two = prsm.agent("a.example"), prsm.agent("b.example")
        hold(prsm, one, HOST)
        first = collected(prsm, one, [page()], "x.warc.gz").outcome
        second = collected(prsm, two, [page()], "x.warc.gz").outcome
        assert isinstance(first, Accepted)
        assert isinstance(second, Quarantined)
        with prsm.manager.db.read() as tx:
            names = [
                segment.name
                for number in (1, 2)
                for segment in archive.segments_of_arrival(tx, number)
            ]
        assert names == ["x-a.example.warc.gz", "x-b.example-quarantine.warc.gz"]
