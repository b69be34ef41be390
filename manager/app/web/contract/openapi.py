"""The OpenAPI 3.1 document: what FastAPI makes of the routes, and all that they do not say.

FastAPI documents the answer of success, and 422 for input that does not fit, which this manager
answers by 400. Added here, to each operation by what it is: refusals with their code and sentence,
HEAD beside GET, and that bodies have no other keys. Invariant: a status that an operation can
answer is documented; schemathesis holds it to that (`tests/e2e/manager/test_contract.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI

from shared.errors import Fault
from shared.wire.problems import PROBLEM_JSON

__all__ = ["documented"]

REFUSAL: Final = "Refusal"
BAD_REQUEST: Final = 400
HEAD_TOO_LARGE: Final = 431
OUR_FAULT: Final = 500
_METHODS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})

_ALL: Final = (400, 405, 414, 431, 500, 503)
_KNOWN_CALLERS: Final = (401, 403)
_WITH_INPUT: Final = (404,)
_CHANGES: Final = (409, 413)
_WITH_BODY: Final = (408, 413, 415, 429)
_OF_TAG: Final[dict[str, tuple[int, ...]]] = {
    "captures": (410, 429),
    "WASAPI": (410, 429),
    "uploads of segments (tus 1.0)": (408, 409, 410, 412, 413, 415, 423, 429),
    "the five messages": (409, 413, 429),
}
_OF_PATH: Final[dict[str, tuple[int, ...]]] = {
    "/api/v1/enrol": (401, 403),
    "/api/v1/login": (401, 403, 429),
    "/api/v1/sync": (409, 426, 429),
    "/servlets/record": (408,),
    "/servlets/submitlog": (408,),
    "/api/v1/hosts/import": (408, 413, 415),
    "/api/v1/hosts/resolutions": (408, 413, 415),
    "/api/v1/lists/import": (408, 413, 415),
    "/api/v1/releases/bundles": (408, 413, 415),
}
_SAID: Final[dict[int, str]] = {
    400: "The request does not follow its grammar; `code` and `detail` say where.",
    401: "No key or token was sent, or an unknown one.",
    403: "The caller may not do this, or others can read the connection.",
    404: "Not found.",
    405: "The address does not support this method; `Allow` lists those it supports.",
    408: "The body arrived too slowly; send it again.",
    409: "It contradicts the current state, or has changed since it was shown.",
    410: "It was removed.",
    412: "This version of tus is not supported.",
    413: "Larger than a limit.",
    414: "The address has too many parameters.",
    415: "The media type of the body is not supported.",
    423: "Another request is writing it; try again in a few seconds.",
    426: "This protocol version is no longer supported.",
    429: "Too many requests; `Retry-After` says when to try again.",
    431: "The head of the request is too large; send fewer or shorter fields.",
    460: "The bytes have another digest than declared.",
    500: "The manager failed; its log has the details under the id of the request.",
    503: "No room, no database, or too busy; `Retry-After` says when to try again.",
    507: "No room for the file.",
}
_TUS: Final = (460, 507)
_REGISTERED: Final = frozenset(int(status) for status in HTTPStatus)
_HEADERS: Final[dict[int, dict[str, Any]]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    405: {"Allow": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"schema": {"type": "integer"}}},
    503: {"Retry-After": {"schema": {"type": "integer"}}},
}


def documented(app: FastAPI) -> dict[str, Any]:
    """Return the document of an application; it is made once."""
    if app.openapi_schema is None:
        document = FastAPI.openapi(app)
        _complete(document)
        app.openapi_schema = document
    return app.openapi_schema


def _complete(document: dict[str, Any]) -> None:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas[REFUSAL] = _refusal()
    responses = components.setdefault("responses", {})
    for path, item in document["paths"].items():
        _resolve_path(path, item)
        for method, operation in _operations(item):
            operation["responses"].pop("422", None)
            for status in _statuses(path, method, operation):
                name = _named(path, status)
                responses.setdefault(name, _response(path, status))
                operation["responses"].setdefault(
                    str(status), {"$ref": f"#/components/responses/{name}"}
                )
        _add_head(item)
    _close(document)
    _widen_tuples(document)


def _operations(item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((method, value) for method, value in item.items() if method in _METHODS)


def _resolve_path(path: str, item: dict[str, Any]) -> None:
    """Declare parameters of the path where an operation does not read them."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    for _, operation in _operations(item):
        there = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
        for name in names:
            if name not in there:
                operation.setdefault("parameters", []).append(
                    {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                )


def _statuses(path: str, method: str, operation: dict[str, Any]) -> list[int]:
    """Return the refusals that an operation can answer."""
    if method == "options":
        return [400, *_KNOWN_CALLERS, OUR_FAULT]
    found = {*_ALL, *_OF_PATH.get(path, ())}
    if operation.get("security"):
        found.update(_KNOWN_CALLERS)
    if operation.get("parameters") or operation.get("requestBody"):
        found.update(_WITH_INPUT)
    if method not in ("get", "head"):
        found.update(_CHANGES)
    if operation.get("requestBody"):
        found.update(_WITH_BODY)
    for tag in operation.get("tags", ()):
        found.update(_OF_TAG.get(tag, ()))
        if tag.startswith("uploads"):
            found.update(_TUS)
    return sorted(found)


def _named(path: str, status: int) -> str:
    phrase = HTTPStatus(status).phrase if status in _REGISTERED else f"Status {status}"
    return phrase.title().replace(" ", "").replace("-", "") + ("" if _is_json(path) else "Text")


def _is_json(path: str) -> bool:
    return path.startswith("/api/")


def _response(path: str, status: int) -> dict[str, Any]:
    content: dict[str, Any] = {"text/plain": {"schema": {"type": "string"}}}
    if _is_json(path) and status != HEAD_TOO_LARGE:
        said = {PROBLEM_JSON: {"schema": {"$ref": f"#/components/schemas/{REFUSAL}"}}}
        # What is no HTTP is answered before anybody knows what its address speaks.
        content = {**said, **content} if status == BAD_REQUEST else said
    code = {"X-Error-Code": {"schema": {"type": "string"}, "description": "for programs"}}
    headers = {**code, **_HEADERS.get(status, {})}
    return {"description": _SAID[status], "headers": headers, "content": content}


def _refusal() -> dict[str, Any]:
    return {
        "type": "object",
        "title": REFUSAL,
        "description": "A problem of RFC 9457. Programs read `code`.",
        "required": ["type", "title", "status", "detail", "code", "kind", "params"],
        "properties": {
            "type": _text("a name of the problem: its code (RFC 9457)"),
            "title": _text("the phrase of the status"),
            "status": {"type": "integer"},
            "detail": _text("the sentence, in the language of Accept-Language"),
            "code": _text(f"such as {', '.join(list(Fault)[:6])}"),
            "kind": _text("of the refusal, such as not_found or busy"),
            "params": {"type": "object", "description": "parameters of the sentence, by name"},
            "line": {"type": "integer", "description": "of the body, where one is at fault"},
            "name": _text("of the unknown parameter or key"),
            "nearest": {"type": ["string", "null"], "description": "the name probably meant"},
            "known": {"type": "array", "items": {"type": "string"}},
        },
    }


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _add_head(item: dict[str, Any]) -> None:
    """Document HEAD, which each GET has."""
    got = item.get("get")
    if got is None or "head" in item:
        return
    head = deepcopy(got)
    head["operationId"] = f"head_{got['operationId']}"
    head["summary"] = f"{got.get('summary', '')}: headers only"
    head["description"] = "As GET, without the body."
    references = head["responses"]
    head["responses"] = {
        status: {"description": _description(status, said)} for status, said in references.items()
    }
    item["head"] = head


def _description(status: str, said: dict[str, Any]) -> str:
    return str(said.get("description") or _SAID[int(status)])


def _close(document: dict[str, Any]) -> None:
    """Forbid further keys in every object of a request's body."""
    schemas = document["components"]["schemas"]
    waiting = [
        media["schema"]
        for item in document["paths"].values()
        for _, operation in _operations(item)
        for kind, media in operation.get("requestBody", {}).get("content", {}).items()
        if kind == "application/json" and "schema" in media and not _is_open(operation)
    ]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
            continue
        if not isinstance(one, dict):
            continue
        reference = one.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            seen.add(reference)
            waiting.append(schemas[reference.rpartition("/")[2]])
        if one.get("type") == "object" and "properties" in one:
            one.setdefault("additionalProperties", False)
        waiting += one.values()


def _widen_tuples(part: Any) -> None:
    """Describe arrays with places by `items` too: few readers know `prefixItems`."""
    if isinstance(part, dict):
        places = part.pop("prefixItems", None)
        if places is not None:
            part["items"] = (
                places[0] if all(one == places[0] for one in places) else {"anyOf": places}
            )
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            _widen_tuples(each)


def _is_open(operation: dict[str, Any]) -> bool:
    """Return whether unknown keys of a body are passed over: of sync, so that newer agents work."""
    return str(operation.get("operationId", "")).startswith("sync_")
