"""Addresses of this server as its clients reach it."""

from __future__ import annotations

from fastapi import Request

from manager.distribution.authentication import DistributionDoor

__all__ = ["at_address"]


def at_address(request: Request, door: DistributionDoor, path: str) -> str:
    """Return a path of this server with its scheme and host."""
    public = door.settings.server.public_url
    if public:
        return public.rstrip("/") + path
    scheme = "https" if request.state.line.is_tls else "http"
    return f"{scheme}://{request.url.netloc}{path}"
