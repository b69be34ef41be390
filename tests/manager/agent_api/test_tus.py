"""Uploads by tus: what the protocol asks for, and what goes wrong on bad days."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from manager.operations.segments.upload_completion import expire_uploads, postpone, received_uploads
from manager.operations.segments.uploads import list_transfers
from shared.messages import Message
from shared.wire.uploads import (
    BLOCK_BYTES,
    digest_file,
    join_blocks,
    write_checksum,
    write_metadata,
)
from tests.manager.running import Agent, Running, running

UPLOADS = "/api/v1/uploads"
TUS = {"Tus-Resumable": "1.0.0"}
NAME = "PRS-20261121100000-00000-a.example.warc.gz"
CUT = 3_000_000


@pytest.fixture
def agent(prsm: Running) -> Agent:
    """Return an agent of the manager."""
    return prsm.agent()


def metadata(data: bytes, name: str = NAME, **more: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    return write_metadata({"filename": name.encode(), "sha256": digest.encode(), **more})


def begin(agent: Agent, data: bytes, said: str = "", **headers: str) -> httpx.Response:
    return agent.call.post(
        UPLOADS,
        headers={
            **TUS, "Upload-Length": str(len(data)), "Upload-Metadata": said or metadata(data),
            **headers,
        },
    )  # fmt: skip


def patch(
    agent: Agent, where: str, at: int, body: bytes | AsyncIterator[bytes], **headers: str
) -> httpx.Response:
    return agent.call.send(
        "PATCH",
        where,
        content=body,
        headers={
            **TUS, "Upload-Offset": str(at), "Content-Type": "application/offset+octet-stream",
            **headers,
        },
    )  # fmt: skip


def head(agent: Agent, where: str) -> httpx.Response:
    return agent.call.send("HEAD", where, headers=TUS)


def offset_of(answer: httpx.Response) -> int:
    return int(answer.headers["Upload-Offset"])


def state(agent: Agent, where: str) -> dict[str, Any]:
    answer = agent.call.get(where)
    assert answer.status_code == 200
    said: dict[str, Any] = answer.json()
    return said


def test_the_server_says_what_it_can(prsm: Running) -> None:
    """OPTIONS names versions, extensions, checksums and the greatest size, without a key."""
    answer = prsm.anybody.send("OPTIONS", UPLOADS)
    assert answer.status_code == 204
    assert answer.headers["Tus-Version"] == "1.0.0"
    assert set(answer.headers["Tus-Extension"].split(",")) == {
        "creation", "creation-with-upload", "checksum", "expiration", "termination",
    }  # fmt: skip
    assert answer.headers["Tus-Checksum-Algorithm"] == "sha256,sha1,md5"
    assert int(answer.headers["Tus-Max-Size"]) > 10**9


def test_a_file_arrives_in_chunks(prsm: Running, agent: Agent) -> None:
    """Each answer tells the next offset; the whole lies in `incoming` and waits to be accepted."""
    data = os.urandom(2 * CUT)
    made = begin(agent, data)
    assert made.status_code == 201
    assert offset_of(made) == 0
    assert "GMT" in made.headers["Upload-Expires"]
    where = made.headers["Location"]
    first = patch(agent, where, 0, data[:CUT], **{"Upload-Checksum": write_checksum(data[:CUT])})
    assert (first.status_code, offset_of(first)) == (204, CUT)
    assert (offset_of(head(agent, where)), state(agent, where)["state"]) == (CUT, "receiving")
    assert head(agent, where).headers["Upload-Length"] == str(2 * CUT)
    last = patch(agent, where, CUT, data[CUT:])
    assert (last.status_code, offset_of(last)) == (204, 2 * CUT)
    assert state(agent, where)["state"] == "received"
    (arrived,) = prsm.files("incoming")
    assert arrived.read_bytes() == data
    assert prsm.files("uploads") == []


def test_creation_may_bring_bytes(agent: Agent) -> None:
    """creation-with-upload: the POST's body is the first chunk."""
    data = os.urandom(1000)
    made = agent.call.post(
        UPLOADS,
        data[:400],
        headers={
            **TUS, "Upload-Length": "1000", "Upload-Metadata": metadata(data),
            "Content-Type": "application/offset+octet-stream",
        },
    )  # fmt: skip
    assert (made.status_code, offset_of(made)) == (201, 400)
    assert patch(agent, made.headers["Location"], 400, data[400:]).status_code == 204


