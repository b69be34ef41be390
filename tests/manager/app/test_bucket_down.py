"""A bucket that is down at the start: the manager serves agents, and changes nothing there."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import obstore
import pytest
from moto.server import ThreadedMotoServer
from obstore.exceptions import PermissionDeniedError

from manager.app.archive_keeper import store_of
from manager.app.composition import layout_of
from manager.errors import BusyError
from manager.operations.identity.bucket_gate import BucketGate, BucketState
from manager.operations.identity.file_marks import refuse_new_database
from manager.operations.identity.installation import InstallationError, MarkedFiles, installation_id
from manager.settings import read_settings
from manager.store.owner_marks import LEASE, MARK, Mark
from manager.store.segments.object_store import ObjectStore
from tests.manager.kept_files import fill_archive, sqlite_of
from tests.manager.running import START_MS, Running, running


class Bucket:
    """A bucket whose server may be down; what it holds outlives its server."""

    def __init__(self, name: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.settings = [
            f'archive.store="s3://captures/{name}"',
            f'archive.store_endpoint="{self.address}"',
            'archive.store_region="us-east-1"',
        ]

    def start(self) -> ThreadedMotoServer:
        """Start its server."""
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
        server.start()
        httpx.put(f"{self.address}/captures")
        return server

    @contextmanager
    def up(self) -> Iterator[None]:
        """Serve while the block runs."""
        server = self.start()
        try:
            yield
        finally:
            server.stop()

    def store(self, folder: Path) -> ObjectStore:
        settings = read_settings(folder, overrides=self.settings)
        store = store_of(settings.archive, layout_of(settings))
        assert isinstance(store, ObjectStore)
        return store

    def objects(self, folder: Path) -> list[str]:
        return sorted(key for key, _ in self.store(folder).listed())


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """Return a bucket that is down."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return Bucket(tmp_path.name)


@contextmanager
def running_with(bucket: Bucket, data: Path) -> Iterator[tuple[ThreadedMotoServer, Running]]:
    """Run a manager with segments in a bucket whose server may be stopped."""
    server = bucket.start()
    with running(data, *bucket.settings) as prsm:
        fill_archive(prsm)
        yield server, prsm


def codes(prsm: Running) -> set[str]:
    answer = prsm.outside.get("/readyz")
    assert answer.status_code == 200
    return {one["code"] for one in answer.json().get("problems", ())}


def alerts(prsm: Running) -> list[str]:
    told = prsm.local.get("/api/v1/alerts").json()["troubles"]
    return [one["key"] for one in told if one["key"].startswith("bucket")]


def test_a_manager_starts_without_its_bucket_and_uses_it_once_it_was_checked(
    tmp_path: Path, bucket: Bucket, caplog: pytest.LogCaptureFixture
) -> None:
    """Agents get their permits meanwhile; /readyz and an alert name the bucket; nothing is lost."""
    data = tmp_path / "data"
    with bucket.up(), running(data, *bucket.settings) as prsm:
        fill_archive(prsm)
        before = bucket.objects(data)
    assert len(before) == 2
    with running(data, *bucket.settings) as prsm:
        assert codes(prsm) == {"bucket_unreachable"}
        assert alerts(prsm) == [f"bucket_unreachable:s3://captures/{tmp_path.name}"]
        assert prsm.agent("b.example").call.get("/servlets/isrestart?host=b.example").is_success
        with pytest.raises(BusyError, match="has not answered since the start"):
            prsm.manager.archive.tidy()
        prsm.manager.lease.renew()
        assert not prsm.manager.gate.look()
        with bucket.up():
            # It answers, and is still not used: nobody has looked whose it is.
            with pytest.raises(BusyError, match="before its installation id is checked"):
                prsm.manager.archive.tidy()
            assert prsm.manager.gate.look()
            assert (codes(prsm), alerts(prsm)) == (set(), [])
            prsm.manager.archive.tidy()
            place = bucket.store(data)
            assert place.read_mark(LEASE) is not None
            assert bucket.objects(data) == before
            assert prsm.manager.gate.look()
    told = [one.getMessage() for one in caplog.records if "bucket s3://" in one.getMessage()]
    assert len(told) == 1


