"""What every address of the manager takes and refuses, one rule for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute
from openapi_spec_validator import OpenAPIV31SpecValidator

from manager.app.web.contract.request_validation import declared
from manager.app.web.web import ROUTES
from manager.distribution import read_query
from shared.errors import FormatError
from tests.manager.running import Running, running

OPERATIONS = sorted(
    (method, route.path_format)
    for route in ROUTES
    if isinstance(route, APIRoute)
    for method in route.methods or ()
)


@pytest.fixture(scope="module")
def prsm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a manager with an empty database."""
    with running(tmp_path_factory.mktemp("contract")) as opened:
        yield opened


@pytest.fixture(scope="module")
def document(prsm: Running) -> dict[str, Any]:
    """Return the OpenAPI document."""
    found: dict[str, Any] = prsm.anybody.get("/api/v1/openapi.json").json()
    return found


def address(path: str) -> str:
    """Return an address of a route."""
    return re.sub(r"{[^}]+}", "1", path)


@pytest.mark.parametrize(("method", "path"), [*OPERATIONS, ("POST", "/api/v1/sync")])
def test_an_unknown_query_parameter_is_refused_by_name(
    prsm: Running, method: str, path: str
) -> None:
    """Each operation of each API refuses what it does not know, before anything is done."""
    answer = prsm.local.send(method, f"{address(path)}?no-such-name=1")
    assert answer.status_code == 400
    assert answer.headers["x-error-code"] == "unknown_parameter"
    if method != "HEAD":
        assert "'no-such-name': unknown query parameter" in answer.text