def test_the_same_file_is_one_upload(prsm: Running, agent: Agent) -> None:
    """Begun twice it is one; where it is whole, the creation says so and nothing is sent again."""
    data = os.urandom(1000)
    where = begin(agent, data).headers["Location"]
    patch(agent, where, 0, data[:300])
    again = begin(agent, data)
    assert (again.headers["Location"], offset_of(again)) == (where, 300)
    patch(agent, where, 300, data[300:])
    assert offset_of(begin(agent, data)) == 1000
    assert len(prsm.files("incoming")) == 1


@pytest.mark.parametrize("algorithm", ["sha256", "sha1", "md5"])
def test_a_wrong_chunk_is_undone(agent: Agent, algorithm: str) -> None:
    """460, and the offset is what it was; the right chunk then goes through."""
    data = os.urandom(1000)
    where = begin(agent, data).headers["Location"]
    wrong = patch(
        agent, where, 0, b"x" * 500, **{"Upload-Checksum": write_checksum(data[:500], algorithm)}
    )
    assert (wrong.status_code, offset_of(wrong)) == (460, 0)
    assert "send them again" in wrong.json()["detail"]
    assert offset_of(head(agent, where)) == 0
    right = patch(
        agent, where, 0, data[:500], **{"Upload-Checksum": write_checksum(data[:500], algorithm)}
    )
    assert (right.status_code, offset_of(right)) == (204, 500)


def test_chunks_out_of_order_or_twice_are_refused(agent: Agent) -> None:
    """409 names the right offset, and the file is not harmed."""
    data = os.urandom(1000)
    where = begin(agent, data).headers["Location"]
    late = patch(agent, where, 500, data[500:])
    assert (late.status_code, offset_of(late)) == (409, 0)
    assert patch(agent, where, 0, data[:500]).status_code == 204
    twice = patch(agent, where, 0, data[:500])
    assert (twice.status_code, offset_of(twice)) == (409, 500)
    assert patch(agent, where, 500, data[500:]).status_code == 204
    assert state(agent, where)["state"] == "received"


def test_wrong_blocks_are_sent_again_and_no_others(prsm: Running, agent: Agent) -> None:
    """Bytes that were flipped on the way are found by the whole's digest; offsets lead to them."""
    data = os.urandom(BLOCK_BYTES * 4 + 5)
    path = prsm.manager.layout.data / "file"
    path.write_bytes(data)
    with path.open("rb") as file:
        blocks = join_blocks(digest_file(file, len(data)).blocks)
    where = begin(agent, data, metadata(data, blocks=blocks)).headers["Location"]
    flipped = bytearray(data)
    flipped[BLOCK_BYTES + 3] ^= 1
    flipped[3 * BLOCK_BYTES] ^= 64
    wrong = patch(agent, where, 0, bytes(flipped))
    assert (wrong.status_code, offset_of(wrong)) == (460, BLOCK_BYTES)
    second = patch(agent, where, BLOCK_BYTES, data[BLOCK_BYTES : 2 * BLOCK_BYTES])
    assert (second.status_code, offset_of(second)) == (204, 3 * BLOCK_BYTES)
    last = patch(agent, where, 3 * BLOCK_BYTES, data[3 * BLOCK_BYTES : 4 * BLOCK_BYTES])
    assert (last.status_code, offset_of(last)) == (204, len(data))
    assert prsm.files("incoming")[0].read_bytes() == data


def gone_said(agent: Agent, where: str) -> str:
    said = state(agent, where)
    assert said["state"] == "refused"
    return str(said["result"])


def test_a_file_that_is_always_wrong_is_refused(prsm: Running, agent: Agent) -> None:
    """After five times nothing of it is kept; 410 ends the sending, and GET says why."""
    data = os.urandom(1000)
    where = begin(agent, data).headers["Location"]
    for _ in range(5):
        assert patch(agent, where, 0, b"x" * 1000).status_code == 460
    gone = head(agent, where)
    assert gone.status_code == 410
    assert "wrong 5 times" in gone_said(agent, where)
    assert prsm.files("uploads") == prsm.files("incoming") == []


