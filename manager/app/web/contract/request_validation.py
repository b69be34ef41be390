"""Middleware around each route: refuses what the route does not declare.

It reads the declarations that FastAPI made of a route, so that a new parameter needs no word here.
Invariant: a value that passes has the type that OpenAPI names, in the spelling of JSON: `true` is
no number, `1` is no boolean, `5.0` in an address is no whole number.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manager.errors import UnknownFieldError, UnsupportedTypeError
from manager.intake.messages.message_check import UNKNOWN_KEY, JsonJob, check_json, mistakes_of
from manager.intake.messages.message_models import LargeMessage
from manager.intake.messages.messages import DIRECT_BYTES, FEW_FIELDS_BYTES, Gathered, MessageDesk
from shared.errors import Fault, FormatError
from shared.frozen import frozen

__all__ = ["Declared", "Identify", "declared", "strict"]

Identify = Callable[[Request], Awaitable[int]]
"""Returns the number of the sender of a request, or raises as the route would."""

JSON_TYPE: Final = "application/json"
ANY_TYPE: Final = "*/*"
_JSON_TYPES: Final = re.compile(r"application/[a-z0-9!#$&^_.-]+\+json")
NOTHING: Final = frozenset({b"", b"{}"})
SHOWN: Final = 60
LARGEST: Final = 2**63 - 1
"""Of a whole number that a database keeps."""
MOST_DIGITS: Final = 20
"""Python turns no more than some thousand digits into a number."""
_SPELLINGS: Final[dict[type, tuple[re.Pattern[str], str]]] = {
    bool: (re.compile(r"true|false"), "requests.parameter_boolean"),
    int: (re.compile(r"-?[0-9]+"), "requests.parameter_whole_number"),
    float: (
        re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"),
        "requests.parameter_number",
    ),
}


@frozen
class Declared:
    """Declared parameters of a route. query: names -> whether they may be repeated.

    scalars: of query and path, parameters that are numbers or booleans.
    """

    query: Mapping[str, bool]
    scalars: Mapping[str, type]


def declared(route: APIRoute) -> Declared:
    """Return what a route and its dependencies declare."""
    query: dict[str, bool] = {}
    scalars: dict[str, type] = {}
    for dependant in _all(route.dependant):
        for field in dependant.query_params:
            scalar, repeated = _kind(field.field_info.annotation)
            query[field.alias] = repeated
            if scalar is not None:
                scalars[field.alias] = scalar
        for field in dependant.path_params:
            scalar, _ = _kind(field.field_info.annotation)
            if scalar is not None:
                scalars[field.alias] = scalar
    return Declared(query, scalars)


def _all(dependant: Dependant) -> Iterator[Dependant]:
    yield dependant
    for each in dependant.dependencies:
        yield from _all(each)


def _kind(annotation: Any) -> tuple[type | None, bool]:
    """Return the number or boolean that a parameter is, and whether it is a list of them."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kind(get_args(annotation)[0])
    if origin in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        return _kind(parts[0]) if len(parts) == 1 else (None, False)
    if origin in (list, tuple, set, frozenset):
        return _kind(get_args(annotation)[0])[0], True
    return (annotation if annotation in _SPELLINGS else None), False


def strict(
    routes: Sequence[BaseRoute],
    identify: Identify | None = None,
    strangers: frozenset[str] = frozenset(),
) -> Sequence[BaseRoute]:
    """Put the check around each route of an API, once; return the routes.

    identify: of senders of more than `DIRECT_BYTES`; None: they are refused. strangers: paths that
    who shows nothing may call.
    """
    for route in routes:
        if isinstance(route, APIRoute) and not isinstance(route.app, _Strict):
            route.app = _Strict(route, None if route.path in strangers else identify)
    return routes


