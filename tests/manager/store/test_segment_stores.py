"""Every store of segments keeps to one contract: a directory, and a server that speaks S3."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from manager.errors import BusyError
from manager.operations.health.consistency_checks import check_files
from manager.operations.people.clients import issue_token, register_client
from manager.operations.segments.file_problems import list_problems
from manager.operations.segments.scrub import scrub_now
from manager.store.errors import StoreError
from manager.store.group_access import GroupAccess
from manager.store.segments.object_store import ObjectStore
from manager.store.segments.segment_store import DirectoryStore, SegmentStore, segment_key
from shared.errors import SettingError
from tests.manager.archived import arrived, collected, hold, page, segment_bytes
from tests.manager.asgi import Caller
from tests.manager.running import LOCAL, running
from tests.manager.s3_server import s3

__all__ = ["s3"]


@pytest.fixture(params=["directory", "s3"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> SegmentStore:
    """Return an empty store of each kind."""
    if request.param == "directory":
        (tmp_path / "segments").mkdir()
        return DirectoryStore(tmp_path / "segments", GroupAccess())
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    address = request.getfixturevalue("s3")
    return ObjectStore(f"s3://captures/{tmp_path.name}", address, "us-east-1")


def file_of(tmp_path: Path, size_bytes: int) -> tuple[Path, str, bytes]:
    data = os.urandom(size_bytes)
    path = tmp_path / "source"
    path.write_bytes(data)
    return path, segment_key(7, hashlib.sha256(data).hexdigest()), data


@pytest.mark.parametrize("size_bytes", [1, 100_000, 20_000_000])
def test_what_is_put_is_read(store: SegmentStore, tmp_path: Path, size_bytes: int) -> None:
    """Whole, and from any offset; putting it again changes nothing."""
    path, key, data = file_of(tmp_path, size_bytes)
    for _ in range(2):
        store.put(path, key)
    assert path.exists()
    assert [kept for kept, _ in store.listed()] == [key]
    with store.open(key) as file:
        assert file.read() == data
        file.seek(size_bytes // 2)
        assert file.read(10) == data[size_bytes // 2 :][:10]
        file.seek(0, os.SEEK_END)
        assert (file.tell(), file.read(1)) == (size_bytes, b"")


def test_damaged_bytes_are_replaced_and_sizes_told(store: SegmentStore, tmp_path: Path) -> None:
    """Whatever lay under the key, or nothing."""
    path, key, data = file_of(tmp_path, 5000)
    assert store.size(key) is None
    assert store.sizes() == {}
    path.write_bytes(data[:4000])
    store.put(path, key)
    assert (store.size(key), store.sizes()) == (4000, {key: 4000})
    whole = tmp_path / "whole"
    whole.write_bytes(data)
    for _ in range(2):
        store.replace(whole, key)
    assert whole.exists()
    with store.open(key) as file:
        assert file.read() == data
    assert (store.size(key), store.sizes()) == (5000, {key: 5000})
    store.delete(key)
    store.replace(whole, key)
    assert store.sizes() == {key: 5000}


def test_a_segment_in_an_object_store_is_checked_and_replaced(
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, and with other bytes of the same length."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    overrides = (
        'archive.store="s3://captures/checked"',
        f'archive.store_endpoint="{s3}"',
        'archive.store_region="us-east-1"',
    )
    with running(tmp_path, *overrides) as prsm:
        manager = prsm.manager
        agent = prsm.agent(kind="sync")
        hold(prsm, agent, "http://www.example.jp:80/")
        collected(prsm, agent, [page()], "x.warc.gz")
        ((key, size_bytes),) = manager.archive.store.sizes().items()
        with manager.archive.store.open(key) as file:
            data = file.read()
        other = tmp_path / "other"
        for is_missing in (True, False):
            other.write_bytes(data[:-1] + b"x")
            if is_missing:
                manager.archive.store.delete(key)
            else:
                manager.archive.store.replace(other, key)
            assert check_files(manager.db, manager.archive.places, deep=True)
            scrub_now(manager.db, LOCAL, prsm.clock())
            manager.archive.scrubber().run()
            (problem,) = list_problems(manager.db)
            assert problem.place == key
            manager.archive.intake.accept(
                agent.identity, arrived(tmp_path, segment_bytes([page()]), "x.warc.gz")
            )
            assert manager.archive.store.sizes() == {key: size_bytes}
            assert check_files(manager.db, manager.archive.places, deep=True) == []
            assert list_problems(manager.db) == []


def test_what_is_deleted_is_gone(store: SegmentStore, tmp_path: Path) -> None:
    """Deleting twice is fine; opening says what is missing and what to do."""
    path, key, _ = file_of(tmp_path, 10)
    store.put(path, key)
    for _ in range(2):
        store.delete(key)
    assert list(store.listed()) == []
    with pytest.raises(StoreError, match="restore it from the last copy"):
        store.open(key)


def test_a_store_that_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept, and who asked is told to come again."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    down = ObjectStore("s3://captures", "http://127.0.0.1:9", "us-east-1")
    path, key, _ = file_of(tmp_path, 10)
    with pytest.raises(BusyError, match="cannot write"):
        down.put(path, key)


@pytest.mark.parametrize("url", ["http://x/y", "s3://", "captures", "s3://b/p?x=1"])
def test_bad_addresses(url: str) -> None:
    """What is no bucket is refused at the start."""
    with pytest.raises(SettingError, match="s3://bucket/prefix"):
        ObjectStore(url)


def test_an_archive_in_an_object_store(
    tmp_path: Path, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A segment comes, is sent by ranges, selected and rewritten; none of its bytes stay here."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    settings = (
        f'archive.store="s3://captures/{tmp_path.name}"',
        f'archive.store_endpoint="{s3}"',
        'archive.store_region="us-east-1"',
        'archive.x_accel_redirect_path="/prsm-archive/"',
    )
    with running(tmp_path, *settings) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, "http://www.example.jp:80/", "http://other.example:80/")
        db = prsm.manager.db
        register_client(db, "library", "x", "", LOCAL, prsm.clock())
        token = issue_token(db, "library", LOCAL, prsm.clock()).token
        library = Caller(prsm.public, headers={"Authorization": f"Bearer {token}"})
        collected(prsm, agent, [page(), page("http://other.example/")])
        assert prsm.files("archive/segments") == []
        path = "/api/v1/segments/x-a.example.warc.gz"
        whole = library.get(path).content
        assert library.get(path, headers={"Range": "bytes=5-9"}).content == whole[5:10]
        answer = library.get("/api/v1/pages.warc.gz", params={"host": "www.*"})
        assert answer.status_code == 200
        prsm.local.post("/api/v1/hosts/exclude", json={"host": "other.example", "reason": "x"})
        done = prsm.local.post("/api/v1/archive/compact", json={}).json()
        assert done == {"rewritten": 1, "deleted": 0}
        assert len(list(prsm.manager.archive.store.listed())) == 1
        again = library.get("/api/v1/segments/x-a.example-r1.warc.gz").content
        assert 0 < len(again) < len(whole)


@pytest.mark.parametrize("prefix", ["a/../b", "a//b", "..", "./a"])
def test_a_prefix_that_names_no_objects_is_refused(prefix: str) -> None:
    """At the start, in words, and not as an error of the library at the first listing."""
    with pytest.raises(SettingError, match="has an empty part"):
        ObjectStore(f"s3://captures/{prefix}")
