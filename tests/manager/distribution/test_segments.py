"""Segments go to who may have them: whole, by ranges, as long as the token is good."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.types import Message

from manager.distribution import file_responses
from manager.operations.archive.downloads import forget_downloads, list_downloads
from manager.operations.people.audit_log import audit_page
from manager.operations.people.clients import (
    issue_token,
    list_clients,
    register_client,
    revoke_token,
)
from tests.manager.archived import collected, page
from tests.manager.asgi import Caller
from tests.manager.running import LOCAL, Agent, Running

NAME = "x-a.example.warc.gz"
PATH = f"/api/v1/segments/{NAME}"


def token_of(prsm: Running, name: str = "library", **options: Any) -> str:
    db = prsm.manager.db
    register_client(db, name, "a@library.example", "", LOCAL, prsm.clock())
    return issue_token(db, name, LOCAL, prsm.clock(), **options).token


def caller(prsm: Running, token: str, **options: Any) -> Caller:
    return Caller(prsm.public, headers={"Authorization": f"Bearer {token}"}, **options)


def test_a_segment_is_sent(prsm: Running, agent: Agent, library: Caller) -> None:
    """The bytes, their length, digest and name; HEAD the same without the bytes."""
    collected(prsm, agent, [page()])
    answer = library.get(PATH)
    assert answer.status_code == 200
    digest = hashlib.sha256(answer.content).hexdigest()
    assert answer.headers["etag"] == f'"{digest}"'
    assert answer.headers["content-length"] == str(len(answer.content))
    assert "content-encoding" not in answer.headers
    asked = library.send("HEAD", PATH)
    assert (asked.content, asked.headers["content-length"]) == (b"", str(len(answer.content)))
    assert [row.action for row in audit_page(prsm.manager.db, action="segment.download")] == [
        "segment.download"
    ]


def test_a_download_is_resumed(prsm: Running, agent: Agent, library: Caller) -> None:
    """The rest of a file, if it is still the same; where it ends is said when too much is asked."""
    collected(prsm, agent, [page(body=b"x" * 5000)])
    whole = library.get(PATH)
    etag = whole.headers["etag"]
    rest = library.get(PATH, headers={"Range": "bytes=100-", "If-Range": etag})
    assert (rest.status_code, rest.content) == (206, whole.content[100:])
    size = len(whole.content)
    assert rest.headers["content-range"] == f"bytes 100-{size - 1}/{size}"
    over = library.get(PATH, headers={"Range": f"bytes={size}-"})
    assert (over.status_code, over.headers["content-range"]) == (416, f"bytes */{size}")
    assert library.get(PATH, headers={"If-None-Match": etag}).status_code == 304


def test_who_may_take(prsm: Running, agent: Agent) -> None:
    """No token, a wrong one, an agent's key, one without the scope, over, revoked, plain HTTP."""
    collected(prsm, agent, [page()])
    db = prsm.manager.db
    assert prsm.anybody.get(PATH).status_code == 401
    assert caller(prsm, "x" * 43).get(PATH).status_code == 401
    assert agent.call.get(PATH).status_code == 401
    pages = token_of(prsm, scopes=["pages"])
    answer = caller(prsm, pages).get(PATH)
    assert (answer.status_code, "this needs segments" in answer.text) == (403, True)
    token = issue_token(db, "library", LOCAL, prsm.clock(), days=1)
    good = caller(prsm, token.token)
    assert good.get(PATH).status_code == 200
    assert caller(prsm, token.token, address="192.0.2.7").get(PATH).status_code == 403
    basic = base64.b64encode(f"whoever:{token.token}".encode()).decode()
    assert prsm.anybody.get(PATH, headers={"Authorization": f"Basic {basic}"}).status_code == 200
    assert prsm.anybody.get(PATH, headers={"Authorization": "Basic %%%"}).status_code == 401
    revoke_token(db, "library", token.id, LOCAL, prsm.clock())
    assert "revoked" in good.get(PATH).text
    over = caller(prsm, issue_token(db, "library", LOCAL, prsm.clock(), days=1).token)
    prsm.clock.advance(86_400)
    assert "expired" in over.get(PATH).text


def test_a_disabled_client_is_kept_out(prsm: Running, agent: Agent, library: Caller) -> None:
    """All its tokens open nothing, until it is let in again."""
    collected(prsm, agent, [page()])
    path = "/api/v1/clients/library/disable"
    assert prsm.local.post(path, json={}).status_code == 204
    assert library.get(PATH).status_code == 403
    assert prsm.local.post(path, json={"disabled": False}).status_code == 204
    assert library.get(PATH).status_code == 200


def test_rates_and_quotas(prsm: Running, agent: Agent) -> None:
    """Too many requests, or a day that is used up, are 429 with a sentence and when to go on."""
    collected(prsm, agent, [page()])
    token = token_of(prsm, requests_per_minute=2, daily_bytes=10)
    mine = caller(prsm, token)
    assert mine.get(PATH).status_code == 200
    used = mine.get(PATH)
    assert (used.status_code, used.json()["code"]) == (429, "archive.daily_bytes")
    assert int(used.headers["retry-after"]) > 60
    often = mine.get(PATH)
    assert (often.status_code, often.headers["retry-after"]) == (429, "30")
    prsm.manager.archive.usage.flush()
    prsm.clock.advance(60)
    assert mine.get(PATH).json()["code"] == "archive.daily_bytes"
    prsm.clock.advance(86_400)
    assert mine.get(PATH).status_code == 200
    prsm.manager.archive.usage.flush()
    (shown,) = list_clients(prsm.manager.db, prsm.clock())
    assert [row.requests for row in shown.usage] == [3, 1]


