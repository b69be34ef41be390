"""The archive is the same on either database."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from manager.operations.people.clients import issue_token, register_client
from tests.manager.archived import collected, hold, page
from tests.manager.asgi import Caller
from tests.manager.running import LOCAL, running


def test_from_arrival_to_compaction(tmp_path: Path, database_url: str) -> None:
    """A segment comes, is listed, selected, made a result of, withdrawn and rewritten."""
    with running(tmp_path, f'database.url="{database_url}"') as prsm:
        agent = prsm.agent()
        hold(prsm, agent, "http://www.example.jp:80/", "http://other.example:80/")
        db = prsm.manager.db
        register_client(db, "library", "x", "", LOCAL, prsm.clock())
        token = issue_token(db, "library", LOCAL, prsm.clock()).token
        library = Caller(prsm.public, headers={"Authorization": f"Bearer {token}"})
        start = library.get("/api/v1/changes").json()["next"]
        collected(prsm, agent, [page(), page("http://other.example/")])
        (file,) = library.get("/wasapi/v1/webdata?collection=1").json()["files"]
        assert file["filename"] == "x-a.example.warc.gz"
        listed = library.get("/api/v1/pages/hosts", params={"host": ".*"}).json()["hosts"]
        assert [host["captures"] for host in listed] == [1, 1]
        data = library.get("/api/v1/pages.zip", params={"host": ".*"}).content
        with zipfile.ZipFile(io.BytesIO(data)) as read:
            assert len(read.namelist()) == 2
        asked = {"function": "extract-warc", "query": "host=.*"}
        job = library.post("/wasapi/v1/jobs", json=asked).json()["jobtoken"]
        assert prsm.manager.archive.run_jobs() == 1
        assert library.get(f"/wasapi/v1/jobs/{job}").json()["state"] == "complete"
        prsm.local.post("/api/v1/hosts/exclude", json={"host": "other.example", "reason": "x"})
        assert library.get(f"/wasapi/v1/jobs/{job}").json()["state"] == "gone"
        done = prsm.local.post("/api/v1/archive/compact", json={}).json()
        assert done == {"rewritten": 1, "deleted": 0}
        changes = library.get("/api/v1/changes", params={"since": start}).json()["changes"]
        assert [change["what"] for change in changes] == ["created", "deleted", "created"]
        prsm.manager.archive.usage.flush()
        prsm.manager.archive.tidy()
