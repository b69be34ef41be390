"""The pages of third parties: registered, given tokens, kept out, and what they take."""

from __future__ import annotations

import re

import pytest

from manager.operations.archive.selection_jobs import list_jobs, submit_job
from manager.operations.hosts.host_views import host_detail
from manager.operations.people.audit_log import audit_page
from manager.operations.people.clients import authenticate_client, issue_token, list_clients
from tests.manager.asgi import Caller
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS
from tests.manager.console.markup import read
from tests.manager.operations.world import ADMIN
from tests.manager.running import START_MS, Running

LIBRARY = "/console/client?name=library"
WEBDATA = "/wasapi/v1/webdata"


def _last(prsm: Running) -> tuple[str, str, str]:
    (row,) = audit_page(prsm.manager.db, limit=1)
    return row.actor_name, row.action, row.subject


def _said(browser: Browser, address: str) -> str:
    page = browser.page(address)
    (flash,) = [
        each for each in page.all("div") if "flash" in each.attributes.get("class", "").split()
    ]
    return flash.text


def _new_token(browser: Browser, **changes: str) -> str:
    answer = browser.act(LIBRARY, "/console/client/token", changes)
    assert answer.status_code == 201, answer.text[-500:]
    found = re.search(r"<code>([A-Za-z0-9_-]{43})</code>", answer.text)
    assert found
    return found[1]


def _third_party(prsm: Running, token: str) -> Caller:
    return Caller(prsm.public, headers={"Authorization": f"Bearer {token}"})


def test_registering(prsm: Running, person: Visitor) -> None:
    """A third party is registered; what cannot be is said beside what was typed."""
    browser = person("admin")
    page = "/console/new-client"
    wrong = browser.act(page, page, {"name": "../x", "contact": "who@example.org"})
    assert (wrong.status_code, "who@example.org" in wrong.text) == (400, True)
    twice = browser.act(page, page, {"name": "library", "contact": "x"})
    assert (twice.status_code, "registered already" in twice.text) == (409, True)
    done = browser.act(page, page, {"name": "archive", "contact": "who@example.org"})
    assert done.headers["location"] == "/console/client?name=archive"
    assert "It has no token yet" in _said(browser, done.headers["location"])
    assert _last(prsm) == ("admin", "client.register", "archive")
    assert "archive" in browser.page("/console/data").text


def test_a_token_is_shown_once_and_works(prsm: Running, person: Visitor) -> None:
    """With scopes, end, quota and rate as chosen; it stands nowhere afterwards."""
    browser = person("admin")
    form = browser.page(LIBRARY).form("/console/client/token")
    assert {name for name in form.fields if name.startswith("scope ")} == {
        "scope segments", "scope pages", "scope index", "scope changes",
    }  # fmt: skip
    changes = {"scope pages": "", "days": "7", "daily": "2", "unit": "MB"}
    token = _new_token(browser, **changes, requests_per_minute="30")
    mine = _third_party(prsm, token)
    assert mine.get(WEBDATA).status_code == 200
    assert mine.get("/api/v1/pages", params={"host": ".*"}).status_code == 403
    (detail,) = [one for one in list_clients(prsm.manager.db, prsm.clock()) if one.usage == []][:1]
    kept = [
        one
        for each in list_clients(prsm.manager.db, prsm.clock())
        for one in each.tokens
        if one.daily_bytes
    ]
    assert [(one.daily_bytes, one.requests_per_minute) for one in kept] == [(2_000_000, 30)]
    assert kept[0].expires_ms - prsm.clock() == 7 * 86_400_000
    assert detail
    for address in (LIBRARY, "/console/data", "/console/audit", "/console/data.csv"):
        assert token not in browser.get(address).text
    assert _last(prsm) == ("admin", "client.create-token", "library")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"days": "0"}, "days = 0"),
        ({"days": "soon"}, "must be a whole number"),
        ({"daily": "-1"}, "must be a whole number"),
        ({"unit": "EB", "daily": "1"}, "must be one of MB, GB, TB"),
        ({"requests_per_minute": "0"}, "between 1 and"),
        ({f"scope {name}": "" for name in ("segments", "pages", "index", "changes")}, "must be of"),
    ],
)
def test_tokens_that_cannot_be(person: Visitor, changes: dict[str, str], said: str) -> None:
    """What was typed is kept, beside the reason."""
    browser = person("admin")
    answer = browser.act(LIBRARY, "/console/client/token", {"days": "365", **changes})
    assert answer.status_code == 400
    assert said in read(answer.text).text
    assert answer.text.count('name="days"') == 1