def test_what_waits_does_not_wait_for_a_clock(prsm: Running, agent: Agent) -> None:
    """Put off for a minute, it is judged soon, also where the manager's clock is set back."""
    data = os.urandom(1000)
    where = begin(agent, data).headers["Location"]
    prsm.clock.advance(30 * 86_400)
    patch(agent, where, 0, data)
    db = prsm.manager.db
    (row,) = received_uploads(db, prsm.clock())
    postpone(db, row, Message.of_text("the disk was full"), prsm.clock() + 60_000)
    assert received_uploads(db, prsm.clock()) == []
    prsm.clock.advance(-30 * 86_400)
    assert [one.id for one in received_uploads(db, prsm.clock())] == [row.id]


def test_methods_may_be_overridden(agent: Agent) -> None:
    """Where a proxy lets only POST through, PATCH, HEAD and DELETE travel in a header."""
    data = os.urandom(1000)
    where = begin(agent, data).headers["Location"]

    def post(method: str, body: bytes = b"", **headers: str) -> httpx.Response:
        return agent.call.post(
            where, body, headers={**TUS, "X-HTTP-Method-Override": method, **headers}
        )

    more = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    assert offset_of(post("PATCH", data[:600], **more)) == 600
    assert offset_of(post("HEAD")) == 600
    assert post("DELETE").status_code == 204
    assert post("BREW").status_code == 405
    assert head(agent, where).status_code == 410


def test_an_upload_is_given_up(prsm: Running, agent: Agent) -> None:
    """DELETE leaves nothing; the same file may be begun anew."""
    data = os.urandom(1000)
    where = begin(agent, data).headers["Location"]
    patch(agent, where, 0, data[:10])
    assert agent.call.send("DELETE", where, headers=TUS).status_code == 204
    assert prsm.files("uploads") == []
    assert patch(agent, where, 10, data[10:]).status_code == 410
    assert begin(agent, data).headers["Location"] != where


def test_an_upload_expires(prsm: Running, agent: Agent) -> None:
    """One to which nothing came for a week is thrown away; progress keeps it."""
    manager, data = prsm.manager, os.urandom(1000)
    where = begin(agent, data).headers["Location"]
    prsm.clock.advance(6 * 86400)
    patch(agent, where, 0, data[:10])
    prsm.clock.advance(6 * 86400)
    collection = manager.settings.collection
    assert expire_uploads(manager.db, manager.parts, collection, prsm.clock()) == 0
    prsm.clock.advance(2 * 86400)
    assert expire_uploads(manager.db, manager.parts, collection, prsm.clock()) == 1
    assert head(agent, where).status_code == 410
    assert prsm.files("uploads") == []


@pytest.mark.parametrize(
    ("length", "said", "status", "words"),
    [
        ("", {}, 400, "Upload-Length"),
        ("0", {}, 413, "Upload-Length 0"),
        ("99999999999999", {}, 413, "collection.segment_bytes"),
        ("5", {"filename": b"../../etc/passwd"}, 400, "filename"),
        ("5", {"filename": b"a.zip"}, 400, ".warc.gz"),
        ("5", {"sha256": b"abc"}, 400, "64 hexadecimal"),
        ("5", {"blocks": b"short"}, 400, "16 bytes were expected"),
    ],
)
def test_what_is_no_segment_is_refused(
    prsm: Running, agent: Agent, length: str, said: dict[str, bytes], status: int, words: str
) -> None:
    """Name, length and digests are checked before a byte is taken."""
    values = {"filename": NAME.encode(), "sha256": b"0" * 64, **said}
    headers = {"Upload-Length": length} if length else {}
    answer = agent.call.post(
        UPLOADS, headers={**TUS, "Upload-Metadata": write_metadata(values), **headers}
    )
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert prsm.files("uploads") == []


def test_headers_that_tus_asks_for(agent: Agent) -> None:
    """Another version is 412, another type 415, no offset 400, an unknown checksum 400."""
    data = os.urandom(10)
    where = begin(agent, data).headers["Location"]
    other = begin(agent, data, **{"Tus-Resumable": "0.2.2"})
    assert (other.status_code, other.headers["Tus-Version"]) == (412, "1.0.0")
    assert patch(agent, where, 0, data, **{"Content-Type": "text/plain"}).status_code == 415
    assert patch(agent, where, 0, data, **{"Upload-Offset": "-1"}).status_code == 400
    crc = patch(agent, where, 0, data, **{"Upload-Checksum": "crc32 AAAA"})
    assert crc.status_code == 400
    assert begin(agent, data, "filename %%%").status_code == 400
    assert patch(agent, where, 0, data + b"more").status_code == 413
    assert offset_of(head(agent, where)) == 0


