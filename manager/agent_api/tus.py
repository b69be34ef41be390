"""Uploads of segments by tus 1.0: creation, checksum, expiration, termination, method override.

Any tus client may send: the agent's key in `Authorization`, and `filename` and `sha256` in the
metadata (docs/protocol.md). Thin: headers in, one call of the upload desk, headers out.
Beyond tus: the answer to a creation has `Upload-Offset`, because the file may be known; a block
with a wrong checksum moves the offset back, and a block that the manager already has moves it
forward; and GET returns the outcome of the file.
Source: https://tus.io/protocols/resumable-upload, version 1.0.0.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from email.utils import formatdate
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from manager.agent_api.authentication import Agent, Services
from manager.errors import PrsmError
from manager.intake.uploads.upload_errors import ChecksumError, OffsetError, TakenOverError
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.segments.uploads import NewUpload, TransferRow, offset, status_of
from manager.store import PartBusyError, StoreFullError
from shared.errors import FormatError
from shared.messages import Message, spoken_language
from shared.wire.problems import PROBLEM_JSON, problem_of
from shared.wire.uploads import CHECKSUMS, TUS, UploadStatus, read_metadata

__all__ = ["router"]

EXTENSIONS: Final = "creation,creation-with-upload,checksum,expiration,termination"
BODY_TYPE: Final = "application/offset+octet-stream"
HERE: Final = "/api/v1/uploads"
OVERRIDDEN: Final = frozenset({"PATCH", "HEAD", "DELETE"})
_CODES: Final = {
    400: "format",
    405: "method_not_allowed",
    409: "offset",
    412: "tus_version",
    415: "content_type",
    423: "locked",
    460: "checksum",
    507: "no_room",
}
_RESUMABLE: Final = {"Tus-Resumable": TUS}

_VERSION: Final[dict[str, Any]] = {
    "name": "Tus-Resumable",
    "in": "header",
    "required": True,
    "schema": {"type": "string", "const": TUS},
}
_BYTES: Final[dict[str, Any]] = {
    "required": False,
    "content": {BODY_TYPE: {}, "application/octet-stream": {}, "*/*": {}},
}


def _headers(*names: str, **more: Any) -> dict[str, Any]:
    """Return what OpenAPI says of an operation's headers, all of them texts and required."""
    text = {"type": "string"}
    fields = [{"name": name, "in": "header", "required": True, "schema": text} for name in names]
    return {"parameters": [_VERSION, *fields], **more}


router: Final = APIRouter(prefix=HERE, tags=["uploads of segments (tus 1.0)"])


@router.options("", status_code=204)
@router.options("/{key}", status_code=204)
async def abilities(services: Services) -> Response:
    """Return the abilities of this server; no key is needed."""
    return Response(
        status_code=204,
        headers={
            **_RESUMABLE,
            "Tus-Version": TUS,
            "Tus-Extension": EXTENSIONS,
            "Tus-Checksum-Algorithm": ",".join(CHECKSUMS),
            "Tus-Max-Size": str(services.desk.size_most),
        },
    )


@router.post(
    "",
    status_code=201,
    openapi_extra=_headers("Upload-Length", "Upload-Metadata", requestBody=_BYTES),
)
async def create(request: Request, services: Services, agent: Agent) -> Response:
    """Begin an upload. The same file again is the same upload, also where it is done."""
    if refusal := _unspoken(request):
        return refusal
    try:
        row = await services.desk.begin(agent, _asked(request))
        if _has_body(request) and row.state == "receiving":
            row = await _taken(request, services, agent, row.key, offset(row))
    except PrsmError as error:
        return _refused(error)
    return Response(
        status_code=201,
        headers={**_at(row, services), "Location": f"{HERE}/{row.key}"},
    )


@router.head("/{key}", openapi_extra=_headers())
async def look(request: Request, services: Services, agent: Agent, key: str) -> Response:
    """Return the offset of an upload."""
    if refusal := _unspoken(request):
        return refusal
    try:
        row = await services.desk.look(agent, key)
    except (PartBusyError, ChecksumError) as error:
        return _refused(error)
    return Response(headers={**_at(row, services), "Upload-Length": str(row.size_bytes)})


@router.get("/{key}")
async def status(services: Services, agent: Agent, key: str) -> UploadStatus:
    """Return the state of an upload; only after `accepted` may the sender delete its file."""
    return status_of(await services.desk.status(agent, key))