def test_revoking_and_disabling(prsm: Running, person: Visitor) -> None:
    """Asked once; then the token opens nothing, and disabled nobody's token does."""
    browser = person("admin")
    token, other = _new_token(browser), _new_token(browser)
    forms = [
        form for form in browser.page(LIBRARY).forms if form.action == "/console/client/revoke"
    ]
    assert len(forms) == 3
    newest = max(forms, key=lambda form: int(form.fields["token"]))
    question = read(browser.submit(newest).text)
    assert "its downloads end within seconds" in question.text
    assert _third_party(prsm, other).get(WEBDATA).status_code == 200
    done = browser.submit(question.form("/console/client/revoke"))
    assert "is revoked" in _said(browser, done.headers["location"])
    assert _third_party(prsm, other).get(WEBDATA).status_code == 403
    assert _last(prsm) == ("admin", "client.revoke-token", "library")
    asked = browser.act(LIBRARY, "/console/client/disable")
    browser.submit(read(asked.text).form("/console/client/disable"))
    assert _third_party(prsm, token).get(WEBDATA).status_code == 403
    assert not browser.page(LIBRARY).has_form("/console/client/token")
    browser.act(LIBRARY, "/console/client/enable")
    assert _third_party(prsm, token).get(WEBDATA).status_code == 200


def test_only_administrators_act(person: Visitor) -> None:
    """An operator sees it all and may withdraw a host; tokens are not for them."""
    browser = person("operator")
    page = browser.page(LIBRARY)
    for action in ("token", "revoke", "disable"):
        assert not page.has_form(f"/console/client/{action}")
        given = {"csrf": browser.csrf, "name": "library", "token": "1", "confirmed": "yes"}
        assert browser.post(f"/console/client/{action}", given).status_code == 403
    assert browser.page("/console/withdrawn").has_form("/console/withdrawn")
    assert not person("viewer").page("/console/withdrawn").has_form("/console/withdrawn")


def test_removing_a_job(prsm: Running, person: Visitor) -> None:
    """A job that waits is not made, and says by whom."""
    browser = person("admin")
    asked = browser.act("/console/data", "/console/archive-jobs/remove")
    done = browser.submit(read(asked.text).form("/console/archive-jobs/remove"))
    assert done.headers["location"] == "/console/archive-jobs"
    (job,) = list_jobs(prsm.manager.db)
    assert (job.state, str(job.problem)) == ("gone", "removed by admin")
    assert prsm.manager.archive.run_jobs() == 0


def test_a_job_is_shown_as_it_was_asked_for(prsm: Running, person: Visitor) -> None:
    """Its query as a person writes it, not as a URL carries it."""
    db = prsm.manager.db
    client = authenticate_client(db, issue_token(db, "library", ADMIN, START_MS).token, START_MS)
    query = "host=.*%5C.example%5Cb&path=%2Fa+b%2F"
    submit_job(db, client, "extract-warc", query, client.actor("1"), START_MS)
    assert r"host=.*\.example\b&path=/a b/" in person("viewer").page("/console/archive-jobs").text


def test_withdrawing_a_host(prsm: Running, person: Visitor) -> None:
    """Asked once, with what follows; a reason must be given."""
    browser = person("operator")
    page = "/console/withdrawn"
    host = f"http://{HOSTS[7]}:80/"
    refused = browser.act(page, page, {"host": host, "reason": " "})
    assert refused.status_code == 400
    filtered = f"{page}?q=example"
    asked = browser.act(filtered, page, {"host": host, "reason": "its owner asked"})
    question = read(asked.text)
    assert "The next compaction deletes its captures" in question.text
    assert host_detail(prsm.manager.db, host).host.excluded_ms is None
    done = browser.submit(question.form(page))
    assert done.headers["location"] == filtered
    assert "is withdrawn" in _said(browser, done.headers["location"])
    assert host_detail(prsm.manager.db, host).host.excluded_reason == "its owner asked"
    assert "its owner asked" in browser.page(page).text


def test_downloads_are_filtered(person: Visitor) -> None:
    """By state and third party, as their address says."""
    browser = person("viewer")
    text = browser.page("/console/downloads?state=going&client=library").text
    assert "50%" in text
    assert "took nothing" not in text
    assert "No matching downloads" in browser.page("/console/downloads?client=museum").text
