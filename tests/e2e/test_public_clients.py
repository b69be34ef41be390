"""Tus clients that others wrote upload to the manager: with an agent's key, and nothing of ours."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import httpx
import pytest
from tusclient.client import TusClient

from shared.wire.names import hash_of_key, new_key
from tests.e2e.commands import AskedManager
from tools.demo.system import wait_for

pytestmark = pytest.mark.e2e

NAME = "plain.example"
SETTINGS = "[limits]\nuploads_per_minute = 1000\n"


def test_tuspy_uploads_and_resumes(tmp_path: Path) -> None:
    """In chunks with checksums; a second client goes on where the first stopped."""
    manager = AskedManager(tmp_path / "manager", SETTINGS)
    manager.start()
    try:
        key, token = new_key(), manager.prsm("agents", "token", NAME)["token"]
        body = {"agent": NAME, "token": token, "key_hash": hash_of_key(key), "kind": "plain"}
        httpx.post(f"{manager.url.rstrip('/')}/api/v1/enrol", json=body).raise_for_status()
        data = os.urandom(3_000_000)
        path = tmp_path / "one.warc.gz"
        path.write_bytes(data)
        client = TusClient(
            f"{manager.url.rstrip('/')}/api/v1/uploads", headers={"Authorization": f"Bearer {key}"}
        )
        digest = hashlib.sha256(data).hexdigest()
        metadata = {"filename": path.name, "sha256": digest}

        how = {"chunk_size": 1_000_000, "metadata": metadata, "upload_checksum": True}
        with path.open("rb") as stream:
            first = client.uploader(file_stream=stream, **how)
            first.upload_chunk()  # type: ignore[no-untyped-call]
            second = client.uploader(file_stream=stream, url=first.url, **how)
            assert second.offset == 1_000_000
            second.upload()

        def judged() -> bool:
            (one,) = manager.prsm("collect", "transfers")
            assert one["size_bytes"] == len(data)
            return bool(one["state"] == "refused")

        # Random bytes are no WARC: what matters here is that all of them came, and were judged.
        wait_for("the verdict", judged, seconds=60)
    finally:
        manager.stop()
