"""Segments in an S3 object store; the local disk holds only bytes that are being read.

Invariants: an object appears when its upload is complete, of the size that was sent; a barred store
(one whose owner is not known yet) is used for its marks only. Credentials come from the environment
(AWS_ACCESS_KEY_ID and so on), never from the settings file.
"""

from __future__ import annotations

import contextlib
import io
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from manager.errors import BusyError
from manager.store.errors import StoreError
from manager.store.segments.segment_store import KEY
from shared.errors import SettingError

__all__ = ["ObjectStore"]

PART_BYTES: Final = 16 * 1024**2
PARTS_AT_ONCE: Final = 4
BUFFER_BYTES: Final = 1024**2
TRASH: Final = "trash"
_NO_PARTS: Final = frozenset({"", ".", ".."})
"""Parts of a prefix that name no part of an object's key."""
_DISCARDED: Final = re.compile(rf"{TRASH}/(?P<day>\d{{4}}-\d\d-\d\d)/(?P<key>{KEY.pattern})")


class ObjectStore:
    """Segments as objects below a prefix of a bucket."""

    def __init__(self, url: str, endpoint: str = "", region: str = "") -> None:
        """url: `s3://bucket/prefix`. endpoint: of a store that is not Amazon's.

        Raises SettingError.
        """
        parts = urlsplit(url)
        if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
            raise SettingError("store.bucket_url", url=url[:200])
        self.shown = url
        self._refusal: Callable[[], Exception] | None = None
        self._checker: int | None = None  # the thread that may pass
        prefix = parts.path.strip("/")
        if prefix and not _NO_PARTS.isdisjoint(prefix.split("/")):
            raise SettingError("store.bucket_prefix", url=url[:200])
        try:
            self._store = S3Store(
                parts.netloc,
                prefix=prefix or None,
                endpoint=endpoint or None,
                region=region or None,
                virtual_hosted_style_request=False,
                client_options={"allow_http": endpoint.startswith("http://"), "timeout": "60s"},
                retry_config={"max_retries": 5},
            )
        except BaseError as error:
            raise SettingError("store.bucket_refused", url=url, why=_sentence(error)) from error

    @property
    def is_barred(self) -> bool:
        """Return whether only the marks of this store may be used."""
        return self._refusal is not None

    def bar(self, refusal: Callable[[], Exception]) -> None:
        """Refuse all that is asked of segments and trash from now on, with this error."""
        self._refusal = refusal

    def unbar(self) -> None:
        """Allow everything again."""
        self._refusal = None

    @contextlib.contextmanager
    def opened_for_check(self) -> Iterator[None]:
        """Open the store for this thread, though it is barred for others."""
        self._checker = threading.get_ident()
        try:
            yield
        finally:
            self._checker = None

    @property
    def is_barred_here(self) -> bool:
        """Return whether this thread may use no more than the marks of this store."""
        return self.is_barred and self._checker != threading.get_ident()

    def refuse_if_barred(self) -> None:
        """Raise the error of `bar` while it holds."""
        refusal = self._refusal
        if refusal is not None and self._checker != threading.get_ident():
            raise refusal()

    def put(self, source: Path, key: str) -> None:
        """Upload a file by parts."""
        with self._as_busy("write", key):
            obstore.put(
                self._store,
                key,
                source,
                use_multipart=True,
                chunk_size=PART_BYTES,
                max_concurrency=PARTS_AT_ONCE,
            )
            kept = obstore.head(self._store, key)["size"]
        sent = source.stat().st_size
        if kept != sent:
            self.delete(key)
            raise BusyError(
                "store.object_incomplete",
                retry_after_s=60,
                key=f"{self.shown}/{key}",
                stored_bytes=kept,
                sent_bytes=sent,
            )

    def replace(self, source: Path, key: str) -> None:
        """Upload a file over what there is: an object is replaced when its upload is complete."""
        self.put(source, key)

    def size(self, key: str) -> int | None:
        """Return the size of an object."""
        try:
            with self._as_busy("find", key):
                return int(obstore.head(self._store, key)["size"])
        except FileNotFoundError:
            return None

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all segments."""
        found: dict[str, int] = {}
        with self._as_busy("list", "/"):
            for batch in obstore.list(self._store, chunk_size=1000):
                found.update({one["path"]: int(one["size"]) for one in batch})
        # Marks of the installation and the trash lie beside them.
        return {key: size for key, size in found.items() if KEY.fullmatch(key)}

    def open(self, key: str) -> BinaryIO:
        """Return a file that asks for the ranges that are read."""
        try:
            with self._as_busy("read", key):
                size_bytes = obstore.head(self._store, key)["size"]
        except FileNotFoundError as error:
            raise StoreError("segments.file_missing", key=key, store=self.shown) from error
        ranges = _Ranges(self, key, size_bytes)
        return cast("BinaryIO", io.BufferedReader(ranges, BUFFER_BYTES))

    def has(self, key: str) -> bool:
        """Return whether an object is here."""
        try:
            with self._as_busy("find", key):
                obstore.head(self._store, key)
        except FileNotFoundError:
            return False
        return True

    def path(self, key: str) -> Path | None:
        """Return None: no web server in front finds the bytes here."""
        return None

    def delete(self, key: str) -> None:
        """Delete an object; one that is gone is fine."""
        with contextlib.suppress(FileNotFoundError), self._as_busy("delete", key):
            obstore.delete(self._store, key)

    def listed(self) -> Iterator[tuple[str, float]]:
        """Yield the keys of all objects."""
        with self._as_busy("list", "/"):
            for batch in obstore.list(self._store, chunk_size=1000):
                for found in batch:
                    if KEY.fullmatch(found["path"]):
                        yield found["path"], found["last_modified"].timestamp()

    def discard(self, key: str, day: str) -> None:
        """Move an object below the prefix of a day's trash; one that is gone is fine."""
        with contextlib.suppress(FileNotFoundError), self._as_busy("move", key):
            obstore.rename(self._store, key, f"{TRASH}/{day}/{key}")

    def discarded(self) -> Iterator[tuple[str, str, int]]:
        """Yield day, key and bytes of each object in the trash."""
        with self._as_busy("list", f"{TRASH}/"):
            for batch in obstore.list(self._store, TRASH, chunk_size=1000):
                for found in batch:
                    match = _DISCARDED.fullmatch(found["path"])
                    if match:
                        yield match["day"], match["key"], found["size"]

    def take_back(self, day: str, key: str) -> None:
        """Move an object from the trash to where it was. Raises StoreError: it is not there."""
        try:
            with self._as_busy("move", key):
                obstore.rename(self._store, f"{TRASH}/{day}/{key}", key)
        except FileNotFoundError as error:
            raise StoreError("segments.not_in_trash", name=key, trash=self.shown) from error

    def delete_discarded(self, day: str, key: str) -> None:
        """Delete an object of the trash; one that is gone is fine."""
        name = f"{TRASH}/{day}/{key}"
        with contextlib.suppress(FileNotFoundError), self._as_busy("delete", name):
            obstore.delete(self._store, name)

    def open_discarded(self, day: str, key: str) -> BinaryIO:
        """Return an object of the trash as a file to seek and read in. Raises StoreError."""
        return self.open(f"{TRASH}/{day}/{key}")

    def read_mark(self, name: str) -> bytes | None:
        """Return the bytes of a mark; None: there is none. Raises BusyError."""
        try:
            with self._as_busy("read", name, of_mark=True):
                return bytes(obstore.get(self._store, name).bytes())
        except FileNotFoundError:
            return None

    def write_mark(self, name: str, data: bytes) -> None:
        """Write a mark, in place of one that is there. Raises BusyError."""
        with self._as_busy("write", name, of_mark=True):
            obstore.put(self._store, name, data)

    def remove_mark(self, name: str) -> None:
        """Delete a mark; one that is gone is fine. Raises BusyError."""
        with contextlib.suppress(FileNotFoundError), self._as_busy("delete", name, of_mark=True):
            obstore.delete(self._store, name)

    def range(self, key: str, start: int, end: int) -> bytes:
        """Return the bytes [start, end) of an object."""
        with self._as_busy("read", key):
            return bytes(obstore.get_range(self._store, key, start=start, end=end))

    @contextlib.contextmanager
    def _as_busy(self, what: str, key: str, *, of_mark: bool = False) -> Iterator[None]:
        if not of_mark:
            self.refuse_if_barred()
        try:
            yield
        except FileNotFoundError:
            raise
        except (BaseError, OSError) as error:
            raise BusyError(
                f"store.cannot_{what}",
                retry_after_s=60,
                store=self.shown,
                key=key,
                why=_sentence(error),
            ) from error


class _Ranges(io.RawIOBase):
    """An object as a file to seek and read in."""

    def __init__(self, store: ObjectStore, key: str, size_bytes: int) -> None:
        self._store = store
        self._key = key
        self._size_bytes = size_bytes
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset of the object."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size_bytes}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readall(self) -> bytes:
        # What is inherited asks for 8 KB at a time.
        """Return the rest of the object."""
        data = self._store.range(self._key, self._at, self._size_bytes) if self._left else b""
        self._at += len(data)
        return data

    @property
    def _left(self) -> bool:
        return self._at < self._size_bytes

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # as CPython's own readers
        """Fill a buffer; return how many bytes it got."""
        end = min(self._at + len(buffer), self._size_bytes)
        if end <= self._at:
            return 0
        data = self._store.range(self._key, self._at, end)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _sentence(error: Exception) -> str:
    """Return the first line of an error, without parts that could hold a secret."""
    return str(error).splitlines()[0][:200]
