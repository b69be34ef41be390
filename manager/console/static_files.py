"""Style, script and icons: read once, served from memory, cached by browsers for ever.

Invariant: only files that lie in `static` when the manager starts have an address, and the address
changes with the content. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manager.console.requests.query import check_query
from manager.errors import NotFoundError
from shared.frozen import frozen

__all__ = ["asset_url", "icon_text", "static_route"]

QUERY: Final = ("v",)
FOLDER: Final = Path(__file__).parent / "static"
TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)


@frozen
class Asset:
    """A file with its encoding and headers, ready to send."""

    data: bytes
    packed: bytes
    media_type: str
    digest: str


@cache
def _assets() -> dict[str, Asset]:
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        media_type = TYPES.get(path.suffix)
        if media_type is None or not path.is_file():
            continue
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()[:16]
        packed = gzip.compress(data, mtime=0)
        found[path.relative_to(FOLDER).as_posix()] = Asset(data, packed, media_type, digest)
    return found


def asset_url(name: str) -> str:
    """Return the address of a file of ours."""
    return f"/console/static/{name}?v={_assets()[name].digest}"


@cache
def icon_text(name: str) -> str:
    """Return an icon's SVG to stand in a page, hidden from who listens to it."""
    text = _assets()[f"vendor/icons/{name}.svg"].data.decode()
    opened = _COMMENT.sub("", text).strip()
    return opened.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1)


def static_route() -> Route:
    """Return the route of all files; they are public, as in the repository."""

    async def endpoint(request: Request) -> Response:
        """Send a file with its digest and type."""
        check_query(request.query_params.multi_items(), QUERY)
        asset = _assets().get(request.path_params["name"])
        if asset is None:
            raise NotFoundError("console.unknown_file", path=request.url.path[:200])
        headers = {
            "Cache-Control": "public, max-age=31536000, immutable",
            "ETag": f'"{asset.digest}"',
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return Response(asset.packed, media_type=asset.media_type, headers=headers)
        return Response(asset.data, media_type=asset.media_type, headers=headers)

    return Route("/static/{name:path}", endpoint, methods=["GET"], name="static")