def test_a_revoked_token_ends_a_download(
    prsm: Running, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a file the connection ends, before the length that was declared."""
    monkeypatch.setattr(file_responses, "ASK_AGAIN_S", -1.0)
    monkeypatch.setattr(file_responses, "READ_BYTES", 64)
    collected(prsm, agent, [page(body=bytes(range(256)) * 20)])
    db = prsm.manager.db
    token = token_of(prsm)
    sent: list[Message] = []

    async def download() -> None:
        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)
            if len(sent) == 4:
                await asyncio.to_thread(revoke_token, db, "library", 1, LOCAL, prsm.clock())

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
            "scheme": "http", "path": PATH, "raw_path": PATH.encode(), "query_string": b"",
            "root_path": "", "client": ("127.0.0.1", 1), "server": ("manager", 80),
            "headers": [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {token}".encode())],
        }  # fmt: skip
        await prsm.public(scope, receive, send)

    with pytest.raises(Exception, match="token_invalid"):
        asyncio.run(download())
    declared = dict(sent[0]["headers"])[b"content-length"]
    got = sum(len(message.get("body", b"")) for message in sent)
    assert got < int(declared)
    assert sent[-1]["more_body"]


def test_unknown_and_hostile_names(prsm: Running, agent: Agent, library: Caller) -> None:
    """A name that is no segment's is 404, one with U+0000 400; withheld ones have no address."""
    collected(prsm, agent, [page(fields="X-Robots-Tag: noindex\r\n")])
    for name in ("y.warc.gz", "..%2f..%2fprsm.sqlite", "x-a.example-withheld.warc.gz"):
        assert library.get(f"/api/v1/segments/{name}").status_code == 404, name
    assert library.get("/api/v1/segments/%00").status_code == 400


def test_the_server_in_front_sends(prsm: Running, agent: Agent, library: Caller) -> None:
    """With archive.x_accel_redirect_path the manager only says where the file is."""
    collected(prsm, agent, [page()])
    object.__setattr__(prsm.manager.settings.archive, "x_accel_redirect_path", "/prsm-archive/")
    answer = library.get(PATH)
    digest = hashlib.sha256(prsm.files("archive/segments")[0].read_bytes()).hexdigest()
    assert answer.headers["x-accel-redirect"] == f"/prsm-archive/segments/1/{digest}.warc.gz"
    assert answer.content == b""


def test_downloads_are_written_down(prsm: Running, agent: Agent, library: Caller) -> None:
    """How much was sent of which file; one that is resumed goes on in its row."""
    collected(prsm, agent, [page(body=b"x" * 5000)])
    db, downloads = prsm.manager.db, prsm.manager.archive.downloads
    size = len(library.get(PATH, headers={"Range": "bytes=0-99"}).content)
    downloads.flush()
    whole = library.get(PATH)
    downloads.flush()
    (row,) = list_downloads(db, prsm.clock())
    assert (row.client, row.name, row.state, row.requests) == ("library", NAME, "done", 1)
    assert (row.sent_bytes, row.size_bytes) == (len(whole.content), len(whole.content))
    prsm.clock.advance(60)
    library.get(PATH, headers={"Range": "bytes=100-149"})
    downloads.flush()
    library.get(PATH, headers={"Range": "bytes=150-199"})
    downloads.flush()
    (row,) = list_downloads(db, prsm.clock())
    assert (row.requests, row.sent_bytes) == (3, len(whole.content) + 100)
    assert row.last_ms - row.begun_ms == 60_000
    assert size == 100
    library.get("/api/v1/pages.zip", params={"host": "www.*"})
    downloads.flush()
    assert [each.name for each in list_downloads(db, prsm.clock())] == ["pages.zip www.*", NAME]
    assert forget_downloads(db, prsm.clock()) == 0
    prsm.clock.advance(91 * 86_400)
    assert forget_downloads(db, prsm.clock()) == 2


def test_no_log_holds_a_token(
    prsm: Running, agent: Agent, library: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither one that opens nor one that does not: logs are read by more people than keys."""
    collected(prsm, agent, [page()])
    wrong = "W" * 43
    with caplog.at_level("DEBUG"):
        assert library.get(PATH).status_code == 200
        assert caller(prsm, wrong).get(PATH).status_code == 401
        assert library.get("/api/v1/pages.zip", params={"host": "("}).status_code == 400
    right = library.headers["Authorization"].removeprefix("Bearer ")
    said = caplog.text + "".join(row.detail for row in audit_page(prsm.manager.db))
    assert right not in said
    assert wrong not in said


@pytest.mark.parametrize(
    "name", ['a"\r\nX-Evil: 1', "../../etc/passwd", "ä;b=c, d", "\u202egpj.exe"]
)
def test_a_name_is_no_header_and_no_folder(name: str) -> None:
    """Whatever a file is called, its name is one word of letters, digits and percent signs."""
    said = file_responses.stream_headers(name)["content-disposition"]
    before, mark, written = said.partition("filename*=UTF-8''")
    assert (before, mark) == ("attachment; ", "filename*=UTF-8''")
    assert re.fullmatch(r"[A-Za-z0-9%._~-]+", written)
    assert unquote(written) == name