def test_anothers_bucket_is_never_changed_when_it_comes_up(tmp_path: Path, bucket: Bucket) -> None:
    """It is named as foreign, and no mark, lease or segment of it is touched."""
    with bucket.up():
        with running(tmp_path / "first", *bucket.settings) as first:
            fill_archive(first)
            there = installation_id(first.manager.db)
        before = bucket.objects(tmp_path / "first")
    with running(tmp_path / "second"):
        pass
    with running(tmp_path / "second", *bucket.settings) as prsm:
        assert codes(prsm) == {"bucket_unreachable"}
        with bucket.up():
            assert not prsm.manager.gate.look()
            assert codes(prsm) == {"bucket_foreign"}
            assert alerts(prsm) == [f"bucket_foreign:s3://captures/{tmp_path.name}"]
            assert there in prsm.outside.get("/readyz").text
            with pytest.raises(BusyError, match="is not of this installation"):
                prsm.manager.archive.tidy()
            with pytest.raises(BusyError, match="is not of this installation"):
                prsm.manager.archive.store.put(
                    tmp_path / "second" / "prsm.sqlite", f"1/{'a' * 64}.warc.gz"
                )
            prsm.manager.lease.renew()
            place = bucket.store(tmp_path / "first")
            assert place.read_mark(LEASE) is None
            assert Mark.decoded(place.read_mark(MARK) or b"").installation == there
            assert bucket.objects(tmp_path / "first") == before
    # With the bucket up a start is refused, as ever; the end took nothing away.
    rows = sqlite_of(tmp_path / "second", "SELECT uuid FROM installation")
    assert rows[0][0] != there


def test_a_bucket_that_swallows_packets_holds_up_no_start(tmp_path: Path, bucket: Bucket) -> None:
    """A start waits for it for a bounded time."""
    with (
        socket.create_server(("127.0.0.1", bucket.port)),
        running(tmp_path / "data") as prsm,
    ):
        store = bucket.store(tmp_path / "data")
        files = MarkedFiles(prsm.manager.layout, store)
        gate = BucketGate(prsm.manager.db, files, lambda: START_MS, answer_s=0.2)
        gate.shut_if_unreachable()
        assert gate.state is BucketState.UNREACHABLE
        assert store.is_barred
        assert "it has not answered for 200 ms" in str(gate.conditions()[0].message)


def test_a_new_database_is_not_made_beside_a_bucket_that_is_down(
    tmp_path: Path, bucket: Bucket
) -> None:
    """Nobody knows whether it holds another's archive; bucket, error and remedy are named."""
    with pytest.raises(BusyError) as refused, running(tmp_path, *bucket.settings):
        pass
    assert str(refused.value).startswith("the database is empty, and bucket s3://")
    files = MarkedFiles(layout_of(read_settings(tmp_path / "new")), bucket.store(tmp_path / "new"))
    with pytest.raises(BusyError) as refused:
        refuse_new_database(files, "prsm.sqlite")
    said = str(refused.value)
    assert said.startswith("prsm.sqlite is missing or empty, and bucket s3://")
    assert f"bucket s3://captures/{tmp_path.name} does not answer: object store" in said
    assert "Check archive.store, archive.store_endpoint, the network and the credentials" in said


def test_the_first_start_with_marks_needs_no_bucket(tmp_path: Path, bucket: Bucket) -> None:
    """Files here are marked by what rows say of them; the bucket when it answers, as ever."""
    data = tmp_path / "data"
    with bucket.up(), running(data, *bucket.settings) as prsm:
        fill_archive(prsm)
        places = MarkedFiles(prsm.manager.layout, prsm.manager.archive.store).locations()
        for place in places:
            place.remove_mark(MARK)
    assert len(places) == 2
    with running(data, *bucket.settings) as prsm:
        assert codes(prsm) == {"bucket_unreachable"}
        assert places[0].read_mark(MARK) is not None
        with bucket.up():
            assert bucket.store(data).read_mark(MARK) is None
            assert prsm.manager.gate.look()
            assert bucket.store(data).read_mark(MARK) is not None
            assert codes(prsm) == set()
            prsm.manager.archive.tidy()