class _Strict:
    """ASGI application of one route behind its check."""

    def __init__(self, route: APIRoute, identify: Identify | None) -> None:
        self._app: ASGIApp = route.app
        self._identify = identify
        self._route = route
        self._declared = declared(route)
        field = route.body_field
        self._body = None if field is None else field._type_adapter
        self._model = None if field is None else field.field_info.annotation
        self._is_large = isinstance(self._model, type) and issubclass(self._model, LargeMessage)
        said = (route.openapi_extra or {}).get("requestBody")
        self._reads_stream = said is not None
        self._types = tuple(said["content"]) if said is not None else ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises FormatError, UnsupportedTypeError, RequestValidationError."""
        request = Request(scope, receive)
        self._check_query(request)
        for name, value in request.path_params.items():
            self._check_scalar(name, str(value))
        if self._body is None and (self._reads_stream or request.method != "POST"):
            if self._reads_stream:
                self._check_type(request)
            await self._app(scope, receive, send)
            return
        most_bytes, identify = self._most_bytes(request), self._identify
        desk = _desk_of(request)
        async with desk.gathered(request, most_bytes, identify) as gathered:
            if self._body is None:
                self._refuse_body(request, gathered.body)
            elif gathered.body:
                await self._check_body(request, desk, gathered)
            await self._app(scope, _again(gathered.body, request.receive), send)

    def _most_bytes(self, request: Request) -> int:
        """Return how long a body may be."""
        limits = request.app.state.admin_services.settings.limits
        if self._body is None:
            return DIRECT_BYTES
        return int(
            limits.request_bytes if self._is_large else min(limits.request_bytes, FEW_FIELDS_BYTES)
        )

    def _check_query(self, request: Request) -> None:
        known = self._declared.query
        given: dict[str, str] = {}
        for name, value in request.query_params.multi_items():
            if name not in known:
                raise UnknownFieldError("parameter", name, sorted(known))
            if name in given and not known[name]:
                raise FormatError(
                    "requests.repeated_parameter", Fault.REPEATED_PARAMETER, name=name
                )
            given[name] = value
            self._check_scalar(name, value)

    def _check_scalar(self, name: str, value: str) -> None:
        kind = self._declared.scalars.get(name)
        if kind is None:
            return
        pattern, refusal = _SPELLINGS[kind]
        if not pattern.fullmatch(value):
            raise FormatError(refusal, Fault.INVALID_VALUE, name=name, value=value[:SHOWN])
        if kind is int and (len(value) > MOST_DIGITS or abs(int(value)) > LARGEST):
            raise FormatError(
                "requests.number_too_large",
                Fault.INVALID_VALUE,
                name=name,
                value=value[:SHOWN],
                most=LARGEST,
            )

    def _check_type(self, request: Request) -> None:
        """Raise UnsupportedTypeError if the route does not read the declared type of a body."""
        kind = _media_type(request)
        if kind and kind not in self._types and ANY_TYPE not in self._types:
            raise UnsupportedTypeError(kind, self._types)

    async def _check_body(self, request: Request, desk: MessageDesk, given: Gathered) -> None:
        """Check a body of JSON, a large one in a worker process."""
        assert self._body is not None
        kind = _media_type(request)
        if kind != JSON_TYPE and not (kind.startswith("application/") and kind.endswith("+json")):
            raise UnsupportedTypeError(kind, (JSON_TYPE,))
        if given.sender is None:
            found = mistakes_of(self._body, given.body)
        else:
            job = JsonJob(given.body, self._model, sender=given.sender, cpu_s=desk.cpu_s)
            found = await desk.elsewhere(request, check_json, job)
        for each in found:
            if each["type"] in UNKNOWN_KEY:
                self._refuse_key(tuple(each["loc"]))
        if found:
            raise RequestValidationError(
                [{**each, "loc": ("body", *each["loc"])} for each in found]
            )

    def _refuse_body(self, request: Request, raw: bytes) -> None:
        """Raise FormatError for a body that the operation would not look at."""
        if raw.strip() not in NOTHING:
            raise FormatError(
                "requests.body_not_expected",
                Fault.UNKNOWN_PARAMETER,
                method=request.method,
                path=request.url.path[:200],
                size=len(raw),
            )

    def _refuse_key(self, place: tuple[int | str, ...]) -> None:
        field = self._route.body_field
        assert field is not None
        known = sorted(_keys(field.field_info.annotation)) if len(place) == 1 else []
        raise UnknownFieldError("key", ".".join(map(str, place)), known)


def _keys(annotation: Any) -> frozenset[str]:
    """Return the keys of a model, or of the one model of a union."""
    if get_origin(annotation) is Annotated:
        return _keys(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return frozenset().union(*map(_keys, get_args(annotation)))
    fields = getattr(annotation, "model_fields", None)
    if fields is None:
        fields = getattr(annotation, "__dataclass_fields__", {})
    return frozenset(fields)


def _desk_of(request: Request) -> MessageDesk:
    desk = request.app.state.messages
    assert isinstance(desk, MessageDesk)
    return desk


def _again(raw: bytes, behind: Receive) -> Receive:
    """Return a receiver that repeats a body that was read, and then continues with `behind`."""
    given = False

    async def receive() -> Message:
        """Return the body that was read, then later messages of the connection."""
        nonlocal given
        if given:
            return await behind()
        given = True
        return {"type": "http.request", "body": raw, "more_body": False}

    return receive


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
