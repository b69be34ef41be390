"""The server list (M1) in force, as a file: the agent resumes it after a crash.

Invariant: `list.gz` is a list that was read to its end without an error, and is on the disk before
anybody acts on it. The file is as it came, compressed; it is read in pieces. An agent that starts
with it still needs a new permit before its first request.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agent.errors import LinkError
from agent.link.poller import ListNumber
from agent.settings.home import PART, full_disk_said, sync_folder
from shared.errors import FormatError, LimitError
from shared.wire.orders import ListHead, Order, orders
from shared.wire.server_list import decode

__all__ = ["ManagerList"]

CHUNK_BYTES: Final = 64 * 1024


class ManagerList:
    """The file of the list in force, and the way a new one replaces it."""

    def __init__(self, path: Path, *, limit_bytes: int) -> None:
        """limit_bytes: of a list, compressed and decoded."""
        self._path = path
        self.limit_bytes = limit_bytes

    @property
    def new_list_path(self) -> Path:
        """Return the path to which a new list is streamed before `accept`."""
        return self._path.with_name(self._path.name + PART)

    def held(self) -> ListNumber:
        """Return which list is in force; none, or an unreadable one, is (0, 0)."""
        try:
            head = next(self._read(self._path), None)
        except (FileNotFoundError, FormatError, LimitError):
            return ListNumber()
        return _held(head) or ListNumber()

    def orders(self) -> Iterator[Order]:
        """Yield the orders of the list in force; nothing where there is none."""
        if self.held() == ListNumber():
            return
        for item in self._read(self._path):
            if isinstance(item, Order):
                yield item

    def accept(self) -> ListNumber:
        """Put the list that came in force, and return which it is.

        Raises LinkError for one that is not whole, or does not say its round and generation, and
        DiskFullError; the list before it stays in force.
        """
        try:
            items = self._read(self.new_list_path)
            held = _held(next(items, None))
            for _ in items:
                pass
        except (FormatError, LimitError) as error:
            self.new_list_path.unlink(missing_ok=True)
            raise LinkError("agent_errors.list_unusable", problem=error.message) from error
        if held is None:
            self.new_list_path.unlink(missing_ok=True)
            raise LinkError("agent_errors.list_without_number")
        with full_disk_said(self._path):
            handle = os.open(self.new_list_path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
            self.new_list_path.replace(self._path)
            sync_folder(self._path.parent)
        return held

    def drop(self) -> None:
        """Forget the list; the manager is asked for it again."""
        self._path.unlink(missing_ok=True)
        sync_folder(self._path.parent)

    def _read(self, path: Path) -> Iterator[ListHead | Order]:
        with path.open("rb") as file:
            chunks = iter(lambda: file.read(CHUNK_BYTES), b"")
            yield from orders(decode(chunks, limit_bytes=self.limit_bytes))


def _held(head: ListHead | Order | None) -> ListNumber | None:
    if not isinstance(head, ListHead) or head.round is None or head.generation is None:
        return None
    return ListNumber(head.round, head.generation)
