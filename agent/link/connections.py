"""The open connections to the manager, made again where their proxy or authorities changed.

What they are made with: the proxy, and the authorities that judge the manager's certificate. Both
change while an agent runs for months: a site's proxy gets another password, a file of authorities
is replaced, the system's are updated. So `renew` may be called at any time; it is called too after
each certificate that was not believed.
Invariant: an exchange ends on the connections on which it began.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx

from agent.errors import HomeError, LinkError

__all__ = ["Connections", "certificate_error"]


class _OpenConnections:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.in_use = 0
        self.stale = False


class Connections:
    """The way of one agent to one manager."""

    def __init__(self, make: Callable[[], httpx.AsyncClient]) -> None:
        """make: opens new connections; raises HomeError."""
        self._make = make
        self._newest = _OpenConnections(make())

    def renew(self) -> None:
        """Replace the connections before the next exchange."""
        self._newest.stale = True

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[httpx.AsyncClient]:
        """Give the connections for one exchange. Raises LinkError: no new ones can be made."""
        chosen = await self._chosen()
        chosen.in_use += 1
        try:
            yield chosen.http
        finally:
            chosen.in_use -= 1
            if chosen is not self._newest and not chosen.in_use:
                await chosen.http.aclose()

    async def close(self) -> None:
        """Close the connections."""
        await self._newest.http.aclose()

    async def _chosen(self) -> _OpenConnections:
        old = self._newest
        if old.stale:
            try:
                self._newest = _OpenConnections(self._make())
            except HomeError as error:  # a file that is being written, or was removed
                raise LinkError(error.message) from error
            if not old.in_use:
                await old.http.aclose()
        return self._newest


def certificate_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """Return why a certificate was not believed, however the error is wrapped; None: it was."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None