def test_the_nearest_name_and_all_known_names_are_said(prsm: Running) -> None:
    """A hyphen for an underscore once returned everything."""
    answer = prsm.anybody.get("/api/v1/pages.zip?updated-since=2026").json()
    assert answer["code"] == "unknown_parameter"
    assert (answer["name"], answer["nearest"]) == ("updated-since", "updated_since")
    assert answer["known"] == ["host", "one_of_each", "since", "until", "updated_since", "url"]
    assert "did you mean updated_since?" in answer["detail"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=5&limit=6", "repeated_parameter"),
        ("limit=true", "invalid_value"),
        ("limit=5.0", "invalid_value"),
        ("limit=1_0", "invalid_value"),
        ("limit=+5", "invalid_value"),
        ("limit=%205", "invalid_value"),
        ("limit=%D9%A3", "invalid_value"),
        ("limit=", "invalid_value"),
        ("limit=0", "invalid_value"),
        ("offset=99999999999999999999", "invalid_value"),
    ],
)
def test_numbers_in_an_address_are_written_as_numbers(prsm: Running, query: str, code: str) -> None:
    """No spelling of something else is taken for a whole number, and none is taken twice."""
    answer = prsm.local.get(f"/api/v1/hosts?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, code)


@pytest.mark.parametrize("word", ["1", "0", "yes", "True", "on", ""])
def test_booleans_in_an_address_are_true_or_false(prsm: Running, word: str) -> None:
    """A number is no boolean."""
    answer = prsm.local.post(f"/api/v1/lists/import?add_hosts={word}", b"#Agent=a\n")
    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_value"
    assert "true or false" in answer.json()["detail"]


BODIES = [
    ("/api/v1/rounds", {"seed": True}),
    ("/api/v1/rounds", {"seed": "5"}),
    ("/api/v1/rounds", {"seed": 5.5}),
    ("/api/v1/hosts/split", {"host": "http://a.jp/", "pieces": True}),
    ("/api/v1/hosts/split", {"host": "http://a.jp/", "interval_s": False}),
    ("/api/v1/hosts/split", {"host": "http://a.jp/", "dry_run": 1}),
    ("/api/v1/hosts/split", {"host": 7}),
    ("/api/v1/hosts/split", {"host": "http://a.jp/", "dry_run": "true"}),
    ("/api/v1/releases/agents/a/canary", {"canary": 1}),
    ("/api/v1/fleet-rules/limits", {"parallel_hosts": True}),
]


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_a_value_of_another_type_is_refused(
    prsm: Running, path: str, body: dict[str, object]
) -> None:
    """In JSON `true` is no number, `1` no boolean, and digits in quotes are a text."""
    answer = prsm.local.post(path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_value"), answer.text


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_has_not_are_refused(prsm: Running, number: str) -> None:
    """Python writes them, and its readers take them."""
    body = b'{"host": "http://a.jp/", "interval_s": %b}' % number.encode()
    as_json = {"Content-Type": "application/json"}
    answer = prsm.local.post("/api/v1/hosts/split", body, headers=as_json)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_value")


def test_an_unknown_key_of_a_body_is_refused_by_name(
    prsm: Running, document: dict[str, Any]
) -> None:
    """Each operation with a body of JSON, but for sync, whose newer agents may say more."""
    checked = 0
    for path, item in document["paths"].items():
        content = item.get("post", {}).get("requestBody", {}).get("content", {})
        if "application/json" not in content or path == "/api/v1/sync":
            continue
        answer = prsm.local.post(address(path), json={"no_such_key": 1})
        assert answer.status_code == 400, path
        assert answer.headers["x-error-code"] == "unknown_parameter", path
        checked += 1
    assert checked > 40


def test_bodies_of_another_media_type_are_415(prsm: Running, document: dict[str, Any]) -> None:
    """A form, or no type at all, is not read as JSON; no operation takes it for an empty body."""
    for path, item in document["paths"].items():
        content = item.get("post", {}).get("requestBody", {}).get("content", {})
        if "*/*" in content or not content or path.startswith("/api/v1/uploads"):
            continue
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = prsm.local.post(address(path), b"a=1", headers=form)
        assert answer.status_code == 415, path
        assert answer.headers["x-error-code"] == "content_type"


def test_a_body_where_none_is_read_is_refused(prsm: Running, document: dict[str, Any]) -> None:
    """What nobody reads would be lost without a word; an empty object says nothing."""
    for path, item in document["paths"].items():
        if "post" not in item or "requestBody" in item["post"] or "/uploads" in path:
            continue
        answer = prsm.local.post(address(path), json={"dry_run": True})
        assert answer.status_code == 400, path
        assert "accepts no body" in answer.text


def test_the_document_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    """As the specification's own schema says."""
    assert document["openapi"].startswith("3.1")
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_every_operation_documents_its_refusals(document: dict[str, Any]) -> None:
    """Statuses of the kind of operation; 422 is never answered and never documented."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            there = set(operation["responses"])
            if method == "options":
                continue
            assert {"400", "405", "500", "503"} <= there, (method, path)
            assert "422" not in there
            if operation.get("security"):
                assert {"401", "403"} <= there, (method, path)
            if method in ("post", "patch", "delete"):
                assert {"409", "413"} <= there, (method, path)
            if "requestBody" in operation:
                assert {"404", "408", "413", "415"} <= there, (method, path)


def test_every_operation_is_documented(document: dict[str, Any]) -> None:
    """But for those of the web server in front, and leads to pages."""
    said = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    hidden = {
        (method, route.path_format)
        for route in ROUTES
        if isinstance(route, APIRoute) and not route.include_in_schema
        for method in route.methods or ()
    }
    assert set(OPERATIONS) - hidden <= said


def test_allow_lists_every_method_of_an_address(prsm: Running) -> None:
    """Of the API, of tus, of pages: as OPTIONS says it, and as a 405 does."""
    for path, wanted in (
        ("/api/v1/users", "GET, HEAD, OPTIONS, POST"),
        ("/api/v1/rounds", "GET, HEAD, OPTIONS, POST"),
        ("/api/v1/hosts/import", "OPTIONS, POST"),
        ("/api/v1/sync", "OPTIONS, POST"),
        ("/wasapi/v1/jobs", "GET, HEAD, OPTIONS, POST"),
        ("/servlets/record", "OPTIONS, POST"),
        ("/api/v1/segments/x", "GET, HEAD, OPTIONS"),
        ("/api/v1/uploads/x", "DELETE, GET, HEAD, OPTIONS, PATCH, POST"),
        ("/console/login", "GET, HEAD, OPTIONS, POST"),
        ("/healthz", "GET, HEAD, OPTIONS"),
    ):
        refused = prsm.anybody.send("PUT", path)
        assert (refused.status_code, refused.headers["allow"]) == (405, wanted), path
        if not path.startswith("/api/v1/uploads"):
            asked = prsm.anybody.send("OPTIONS", path)
            assert (asked.status_code, asked.headers["allow"]) == (204, wanted)
    assert prsm.anybody.send("OPTIONS", "/api/v1/none").status_code == 404


def test_head_is_get_without_a_body(prsm: Running) -> None:
    """With the same status and length, and the same refusals."""
    for path in (
        "/api/v1/users",
        "/api/v1/settings",
        "/api/v1/agents/none",
        "/api/v1/openapi.json",
    ):
        got, head = prsm.local.get(path), prsm.local.send("HEAD", path)
        assert head.status_code == got.status_code, path
        assert head.headers["content-length"] == got.headers["content-length"]
        assert head.content == b""
    assert prsm.local.send("HEAD", "/api/v1/hosts/import").status_code == 405


def test_what_is_declared_is_what_the_document_says(document: dict[str, Any]) -> None:
    """The check reads the same declarations as the document."""
    for route in ROUTES:
        if not isinstance(route, APIRoute) or not route.include_in_schema:
            continue
        for method in route.methods or ():
            said = document["paths"][route.path_format][method.lower()].get("parameters", [])
            names = {one["name"] for one in said if one["in"] == "query"}
            assert names == set(declared(route).query), (method, route.path_format)


def test_a_query_of_a_job_is_held_to_the_same_rules() -> None:
    """The text of a job's query is refused as an address is."""
    for query, part in (
        ("updated-since=2026", "did you mean updated_since?"),
        ("host=a&host=b", "given twice"),
        ("one_of_each=1", "true or false"),
        ("one_of_each=perhaps", "true or false"),
    ):
        with pytest.raises(FormatError, match=re.escape(part)):
            read_query(query)
    assert read_query("host=a&one_of_each=true").conditions.one_of_each