def test_an_upload_is_its_agents_own(prsm: Running, agent: Agent) -> None:
    """Without a key 401, over an open line 403, another's upload is unknown."""
    data = os.urandom(10)
    where = begin(agent, data).headers["Location"]
    other = prsm.agent("b.example")
    assert head(other, where).status_code == 404
    assert patch(other, where, 0, data).status_code == 404
    assert prsm.anybody.post(UPLOADS, headers=TUS).status_code == 401
    key = {"Authorization": agent.call.headers["Authorization"]}
    assert prsm.outside.post(UPLOADS, headers={**TUS, **key}).status_code == 403


def test_so_many_uploads_are_open(tmp_path: Path) -> None:
    """One more is 429; a sender must end what it began."""
    with running(tmp_path, "collection.open_uploads=2") as prsm:
        agent = prsm.agent()
        names = [NAME.replace("00000-a", f"0000{number}-a") for number in range(3)]
        answers = [
            begin(agent, bytes([number]), metadata(bytes([number]), name))
            for number, name in enumerate(names)
        ]
        assert [answer.status_code for answer in answers] == [201, 201, 429]
        assert "collection.open_uploads" in answers[2].json()["detail"]


def test_a_disk_without_room_says_so(tmp_path: Path) -> None:
    """507 and a sentence before a byte is taken; what all open uploads will need counts."""
    with running(tmp_path) as prsm:
        parts = prsm.manager.parts
        parts._free_bytes = lambda _: 1000
        agent = prsm.agent()
        small, large = b"s" * 600, b"l" * 600
        made = begin(agent, small)
        assert made.status_code == 201
        full = begin(agent, large, metadata(large, NAME.replace("00000-a", "00001-a")))
        assert full.status_code == 507
        assert "stay in reserve" in full.json()["detail"]
        assert int(full.headers["Retry-After"]) > 0
        parts._free_bytes = lambda _: 10
        where = made.headers["Location"]
        assert patch(agent, where, 0, small).status_code == 507
        parts._free_bytes = lambda _: 1000
        assert patch(agent, where, 0, small).status_code == 204


def test_another_file_under_an_open_name_is_another_upload(prsm: Running, agent: Agent) -> None:
    """The digest is what tells files apart, and people see both."""
    begin(agent, b"one")
    begin(agent, b"two")
    assert len(list_transfers(prsm.manager.db)) == 2


def test_two_at_once_send_one_file(prsm: Running, agent: Agent) -> None:
    """A newer request takes over; the older keeps what it brought and hears 423."""
    desk = prsm.manager_desk
    data = os.urandom(4 * CUT)
    where = begin(agent, data).headers["Location"]
    key = where.rsplit("/", 1)[1]

    async def both() -> tuple[str, int]:
        waiting = asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield data[:CUT]
            waiting.set()
            await asyncio.sleep(3600)

        async def rest(at: int) -> AsyncIterator[bytes]:
            yield data[at:]

        older = asyncio.create_task(desk.take(agent.identity, key, 0, slow(), "", None))
        await waiting.wait()
        row = await desk.look(agent.identity, key)
        failed = (await asyncio.gather(older, return_exceptions=True))[0]
        at = int(str(row.gaps).strip("[").split(",")[0])
        done = await desk.take(agent.identity, key, at, rest(at), "", None)
        assert done.state == "received"
        return type(failed).__name__, at

    assert asyncio.run(both()) == ("TakenOverError", CUT)
    assert prsm.files("incoming")[0].read_bytes() == data


def test_a_body_that_breaks_off_keeps_its_bytes(prsm: Running, agent: Agent) -> None:
    """Also under a checksum, which cannot be known of a part."""
    desk, data = prsm.manager_desk, os.urandom(3 * CUT)
    key = begin(agent, data).headers["Location"].rsplit("/", 1)[1]

    async def broken() -> AsyncIterator[bytes]:
        yield data[: 2 * CUT + 5]
        raise ConnectionError("gone")

    async def go_on() -> str:
        with pytest.raises(ConnectionError):
            await desk.take(agent.identity, key, 0, broken(), write_checksum(data), len(data))
        row = await desk.look(agent.identity, key)
        assert row.breaks == 1
        at = 2 * CUT + 5

        async def rest() -> AsyncIterator[bytes]:
            yield data[at:]

        return (await desk.take(agent.identity, key, at, rest(), "", None)).state

    assert asyncio.run(go_on()) == "received"
    assert prsm.files("incoming")[0].read_bytes() == data