@router.patch(
    "/{key}", status_code=204, openapi_extra=_headers("Upload-Offset", requestBody=_BYTES)
)
async def append(request: Request, services: Services, agent: Agent, key: str) -> Response:
    """Take bytes at the offset that was told last."""
    if refusal := _unspoken(request):
        return refusal
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != BODY_TYPE:
        return _said(415, Message("fleet.tus_content_type", type=BODY_TYPE))
    start = _number(request, "upload-offset")
    if start is None:
        return _said(400, Message("fleet.tus_offset"))
    try:
        row = await _taken(request, services, agent, key, start)
    except PrsmError as error:
        return _refused(error)
    return Response(status_code=204, headers=_at(row, services))


@router.delete("/{key}", status_code=204, openapi_extra=_headers())
async def terminate(request: Request, services: Services, agent: Agent, key: str) -> Response:
    """Terminate an upload and discard its received bytes."""
    if refusal := _unspoken(request):
        return refusal
    await services.desk.drop(agent, key)
    return Response(status_code=204, headers=_RESUMABLE)


@router.post(
    "/{key}",
    status_code=204,
    openapi_extra=_headers("X-HTTP-Method-Override", requestBody=_BYTES),
)
async def overridden(request: Request, services: Services, agent: Agent, key: str) -> Response:
    """PATCH, HEAD or DELETE by `X-HTTP-Method-Override`, where a proxy lets only POST through."""
    method = request.headers.get("x-http-method-override", "").strip().upper()
    if method not in OVERRIDDEN:
        known = sorted(OVERRIDDEN)
        return _said(405, Message("fleet.tus_method", method=method[:20], methods=known))
    act = {"PATCH": append, "HEAD": look, "DELETE": terminate}[method]
    return await act(request, services, agent, key)


async def _taken(
    request: Request, services: Services, agent: AgentIdentity, key: str, start: int
) -> TransferRow:
    return await services.desk.take(
        agent,
        key,
        start,
        _body(request),
        request.headers.get("upload-checksum", ""),
        _number(request, "content-length"),
    )


async def _body(request: Request) -> AsyncIterator[bytes]:
    async for chunk in request.stream():
        if chunk:
            yield chunk


def _asked(request: Request) -> NewUpload:
    if request.headers.get("upload-defer-length"):
        raise FormatError("fleet.tus_deferred_length")
    size_bytes = _number(request, "upload-length")
    if size_bytes is None:
        raise FormatError("fleet.tus_length")
    values = read_metadata(request.headers.get("upload-metadata", ""))
    order = values.get("order", b"").decode("ascii", "replace")
    return NewUpload(
        values.get("filename", b"").decode("utf-8", "replace"),
        values.get("sha256", b"").decode("ascii", "replace"),
        size_bytes,
        values.get("blocks", b""),
        int(order) if order.isascii() and order.isdigit() and len(order) < 19 else None,
    )


def _has_body(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith(BODY_TYPE)


def _number(request: Request, name: str) -> int | None:
    text = request.headers.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _unspoken(request: Request) -> Response | None:
    """Return the answer to a request in a version of tus that is not spoken here."""
    version = request.headers.get("tus-resumable", "")
    if version == TUS:
        return None
    refusal = Message("fleet.tus_version", version=version[:20], spoken=TUS)
    return _said(412, refusal, {"Tus-Version": TUS})


def _at(row: TransferRow, services: Services) -> dict[str, str]:
    headers = {**_RESUMABLE, "Upload-Offset": str(offset(row))}
    if row.state == "receiving":
        headers["Upload-Expires"] = formatdate(services.desk.expires_ms(row) / 1000, usegmt=True)
    return headers


def _refused(error: PrsmError) -> Response:
    """Return tus's own status codes; raises the others, which are the whole manager's."""
    match error:
        case ChecksumError(offset=at):
            return _said(460, error.message, {"Upload-Offset": str(at)})
        case OffsetError(offset=at):
            return _said(409, error.message, {"Upload-Offset": str(at)})
        case TakenOverError() | PartBusyError():
            return _said(423, error.message, {"Retry-After": "5"})
        case StoreFullError():
            return _said(507, error.message, {"Retry-After": str(error.retry_after_s)})
        case _:
            raise error


def _said(status: int, message: Message, headers: Mapping[str, str] | None = None) -> Response:
    code = _CODES[status]
    problem = problem_of(status, message, spoken_language(), kind=code, code=code)
    said = {**_RESUMABLE, "X-Error-Code": code, **(headers or {})}
    return JSONResponse(problem, status, said, PROBLEM_JSON)
