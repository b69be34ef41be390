"""Tus clients that others wrote upload to the manager: with an agent's key, and nothing of ours."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tusclient.client import TusClient

from shared.wire.names import hash_of_key, new_key
from tests.e2e.commands import AskedManager
from tests.programs import NOT_INSTALLED
from tools.demo.system import Manager, wait_for

pytestmark = pytest.mark.e2e

NAME = "plain.example"
SETTINGS = "[limits]\nuploads_per_minute = 1000\n"
TUS_JS = Path(__file__).parents[1] / "tus_js"


@dataclass
class Uploads:
    """A manager, and a file that a plain agent uploads to it."""

    manager: Manager
    key: str
    path: Path

    @property
    def url(self) -> str:
        """Return where uploads are begun."""
        return f"{self.manager.url.rstrip('/')}/api/v1/uploads"

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the file."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def wait_for_verdict(self) -> dict[str, Any]:
        """Wait until the only file that came was judged; return its transfer.

        Random bytes are no WARC: what matters here is that all of them came, and were judged.
        """

        def judged() -> dict[str, Any] | None:
            (one,) = self.manager.prsm("collect", "transfers")
            assert one["size_bytes"] == self.path.stat().st_size
            return one if one["state"] == "refused" else None

        transfer: dict[str, Any] = wait_for("the verdict", judged, seconds=60)
        return transfer


@pytest.fixture
def uploads(tmp_path: Path) -> Iterator[Uploads]:
    """Start a manager that a plain agent has joined."""
    manager = AskedManager(tmp_path / "manager", SETTINGS)
    manager.start()
    try:
        key, token = new_key(), manager.prsm("agents", "token", NAME)["token"]
        body = {"agent": NAME, "token": token, "key_hash": hash_of_key(key), "kind": "plain"}
        httpx.post(f"{manager.url.rstrip('/')}/api/v1/enrol", json=body).raise_for_status()
        path = tmp_path / "one.warc.gz"
        path.write_bytes(os.urandom(3_000_000))
        yield Uploads(manager, key, path)
    finally:
        manager.stop()


@pytest.mark.slow
def test_tuspy_uploads_and_resumes(uploads: Uploads) -> None:
    """In chunks with checksums; a second client goes on where the first stopped."""
    client = TusClient(uploads.url, headers={"Authorization": f"Bearer {uploads.key}"})
    metadata = {"filename": uploads.path.name, "sha256": uploads.sha256}
    how = {"chunk_size": 1_000_000, "metadata": metadata, "upload_checksum": True}
    with uploads.path.open("rb") as stream:
        first = client.uploader(file_stream=stream, **how)
        first.upload_chunk()  # type: ignore[no-untyped-call]
        second = client.uploader(file_stream=stream, url=first.url, **how)
        assert second.offset == 1_000_000
        second.upload()
    uploads.wait_for_verdict()


@pytest.mark.slow  # npm brings it: `make test-packages ARGS=all`
@pytest.mark.parametrize("override", ["no", "yes"])
def test_tus_js_client_uploads_and_resumes(uploads: Uploads, override: str) -> None:
    """Also by POST alone, for proxies that block PATCH; no byte is sent twice."""
    node = shutil.which("node")
    if node is None or not (TUS_JS / "node_modules").is_dir():
        pytest.skip(f"{NOT_INSTALLED}tus-js-client; to run this test: make test-packages ARGS=all")
    words = [node, str(TUS_JS / "upload.mjs"), uploads.url, uploads.key, str(uploads.path)]

    def upload(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*words, uploads.sha256, *more],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=os.environ | {"OVERRIDE": override},
        )

    broken = upload("2000000")
    assert broken.returncode == 3, broken.stderr
    done = upload()
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(uploads.url)
    assert uploads.wait_for_verdict()["received_bytes"] == 3_000_000