def test_files_that_no_row_names_are_refused_without_their_bucket(
    tmp_path: Path, bucket: Bucket
) -> None:
    """What lies here is judged as ever, though the bucket is down."""
    data = tmp_path / "data"
    with bucket.up(), running(data, *bucket.settings) as prsm:
        fill_archive(prsm)
        index = next(prsm.manager.layout.indexes.glob("*/*.parquet"))
        places = MarkedFiles(prsm.manager.layout, prsm.manager.archive.store).locations()
        places[0].remove_mark(MARK)
    index.unlink()
    with pytest.raises(InstallationError, match="are missing"), running(data, *bucket.settings):
        pass


def test_a_bucket_that_fails_later_is_named_until_it_is_back(
    tmp_path: Path, bucket: Bucket
) -> None:
    """An endpoint that goes down and comes back: nothing is used before its id was checked."""
    data = tmp_path / "data"
    with running_with(bucket, data) as (server, prsm):
        assert prsm.manager.gate.look()
        assert (codes(prsm), alerts(prsm)) == (set(), [])
        server.stop()
        assert not prsm.manager.gate.look()
        assert codes(prsm) == {"bucket_unreachable"}
        assert alerts(prsm) == [f"bucket_unreachable:s3://captures/{tmp_path.name}"]
        assert "has not answered since 20" in prsm.outside.get("/readyz").text
        with pytest.raises(BusyError, match="is not used before its installation id is checked"):
            prsm.manager.archive.tidy()
        assert prsm.agent("b.example").call.get("/servlets/isrestart?host=b.example").is_success
        with bucket.up():
            assert prsm.manager.gate.look()
            assert (codes(prsm), alerts(prsm)) == (set(), [])
            prsm.manager.archive.tidy()


def test_a_bucket_that_is_emptied_is_named(tmp_path: Path, bucket: Bucket) -> None:
    """Its mark and its segments are gone: it is not the bucket of before, and is not filled."""
    data = tmp_path / "data"
    with bucket.up(), running(data, *bucket.settings) as prsm:
        fill_archive(prsm)
        place = bucket.store(data)
        mark = place.read_mark(MARK)
        assert mark is not None
        place.remove_mark(MARK)
        keys = bucket.objects(data)
        kept = {key: bucket.store(data).open(key).read() for key in keys}
        for key in keys:
            bucket.store(data).delete(key)
        assert not prsm.manager.gate.look()
        assert codes(prsm) == {"bucket_foreign"}
        assert "are missing" in prsm.outside.get("/readyz").text
        assert place.read_mark(MARK) is None, "nothing is marked"
        for key, body in kept.items():
            (tmp_path / "body").write_bytes(body)
            bucket.store(data).put(tmp_path / "body", key)
        assert prsm.manager.gate.look(), "it was put back"
        assert codes(prsm) == set()


def test_credentials_that_are_refused_are_named(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the store answers is said; it is used again when it is allowed again."""
    data = tmp_path / "data"
    with bucket.up(), running(data, *bucket.settings) as prsm:
        fill_archive(prsm)

        def refused(*_: object) -> None:
            raise PermissionDeniedError("403 Forbidden: InvalidAccessKeyId")

        with monkeypatch.context() as changed:
            changed.setattr(obstore, "get", refused)
            assert not prsm.manager.gate.look()
            assert codes(prsm) == {"bucket_unreachable"}
            assert "InvalidAccessKeyId" in prsm.outside.get("/readyz").text
        assert prsm.manager.gate.look()
        assert codes(prsm) == set()
