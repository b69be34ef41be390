"""Writer of an upload: one request at a time, and a newer one replaces an older.

The sender often notices a broken connection first. So a request that continues the upload does not
wait until the server finds out: the request that holds the upload is asked to keep its bytes and to
leave. Between processes the lock of the part decides, and no request can be asked to leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from manager.store import PartBusyError

__all__ = ["UploadTurns"]

LEAVE_S: Final = 15.0


class _Holder:
    def __init__(self) -> None:
        self.leave = asyncio.Event()
        self.gone = asyncio.Event()


class UploadTurns:
    """The turns of one process, by upload."""

    def __init__(self) -> None:
        self._holders: dict[str, _Holder] = {}

    @asynccontextmanager
    async def take(self, key: str) -> AsyncIterator[asyncio.Event]:
        """Hold an upload while the block runs; the event says that a newer request wants it.

        Raises PartBusyError where the older request does not leave.
        """
        while (holder := self._holders.get(key)) is not None:
            holder.leave.set()
            try:
                async with asyncio.timeout(LEAVE_S):
                    await holder.gone.wait()
            except TimeoutError as error:
                raise PartBusyError("uploads.older_request") from error
        mine = self._holders[key] = _Holder()
        try:
            yield mine.leave
        finally:
            del self._holders[key]
            mine.gone.set()
